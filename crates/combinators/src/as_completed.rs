//! `as_completed`: a stream of tasks in the order in which they end (law A4).

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use brigade_core::budget;
use futures_core::Stream;

use crate::wait::tasks::{TaskHandle, TaskSet};
use crate::wait::watchers::Watchers;

/// The tasks, each as it ends, in completion order; asyncio's `as_completed`.
///
/// It takes a `Vec` of tasks and yields the handles, or `&mut` tasks and yields borrows. Each handle that
/// comes is done: its value is taken by `task.await`, which does not suspend any more. Tasks that had
/// ended before the first poll come in argument order.
///
/// # Cancellation
///
/// It never cancels a task: dropping the stream, or a request from outside that does, leaves all tasks
/// running (law T5).
///
/// # Panics
///
/// If the current task is among them (law T11).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::as_completed;
/// use brigade_core::{BoxError, sleep, spawn};
///
/// brigade_testkit::simulate(async {
///     let tasks = [3, 1, 2].map(|seconds: u64| spawn(async move {
///         sleep(Duration::from_secs(seconds)).await;
///         Ok::<_, BoxError>(seconds)
///     }));
///     let mut order = Vec::new();
///     let mut done = as_completed(tasks);
///     while let Some(task) = done.next().await {
///         order.push(task.await?);
///     }
///     assert_eq!(order, [1, 2, 3]);
///     Ok::<_, BoxError>(())
/// }).unwrap();
/// ```
pub fn as_completed<S: TaskSet>(tasks: S) -> AsCompleted<S::Handle> {
    let handles = tasks.into_handles();
    let watchers = Watchers::new(&handles);
    AsCompleted { handles: handles.into_iter().map(Some).collect(), watchers, ended: VecDeque::new() }
}

/// The stream of [`as_completed`].
#[must_use = "streams do nothing unless polled"]
#[derive(Debug)]
pub struct AsCompleted<H> {
    handles: Vec<Option<H>>,
    watchers: Watchers,
    /// Ended, but not handed out yet.
    ended: VecDeque<usize>,
}

impl<H> Unpin for AsCompleted<H> {}

impl<H: TaskHandle> AsCompleted<H> {
    /// The next task that has ended; `None` once all were handed out.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost: a task whose turn it was comes with the next call.
    #[expect(clippy::should_implement_trait, reason = "it is the stream's `next`, which is awaited")]
    pub fn next(&mut self) -> NextCompleted<'_, H> {
        NextCompleted { stream: self }
    }

    /// How many tasks have not been handed out.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.watchers.running() + self.ended.len()
    }

    /// The handles that were not handed out, in argument order.
    #[must_use]
    pub fn into_rest(self) -> Vec<H> {
        self.handles.into_iter().flatten().collect()
    }
}

impl<H: TaskHandle> Stream for AsCompleted<H> {
    type Item = H;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<H>> {
        let this = &mut *self;
        if this.ended.is_empty() {
            this.ended.extend(this.watchers.take_ended(cx.waker()));
        }
        if this.ended.is_empty() && this.watchers.running() > 0 {
            return Poll::Pending;
        }
        ready!(budget::poll_proceed(cx));
        let index = this.ended.pop_front();
        Poll::Ready(index.and_then(|index| this.handles[index].take()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining(), Some(self.remaining()))
    }
}

/// The future of [`AsCompleted::next`].
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct NextCompleted<'a, H> {
    stream: &'a mut AsCompleted<H>,
}

impl<H: TaskHandle> Future for NextCompleted<'_, H> {
    type Output = Option<H>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<H>> {
        Pin::new(&mut *self.stream).poll_next(cx)
    }
}
