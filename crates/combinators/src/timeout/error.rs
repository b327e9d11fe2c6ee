//! What a timeout says when it has expired, and when it can no longer be moved.

use std::error::Error;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use brigade_core::Instant;

/// A timeout has expired (law D2).
///
/// It tells which one: timeouts nest, and only the one that expired reports (law D4). It has nothing
/// to do with [`Cancelled`](brigade_core::Cancelled): a request from outside that comes while the
/// timeout unwinds is never turned into a `TimedOut`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedOut {
    deadline: Instant,
    duration: Option<Duration>,
    location: &'static Location<'static>,
}

impl TimedOut {
    pub(crate) fn new(
        deadline: Instant,
        duration: Option<Duration>,
        location: &'static Location<'static>,
    ) -> TimedOut {
        TimedOut { deadline, duration, location }
    }

    /// The deadline that has passed.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The duration that was given to the timeout; `None` if it had an instant, or was rescheduled.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        self.duration
    }

    /// Where the timeout was made.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.duration {
            Some(duration) => write!(f, "timed out after {duration:?} ({})", self.location),
            None => {
                let deadline = Duration::from_nanos(self.deadline.as_nanos());
                write!(f, "timed out at {deadline:?} ({})", self.location)
            }
        }
    }
}

impl Error for TimedOut {}

/// A timeout could not be rescheduled: it has expired, or its scope has ended (law D1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RescheduleError {
    expired: bool,
}

impl RescheduleError {
    pub(crate) const EXPIRED: RescheduleError = RescheduleError { expired: true };
    pub(crate) const ENDED: RescheduleError = RescheduleError { expired: false };

    /// Whether the timeout had expired; else its scope had ended without that.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.expired
    }
}

impl fmt::Display for RescheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.expired {
            true => "the timeout has expired already",
            false => "the scope of the timeout has ended",
        })
    }
}

impl Error for RescheduleError {}
