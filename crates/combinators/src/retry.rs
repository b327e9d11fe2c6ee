//! Trying again what has failed: a loop, a [`Backoff`], and nothing else.

use brigade_core::{Instant, sleep};

use crate::backoff::Backoff;

/// Calls `operation` until it succeeds, with the pauses of `backoff` in between; gives the last error
/// when that gives up.
///
/// # Cancellation
///
/// The attempt or the pause that is going on is cancelled, and no further attempt is made. A `timeout`
/// around it bounds all attempts together, one inside `operation` each of them.
///
/// # Errors
///
/// The error of the last attempt, if the budget of `backoff` is spent.
///
/// # Panics
///
/// Outside a runtime, as [`Instant::now`] does.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::{Backoff, retry};
/// use brigade_core::{BoxError, Instant};
///
/// brigade_testkit::simulate(async {
///     let start = Instant::now();
///     let mut calls = 0;
///     let backoff = Backoff::new(Duration::from_millis(100)).attempts(5);
///     let answer = retry(backoff, || {
///         calls += 1;
///         let last = calls == 3;
///         async move { if last { Ok("done") } else { Err::<_, BoxError>("busy".into()) } }
///     }).await?;
///     assert_eq!((answer, calls, start.elapsed()), ("done", 3, Duration::from_millis(300)));
///     Ok::<_, BoxError>(())
/// }).unwrap();
/// ```
pub async fn retry<F, Fut, T, E>(backoff: Backoff, operation: F) -> Result<T, E>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    retry_if(backoff, operation, |_| true).await
}

/// The same, but only errors for which `worth_it` holds are tried again; any other ends it at once.
///
/// # Cancellation
///
/// As [`retry`].
///
/// # Errors
///
/// As [`retry`]; or the first error that is not worth another attempt.
///
/// # Panics
///
/// As [`retry`].
pub async fn retry_if<F, Fut, T, E>(
    backoff: Backoff,
    mut operation: F,
    mut worth_it: impl FnMut(&E) -> bool,
) -> Result<T, E>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    let mut pauses = backoff.begin(Instant::now());
    loop {
        let error = match operation().await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let pause = if worth_it(&error) { pauses.next_after(Instant::now()) } else { None };
        match pause {
            Some(pause) => sleep(pause).await,
            None => return Err(error),
        }
    }
}
