//! The innermost scope of the code that is running on this thread.
//!
//! A scope that polls what is inside of it describes itself in a [`Frame`] on its stack, and the poll that is going on
//! points at the frame of the innermost one. Entering and leaving are a store each, and nothing is moved in or out.
//!
//! INVARIANT F1: `innermost` points at a frame on this thread's stack. It is set by [`Entered::enter`] alone, whose guard
//! restores the former value before the frame ends, in the same poll. It never leaves this thread.

use std::cell::Cell;
use std::ptr::NonNull;
use std::task::Waker;

use super::task_poll::{Identity, NOBODY, TaskPoll, identity, is_asked, is_noted, with_poll};
use crate::cancel::node::{Node, Pressing};
use crate::sync::Arc;
use crate::time::instant::Instant;

/// What a scope says about its present poll to the code inside.
pub(crate) struct Frame<'a> {
    /// The scope's own; made by the first who needs it.
    pub(crate) node: &'a Cell<Option<Arc<Node>>>,
    waker: Identity,
    /// The number of the poll.
    epoch: u32,
    says: &'a Says,
}

/// The part of it that the scopes inside hand on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Says {
    /// The tightest deadline around that has not fired (law D4).
    pub(crate) deadline: Instant,
    /// The tightest of them in the same branch of an aggregate.
    pub(crate) near: Instant,
    /// A request to this scope, or to one around it, waits or is about to be delivered (law C5).
    pub(crate) pressing: bool,
    /// A request is given to this scope, or to one around it, after this very poll.
    pub(crate) coming: bool,
    /// The innermost branch of an aggregate, by its address; 0 outside of all.
    pub(crate) branch: usize,
}

impl Says {
    pub(crate) const NOTHING: Says = Says {
        deadline: Instant::FAR_FUTURE,
        near: Instant::FAR_FUTURE,
        pressing: false,
        coming: false,
        branch: 0,
    };

    /// What the outermost scope says that has a request in hand.
    pub(crate) const PRESSING: Says = Says { pressing: true, ..Says::NOTHING };
}

/// A frame, or the outside.
pub(super) type FramePointer = Option<NonNull<Frame<'static>>>;

/// The movable deadlines around the running code.
pub(super) struct Movable {
    /// How many there are.
    depth: Cell<u32>,
    /// So many of them are outside of a shield.
    shielded: Cell<u32>,
    /// The depth of the outermost that was moved by code that is inside others, too.
    outermost: Cell<u32>,
    /// To where such ones were moved.
    outer: Cell<Instant>,
}

impl Movable {
    pub(super) const fn none() -> Movable {
        Movable {
            depth: Cell::new(0),
            shielded: Cell::new(0),
            outermost: Cell::new(u32::MAX),
            outer: Cell::new(Instant::FAR_FUTURE),
        }
    }

    /// What the code around is told that had been told `former`. Of several that were moved, those in between see the
    /// tightest, until they are asked again in the next turn.
    fn carry(&self, former: Instant) -> Instant {
        let outermost = self.outermost.get();
        if outermost > self.depth.get() {
            self.outermost.set(u32::MAX);
            self.outer.set(Instant::FAR_FUTURE);
        }
        match outermost <= self.depth.get() && outermost > self.shielded.get() {
            true => former.min(self.outer.get()),
            false => former,
        }
    }
}

impl<'a> Frame<'a> {
    #[inline]
    pub(crate) fn new(
        node: &'a mut Option<Arc<Node>>,
        waker: &Waker,
        epoch: u32,
        says: &'a Says,
    ) -> Frame<'a> {
        Frame { node: Cell::from_mut(node), waker: identity(waker), epoch, says }
    }

    /// Calls `poll` with this scope as the innermost one.
    #[inline]
    pub(crate) fn enter<R>(&self, current: &TaskPoll<'_>, poll: impl FnOnce() -> R) -> R {
        let _entered = Entered::enter(current, Some(NonNull::from(self).cast()));
        poll()
    }
}

/// Calls `poll` where no scope can be reached and no deadline is seen (law C11).
pub(crate) fn enter_shielded<R>(poll: impl FnOnce() -> R) -> R {
    let _moved = Moved::enter(|movable| (movable.depth.get(), movable.depth.get()));
    with_poll(|current| {
        let _entered = Entered::enter(current, None);
        poll()
    })
}

/// The node of the innermost scope, made now if it has none. `None` outside every scope.
pub(crate) fn scope_node() -> Option<Arc<Node>> {
    innermost(|frame| {
        let frame = frame?;
        let node = frame.node.take().unwrap_or_default();
        frame.node.set(Some(node.clone()));
        Some(node)
    })
}

