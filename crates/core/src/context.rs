//! What the code that is running on this thread belongs to: the task, the pass of its poll, the ambient runtime, the
//! task-locals. The innermost scope is in [`frame`].
//!
//! All of it is thread-local without destructors, so that it can be used from the destructors of other
//! thread-locals (law T4).
//!
//! INVARIANT X1: `task` points at the metadata of the task whose poll (or drop) is on this thread's
//! stack. It is set by [`enter_task`] alone, whose guard restores the former value before the caller's
//! reference to the metadata ends. It never leaves this thread.
//!
//! | field | written by |
//! |---|---|
//! | `task`, `budget` | [`enter_task`]; `budget` also by [`spend`] |
//! | `root_waker`, `pass`, `turn` | [`enter_task`], [`start_pass`]; `pass` also by [`ask_for_repoll`] and those below |
//! | `handed_back`, `noted` | [`note_handed_back`], [`note_request`], [`forget_note`]; they hold while `pass` says so |
//! | `runtime` | [`enter_runtime`] |
//! | `kept`, `cleans` | [`keep`], [`take_kept`] |
//! | `aborting` | [`enter_aborting`] |
//! | `locals` | [`enter_task`], [`enter_locals`] |

pub(crate) mod frame;

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::task::Waker;

use crate::locals::Locals;
use crate::runtime::handle::Handle;
use crate::sync::{AtomicU64, Ordering};
use crate::task::meta::TaskMeta;
use crate::task::reference::TaskRef;

/// How many ready-made library operations a task may do in one turn (law D7).
const BUDGET: u8 = 128;

struct Here {
    task: Cell<Option<NonNull<TaskMeta>>>,
    root_waker: Cell<Identity>,
    budget: Cell<u8>,
    pass: Cell<u8>,
    turn: Cell<u64>,
    /// The branch in which a request was handed back to a scope during this pass.
    handed_back: Cell<usize>,
    /// The branch in which a group made a request of its body during this pass.
    noted: Cell<usize>,
    aborting: Cell<bool>,
    runtime: Cell<ManuallyDrop<Option<Handle>>>,
    /// The runtime for which this thread scheduled last.
    kept: Cell<ManuallyDrop<Option<Handle>>>,
    /// Somebody takes `kept` at the end of the thread.
    cleans: Cell<bool>,
    locals: Cell<ManuallyDrop<Locals>>,
    thread: Cell<u64>,
}

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
type Identity = usize;

/// Of no waker.
const NOBODY: Identity = 0;

thread_local! {
    static HERE: Here = const {
        Here {
            task: Cell::new(None),
            root_waker: Cell::new(NOBODY),
            budget: Cell::new(0),
            pass: Cell::new(0),
            turn: Cell::new(0),
            handed_back: Cell::new(0),
            noted: Cell::new(0),
            aborting: Cell::new(false),
            runtime: Cell::new(ManuallyDrop::new(None)),
            kept: Cell::new(ManuallyDrop::new(None)),
            cleans: Cell::new(false),
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

/// Makes `task` the current one, outside every scope, until the guard is dropped.
#[inline]
pub(crate) fn enter_task(task: Option<&TaskMeta>) -> TaskGuard<'_> {
    let outer = HERE.with(|here| {
        // Nearly always a worker polls a task from its loop, and there is nothing to put aside.
        let at_rest = here.task.get().is_none() && frame::is_outside();
        let outer = (!at_rest).then(|| Box::new(here.put_aside()));
        here.task.set(task.map(NonNull::from));
        here.budget.set(BUDGET);
        outer
    });
    let locals = enter_locals(task.map_or(Locals(None), |task| task.locals.clone()));
    TaskGuard { outer, _locals: locals, _lifetime: PhantomData }
}

/// Restores what was current before; see [`enter_task`].
pub(crate) struct TaskGuard<'a> {
    outer: Option<Box<Outer>>,
    _locals: LocalsGuard,
    _lifetime: PhantomData<&'a TaskMeta>,
}

impl Drop for TaskGuard<'_> {
    fn drop(&mut self) {
        HERE.with(|here| match self.outer.take() {
            None => {
                here.task.set(None);
                here.root_waker.set(NOBODY);
                here.pass.set(0);
            }
            Some(outer) => here.take_up(*outer),
        });
    }
}

/// What was going on on this thread before a task was polled inside of it.
struct Outer {
    task: Option<NonNull<TaskMeta>>,
    budget: u8,
    frame: frame::Aside,
    root_waker: Identity,
    pass: u8,
    handed_back: usize,
    noted: usize,
}

impl Here {
    #[cold]
    fn put_aside(&self) -> Outer {
        Outer {
            task: self.task.take(),
            budget: self.budget.get(),
            frame: frame::put_aside(),
            root_waker: self.root_waker.replace(NOBODY),
            pass: self.pass.replace(0),
            handed_back: self.handed_back.get(),
            noted: self.noted.get(),
        }
    }

