//! The rate of a map: at most so many starts within any time of a certain length.
//!
//! It is a window that slides, not a bucket: a bucket that has filled up lets twice as many start within one
//! period. What happens depends on the clock alone, so in virtual time it is exact.

use std::collections::VecDeque;
use std::time::Duration;

use brigade_core::Instant;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    starts: usize,
    per: Duration,
    /// When the last ones started, at most `starts` of them.
    recent: VecDeque<Instant>,
}

impl Rate {
    pub(super) fn new(starts: usize, per: Duration) -> Rate {
        Rate { starts, per, recent: VecDeque::new() }
    }

    /// When the next one may start: the zeroth moment if nothing speaks against it.
    pub(super) fn next(&self) -> Instant {
        match self.recent.front() {
            Some(&oldest) if self.recent.len() == self.starts => oldest + self.per,
            _ => Instant::ZERO,
        }
    }

    /// One starts.
    pub(super) fn note(&mut self, now: Instant) {
        if self.recent.len() == self.starts {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
    }
}
