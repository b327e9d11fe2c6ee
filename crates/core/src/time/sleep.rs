//! Waiting for a moment (laws D5–D8).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::runtime::handle::Handle;
use crate::task::spawn::ambient;
use crate::time::instant::Instant;
use crate::time::timer::DeadlineTimer;

/// Waits for `duration`; asyncio's `sleep`. It always suspends once, also for a duration of zero
/// (law D7), and never ends early.
///
/// # Cancellation
///
/// The timer is removed.
///
/// # Panics
///
/// When it is first polled outside a runtime.
pub fn sleep(duration: Duration) -> Sleep {
    Sleep { when: When::After(duration), runtime: None, timer: DeadlineTimer::new(), suspended: false }
}

/// Waits until `deadline`; one that has passed suspends once.
///
/// # Cancellation
///
/// The timer is removed.
///
/// # Panics
///
/// When it is first polled outside a runtime.
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { when: When::At(deadline), runtime: None, timer: DeadlineTimer::new(), suspended: false }
}

/// The future of [`sleep`] and [`sleep_until`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Sleep {
    when: When,
    runtime: Option<Handle>,
    timer: DeadlineTimer,
    suspended: bool,
}

#[derive(Clone, Copy, Debug)]
enum When {
    /// Counted from the first poll, since there may be no clock before.
    After(Duration),
    At(Instant),
}

impl Sleep {
    /// On a runtime that need not be the ambient one.
    pub(crate) fn on(runtime: Handle, deadline: Instant) -> Sleep {
        Sleep { runtime: Some(runtime), ..sleep_until(deadline) }
    }

    /// When it will end; `None` if that is counted from a first poll that has not come.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        match self.when {
            When::At(deadline) => Some(deadline),
            When::After(_) => None,
        }
    }

    /// Moves the end to `deadline`, also after it has ended.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.get_mut();
        this.when = When::At(deadline);
        this.timer.disarm();
    }
}

impl Future for Sleep {
    type Output = ();

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let runtime = this.runtime.get_or_insert_with(|| ambient("sleep"));
        let now = runtime.backend().now();
        let deadline = match this.when {
            When::At(deadline) => deadline,
            When::After(duration) => now + duration,
        };
        this.when = When::At(deadline);
        if now >= deadline && deadline != Instant::FAR_FUTURE {
            this.timer.disarm();
            if this.suspended {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
        } else {
            this.timer.poll_arm_on(runtime, deadline, cx.waker());
        }
        this.suspended = true;
        Poll::Pending
    }
}
