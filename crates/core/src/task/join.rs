//! Awaiting a task: linked by value, watching by reference (laws C10, C16, T11).
//!
//! The implementations of `Future` and `IntoFuture` do not repeat `T: 'static, E: 'static`, which the
//! types imply: rustc would have to prove it with erased lifetimes when it checks whether a task that
//! awaits another one is `Send`, and fails for a boxed error (rust-lang/rust#110338).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::cancel::account::Request;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::receiver::Receiver;
use crate::context;
use crate::runtime::reports;
use crate::task::error::TaskError;
use crate::task::finished::forbid_self_await;
use crate::task::handle::Task;
use crate::task::state::TaskState;

/// The future of `task.await`; see [`Task`].
///
/// # Cancellation
///
/// A request is passed on to the task at its level; the join waits until the task is done. Ended as
/// cancelled: the waiter unwinds. Ended otherwise: the outcome is the result, and the request goes
/// back to its scope (law C10). Dropped half-way: the task is cancelled, and the runtime waits for it
/// at its end (law C16).
#[must_use = "futures do nothing unless they are awaited"]
pub struct Join<T: 'static, E: 'static> {
    task: Task<T, E>,
    receiver: Receiver,
    stage: Stage,
    /// The request that was passed on last.
    passed: Option<CancelReason>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Never polled: there is no link.
    Idle,
    Linked,
    /// The request was passed on to the task.
    Passed,
    /// The outcome was returned, or the waiter unwinds.
    Over,
}

impl<T, E> IntoFuture for Task<T, E> {
    type Output = Result<T, TaskError<E>>;
    type IntoFuture = Join<T, E>;
    fn into_future(self) -> Join<T, E> {
        Join { task: self, receiver: Receiver::new(), stage: Stage::Idle, passed: None }
    }
}

impl<T: 'static, E: 'static> Join<T, E> {
    /// The handle inside, for those who poll many.
    #[must_use]
    pub fn task(&self) -> &Task<T, E> {
        &self.task
    }

    /// Passes a request on to the task, unless it is the one that this join has passed on before: then
    /// the tasks await each other in a circle, and the unwinding begins here.
    fn pass_on(&mut self, request: Request) {
        let came_round = self.passed.as_ref().is_some_and(|passed| passed.is_same(&request.reason));
        if came_round {
            self.stage = Stage::Over;
            self.receiver.resume();
            return;
        }
        let reason = request.reason.with_kind(CancelKind::ParentCancelled);
        self.stage = Stage::Passed;
        self.passed = Some(reason.clone());
        self.task.reference().request(request.level, reason);
    }

    fn deliver(&mut self, outcome: Result<T, TaskError<E>>) -> Poll<Result<T, TaskError<E>>> {
        let passed = self.stage == Stage::Passed;
        self.stage = Stage::Over;
        if passed && matches!(outcome, Err(TaskError::Cancelled(_))) {
            self.receiver.resume();
            return Poll::Pending;
        }
        self.receiver.hand_back();
        Poll::Ready(outcome)
    }
}

impl<T, E> Future for Join<T, E> {
    type Output = Result<T, TaskError<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if this.stage == Stage::Over {
            return Poll::Pending;
        }
        forbid_self_await(this.task.reference().meta());
        if let Poll::Ready(outcome) = this.task.poll_outcome(cx.waker()) {
            return this.deliver(outcome.expect("`&mut task` was awaited to the end before `task`"));
        }
        if this.stage == Stage::Idle {
            this.stage = Stage::Linked;
        }
        if let Some(request) = this.receiver.poll_request(cx.waker()) {
            this.pass_on(request);
        }
        if this.receiver.is_requested() && this.task.reference().state() != TaskState::Cancelling {
            // It has absorbed what was passed on, and no handler runs: the next request is passed on, too (law C6).
            this.receiver.set_idle();
        }
        Poll::Pending
    }
}

impl<T: 'static, E: 'static> Drop for Join<T, E> {
    fn drop(&mut self) {
        if !matches!(self.stage, Stage::Linked | Stage::Passed) {
            return;
        }
        self.task.forget_joiner();
        let task = self.task.reference();
        if task.done() {
            return;
        }
        if context::is_aborting() {
            let (name, place) = (task.name(), task.location());
            reports::warn(format!(
                "task `{name}` (spawned at {place}) did not end within a grace; it was aborted"
            ));
            task.abort();
            return;
        }
        if self.stage == Stage::Linked {
            let reason = CancelReason::new(CancelKind::ParentCancelled);
            task.request(crate::scope::Level::Soft, reason);
        }
        reports::report_adoption(task);
    }
}

impl<T: 'static, E: 'static> fmt::Debug for Join<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join").field("task", &self.task).field("stage", &self.stage).finish()
    }
}

/// The future of `(&mut task).await`: takes the value, makes no link (law C10).
///
/// # Cancellation
///
/// The task is left alone, and can be awaited again.
///
/// # Panics
///
/// If the value was taken before; if the task awaits itself.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Watch<'a, T: 'static, E: 'static> {
    task: &'a mut Task<T, E>,
}

impl<'a, T, E> IntoFuture for &'a mut Task<T, E> {
    type Output = Result<T, TaskError<E>>;
    type IntoFuture = Watch<'a, T, E>;
    fn into_future(self) -> Watch<'a, T, E> {
        Watch { task: self }
    }
}

impl<T, E> Future for Watch<'_, T, E> {
    type Output = Result<T, TaskError<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let task = &mut *self.get_mut().task;
        forbid_self_await(task.reference().meta());
        match task.poll_outcome(cx.waker()) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(outcome)) => Poll::Ready(outcome),
            Poll::Ready(None) => panic!("the value of task `{}` was taken before", task.name()),
        }
    }
}

impl<T: 'static, E: 'static> fmt::Debug for Watch<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.task).finish()
    }
}
