//! What the code that is running on this thread belongs to: the task, the innermost scope, the
//! ambient runtime.
//!
//! All of it is one thread-local value without a destructor, so that it can be used from the
//! destructors of other thread-locals (law T4).
//!
//! INVARIANT X1: `task` points at the metadata of the task whose poll (or drop) is on this thread's
//! stack. It is set by [`enter_task`] alone, whose guard restores the former value before the caller's
//! reference to the metadata ends. It never leaves this thread.
//!
//! INVARIANT X2: while `open` is false there is no innermost scope, and `node`, `waker`, `epoch`, `deadline`
//! and `pressing` say so. Hence whoever enters outside of a scope, as a worker always does, has nothing to
//! put aside, and leaves by writing constants.
//!
//! | field | written by |
//! |---|---|
//! | `task`, `budget` | [`enter_task`]; `budget` also by [`spend`] |
//! | `node`, `waker`, `open`, and the three of [`Frame`] | [`enter_scope`], [`enter_shielded`], [`enter_task`]; `node` also by [`scope_node`] |
//! | `root_waker`, `delivering`, `handed_back`, `repoll` | [`enter_task`], [`start_pass`], [`ask_for_repoll`] |
//! | `runtime` | [`enter_runtime`] |
//! | `aborting` | [`enter_aborting`] |
//! | `locals` | [`enter_task`], [`enter_locals`] |

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::Waker;

use crate::cancel::node::Node;
use crate::locals::Locals;
use crate::runtime::handle::Handle;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::task::meta::TaskMeta;
use crate::task::reference::TaskRef;
use crate::time::instant::Instant;

/// How many ready-made library operations a task may do in one turn (law D7).
const BUDGET: u8 = 128;

struct Here {
    task: Cell<Option<NonNull<TaskMeta>>>,
    budget: Cell<u8>,
    open: Cell<bool>,
    node: Cell<ManuallyDrop<Option<Arc<Node>>>>,
    epoch: Cell<u32>,
    deadline: Cell<Instant>,
    pressing: Cell<bool>,
    waker: Cell<Identity>,
    root_waker: Cell<Identity>,
    delivering: Cell<bool>,
    /// A request was handed back to a scope during this pass.
    handed_back: Cell<bool>,
    repoll: Cell<bool>,
    aborting: Cell<bool>,
    runtime: Cell<ManuallyDrop<Option<Handle>>>,
    locals: Cell<ManuallyDrop<Locals>>,
    thread: Cell<u64>,
}

/// What a scope says about itself to the code inside.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    /// The number of the current poll.
    pub(crate) epoch: u32,
    /// The tightest deadline around that has not fired (law D4).
    pub(crate) deadline: Instant,
    /// A request to this scope, or to one around it, waits or is about to be delivered (law C5).
    pub(crate) pressing: bool,
}

impl Frame {
    const OUTSIDE: Frame = Frame { epoch: 0, deadline: Instant::FAR_FUTURE, pressing: false };
}

/// What tells wakers apart: the data pointer, or the table of functions where there is no data. Tables
/// are aligned, so the two cannot meet. One word, since it is saved and restored at every scope.
type Identity = usize;

/// Outside every scope; no waker has it.
const NOBODY: Identity = 0;

thread_local! {
    static HERE: Here = const {
        Here {
            task: Cell::new(None),
            budget: Cell::new(0),
            open: Cell::new(false),
            node: Cell::new(ManuallyDrop::new(None)),
            epoch: Cell::new(Frame::OUTSIDE.epoch),
            deadline: Cell::new(Frame::OUTSIDE.deadline),
            pressing: Cell::new(Frame::OUTSIDE.pressing),
            waker: Cell::new(NOBODY),
            root_waker: Cell::new(NOBODY),
            delivering: Cell::new(false),
            handed_back: Cell::new(false),
            repoll: Cell::new(false),
            aborting: Cell::new(false),
            runtime: Cell::new(ManuallyDrop::new(None)),
            locals: Cell::new(ManuallyDrop::new(Locals(None))),
            thread: Cell::new(0),
        }
    };
}

