//! Virtual milliseconds.

use std::time::Duration;

use brigade_core::Instant;

/// A duration.
pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The time since the simulation began.
pub(crate) fn now() -> u64 {
    u64::try_from(Instant::now().duration_since(Instant::ZERO).as_millis()).expect("tests are short")
}
