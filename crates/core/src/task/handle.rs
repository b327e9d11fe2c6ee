//! The handle of a task: the only one through which its result can be taken.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::cancel::reason::{CancelKind, CancelReason};
use crate::sync::{Arc, Mutex, OnceLock, PoisonError, lock};
use crate::task::callbacks::CallbackId;
use crate::task::drop_queue::drop_flat;
use crate::task::error::TaskError;
use crate::task::finished::Finished;
use crate::task::id::TaskId;
use crate::task::joiner::JoinRight;
use crate::task::meta::TaskMeta;
use crate::task::outcome::Out;
use crate::task::reference::TaskRef;
use crate::task::shared::SharedTask;
use crate::task::state::{CancelOutcome, TaskState};

pub(crate) type Inner<T, E> = async_task::Task<Out<T, E>, TaskMeta>;

/// A spawned task (laws T1–T13); asyncio's `Task`.
///
/// Awaiting it by value links the two tasks: when the waiter is cancelled, the awaited task is, too,
/// and the waiter waits until that is over (law C10). `(&mut task).await` and
/// [`finished`](Task::finished) watch without a link. Dropping the handle neither cancels nor loses the
/// task (law T5); [`cancel_on_drop`](Task::cancel_on_drop) makes a handle that does cancel.
///
/// # Cancellation
///
/// `task.await` passes a cancellation on to the task and waits for its end. If the task ended as
/// cancelled, the waiter unwinds; if it ended otherwise, the waiter gets the outcome, and the request
/// goes back to its scope.
///
/// # Panics
///
/// A task that awaits itself panics instead of hanging (law T11).
pub struct Task<T: 'static, E: 'static> {
    /// Locked only to take or to peek at the outcome, which is done at most once.
    inner: Mutex<Option<Inner<T, E>>>,
    /// The outcome after somebody peeked at it.
    peeked: OnceLock<Box<Out<T, E>>>,
    task: TaskRef,
    right: JoinRight,
}

impl<T: 'static, E: 'static> Task<T, E> {
    #[inline]
    pub(crate) fn new(inner: Option<Inner<T, E>>, task: TaskRef) -> Task<T, E> {
        Task { inner: Mutex::new(inner), peeked: OnceLock::new(), task, right: JoinRight::of_handle() }
    }

    /// The task's number, unique within its runtime.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.task.id()
    }

    /// The task's name; `task-<id>` unless it was given another (law T7).
    #[must_use]
    pub fn name(&self) -> Arc<str> {
        self.task.name()
    }

    /// Gives the task another name. Names need not be unique.
    pub fn set_name(&self, name: impl Into<Arc<str>>) {
        self.task.set_name(name);
    }

    /// The task that spawned this one, if a task did.
    #[must_use]
    pub fn parent(&self) -> Option<TaskId> {
        self.task.parent()
    }

    /// Where the task was spawned.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.task.location()
    }

    /// Where the task stands now (law T3).
    #[must_use]
    pub fn state(&self) -> TaskState {
        self.task.state()
    }

    /// Whether the task has ended and its outcome is readable.
    #[must_use]
    pub fn done(&self) -> bool {
        self.task.done()
    }

    /// Whether the task has ended as cancelled.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.task.cancelled()
    }

    /// The number of explicit requests made to the task that were not absorbed (law T3).
    #[must_use]
    pub fn cancelling(&self) -> u32 {
        self.task.cancelling()
    }

    /// The outcome by reference, once the task is done; it is not consumed, and counts as observed
    /// (laws T3, T6). `None` before, and after the value was taken through `&mut`.
    ///
    /// # Errors
    ///
    /// The error with which the task ended.
    pub fn result(&self) -> Option<Result<&T, &TaskError<E>>> {
        if !self.done() {
            return None;
        }
        if self.peeked.get().is_none() {
            let mut inner = lock(&self.inner);
            if let Some(task) = inner.take() {
                let _ = self.peeked.set(Box::new(take_output(task)));
            }
        }
        self.peeked.get()?.peek()
    }

    /// The error with which the task ended, by reference; asyncio's `exception()`.
    #[must_use]
    pub fn error(&self) -> Option<&TaskError<E>> {
        self.result()?.err()
    }

    /// Takes the outcome, once the task is done. `None` before, and after it was taken.
    ///
    /// # Errors
    ///
    /// The error with which the task ended.
    pub fn try_take(&mut self) -> Option<Result<T, TaskError<E>>> {
        if !self.done() {
            return None;
        }
        if let Some(out) = self.peeked.take() {
            return out.take();
        }
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        take_output(inner.take()?).take()
    }

    /// Requests cancellation of the task and returns at once; no user code runs in the call (law C1).
    #[track_caller]
    pub fn cancel(&self) -> CancelOutcome {
        self.task.cancel()
    }

    /// The same with a text for people.
    #[track_caller]
    pub fn cancel_with(&self, text: impl Into<String>) -> CancelOutcome {
        self.task.cancel_with(text)
    }

    /// Hard cancel: the future is dropped without any handler running (law C14).
    #[track_caller]
    pub fn abort(&self) {
        self.task.abort();
    }

    /// A weak reference to the task.
    #[must_use]
    pub fn to_ref(&self) -> TaskRef {
        self.task.clone()
    }

    /// Waits until the task has ended, without a link and without taking the value (law C10).
    pub fn finished(&self) -> Finished {
        self.task.finished()
    }

    /// Has `callback` called once, on the executor, after the outcome is readable (law T9); asyncio's
    /// `add_done_callback`.
    pub fn on_done(&self, callback: impl FnOnce(&TaskRef) + Send + 'static) -> CallbackId {
        self.task.on_done(callback)
    }

    /// Takes a callback back; `false` if it has run or was removed.
    pub fn remove_callback(&self, id: CallbackId) -> bool {
        self.task.remove_callback(id)
    }

    /// A handle that can be cloned and awaited by many, without a link (law T13).
    #[must_use]
    pub fn shared(self) -> SharedTask<T, E>
    where
        T: Clone,
    {
        SharedTask::new(self)
    }

    /// A handle that cancels the task when it is dropped (law T5).
    #[must_use]
    pub fn cancel_on_drop(self) -> CancelOnDrop<T, E> {
        CancelOnDrop { task: Some(self) }
    }

    pub(crate) fn reference(&self) -> &TaskRef {
        &self.task
    }

    /// Undoes [`poll_outcome`](Task::poll_outcome).
    pub(crate) fn forget_joiner(&mut self) {
        self.task.meta().forget_joiner(&mut self.right);
    }

    /// Waits as the owner of the handle.
    pub(crate) fn poll_outcome(&mut self, waker: &Waker) -> Poll<Option<Result<T, TaskError<E>>>> {
        match self.task.meta().watch_as_joiner(&mut self.right, waker) {
            true => Poll::Pending,
            false => Poll::Ready(self.try_take()),
        }
    }
}

