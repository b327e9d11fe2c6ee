//! One poll of a task, as long as it is on this thread's stack.
//!
//! All that belongs to the poll stands in a [`TaskPoll`] on the stack of the task's root, and a thread-local points at the
//! innermost one. So beginning and ending a poll are a store each, and a task that is polled inside of another one's poll
//! finds nothing of it. Code outside of every task has a `TaskPoll` of its own.
//!
//! INVARIANT X1: `CURRENT` points at a `TaskPoll` on this thread's stack, whose `task` is the metadata of the task whose
//! poll (or drop) is on the stack as well. It is set by [`TaskPoll::enter`] alone, whose guard restores the former value
//! before both end. It never leaves this thread.
//!
//! INVARIANT X2: what `locals` begins with is a copy of what the task holds; it is never dropped. What is bound later is
//! owned by the [`LocalsGuard`] that will restore the former one.
//!
//! | field | written by |
//! |---|---|
//! | `task`, `root_waker` | constant |
//! | `innermost`, `moved`, `movable` | `frame.rs` |
//! | `locals` | [`enter_locals`], [`with_locals`] |
//! | `number` | [`number`], when somebody asks for the first time |
//! | `budget` | [`spend`] |
//! | `pass` | [`TaskPoll::start_pass`], [`ask_for_repoll`] and those below |
//! | `handed_back`, `noted` | [`note_handed_back`], [`note_request`], [`forget_note`]; they hold while `pass` says so |

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::Waker;

use super::frame::{self, FramePointer, Movable};
use super::next_number;
use crate::locals::Locals;
use crate::runtime::handle::Handle;
use crate::task::meta::TaskMeta;
use crate::task::reference::TaskRef;
use crate::time::instant::Instant;

/// How many ready-made library operations a task may do in one turn (law D7).
const BUDGET: u8 = 128;

/// The pass was asked for by a delivery.
const DELIVERING: u8 = 1;
/// Another pass was asked for.
const REPOLL: u8 = 1 << 1;
/// `handed_back` holds.
const HANDED_BACK: u8 = 1 << 2;
/// `noted` holds.
const NOTED: u8 = 1 << 3;

/// What tells wakers apart: the data pointer, or the table of functions where there is no data. Tables
/// are aligned, so the two cannot meet. One word, since it is written at every scope.
pub(super) type Identity = usize;

/// Of no waker.
pub(super) const NOBODY: Identity = 0;

/// See the module.
pub(crate) struct TaskPoll<'a> {
    task: Option<NonNull<TaskMeta>>,
    root_waker: Identity,
    pub(super) innermost: Cell<FramePointer>,
    /// A deadline around that was moved in this poll; see [`frame::move_deadline`].
    pub(super) moved: Cell<Instant>,
    pub(super) movable: Movable,
    locals: Cell<ManuallyDrop<Locals>>,
    /// 0 until somebody asks.
    number: Cell<u64>,
    /// The branch in which a request was handed back to a scope during this pass.
    handed_back: Cell<usize>,
    /// The branch in which a group made a request of its body during this pass.
    noted: Cell<usize>,
    budget: Cell<u8>,
    pass: Cell<u8>,
    _task: PhantomData<&'a TaskMeta>,
}

thread_local! {
    static CURRENT: Cell<Option<NonNull<TaskPoll<'static>>>> = const { Cell::new(None) };
    static OUTSIDE: TaskPoll<'static> = const { TaskPoll::outside() };
}

impl<'a> TaskPoll<'a> {
    /// The poll of this task that begins, with this waker.
    #[inline]
    pub(crate) fn new(task: &'a TaskMeta, waker: &Waker) -> TaskPoll<'a> {
        // SAFETY: INVARIANT X2: the copy is never dropped, and the task holds it longer than the poll lasts.
        let locals = unsafe { task.hold.copy_locals() };
        TaskPoll {
            task: Some(NonNull::from(task)),
            root_waker: identity(waker),
            locals: Cell::new(locals),
            budget: Cell::new(BUDGET),
            ..TaskPoll::outside()
        }
    }

    /// For code that belongs to no task.
    pub(crate) const fn outside() -> TaskPoll<'a> {
        TaskPoll {
            task: None,
            root_waker: NOBODY,
            innermost: Cell::new(None),
            moved: Cell::new(Instant::FAR_FUTURE),
            movable: Movable::none(),
            locals: Cell::new(ManuallyDrop::new(Locals(None))),
            number: Cell::new(0),
            handed_back: Cell::new(0),
            noted: Cell::new(0),
            budget: Cell::new(0),
            pass: Cell::new(0),
            _task: PhantomData,
        }
    }

    /// Makes this the poll that is going on, until the guard is dropped.
    #[inline]
    pub(crate) fn enter(&self) -> Entered<'_> {
        Entered { outer: CURRENT.replace(Some(NonNull::from(self).cast())), _poll: PhantomData }
    }

    /// Starts a further pass: the root polls again at once when a request was delivered to code that shares its waker,
    /// so that a delivery takes no further turn (law C2).
    pub(crate) fn start_delivering(&self) {
        self.pass.set(DELIVERING);
    }

    /// Whether a further pass was asked for during this one.
    #[inline]
    pub(crate) fn repoll_wanted(&self) -> bool {
        self.pass.get() & REPOLL != 0
    }

    #[inline]
    pub(crate) fn is_delivering(&self) -> bool {
        self.pass.get() & DELIVERING != 0
    }

    fn note(&self, what: u8) {
        self.pass.set(self.pass.get() | what);
    }
}