/// Calls `read` with the task that is being polled on this thread.
pub(crate) fn with_task<R>(read: impl FnOnce(Option<&TaskMeta>) -> R) -> R {
    let task = HERE.with(|here| here.task.get());
    // SAFETY: INVARIANT X1: the metadata outlives this call, which is on the stack above the poll.
    read(task.map(|task| unsafe { task.as_ref() }))
}

/// A reference to the task that is being polled on this thread.
pub(crate) fn task_ref() -> Option<TaskRef> {
    // SAFETY: INVARIANT X1: it is being polled here.
    with_task(|task| unsafe { task?.to_ref() })
}

/// Whether a task is being polled on this thread.
pub(crate) fn is_inside_task() -> bool {
    HERE.with(|here| here.task.get().is_some())
}

/// Makes `task` the current one, outside every scope, until the guard is dropped.
#[inline]
pub(crate) fn enter_task(task: Option<&TaskMeta>) -> TaskGuard<'_> {
    let outer = HERE.with(|here| {
        // Nearly always a worker polls a task from its loop, and there is nothing to put aside.
        let outer = (!here.is_at_rest()).then(|| Box::new(here.put_aside()));
        here.task.set(task.map(NonNull::from));
        here.budget.set(BUDGET);
        outer
    });
    let locals = enter_locals(task.map_or(Locals(None), |task| task.locals.clone()));
    TaskGuard { outer, _locals: locals, _lifetime: std::marker::PhantomData }
}

/// Restores what was current before; see [`enter_task`].
pub(crate) struct TaskGuard<'a> {
    outer: Option<Box<Outer>>,
    _locals: LocalsGuard,
    _lifetime: std::marker::PhantomData<&'a TaskMeta>,
}

impl Drop for TaskGuard<'_> {
    fn drop(&mut self) {
        HERE.with(|here| match self.outer.take() {
            None => {
                here.task.set(None);
                here.root_waker.set(NOBODY);
                here.delivering.set(false);
                here.repoll.set(false);
            }
            Some(outer) => here.take_up(*outer),
        });
    }
}

/// What was going on on this thread before a task was polled inside of it.
struct Outer {
    task: Option<NonNull<TaskMeta>>,
    budget: u8,
    scope: Option<OuterScope>,
    root_waker: Identity,
    delivering: bool,
    repoll: bool,
}

/// What was the innermost scope before another one was entered.
struct OuterScope {
    node: ManuallyDrop<Option<Arc<Node>>>,
    frame: Frame,
    waker: Identity,
}

impl Here {
    /// Whether neither a task nor a scope is being polled.
    fn is_at_rest(&self) -> bool {
        self.task.get().is_none() && !self.open.get()
    }

    #[cold]
    fn put_aside(&self) -> Outer {
        Outer {
            task: self.task.take(),
            budget: self.budget.get(),
            scope: self.open.get().then(|| self.leave_scope()),
            root_waker: self.root_waker.replace(NOBODY),
            delivering: self.delivering.replace(false),
            repoll: self.repoll.replace(false),
        }
    }

    #[cold]
    fn take_up(&self, outer: Outer) {
        self.task.set(outer.task);
        self.budget.set(outer.budget);
        if let Some(scope) = outer.scope {
            self.return_to(scope);
        }
        self.root_waker.set(outer.root_waker);
        self.delivering.set(outer.delivering);
        self.repoll.set(outer.repoll);
    }

    fn leave_scope(&self) -> OuterScope {
        let frame = self.frame();
        self.open.set(false);
        self.set_frame(Frame::OUTSIDE);
        OuterScope { node: self.node.take(), frame, waker: self.waker.replace(NOBODY) }
    }

    fn return_to(&self, scope: OuterScope) {
        self.open.set(true);
        self.node.set(scope.node);
        self.set_frame(scope.frame);
        self.waker.set(scope.waker);
    }

