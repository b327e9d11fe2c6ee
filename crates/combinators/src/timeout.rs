//! Timeouts: a future gets a certain time, and ends before its timeout returns (laws D1–D5).
//!
//! Files: [`expiry`] (what all of them share), [`limited`] (a deadline that stays), [`adjustable`]
//! (one that the code inside can move), [`error`].

mod adjustable;
mod error;
mod expiry;
mod limited;

use std::panic::Location;
use std::time::Duration;

use brigade_core::Instant;
use brigade_core::scope::Awaited;

use self::expiry::Limit;

pub use self::adjustable::{Timeout, TimeoutScope};
pub use self::error::{RescheduleError, TimedOut};
pub use self::limited::{Limited, MoveOnAfter};

/// Gives `future` a certain time, beginning with the first poll; `None` never expires (law D1).
///
/// The result of `future` wins if it is ready in the same turn as the deadline, and whatever it returns
/// after having been asked to end is returned as well (law D3). A duration of zero expires at the first
/// suspension point; a future that never suspends completes (law D5). A ready future touches neither a
/// lock nor a timer.
///
/// # Cancellation
///
/// Expiry is a request of kind [`Deadline`](brigade_core::CancelKind::Deadline) to the code inside. The
/// timeout returns only when that has ended, handlers and awaited tasks included: a task that is
/// awaited inside is cancelled and waited for. A request from outside goes to the code inside, too; it
/// unwinds through the timeout and is never turned into [`TimedOut`], whichever came first (law D4).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::timeout;
/// use brigade_core::sleep;
///
/// brigade_testkit::simulate(async {
///     let slow = timeout(Duration::from_secs(1), sleep(Duration::from_secs(10))).await;
///     assert_eq!(slow.unwrap_err().duration(), Some(Duration::from_secs(1)));
///     assert_eq!(timeout(None, async { 7 }).await, Ok(7));
/// }).unwrap();
/// ```
#[track_caller]
pub fn timeout<F: IntoFuture>(limit: impl Into<Option<Duration>>, future: F) -> Limited<F::IntoFuture> {
    Limited::new(future.into_future(), Limit::after(limit.into()), false, Location::caller())
}

/// The same with an instant; `None` never expires.
///
/// # Cancellation
///
/// As for [`timeout()`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::timeout_at;
/// use brigade_core::{Instant, sleep};
///
/// brigade_testkit::simulate(async {
///     let deadline = Instant::now() + Duration::from_secs(1);
///     assert!(timeout_at(deadline, sleep(Duration::from_secs(2))).await.is_err());
///     assert_eq!(Instant::now(), deadline);
/// }).unwrap();
/// ```
#[track_caller]
pub fn timeout_at<F: IntoFuture>(at: impl Into<Option<Instant>>, future: F) -> Limited<F::IntoFuture> {
    Limited::new(future.into_future(), Limit::at(at.into()), false, Location::caller())
}

/// asyncio's argument order: waits for a future or a task, for a certain time.
///
/// It differs from [`timeout()`] where there is no time at all: a future that was not started yet is
/// never started (law D5). A task, which runs anyway, is asked to end.
///
/// # Cancellation
///
/// As for [`timeout()`]. A task that is given by value is linked: at expiry it is cancelled, and waited
/// for; if it ends with a value, an error or a panic all the same, that is the result (law C10).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::wait_for;
/// use brigade_core::{sleep, spawn};
///
/// brigade_testkit::simulate(async {
///     let task = spawn(sleep(Duration::from_secs(10)));
///     let watcher = task.to_ref();
///     assert!(wait_for(task, Duration::from_secs(1)).await.is_err());
///     assert!(watcher.cancelled());
/// }).unwrap();
/// ```
#[track_caller]
pub fn wait_for<F: Awaited>(future: F, limit: impl Into<Option<Duration>>) -> Limited<F::IntoFuture> {
    let limit = Limit::after(limit.into());
    Limited::new(future.into_future(), limit, !F::STARTED, Location::caller())
}

/// The same as [`timeout()`] for those who do not care why there is no value.
///
/// # Cancellation
///
/// As for [`timeout()`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::move_on_after;
/// use brigade_core::sleep;
///
/// brigade_testkit::simulate(async {
///     assert_eq!(move_on_after(Duration::from_secs(1), sleep(Duration::from_secs(2))).await, None);
/// }).unwrap();
/// ```
#[track_caller]
pub fn move_on_after<F: IntoFuture>(
    limit: impl Into<Option<Duration>>,
    future: F,
) -> MoveOnAfter<F::IntoFuture> {
    MoveOnAfter { limited: timeout(limit, future) }
}
