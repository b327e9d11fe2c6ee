//! Waiting for a moment (laws D5–D8).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::backend::TimerKey;
use crate::runtime::handle::Handle;
use crate::task::spawn::ambient;
use crate::time::instant::Instant;

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
    Sleep::new(Instant::ZERO + duration, Phase::Relative)
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
    Sleep::new(deadline, Phase::New)
}

/// The future of [`sleep`] and [`sleep_until`].
///
/// It asks its timer instead of remembering which waker that has, and is moved lazily: a program may hold millions of
/// them, and move one with each message of a connection.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Sleep {
    /// The end; before the first poll of a relative one, its duration after [`Instant::ZERO`], since there may be no
    /// clock before.
    at: Instant,
    /// The runtime of the timer, from the first poll on.
    runtime: Option<Handle>,
    /// Means something while a timer is set.
    key: TimerKey,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Not polled, and counted from the first poll.
    Relative,
    /// Not polled, or reset before that.
    New,
    /// It has suspended and has no timer: the end was reached in that poll, or never comes, or was reported.
    Suspended,
    /// The timer is set for the end.
    Armed,
    /// The timer is set for an earlier moment than the end.
    MovedLater,
    /// The timer may be set for a later moment than the end.
    Moved,
}

impl Sleep {
    fn new(at: Instant, phase: Phase) -> Sleep {
        Sleep { at, runtime: None, key: TimerKey { index: 0, generation: 0 }, phase }
    }

    /// On a runtime that need not be the ambient one.
    pub(crate) fn on(runtime: Handle, deadline: Instant) -> Sleep {
        Sleep { runtime: Some(runtime), ..sleep_until(deadline) }
    }

    /// When it will end; `None` if that is counted from a first poll that has not come.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        (self.phase != Phase::Relative).then_some(self.at)
    }

    /// Moves the end to `deadline`, also after it has ended. The next poll moves the timer.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.get_mut();
        this.phase = match this.phase {
            Phase::Relative | Phase::New => Phase::New,
            Phase::Suspended => Phase::Suspended,
            Phase::Armed if deadline == this.at => Phase::Armed,
            Phase::Armed | Phase::MovedLater if deadline >= this.at => Phase::MovedLater,
            Phase::Armed | Phase::MovedLater | Phase::Moved => Phase::Moved,
        };
        this.at = deadline;
    }

    /// Moves a timer that has not fired to a later moment, without a look at the clock. False if there is no such timer.
    fn postpone(&mut self, waker: &Waker) -> bool {
        let (Phase::MovedLater, Some(runtime)) = (self.phase, &self.runtime) else { return false };
        // What has not come to the earlier moment has not come to the later one. A real clock may have reached both, and
        // then the timer fires as late as it would have without the move.
        if self.at == Instant::FAR_FUTURE || !runtime.backend().renew_timer(self.key, self.at, waker) {
            return false;
        }
        self.phase = Phase::Armed;
        true
    }

    /// Sets the timer for the end, or moves it there, and gives it this waker.
    fn arm(&mut self, waker: &Waker) {
        if self.at == Instant::FAR_FUTURE {
            self.disarm();
            self.phase = Phase::Suspended;
            return;
        }
        let Some(runtime) = &self.runtime else { return };
        let backend = runtime.backend();
        let serves = match self.phase {
            Phase::Relative | Phase::New | Phase::Suspended => false,
            Phase::Armed => backend.update_timer(self.key, waker),
            Phase::MovedLater | Phase::Moved => backend.renew_timer(self.key, self.at, waker),
        };
        if !serves {
            self.key = backend.insert_timer(self.at, waker.clone());
        }
        self.phase = Phase::Armed;
    }

    fn disarm(&mut self) {
        let (Phase::Armed | Phase::MovedLater | Phase::Moved, Some(runtime)) = (self.phase, &self.runtime)
        else {
            return;
        };
        self.phase = Phase::Suspended;
        runtime.backend().remove_timer(self.key);
    }
}

impl Future for Sleep {
    type Output = ();

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.postpone(cx.waker()) {
            return Poll::Pending;
        }
        let runtime = this.runtime.get_or_insert_with(|| ambient("sleep"));
        let now = runtime.backend().now();
        if this.phase == Phase::Relative {
            this.at = Instant::from_nanos(now.as_nanos().saturating_add(this.at.as_nanos()));
            this.phase = Phase::New;
        }
        if now < this.at || this.at == Instant::FAR_FUTURE {
            this.arm(cx.waker());
            return Poll::Pending;
        }
        if this.phase == Phase::New {
            this.phase = Phase::Suspended;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        this.disarm();
        Poll::Ready(())
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.disarm();
    }
}
