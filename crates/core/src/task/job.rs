//! A scheduled task in the hands of a backend, and the epilogue of a task's last poll.
//!
//! async-task publishes the output when its `run` returns; only then may waiters look. So the
//! finishing poll leaves a note on this thread ([`finishing`]) and the job's `run` does the rest: it
//! sets `DONE`, wakes waiters, runs done-callbacks and tells the owner (laws T3, T9, T10).
//!
//! INVARIANT J1: `FINISHED` is set only between [`finishing`] and the end of the same job's `run`, and
//! the task is in its registry for that time, so the pointer is valid.
//!
//! INVARIANT J2: a job with a home is run or dropped on the thread on which its task was spawned.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ptr::NonNull;

use async_task::Runnable;

use crate::backend::{Home, ScheduleInfo};
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::context;
use crate::runtime::handle::Handle;
use crate::runtime::reports;
use crate::sync::Arc;
use crate::task::callbacks;
use crate::task::id::TaskId;
use crate::task::meta::TaskMeta;
use crate::task::output::Owner;
use crate::task::reference::TaskRef;
use crate::task::registry;
use crate::task::reports::{guarded, wake_safely};
use crate::task::state::Ending;

thread_local! {
    static FINISHED: Cell<Option<(NonNull<TaskMeta>, Ending)>> = const { Cell::new(None) };
    /// Jobs that were dropped inside the run of another one.
    static DROPPED: RefCell<Vec<Runnable<TaskMeta>>> = const { RefCell::new(Vec::new()) };
    static DROPPING: Cell<bool> = const { Cell::new(false) };
}

/// A task that is scheduled: a backend runs it soon, by [`Job::run`] (law B1).
///
/// Dropping a job ends its task as cancelled (`Shutdown`), with the future dropped on this thread.
#[must_use = "dropping a job cancels its task; run it, or forget it to leak the task"]
pub struct Job {
    runnable: Option<Runnable<TaskMeta>>,
}

impl Job {
    pub(crate) fn new(runnable: Runnable<TaskMeta>) -> Job {
        Job { runnable: Some(runnable) }
    }

    /// Polls the task once. `true` if it woke itself meanwhile and has been scheduled again.
    ///
    /// Never panics: a panic of the task is its outcome.
    pub fn run(mut self) -> bool {
        let Some(runnable) = self.runnable.take() else { return false };
        // Nothing is left to drop, and asking whether there is costs more than the rest of this function.
        std::mem::forget(self);
        if on_its_thread(runnable.metadata()) { run(runnable) } else { leak(runnable) }
    }

    /// The number of the task.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the runnable is taken only by what consumes the job")]
    pub fn id(&self) -> TaskId {
        self.runnable.as_ref().expect("a job holds its runnable").metadata().id()
    }

    /// The only worker on which this job may be run or dropped, if there is one (law B2).
    #[must_use]
    pub fn home(&self) -> Option<Home> {
        self.runnable.as_ref().and_then(|runnable| runnable.metadata().home).map(|home| home.worker)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let Some(runnable) = self.runnable.take() else { return };
        if !on_its_thread(runnable.metadata()) {
            leak(runnable);
            return;
        }
        end_all(runnable);
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("id", &self.runnable.as_ref().map(|runnable| runnable.metadata().id()))
            .field("home", &self.home())
            .finish()
    }
}

/// The schedule function of every task. It has no captures, which spares async-task two atomic
/// operations per wake.
pub(crate) fn schedule(runnable: Runnable<TaskMeta>, info: async_task::ScheduleInfo) {
    hand_over(runnable, info.woken_while_running, false);
}

/// Hands a job to the backend of its runtime.
///
/// The task may end, and its runtime with it, on another thread while the backend's `schedule` is
/// still running here. So a reference to the runtime is held meanwhile: the one that this thread keeps
/// from the last time, since a fresh clone would contend with every other thread.
pub(crate) fn hand_over(runnable: Runnable<TaskMeta>, woken_while_running: bool, fresh: bool) {
    let runtime = match context::take_kept() {
        Some(known) if known.is_same(runnable.metadata().runtime_ref()) => known,
        other => other_runtime(other, &runnable),
    };
    let home = runnable.metadata().home.map(|home| home.worker);
    let info = ScheduleInfo { woken_while_running, home, fresh };
    runtime.backend().schedule(Job::new(runnable), info);
    context::keep(runtime);
}

#[cold]
fn other_runtime(kept: Option<Handle>, runnable: &Runnable<TaskMeta>) -> Handle {
    drop(kept);
    runnable.metadata().runtime()
}

/// Lets go of the runtime that this thread kept; see [`hand_over`].
pub(crate) fn forget_runtime() {
    drop(context::take_kept());
    registry::give_up_seat();
}

