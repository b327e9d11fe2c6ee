//! A task that is awaited without being owned: what `gather(..).leave_running()` waits for.
//!
//! It is a linked await (law C10) in all but one thing: dropping it leaves the task running.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use brigade_core::scope::Receiver;
use brigade_core::{CancelKind, Finished, Task, TaskError};

/// See the module.
pub(crate) struct Followed<T: 'static, E: 'static> {
    task: Task<T, E>,
    finished: Finished,
    receiver: Receiver,
    resumed: bool,
}

impl<T, E> Followed<T, E> {
    pub(crate) fn new(task: Task<T, E>) -> Followed<T, E> {
        Followed { finished: task.finished(), task, receiver: Receiver::new(), resumed: false }
    }
}

impl<T, E> Unpin for Followed<T, E> {}

impl<T, E> Future for Followed<T, E> {
    type Output = Result<T, TaskError<E>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.resumed {
            return Poll::Pending;
        }
        if Pin::new(&mut this.finished).poll(cx).is_ready() {
            if this.receiver.is_requested() && this.task.cancelled() {
                this.receiver.resume();
                this.resumed = true;
                return Poll::Pending;
            }
            this.receiver.hand_back();
            let outcome = this.task.try_take();
            return Poll::Ready(outcome.expect("the task is done, and nobody else can take its outcome"));
        }
        if let Some(request) = this.receiver.poll_request(cx.waker()) {
            let reason = request.reason.with_kind(CancelKind::ParentCancelled);
            this.task.to_ref().request(request.level, reason);
        }
        Poll::Pending
    }
}

impl<T, E> fmt::Debug for Followed<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Followed").field("task", &self.task.to_ref()).finish_non_exhaustive()
    }
}