/// The output of a task that is done.
fn take_output<T, E>(task: Inner<T, E>) -> Out<T, E> {
    let lost = || Out::lost(TaskError::Cancelled(CancelReason::new(CancelKind::Shutdown)));
    let mut task = task.fallible();
    let polled = std::future::Future::poll(Pin::new(&mut task), &mut Context::from_waker(Waker::noop()));
    match polled {
        Poll::Ready(Some(out)) => out,
        Poll::Ready(None) => lost(),
        Poll::Pending => {
            // INVARIANT W2 rules it out: `DONE` is set after the output is in its place.
            task.detach();
            lost()
        }
    }
}

impl<T: 'static, E: 'static> Drop for Task<T, E> {
    /// The task goes on (law T5); an outcome that nobody can take any more is dropped and, if it is a
    /// failure, reported (law T6), without recursion (law T12).
    fn drop(&mut self) {
        if let Some(out) = self.peeked.take() {
            drop_flat(out);
        }
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = inner.take() {
            drop_flat(Detach(Some(task)));
        }
    }
}

/// Dropping it lets the task go on; async-task's own handle would cancel it.
pub(crate) struct Detach<T: 'static, E: 'static>(pub(crate) Option<Inner<T, E>>);

impl<T: 'static, E: 'static> Drop for Detach<T, E> {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.detach();
        }
    }
}

impl<T: 'static, E: 'static> fmt::Debug for Task<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Task").field(&self.task).finish()
    }
}

/// A handle that cancels its task when it is dropped; see [`Task::cancel_on_drop`].
///
/// It derefs to the [`Task`]; awaiting it awaits the task by value.
///
/// # Cancellation
///
/// As for [`Task`].
pub struct CancelOnDrop<T: 'static, E: 'static> {
    task: Option<Task<T, E>>,
}

impl<T: 'static, E: 'static> CancelOnDrop<T, E> {
    /// The plain handle again.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the task is taken only by what consumes the handle")]
    pub fn into_task(mut self) -> Task<T, E> {
        self.task.take().expect("the handle holds its task until it is consumed")
    }
}

impl<T: 'static, E: 'static> std::ops::Deref for CancelOnDrop<T, E> {
    type Target = Task<T, E>;
    fn deref(&self) -> &Task<T, E> {
        self.task.as_ref().expect("the handle holds its task until it is consumed")
    }
}

impl<T, E> IntoFuture for CancelOnDrop<T, E> {
    type Output = Result<T, TaskError<E>>;
    type IntoFuture = crate::task::join::Join<T, E>;
    fn into_future(self) -> Self::IntoFuture {
        self.into_task().into_future()
    }
}

impl<T: 'static, E: 'static> Drop for CancelOnDrop<T, E> {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.cancel_with("its handle was dropped");
        }
    }
}

impl<T: 'static, E: 'static> fmt::Debug for CancelOnDrop<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelOnDrop").field(&self.task).finish()
    }
}
