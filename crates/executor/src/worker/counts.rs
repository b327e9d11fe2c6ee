//! What the workers of a backend have done, counted where it is rare: a poll is not.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the workers of a [`MultiThread`](crate::MultiThread) have done since its start; see
/// [`counters`](crate::MultiThread::counters).
///
/// Each is a count. They explain a measurement, and do not scatter as times do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// How often a worker went to sleep.
    pub parks: u64,
    /// How often a worker was woken to help the others.
    pub wakes: u64,
    /// How often a worker took jobs out of another one's queue.
    pub steals: u64,
}

/// The counts of one worker.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    parks: AtomicU64,
    wakes: AtomicU64,
    steals: AtomicU64,
}

impl Counts {
    pub(crate) fn parked(&self, really: bool) {
        add(&self.parks, really);
    }

    pub(crate) fn woken(&self) {
        add(&self.wakes, true);
    }

    pub(crate) fn stole(&self, really: bool) {
        add(&self.steals, really);
    }
}

impl Counters {
    pub(crate) fn sum<'a>(workers: impl Iterator<Item = &'a Counts>) -> Counters {
        // Relaxed: nothing is published with a count, and a sum of snapshots is a snapshot.
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        workers.fold(Counters::default(), |sum, worker| Counters {
            parks: sum.parks + read(&worker.parks),
            wakes: sum.wakes + read(&worker.wakes),
            steals: sum.steals + read(&worker.steals),
        })
    }
}

fn add(count: &AtomicU64, really: bool) {
    if really {
        // Relaxed: only the number matters.
        count.fetch_add(1, Ordering::Relaxed);
    }
}
