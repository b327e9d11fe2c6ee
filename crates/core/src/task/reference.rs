//! A weak, cloneable reference to a task (law T13).
//!
//! INVARIANT P1: a waker of an async-task task keeps the task's header alive, and the metadata lives
//! in the header, is never moved, and is dropped only with it. (Implementation behaviour of async-task
//! 4.7, which the workspace pins; checked by a test under Miri.) A `TaskRef` holds such a waker.

use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;
use std::task::Waker;

use crate::cancel::account::Level;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::sync::Arc;
use crate::task::callbacks::{self, CallbackId};
use crate::task::finished::Finished;
use crate::task::id::TaskId;
use crate::task::meta::TaskMeta;
use crate::task::state::{CancelOutcome, Ending, TaskState};

/// A weak reference to a task: it neither keeps the task's result nor its future, and it works from
/// any thread at any time, also after the runtime has ended (laws T3, T13, R4).
///
/// Got from [`Task::to_ref`](crate::Task::to_ref), [`current_task`](crate::current_task) and
/// [`all_tasks`](crate::all_tasks).
pub struct TaskRef {
    waker: Waker,
    meta: NonNull<TaskMeta>,
}

// SAFETY: INVARIANT P1 keeps the metadata alive, and TaskMeta is Send and Sync (checked below).
unsafe impl Send for TaskRef {}
// SAFETY: as above.
unsafe impl Sync for TaskRef {}

const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<TaskMeta>();
};

impl TaskRef {
    /// `waker` is one of the task whose metadata `meta` is.
    pub(crate) fn from_parts(waker: Waker, meta: NonNull<TaskMeta>) -> TaskRef {
        TaskRef { waker, meta }
    }

    pub(crate) fn meta(&self) -> &TaskMeta {
        // SAFETY: INVARIANT P1: `self.waker` keeps the header alive as long as the borrow lasts.
        unsafe { self.meta.as_ref() }
    }

    /// Has the task polled soon; async-task ignores it once the task is done.
    pub(crate) fn wake(&self) {
        self.waker.wake_by_ref();
    }

    /// The task's number, unique within its runtime.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.meta().id()
    }

    /// The task's name; `task-<id>` unless it was given another (law T7).
    #[must_use]
    pub fn name(&self) -> Arc<str> {
        self.meta().name()
    }

    /// Gives the task another name. Names need not be unique.
    pub fn set_name(&self, name: impl Into<Arc<str>>) {
        self.meta().set_name(name.into());
    }

    /// The task that spawned this one, if a task did.
    #[must_use]
    pub fn parent(&self) -> Option<TaskId> {
        self.meta().parent
    }

    /// Where the task was spawned.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.meta().location
    }

    /// Where the task stands now (law T3).
    #[must_use]
    pub fn state(&self) -> TaskState {
        self.meta().state()
    }

    /// Whether the task has ended and its outcome is readable.
    #[must_use]
    pub fn done(&self) -> bool {
        self.meta().word.ending().is_some()
    }

    /// Whether the task has ended as cancelled.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.meta().word.ending() == Some(Ending::Cancelled)
    }

    /// The number of explicit requests made to the task that were not absorbed (law T3).
    #[must_use]
    pub fn cancelling(&self) -> u32 {
        self.meta().cancelling()
    }

    /// Requests cancellation of the task and returns at once; no user code runs in the call (law C1).
    #[track_caller]
    pub fn cancel(&self) -> CancelOutcome {
        self.request(Level::Hard, CancelReason::new(CancelKind::Explicit))
    }

    /// The same with a text for people, kept in the [`CancelReason`].
    #[track_caller]
    pub fn cancel_with(&self, text: impl Into<String>) -> CancelOutcome {
        self.request(Level::Hard, CancelReason::with_text(CancelKind::Explicit, text))
    }

    /// Requests cancellation at a level and for a reason of the caller's choice; for combinators and
    /// runners. A hard request of kind [`CancelKind::Explicit`] or [`CancelKind::Signal`] counts in
    /// [`cancelling`](TaskRef::cancelling).
    pub fn request(&self, level: Level, reason: CancelReason) -> CancelOutcome {
        let explicit =
            level == Level::Hard && matches!(reason.kind(), CancelKind::Explicit | CancelKind::Signal);
        let outcome = self.meta().request(level, reason, explicit);
        if outcome != CancelOutcome::Done {
            self.wake();
        }
        outcome
    }

    /// Hard cancel: the future is dropped at its current suspension point, on its executor, without
    /// any handler running; the outcome is cancelled with kind [`CancelKind::Aborted`] (law C14).
    #[track_caller]
    pub fn abort(&self) {
        self.abort_for(CancelReason::new(CancelKind::Aborted));
    }

    /// The same with another reason.
    pub(crate) fn abort_for(&self, reason: CancelReason) {
        if self.meta().request_abort(reason) {
            self.wake();
        }
    }

    /// Whether `waiter` waits for the end of this task in its own poll; a combinator with wakers of its
    /// own in between hides it. For dumps of programs that hang.
    #[must_use]
    pub fn is_awaited_by(&self, waiter: &TaskRef) -> bool {
        let data = waiter.waker.data();
        let late = self.meta().late();
        let mut watchers = late.more.iter().flat_map(|more| more.watchers.iter().map(|(_, waker)| waker));
        !self.done() && (self.meta().is_joined_with(data) || watchers.any(|waker| waker.data() == data))
    }

    /// Waits until the task has ended, without a link and without taking the value (law C10).
    pub fn finished(&self) -> Finished {
        Finished::new(self.clone())
    }

    /// Has `callback` called once, on the executor, after the outcome is readable (law T9).
    pub fn on_done(&self, callback: impl FnOnce(&TaskRef) + Send + 'static) -> CallbackId {
        callbacks::add(self, Box::new(callback))
    }

    /// Takes a callback back; `false` if it has run or was removed.
    pub fn remove_callback(&self, id: CallbackId) -> bool {
        callbacks::remove(self, id)
    }
}

impl Clone for TaskRef {
    fn clone(&self) -> TaskRef {
        TaskRef { waker: self.waker.clone(), meta: self.meta }
    }
}

impl PartialEq for TaskRef {
    /// Whether both refer to the same task.
    fn eq(&self, other: &TaskRef) -> bool {
        self.meta == other.meta
    }
}

impl Eq for TaskRef {}

impl fmt::Debug for TaskRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskRef")
            .field("id", &self.id())
            .field("name", &self.name())
            .field("state", &self.state())
            .field("location", &format_args!("{}", self.location()))
            .finish()
    }
}
