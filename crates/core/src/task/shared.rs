//! One result for many waiters (law T13).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::budget;
use crate::sync::{Arc, Mutex, OnceLock, lock};
use crate::task::error::TaskError;
use crate::task::finished::Finished;
use crate::task::handle::Task;
use crate::task::reference::TaskRef;

/// A cloneable handle: every waiter gets the value, or the shared error; see [`Task::shared`].
///
/// Waiting makes no link (law T13); nobody steals another's wake-up.
///
/// # Cancellation
///
/// A cancelled waiter leaves the task and the other waiters alone.
pub struct SharedTask<T: 'static, E: 'static>(Arc<Inner<T, E>>);

type Outcome<T, E> = Result<T, Arc<TaskError<E>>>;

struct Inner<T: 'static, E: 'static> {
    task: TaskRef,
    handle: Mutex<Option<Task<T, E>>>,
    outcome: OnceLock<Outcome<T, E>>,
}

impl<T: Clone + 'static, E: 'static> SharedTask<T, E> {
    pub(crate) fn new(task: Task<T, E>) -> SharedTask<T, E> {
        let reference = task.to_ref();
        SharedTask(Arc::new(Inner {
            task: reference,
            handle: Mutex::new(Some(task)),
            outcome: OnceLock::new(),
        }))
    }

    /// A weak reference to the task.
    #[must_use]
    pub fn to_ref(&self) -> TaskRef {
        self.0.task.clone()
    }

    /// The outcome, once the task is done.
    ///
    /// # Errors
    ///
    /// The error with which the task ended, shared with all other waiters.
    pub fn result(&self) -> Option<Result<T, Arc<TaskError<E>>>> {
        if !self.0.task.done() {
            return None;
        }
        let mut handle = lock(&self.0.handle);
        if let Some(outcome) = handle.as_mut().and_then(Task::try_take) {
            let _ = self.0.outcome.set(outcome.map_err(Arc::new));
        }
        let spent = handle.take();
        drop(handle);
        drop(spent);
        self.0.outcome.get().cloned()
    }
}

impl<T: 'static, E: 'static> Clone for SharedTask<T, E> {
    fn clone(&self) -> SharedTask<T, E> {
        SharedTask(self.0.clone())
    }
}

impl<T: 'static, E: 'static> fmt::Debug for SharedTask<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedTask").field(&self.0.task).finish()
    }
}

/// The future of `shared.await`.
///
/// # Cancellation
///
/// The task and the other waiters are left alone.
#[must_use = "futures do nothing unless they are awaited"]
pub struct SharedJoin<T: 'static, E: 'static> {
    shared: SharedTask<T, E>,
    finished: Finished,
}

impl<T: Clone, E> IntoFuture for SharedTask<T, E> {
    type Output = Outcome<T, E>;
    type IntoFuture = SharedJoin<T, E>;
    fn into_future(self) -> SharedJoin<T, E> {
        SharedJoin { finished: self.0.task.finished(), shared: self }
    }
}

impl<T: Clone, E> Future for SharedJoin<T, E> {
    type Output = Outcome<T, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if Pin::new(&mut self.finished).poll(cx).is_pending() || budget::poll_proceed(cx).is_pending() {
            return Poll::Pending;
        }
        Poll::Ready(self.shared.result().expect("a task that is done has an outcome"))
    }
}

impl<T: 'static, E: 'static> fmt::Debug for SharedJoin<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedJoin").field(&self.shared).finish()
    }
}