    fn frame(&self) -> Frame {
        Frame { epoch: self.epoch.get(), deadline: self.deadline.get(), pressing: self.pressing.get() }
    }

    fn set_frame(&self, frame: Frame) {
        self.epoch.set(frame.epoch);
        self.deadline.set(frame.deadline);
        self.pressing.set(frame.pressing);
    }
}

/// Starts a pass of the current task's poll: the root polls again at once when a request was delivered
/// to code that shares its waker, so that a delivery takes no further turn (law C2).
pub(crate) fn start_pass(waker: &Waker, delivering: bool) {
    HERE.with(|here| {
        here.root_waker.set(identity(waker));
        here.delivering.set(delivering);
        here.handed_back.set(false);
        here.repoll.set(false);
    });
}

/// A request was delivered: whoever got it is to be polled.
pub(crate) fn ask_for_repoll() {
    HERE.with(|here| here.repoll.set(true));
}

/// Whether that was asked for during this pass.
pub(crate) fn repoll_wanted() -> bool {
    HERE.with(|here| here.repoll.get())
}

/// Whether this pass was asked for by a delivery.
pub(crate) fn is_delivering() -> bool {
    HERE.with(|here| here.delivering.get())
}

/// Whether a scope around the running code has requests that wait or are about to be delivered.
pub(crate) fn is_pressing() -> bool {
    let (open, pressing) = HERE.with(|here| (here.open.get(), here.pressing.get() || here.handed_back.get()));
    open && (pressing || with_task(|task| task.is_some_and(|task| task.word.has_requests())))
}

/// A request went back to a scope around, which delivers it after this poll.
pub(crate) fn note_handed_back() {
    HERE.with(|here| here.handed_back.set(true));
}

/// `waker`, unless it is the current task's own.
pub(crate) fn foreign_to_root(waker: &Waker) -> Option<&Waker> {
    (identity(waker) != HERE.with(|here| here.root_waker.get())).then_some(waker)
}

/// Calls `poll` with the scope that owns `node` as the innermost one. The node moves into the
/// thread-local for that time, and back even when `poll` panics.
pub(crate) fn enter_scope<R>(
    node: &mut Option<Arc<Node>>,
    frame: Frame,
    waker: &Waker,
    poll: impl FnOnce() -> R,
) -> R {
    let _guard = ScopeGuard::enter(node, true, frame, identity(waker));
    poll()
}

/// Calls `poll` where no scope can be reached and no deadline is seen (law C11).
pub(crate) fn enter_shielded<R>(poll: impl FnOnce() -> R) -> R {
    let mut no_node = None;
    let _guard = ScopeGuard::enter(&mut no_node, false, Frame::OUTSIDE, NOBODY);
    poll()
}

struct ScopeGuard<'a> {
    slot: &'a mut Option<Arc<Node>>,
    outer: Option<OuterScope>,
}

impl<'a> ScopeGuard<'a> {
    fn enter(slot: &'a mut Option<Arc<Node>>, open: bool, frame: Frame, waker: Identity) -> ScopeGuard<'a> {
        let node = ManuallyDrop::new(slot.take());
        let outer = HERE.with(|here| {
            let outer = here.open.get().then(|| here.leave_scope());
            here.open.set(open);
            here.node.set(node);
            here.set_frame(frame);
            here.waker.set(waker);
            outer
        });
        ScopeGuard { slot, outer }
    }
}

impl Drop for ScopeGuard<'_> {
    fn drop(&mut self) {
        HERE.with(|here| {
            *self.slot = ManuallyDrop::into_inner(here.node.take());
            match self.outer.take() {
                Some(outer) => here.return_to(outer),
                None => {
                    here.open.set(false);
                    here.set_frame(Frame::OUTSIDE);
                    here.waker.set(NOBODY);
                }
            }
        });
    }
}

