//! The per-turn budget that keeps a loop over ready operations from starving everybody else
//! (law D7).
//!
//! A task that never suspends cannot be cancelled, timed out or pre-empted. So every library future
//! that can be ready at once takes a unit first, and suspends once when none is left.

use std::task::{Context, Poll};

use crate::context;

/// Takes one unit of the current turn's budget.
///
/// Call it once before a library future answers `Ready` without having suspended. If the budget is
/// spent the waker has been woken, and the future must answer `Pending`. Outside a task there is no
/// limit.
///
/// # Examples
///
/// ```
/// use std::task::{Context, Poll, Waker};
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(brigade_core::budget::poll_proceed(&mut cx).is_ready());
/// ```
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
    if context::spend() {
        return Poll::Ready(());
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}
