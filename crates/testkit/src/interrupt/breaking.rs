//! Awaits that can be made to panic.
//!
//! A panic cannot be thrown into a future from outside. So a program says where it may come, by [`breakable`], and a
//! task that is doomed panics in the next of those places that it comes to.

use std::cell::Cell;
use std::future::{IntoFuture, poll_fn};
use std::panic::resume_unwind;
use std::pin::pin;

use brigade_core::{TaskId, current_task};

/// The message of the panics.
pub(super) const TEXT: &str = "a panic that the test asked for";

thread_local! {
    // A simulation is driven by one thread, and its tasks are polled there.
    static DOOMED: Cell<Option<TaskId>> = const { Cell::new(None) };
    static STRUCK: Cell<u64> = const { Cell::new(0) };
    static PASSED: Cell<bool> = const { Cell::new(false) };
}

/// Awaits `future`, and panics there if [`interrupt_everywhere`](crate::interrupt_everywhere) says so. Of several
/// that are nested the innermost panics.
///
/// Outside of such a run it is the future itself.
///
/// # Cancellation
///
/// As that of `future`.
///
/// # Panics
///
/// In a run of [`interrupt_everywhere`](crate::interrupt_everywhere), once.
///
/// # Examples
///
/// ```
/// use brigade_core::{BoxError, yield_now};
/// use brigade_testkit::{breakable, interrupt_everywhere};
///
/// let interrupted = interrupt_everywhere(
///     || async {
///         breakable(yield_now()).await;
///         Ok::<_, BoxError>(())
///     },
///     || {},
/// );
/// assert!(interrupted.panics > 0);
/// ```
pub async fn breakable<F: IntoFuture>(future: F) -> F::Output {
    let mut future = pin!(future.into_future());
    poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        strike();
        polled
    })
    .await
}

/// The task panics in the next breakable await that it comes to.
pub(super) fn doom(task: TaskId) {
    DOOMED.set(Some(task));
}

/// A run begins: nobody is doomed.
pub(super) fn begin() {
    DOOMED.set(None);
    STRUCK.set(0);
    PASSED.set(false);
}

/// How many awaits have panicked in the run, and whether there were any that could.
pub(super) fn end() -> (u64, bool) {
    DOOMED.set(None);
    (STRUCK.get(), PASSED.get())
}

fn strike() {
    PASSED.set(true);
    let Some(doomed) = DOOMED.get() else { return };
    if current_task().is_some_and(|task| task.id() == doomed) {
        DOOMED.set(None);
        STRUCK.set(STRUCK.get() + 1);
        // Not by `panic!`, whose hook would tell of each of thousands.
        resume_unwind(Box::new(TEXT));
    }
}