/// Restores the poll that was going on before; see [`TaskPoll::enter`].
pub(crate) struct Entered<'a> {
    outer: Option<NonNull<TaskPoll<'static>>>,
    _poll: PhantomData<&'a TaskPoll<'a>>,
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(self.outer);
    }
}

/// Calls `read` with the poll that is going on.
#[inline]
pub(crate) fn with_poll<R>(read: impl FnOnce(&TaskPoll<'_>) -> R) -> R {
    match CURRENT.get() {
        // SAFETY: INVARIANT X1: it outlives this call, which is on the stack above.
        Some(poll) => read(unsafe { poll.as_ref() }),
        None => OUTSIDE.with(read),
    }
}

/// Calls `read` with the task that is being polled on this thread.
#[inline]
pub(crate) fn with_task<R>(read: impl FnOnce(Option<&TaskMeta>) -> R) -> R {
    let task = with_poll(|poll| poll.task);
    // SAFETY: INVARIANT X1: the metadata outlives this call, which is on the stack above the poll.
    read(task.map(|task| unsafe { task.as_ref() }))
}

/// A reference to the task that is being polled on this thread.
pub(crate) fn task_ref() -> Option<TaskRef> {
    // SAFETY: INVARIANT X1: it is being polled here.
    with_task(|task| unsafe { task?.to_ref() })
}

/// The runtime of the task that is being polled on this thread, without counting a reference: for the time of one call,
/// and on this thread only.
#[inline]
pub(super) fn runtime_of_task() -> Option<ManuallyDrop<Handle>> {
    with_task(|task| {
        // SAFETY: INVARIANT X1: the task holds its runtime until after the poll in which this is called. The copy is
        // never dropped.
        let handle = unsafe { std::ptr::read(task?.runtime_ref()) };
        Some(ManuallyDrop::new(handle))
    })
}

/// A request was delivered: whoever got it is to be polled.
pub(crate) fn ask_for_repoll() {
    with_poll(|poll| poll.note(REPOLL));
}

/// Whether this pass was asked for by a delivery.
pub(crate) fn is_delivering() -> bool {
    with_poll(|poll| poll.is_delivering())
}

/// A request went back to a scope around, which delivers it after this poll.
pub(crate) fn note_handed_back() {
    with_poll(|poll| {
        poll.note(HANDED_BACK);
        poll.handed_back.set(frame::branch());
    });
}

/// A request was made of the body of a group around, which delivers it after this poll.
pub(crate) fn note_request() {
    with_poll(|poll| {
        poll.note(NOTED);
        poll.noted.set(frame::branch());
    });
}

/// It is being delivered.
pub(crate) fn forget_note() {
    with_poll(|poll| poll.pass.set(poll.pass.get() & !NOTED));
}

/// Whether one of the two has happened in this branch.
pub(super) fn is_noted(branch: usize) -> bool {
    with_poll(|poll| {
        let noted = |what: u8, at: &Cell<usize>| poll.pass.get() & what != 0 && at.get() == branch;
        noted(HANDED_BACK, &poll.handed_back) || noted(NOTED, &poll.noted)
    })
}

/// Whether the current task has requests that came since its last poll.
pub(super) fn is_asked() -> bool {
    with_task(|task| task.is_some_and(|task| task.word.has_requests()))
}

/// The number of the present poll of a task, which no other poll has.
pub(crate) fn number() -> u64 {
    with_poll(|poll| {
        if poll.number.get() == 0 {
            poll.number.set(next_number());
        }
        poll.number.get()
    })
}

/// `waker`, unless it is the current task's own.
pub(crate) fn foreign_to_root(waker: &Waker) -> Option<&Waker> {
    (identity(waker) != with_poll(|poll| poll.root_waker)).then_some(waker)
}

/// Takes one unit of the turn's budget; `false` if it is spent. Unlimited outside tasks.
#[inline]
pub(crate) fn spend() -> bool {
    with_poll(|poll| match poll.budget.get().checked_sub(1) {
        Some(left) => {
            poll.budget.set(left);
            true
        }
        None => poll.task.is_none(),
    })
}

/// Calls `read` with the task-locals that are bound here.
pub(crate) fn with_locals<R>(read: impl FnOnce(&Locals) -> R) -> R {
    let locals = with_poll(|poll| {
        let bound = poll.locals.replace(ManuallyDrop::new(Locals(None)));
        let copy = Locals::clone(&bound);
        poll.locals.set(bound);
        copy
    });
    read(&locals)
}

/// Binds these task-locals, and no others, until the guard is dropped.
pub(crate) fn enter_locals(locals: Locals) -> LocalsGuard {
    LocalsGuard(with_poll(|poll| poll.locals.replace(ManuallyDrop::new(locals))))
}

/// Restores what was bound before; see [`enter_locals`].
pub(crate) struct LocalsGuard(ManuallyDrop<Locals>);

impl Drop for LocalsGuard {
    fn drop(&mut self) {
        let former = std::mem::take(&mut self.0);
        let left = with_poll(|poll| poll.locals.replace(former));
        // INVARIANT X2: this guard's own, not the task's.
        drop(ManuallyDrop::into_inner(left));
    }
}

#[inline]
pub(super) fn identity(waker: &Waker) -> Identity {
    let data = waker.data().addr();
    if data == 0 { std::ptr::from_ref(waker.vtable()).addr() | 1 } else { data }
}