/// Notes that the task's outcome is on its way out of the poll that is going on.
pub(crate) fn finishing(meta: &TaskMeta, ending: Ending) {
    FINISHED.set(Some((NonNull::from(meta), ending)));
}

/// The runtime of the task whose outcome is on its way out on this thread, if one is.
pub(crate) fn finishing_runtime() -> Option<Handle> {
    // SAFETY: INVARIANT J1.
    FINISHED.get().map(|(task, _)| unsafe { task.as_ref() }.runtime())
}

fn run(runnable: Runnable<TaskMeta>) -> bool {
    if FINISHED.get().is_some() {
        return run_nested(runnable);
    }
    let again = runnable.run();
    if let Some((task, ending)) = FINISHED.get() {
        FINISHED.set(None);
        // SAFETY: INVARIANT J1: the task is still registered, and its last poll was here.
        unsafe { epilogue(task, ending) };
    }
    again
}

/// A job is run or dropped while another one, whose task has finished, is on its way out of its poll.
#[cold]
fn run_nested(runnable: Runnable<TaskMeta>) -> bool {
    let outer = FINISHED.take();
    let again = run(runnable);
    FINISHED.set(outer);
    again
}

/// Makes the outcome readable, tells everybody who waits, and takes the task out of the registry.
///
/// # Safety
///
/// The task has ended on this thread, is registered, and this is called once.
#[inline(never)]
unsafe fn epilogue(task: NonNull<TaskMeta>, ending: Ending) {
    // SAFETY: INVARIANT J1. No reference to the metadata may be an argument where it is let go of.
    let meta = unsafe { task.as_ref() };
    let waiting = meta.word.transition_to_done(ending);
    if waiting.joined {
        // SAFETY: INVARIANT K1: the transition met `JOINED`.
        let joiner = unsafe { meta.take_joiner() };
        joiner.into_iter().for_each(wake_safely);
    }
    if waiting.watched || meta.is_owned {
        // SAFETY: INVARIANT R1: the task is registered, and leaves below.
        let lent = unsafe { meta.lend_ref() };
        // SAFETY: INVARIANT H1: this is the epilogue.
        let owner = unsafe { meta.hold.take_owner() };
        lent.iter().for_each(|task| tell(task, waiting.watched));
        lent.iter().zip(owner).for_each(|(task, owner)| tell_owner(task, owner));
    }
    // SAFETY: INVARIANT J1: registered until now.
    unsafe { registry::leave(task) };
}

/// Tells those who have left something with the task.
fn tell(task: &TaskRef, watched: bool) {
    if watched {
        let (watchers, callbacks) = task.meta().late().take_watchers();
        watchers.into_iter().map(|(_, waker)| waker).for_each(wake_safely);
        callbacks::run_all(task, callbacks);
    }
}

fn tell_owner(task: &TaskRef, (owner, key): (Arc<dyn Owner>, usize)) {
    guarded("the owner of a task was told of its end", move || owner.child_done(key, task));
}

/// Ends tasks whose jobs are dropped. The end of one may drop jobs of others (a closed backend drops
/// what its waiters schedule): a queue instead of recursion (law T12).
fn end_all(runnable: Runnable<TaskMeta>) {
    let mut next = Some(runnable);
    if DROPPING.get() && DROPPED.try_with(|dropped| dropped.borrow_mut().extend(next.take())).is_ok() {
        return;
    }
    let outermost = !DROPPING.replace(true);
    while let Some(runnable) = next {
        end(runnable);
        next = DROPPED.try_with(|dropped| dropped.borrow_mut().pop()).ok().flatten();
    }
    DROPPING.set(!outermost);
}

fn end(runnable: Runnable<TaskMeta>) {
    let _ = runnable.metadata().request_abort(CancelReason::new(CancelKind::Shutdown));
    run(runnable);
}

fn on_its_thread(meta: &TaskMeta) -> bool {
    meta.home.is_none_or(|home| home.thread == context::thread_token())
}

/// Law B2: a `!Send` future must not be touched on a foreign thread, not even to drop it.
fn leak(runnable: Runnable<TaskMeta>) -> bool {
    let meta = runnable.metadata();
    reports::warn(format!(
        "the worker of local task `{}` (spawned at {}) is gone; the task is leaked",
        meta.name(),
        meta.location
    ));
    std::mem::forget(runnable);
    false
}

impl Job {
    /// Hands a new task to its backend.
    pub(crate) fn start(mut self) {
        let Some(runnable) = self.runnable.take() else { return };
        std::mem::forget(self);
        hand_over(runnable, false, true);
    }
}
