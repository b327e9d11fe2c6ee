//! How fast a worker gets through what the reactor brings, measured from one sleep to the next.
//!
//! It decides whether a second worker would come in time: waking one costs some microseconds, and the processor that it
//! needs may be the one on which those work who ask.

use std::cell::Cell;

use brigade_core::Instant;

/// The pace of one worker.
#[derive(Debug)]
pub(crate) struct Pace {
    /// When the present batch began, and how many polls had been before.
    batch: Cell<Option<(Instant, u32)>>,
    /// What a poll takes, in nanoseconds.
    poll: Cell<u64>,
}

impl Pace {
    /// The reactor has brought something, and the worker is about to run it.
    pub(crate) fn begin(&self, now: Instant, polls: u32) {
        self.batch.set(Some((now, polls)));
    }

    /// The worker has nothing to do any more.
    pub(crate) fn end(&self, now: impl FnOnce() -> Instant, polls: u32) {
        let Some((begin, before)) = self.batch.take() else { return };
        let polls = u64::from(polls.wrapping_sub(before)).max(1);
        let took = now().as_nanos().saturating_sub(begin.as_nanos()) / polls;
        let known = self.poll.get();
        // A poll that was interrupted by somebody else tells little, so slowness is believed later than speed.
        self.poll.set(if took < known { took } else { known + (took - known) / HESITATION });
    }

    /// Whether so many jobs are done before it would have paid to wake somebody.
    pub(crate) fn is_brief(&self, jobs: usize) -> bool {
        self.poll.get().saturating_mul(jobs as u64) < BRIEF
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self { batch: Cell::new(None), poll: Cell::new(UNKNOWN) }
    }
}

/// How much of a slower pace is believed at once.
const HESITATION: u64 = 8;

/// Long enough to call for help if there are several jobs.
const UNKNOWN: u64 = BRIEF / 2;

/// In nanoseconds: ten times and more what a wake-up costs, and a quarter of what the watch lets a job wait (`idle.md`).
const BRIEF: u64 = 250_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_believed_at_once_and_slowness_later() {
        let pace = Pace::default();
        let batch = |polls: u32, nanos: u64| {
            pace.begin(Instant::from_nanos(1_000), 7);
            pace.end(|| Instant::from_nanos(1_000 + nanos), 7 + polls);
        };
        assert!(pace.is_brief(1) && !pace.is_brief(2));
        batch(10, 20_000);
        assert!(pace.is_brief(124) && !pace.is_brief(125));
        batch(10, 20_000 + 80_000);
        assert!(pace.is_brief(83) && !pace.is_brief(84));
        (0..100).for_each(|_| batch(1, 1_000_000));
        assert!(!pace.is_brief(1));
    }

    #[test]
    fn a_sleep_without_a_batch_tells_nothing() {
        let pace = Pace::default();
        pace.end(|| panic!("nobody asks for the time"), 7);
        assert!(pace.is_brief(1));
    }
}