/// Whether `node` is the innermost scope's.
pub(crate) fn is_node_of_scope(node: &Arc<Node>) -> bool {
    innermost(|frame| {
        let Some(frame) = frame else { return false };
        let own = frame.node.take();
        let same = own.as_ref().is_some_and(|own| Arc::ptr_eq(own, node));
        frame.node.set(own);
        same
    })
}

/// The number of the innermost scope's current poll.
pub(crate) fn epoch() -> u32 {
    innermost(|frame| frame.map_or(0, |frame| frame.epoch))
}

/// What the innermost scope says.
#[inline]
pub(crate) fn says() -> Says {
    with_poll(says_in)
}

#[inline]
pub(crate) fn says_in(current: &TaskPoll<'_>) -> Says {
    let says = innermost_of(current).map_or(Says::NOTHING, |frame| *frame.says);
    Says { deadline: says.deadline.min(current.moved.get()), ..says }
}

/// The branch in which the running code is; see [`Says`].
pub(crate) fn branch() -> usize {
    innermost(|frame| frame.map_or(0, |frame| frame.says.branch))
}

/// The tightest deadline around the running code that has not fired (law D4).
pub(crate) fn deadline() -> Instant {
    says().deadline
}

/// Calls `poll`, in which a deadline may be moved by [`move_deadline`].
pub(crate) fn with_movable_deadline<R>(poll: impl FnOnce() -> R) -> R {
    let _moved = Moved::enter(|movable| (movable.depth.get() + 1, movable.shielded.get()));
    poll()
}

/// How many movable deadlines are around the running code.
pub(crate) fn movable_depth() -> u32 {
    with_poll(|current| current.movable.depth.get())
}

/// The deadline around the running code that is the `depth`-th that can be moved was moved to `at`, after it had been told
/// to the code inside (law D4).
pub(crate) fn move_deadline(depth: u32, at: Instant) {
    with_poll(|current| {
        let movable = &current.movable;
        if depth > movable.shielded.get() {
            current.moved.set(current.moved.get().min(at));
        }
        if depth < movable.depth.get() || depth <= movable.shielded.get() {
            movable.outermost.set(movable.outermost.get().min(depth));
            movable.outer.set(movable.outer.get().min(at));
        }
    });
}

/// What the scopes around the running code have in hand.
pub(crate) fn pressing() -> Pressing {
    innermost(|frame| {
        let Some(Frame { says, .. }) = frame else { return Pressing::default() };
        let expiring = says.near != Instant::FAR_FUTURE && says.near <= Instant::now();
        Pressing {
            waiting: says.pressing || expiring || is_noted(says.branch),
            fresh: says.branch == 0 && is_asked(),
            coming: says.coming,
        }
    })
}

/// `waker`, unless it is the one with which the innermost scope is polled.
///
/// async-task's vtable is a constant that may stand at several addresses, so `will_wake` can fail to
/// recognise a task's own waker; its data pointer is the task, which decides.
pub(crate) fn foreign(waker: &Waker) -> Option<&Waker> {
    let known = innermost(|frame| frame.map_or(NOBODY, |frame| frame.waker));
    (identity(waker) != known).then_some(waker)
}

#[inline]
fn innermost<R>(read: impl FnOnce(Option<&Frame<'_>>) -> R) -> R {
    with_poll(|current| read(innermost_of(current)))
}

/// The frame of the innermost scope, for the time of one call on the stack above it.
#[inline]
fn innermost_of<'a>(current: &'a TaskPoll<'_>) -> Option<&'a Frame<'a>> {
    // SAFETY: INVARIANT F1: the frame outlives this call, which is on the stack above it.
    current.innermost.get().map(|frame| unsafe { frame.as_ref() })
}

/// Restores what was told before.
struct Moved {
    told: Instant,
    depth: u32,
    shielded: u32,
}

impl Moved {
    fn enter(next: impl FnOnce(&Movable) -> (u32, u32)) -> Moved {
        with_poll(|current| {
            let movable = &current.movable;
            let (depth, shielded) = next(movable);
            Moved {
                told: current.moved.replace(Instant::FAR_FUTURE),
                depth: movable.depth.replace(depth),
                shielded: movable.shielded.replace(shielded),
            }
        })
    }
}

impl Drop for Moved {
    fn drop(&mut self) {
        with_poll(|current| {
            current.movable.depth.set(self.depth);
            current.movable.shielded.set(self.shielded);
            current.moved.set(current.movable.carry(self.told));
        });
    }
}

/// Restores the frame that was the innermost one before.
struct Entered<'a> {
    current: &'a TaskPoll<'a>,
    outer: FramePointer,
}

impl<'a> Entered<'a> {
    #[inline]
    fn enter(current: &'a TaskPoll<'_>, frame: FramePointer) -> Entered<'a> {
        Entered { current, outer: current.innermost.replace(frame) }
    }
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        self.current.innermost.set(self.outer);
    }
}
