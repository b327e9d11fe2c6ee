//! Asserting where a future can be cancelled.
//!
//! A request is delivered at suspension points only (law C2), so a function that never suspends cannot be
//! cancelled, and one that does can. Both are promises that an author may want to keep; Trio calls them
//! checkpoints.

use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::pin;
use std::task::Poll;

/// Awaits `future` and asserts that it suspended at least once: a request would have been delivered.
///
/// # Cancellation
///
/// As for the future itself.
///
/// # Panics
///
/// When the future completes without having suspended.
///
/// # Examples
///
/// ```
/// use brigade_core::yield_now;
/// use brigade_testkit::{assert_cancel_point, assert_no_cancel_point, simulate};
///
/// simulate(async {
///     assert_cancel_point(yield_now()).await;
///     assert_eq!(assert_no_cancel_point(async { 5 }).await, 5);
/// })
/// .expect("both promises are kept");
/// ```
#[track_caller]
pub fn assert_cancel_point<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let place = Location::caller();
    async move {
        let (output, suspensions) = count_suspensions(future).await;
        assert!(suspensions > 0, "the future at {place} completed without a suspension point");
        output
    }
}

/// Awaits `future` and asserts that it never suspended: nothing could have cancelled it half-way.
///
/// # Cancellation
///
/// None, if the assertion holds.
///
/// # Panics
///
/// When the future suspends.
///
/// # Examples
///
/// See [`assert_cancel_point`].
#[track_caller]
pub fn assert_no_cancel_point<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let place = Location::caller();
    async move {
        let mut future = pin!(future);
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(output),
            Poll::Pending => panic!("the future at {place} suspended"),
        })
        .await
    }
}

async fn count_suspensions<F: Future>(future: F) -> (F::Output, usize) {
    let mut future = pin!(future);
    let mut suspensions = 0;
    let output = poll_fn(|cx| {
        let poll = future.as_mut().poll(cx);
        suspensions += usize::from(poll.is_pending());
        poll
    })
    .await;
    (output, suspensions)
}