/// The node of the innermost scope, made now if it has none. `None` outside every scope.
pub(crate) fn scope_node() -> Option<Arc<Node>> {
    HERE.with(|here| {
        if !here.open.get() {
            return None;
        }
        let node = ManuallyDrop::into_inner(here.node.take());
        let node = node.unwrap_or_default();
        here.node.set(ManuallyDrop::new(Some(node.clone())));
        Some(node)
    })
}

/// The number of the innermost scope's current poll.
pub(crate) fn epoch() -> u32 {
    HERE.with(|here| here.epoch.get())
}

/// The tightest deadline around the running code that has not fired (law D4).
pub(crate) fn deadline() -> Instant {
    HERE.with(|here| here.deadline.get())
}

/// `waker`, unless it is the one with which the innermost scope is polled.
///
/// async-task's vtable is a constant that may stand at several addresses, so `will_wake` can fail to
/// recognise a task's own waker; its data pointer is the task, which decides.
pub(crate) fn foreign(waker: &Waker) -> Option<&Waker> {
    (identity(waker) != HERE.with(|here| here.waker.get())).then_some(waker)
}

/// Takes one unit of the turn's budget; `false` if it is spent. Unlimited outside tasks.
pub(crate) fn spend() -> bool {
    HERE.with(|here| {
        let left = here.budget.get();
        if left > 0 {
            here.budget.set(left - 1);
        }
        left > 0 || here.task.get().is_none()
    })
}

/// Makes `handle` the ambient runtime and returns the former one.
pub(crate) fn enter_runtime(handle: Option<Handle>) -> Option<Handle> {
    HERE.with(|here| ManuallyDrop::into_inner(here.runtime.replace(ManuallyDrop::new(handle))))
}

/// The runtime of the current task, else the one that was entered.
pub(crate) fn runtime() -> Option<Handle> {
    with_task(|task| task.map(TaskMeta::runtime)).or_else(|| {
        HERE.with(|here| {
            let handle = ManuallyDrop::into_inner(here.runtime.take());
            here.runtime.set(ManuallyDrop::new(handle.clone()));
            handle
        })
    })
}

/// Marks the destructors that run until the guard is dropped as the end of a grace (law C13).
pub(crate) fn enter_aborting() -> AbortingGuard {
    AbortingGuard(HERE.with(|here| here.aborting.replace(true)))
}

pub(crate) fn is_aborting() -> bool {
    HERE.with(|here| here.aborting.get())
}

/// See [`enter_aborting`].
pub(crate) struct AbortingGuard(bool);

impl Drop for AbortingGuard {
    fn drop(&mut self) {
        HERE.with(|here| here.aborting.set(self.0));
    }
}

/// Calls `read` with the task-locals that are bound here.
pub(crate) fn with_locals<R>(read: impl FnOnce(&Locals) -> R) -> R {
    let locals = HERE.with(|here| ManuallyDrop::into_inner(here.locals.take()));
    // Put back at once: `read` may run a user's `Clone`.
    HERE.with(|here| here.locals.set(ManuallyDrop::new(locals.clone())));
    read(&locals)
}

/// Binds these task-locals, and no others, until the guard is dropped.
pub(crate) fn enter_locals(locals: Locals) -> LocalsGuard {
    LocalsGuard(HERE.with(|here| here.locals.replace(ManuallyDrop::new(locals))))
}

/// Restores what was bound before; see [`enter_locals`].
pub(crate) struct LocalsGuard(ManuallyDrop<Locals>);

impl Drop for LocalsGuard {
    fn drop(&mut self) {
        let former = std::mem::take(&mut self.0);
        let left = HERE.with(|here| ManuallyDrop::into_inner(here.locals.replace(former)));
        drop(left);
    }
}

/// A number of this thread that no other thread ever has.
pub(crate) fn thread_token() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    HERE.with(|here| {
        if here.thread.get() == 0 {
            // Relaxed: only uniqueness is asked for, nothing is published with the number.
            here.thread.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        here.thread.get()
    })
}

fn identity(waker: &Waker) -> Identity {
    let data = waker.data().addr();
    if data == 0 { std::ptr::from_ref(waker.vtable()).addr() | 1 } else { data }
}
