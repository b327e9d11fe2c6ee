//! The clock of a runtime: nanoseconds since it was made.
//!
//! On Linux the system is asked directly. What `std` returns is checked and normalised for arithmetic that nobody here
//! needs, and costs as much as the question itself; a timer asks for the time whenever it is set.

use brigade_core::Instant;

/// A clock that never goes back.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Moment,
}

impl Clock {
    /// A clock that shows zero now.
    pub(crate) fn new() -> Self {
        Self { start: moment() }
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(since(&self.start))
    }
}

#[cfg(target_os = "linux")]
type Moment = u64;

#[cfg(target_os = "linux")]
fn moment() -> Moment {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // Since the machine was started, so neither part is negative, and the sum fits for 500 years.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_os = "linux")]
fn since(start: &Moment) -> u64 {
    moment().saturating_sub(*start)
}

#[cfg(not(target_os = "linux"))]
type Moment = std::time::Instant;

#[cfg(not(target_os = "linux"))]
fn moment() -> Moment {
    std::time::Instant::now()
}

#[cfg(not(target_os = "linux"))]
fn since(start: &Moment) -> u64 {
    let elapsed = start.elapsed();
    // By the parts: `as_nanos` computes in 128 bits. It fits for 500 years.
    elapsed.as_secs() * 1_000_000_000 + u64::from(elapsed.subsec_nanos())
}
