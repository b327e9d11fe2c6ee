//! Something to do again and again.

use std::time::Duration;

use crate::time::instant::Instant;
use crate::time::sleep::sleep_until;

/// What [`Interval`] does about ticks that were missed because the loop was late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MissedTicks {
    /// They come at once, one after the other, until the loop has caught up.
    #[default]
    Burst,
    /// They are left out; the next one comes at the next multiple of the period.
    Skip,
    /// The period starts anew at the late tick.
    Delay,
}

/// Ticks at once and then every `period`, counted from the first call of [`Interval::tick`].
///
/// # Panics
///
/// If `period` is zero.
#[must_use]
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    Interval::new(None, period)
}

/// Ticks at `start` and then every `period`.
///
/// # Panics
///
/// If `period` is zero.
#[must_use]
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    Interval::new(Some(start), period)
}

/// A clock that ticks; see [`interval`].
#[derive(Debug)]
pub struct Interval {
    next: Option<Instant>,
    period: Duration,
    missed: MissedTicks,
}

impl Interval {
    #[track_caller]
    fn new(next: Option<Instant>, period: Duration) -> Interval {
        assert!(!period.is_zero(), "an interval needs a period above zero");
        Interval { next, period, missed: MissedTicks::default() }
    }

    /// What shall happen about missed ticks; [`MissedTicks::Burst`] unless this is called.
    #[must_use]
    pub fn missed(mut self, missed: MissedTicks) -> Interval {
        self.missed = missed;
        self
    }

    /// The time between two ticks.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Waits for the next tick and returns the moment for which it was planned.
    ///
    /// # Cancellation
    ///
    /// No tick is lost: the next call waits for the same one.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn tick(&mut self) -> Instant {
        let planned = *self.next.get_or_insert_with(Instant::now);
        sleep_until(planned).await;
        self.next = Some(self.after(planned, Instant::now()));
        planned
    }

    /// The tick that follows the one planned for `planned` and taken at `now`.
    fn after(&self, planned: Instant, now: Instant) -> Instant {
        let next = planned + self.period;
        match self.missed {
            _ if now < next => next,
            MissedTicks::Burst => next,
            MissedTicks::Delay => now + self.period,
            MissedTicks::Skip => {
                let periods = (now - planned).as_nanos() / self.period.as_nanos() + 1;
                let nanos = u64::try_from(periods * self.period.as_nanos()).unwrap_or(u64::MAX);
                planned + Duration::from_nanos(nanos)
            }
        }
    }
}
