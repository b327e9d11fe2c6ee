//! The results of a map, as a stream.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use brigade_core::budget;
use futures_core::Stream;

use super::queue::Queue;
use crate::sync::Arc;

/// The results of a concurrent map; given to the consumer of [`Amap::scope`](crate::Amap::scope).
///
/// The calls run whether it is polled or not. Dropping it ends the map: nothing more is read, and calls
/// that are running are cancelled. Carried out of its scope, it gives the results of the calls that had
/// begun.
#[must_use = "dropping the results ends the map"]
pub struct Mapped<T> {
    queue: Arc<Queue<T>>,
}

impl<T> Mapped<T> {
    pub(super) fn new(queue: Arc<Queue<T>>) -> Mapped<T> {
        Mapped { queue }
    }

    /// The next result; `None` once the source has ended and all results were taken.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost: a result whose turn it was comes with the next call.
    #[expect(clippy::should_implement_trait, reason = "it is the stream's `next`, which is awaited")]
    pub fn next(&mut self) -> NextMapped<'_, T> {
        NextMapped { results: self }
    }

    /// How many calls are running.
    #[must_use]
    pub fn running(&self) -> usize {
        self.queue.counts().0
    }

    /// How many results wait to be taken.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.counts().1
    }
}

impl<T> Stream for Mapped<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if self.queue.is_ready() {
            ready!(budget::poll_proceed(cx));
        }
        self.queue.poll_result(cx)
    }
}

impl<T> Drop for Mapped<T> {
    fn drop(&mut self) {
        self.queue.leave();
    }
}

impl<T> fmt::Debug for Mapped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (running, waiting) = self.queue.counts();
        f.debug_struct("Mapped").field("running", &running).field("waiting", &waiting).finish_non_exhaustive()
    }
}

/// The future of [`Mapped::next`].
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct NextMapped<'a, T> {
    results: &'a mut Mapped<T>,
}

impl<T> Future for NextMapped<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        Pin::new(&mut *self.results).poll_next(cx)
    }
}