    #[cold]
    fn take_up(&self, outer: Outer) {
        self.task.set(outer.task);
        self.budget.set(outer.budget);
        frame::take_up(outer.frame);
        self.root_waker.set(outer.root_waker);
        self.pass.set(outer.pass);
        self.handed_back.set(outer.handed_back);
        self.noted.set(outer.noted);
    }

    /// `false` on a thread that is ending: it keeps nothing any more.
    #[cold]
    fn promise_to_clean(&self) -> bool {
        self.cleans.set(CLEANER.try_with(|_| ()).is_ok());
        self.cleans.get()
    }

    fn note(&self, what: u8) {
        self.pass.set(self.pass.get() | what);
    }
}

/// Starts a pass of the current task's poll: the root polls again at once when a request was delivered
/// to code that shares its waker, so that a delivery takes no further turn (law C2).
pub(crate) fn start_pass(waker: &Waker, delivering: bool) {
    HERE.with(|here| {
        here.root_waker.set(identity(waker));
        here.pass.set(if delivering { DELIVERING } else { 0 });
        if !delivering {
            here.turn.set(here.turn.get() + 1);
        }
    });
}

/// A request was delivered: whoever got it is to be polled.
pub(crate) fn ask_for_repoll() {
    HERE.with(|here| here.note(REPOLL));
}

/// Whether that was asked for during this pass.
pub(crate) fn repoll_wanted() -> bool {
    HERE.with(|here| here.pass.get() & REPOLL != 0)
}

/// Whether this pass was asked for by a delivery.
pub(crate) fn is_delivering() -> bool {
    HERE.with(|here| here.pass.get() & DELIVERING != 0)
}

/// A request went back to a scope around, which delivers it after this poll.
pub(crate) fn note_handed_back() {
    HERE.with(|here| {
        here.note(HANDED_BACK);
        here.handed_back.set(frame::branch());
    });
}

/// A request was made of the body of a group around, which delivers it after this poll.
pub(crate) fn note_request() {
    HERE.with(|here| {
        here.note(NOTED);
        here.noted.set(frame::branch());
    });
}

/// It is being delivered.
pub(crate) fn forget_note() {
    HERE.with(|here| here.pass.set(here.pass.get() & !NOTED));
}

/// Whether one of the two has happened in this branch.
fn is_noted(branch: usize) -> bool {
    HERE.with(|here| {
        let noted = |what: u8, at: &Cell<usize>| here.pass.get() & what != 0 && at.get() == branch;
        noted(HANDED_BACK, &here.handed_back) || noted(NOTED, &here.noted)
    })
}

/// Whether the current task has requests that came since its last poll.
fn is_asked() -> bool {
    with_task(|task| task.is_some_and(|task| task.word.has_requests()))
}

/// The number of the present poll of a task, which no other poll has.
pub(crate) fn turn() -> u64 {
    HERE.with(|here| here.turn.get()) | thread_token() << 40
}

/// `waker`, unless it is the current task's own.
pub(crate) fn foreign_to_root(waker: &Waker) -> Option<&Waker> {
    (identity(waker) != HERE.with(|here| here.root_waker.get())).then_some(waker)
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

/// Takes the runtime that this thread kept.
#[inline]
pub(crate) fn take_kept() -> Option<Handle> {
    HERE.with(|here| ManuallyDrop::into_inner(here.kept.take()))
}

/// Keeps a runtime, until [`take_kept`] or the end of the thread.
#[inline]
pub(crate) fn keep(runtime: Handle) {
    let former = HERE.with(|here| {
        if here.cleans.get() || here.promise_to_clean() {
            here.kept.replace(ManuallyDrop::new(Some(runtime)))
        } else {
            ManuallyDrop::new(Some(runtime))
        }
    });
    drop(ManuallyDrop::into_inner(former));
}

/// Takes what the thread kept when it ends.
struct Cleaner;

impl Drop for Cleaner {
    fn drop(&mut self) {
        HERE.with(|here| here.cleans.set(false));
        drop(take_kept());
    }
}

thread_local! {
    static CLEANER: Cleaner = const { Cleaner };
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

/// The runtime that a call on this thread belongs to.
pub(crate) enum AmbientRuntime {
    Counted(Handle),
    /// That of the current task, which holds it during the call.
    OfTask(ManuallyDrop<Handle>, PhantomData<*const ()>),
}

impl Deref for AmbientRuntime {
    type Target = Handle;
    fn deref(&self) -> &Handle {
        match self {
            AmbientRuntime::Counted(handle) => handle,
            AmbientRuntime::OfTask(handle, _) => handle,
        }
    }
}

/// The runtime of the current task, without counting a reference; for the time of one call only.
#[inline]
pub(crate) fn ambient_runtime() -> Option<AmbientRuntime> {
    with_task(|task| {
        // SAFETY: INVARIANT X1: the task holds its runtime until after the poll in which this is called. The copy is
        // never dropped and never leaves the thread.
        let handle = unsafe { std::ptr::read(task?.runtime_ref()) };
        Some(AmbientRuntime::OfTask(ManuallyDrop::new(handle), PhantomData))
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
