//! A moment on the backend's clock.
//!
//! Law D6: nanoseconds since the backend's start, saturating at both ends, so that absurd durations
//! mean "never" instead of a panic.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use crate::Handle;
use crate::context::{self, AmbientRuntime};

/// A moment on the clock of a backend, in nanoseconds since that backend's start (law D6).
///
/// Arithmetic saturates: a moment that would lie beyond [`Instant::FAR_FUTURE`] *is* `FAR_FUTURE`,
/// which timers take as "never". Moments of different backends must not be compared.
///
/// # Examples
///
/// ```
/// use brigade_core::Instant;
/// use std::time::Duration;
///
/// let later = Instant::ZERO + Duration::from_millis(5);
/// assert_eq!(later - Instant::ZERO, Duration::from_millis(5));
/// assert_eq!(later + Duration::MAX, Instant::FAR_FUTURE);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The start of the backend.
    pub const ZERO: Instant = Instant(0);
    /// A moment that never comes.
    pub const FAR_FUTURE: Instant = Instant(u64::MAX);

    /// Reads the clock of the ambient runtime.
    ///
    /// # Panics
    ///
    /// Outside a runtime; [`Handle::enter`] makes one ambient.
    #[must_use]
    #[track_caller]
    pub fn now() -> Instant {
        let runtime = context::ambient_runtime();
        runtime.unwrap_or_else(|| AmbientRuntime::Counted(Handle::current())).backend().now()
    }

    /// The moment that is `nanos` nanoseconds after the backend's start.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Instant {
        Instant(nanos)
    }

    /// Nanoseconds since the backend's start.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This moment moved by `duration` into the future, at most to [`Instant::FAR_FUTURE`].
    #[must_use]
    #[inline]
    pub const fn saturating_add(self, duration: Duration) -> Instant {
        // Not by `as_nanos`, which computes in 128 bits.
        let seconds = duration.as_secs().saturating_mul(1_000_000_000);
        Instant(self.0.saturating_add(seconds).saturating_add(duration.subsec_nanos() as u64))
    }

    /// The time from `earlier` to this moment; zero if `earlier` is later.
    #[must_use]
    pub const fn duration_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The time from this moment until now; zero if it has not come yet.
    ///
    /// # Panics
    ///
    /// Outside a runtime, as [`Instant::now`].
    #[must_use]
    #[track_caller]
    pub fn elapsed(self) -> Duration {
        Instant::now().duration_since(self)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, duration: Duration) -> Instant {
        self.saturating_add(duration)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;
    fn sub(self, duration: Duration) -> Instant {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Instant(self.0.saturating_sub(nanos))
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;
    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Instant::FAR_FUTURE => f.write_str("Instant(never)"),
            Instant(nanos) => write!(f, "Instant({:?})", Duration::from_nanos(nanos)),
        }
    }
}
