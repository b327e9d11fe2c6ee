#![doc = include_str!("idle.md")]
//!
//! # Invariants
//!
//! * INVARIANT I1: `sleepers` holds a worker exactly while it counts as not awake; both change under the lock.
//! * INVARIANT I2: whoever takes a worker out of `sleepers` counts it as awake, and as searching if it took it on
//!   behalf of somebody else.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Who is awake, who searches, who sleeps.
#[derive(Debug)]
pub(crate) struct Idle {
    /// Searching workers in the lower half, workers that are awake in the upper one.
    counts: AtomicU64,
    workers: u64,
    /// The workers that sleep, the one that fell asleep last at the end.
    sleepers: Mutex<Vec<usize>>,
    /// The worker that sits in the reactor, or `NOBODY`.
    sitter: AtomicUsize,
    /// How often somebody has sat down there.
    sits: AtomicUsize,
    /// The worker that has left the seat and will be back soon, or `NOBODY`.
    keeper: AtomicUsize,
    /// Somebody sleeps, and nobody of those sleeps with a limit (`idle.md`, "The watch").
    unwatched: AtomicBool,
    /// How many sleep with a limit.
    watchers: AtomicUsize,
}

/// How a worker woke up.
#[must_use]
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Awoken {
    /// Somebody took it out of the sleepers to have it search for work.
    ToSearch,
    /// It woke by itself: an event, a timer, a message for it alone.
    ByItself,
}

impl Idle {
    pub(crate) fn new(workers: usize) -> Self {
        let workers = workers as u64;
        Self {
            counts: AtomicU64::new(0),
            workers,
            sleepers: Mutex::new(Vec::new()),
            sitter: AtomicUsize::new(NOBODY),
            sits: AtomicUsize::new(0),
            keeper: AtomicUsize::new(NOBODY),
            unwatched: AtomicBool::new(false),
            watchers: AtomicUsize::new(0),
        }
    }

    /// A worker begins to work.
    pub(crate) fn arrive(&self) {
        // SeqCst: as in `awake`.
        self.counts.fetch_add(AWAKE, Ordering::SeqCst);
    }

    /// A worker that is awake ends.
    pub(crate) fn depart(&self) {
        // SeqCst: as in `fall_asleep`.
        self.counts.fetch_sub(AWAKE, Ordering::SeqCst);
    }

    /// Whether waking a worker could serve: nobody searches and somebody sleeps. A hint for the owner of a queue, who
    /// runs its jobs in any case.
    #[inline]
    pub(crate) fn wants_help(&self) -> bool {
        // Relaxed: a missed sleeper is found by the next push, or by the watch (`idle.md`).
        self.helpful(self.counts.load(Ordering::Relaxed))
    }

    /// The same, for a job that was published in a shared queue and that nobody may miss.
    pub(crate) fn must_wake(&self) -> bool {
        // SeqCst: pairs with the exchanges in `fall_asleep` and `stop_searching`, after which a worker looks into the
        // shared queue once more.
        self.helpful(self.counts.load(Ordering::SeqCst))
    }

    /// Takes a sleeper out to search, preferring one that does not sit in the reactor.
    pub(crate) fn take_sleeper(&self) -> Option<usize> {
        let mut sleepers = self.lock();
        // SeqCst: as in `must_wake`; the lock orders it against the other changes of `sleepers`.
        if !self.helpful(self.counts.load(Ordering::SeqCst)) {
            return None;
        }
        let last = sleepers.len().checked_sub(1)?;
        // Relaxed: a preference only.
        let sits = sleepers[last] == self.sitter.load(Ordering::Relaxed);
        let worker = sleepers.remove(if sits && last > 0 { last - 1 } else { last });
        // SeqCst: pairs with the loads above.
        self.counts.fetch_add(AWAKE + SEARCHING, Ordering::SeqCst);
        Some(worker)
    }

    /// A worker that found nothing begins to search, if not half of those that are awake do so already.
    pub(crate) fn start_searching(&self) -> bool {
        // Relaxed: the bound is soft.
        let counts = self.counts.load(Ordering::Relaxed);
        if 2 * searching(counts) >= awake(counts).max(2) {
            return false;
        }
        // SeqCst: pairs with the load in `must_wake`.
        self.counts.fetch_add(SEARCHING, Ordering::SeqCst);
        true
    }

    /// A worker has found something. True if it was the last that searched: then it looks whether there is more.
    pub(crate) fn stop_searching(&self) -> bool {
        // SeqCst: pairs with the load in `must_wake`.
        searching(self.counts.fetch_sub(SEARCHING, Ordering::SeqCst)) == 1
    }

    /// A worker goes to sleep. It must look into every queue once more afterwards.
    pub(crate) fn fall_asleep(&self, worker: usize, searches: bool) {
        let mut sleepers = self.lock();
        sleepers.push(worker);
        // SeqCst: pairs with the load in `must_wake`.
        self.counts.fetch_sub(AWAKE + if searches { SEARCHING } else { 0 }, Ordering::SeqCst);
    }

    /// A worker does not sleep any more.
    pub(crate) fn awake(&self, worker: usize) -> Awoken {
        let mut sleepers = self.lock();
        let Some(place) = sleepers.iter().position(|&sleeper| sleeper == worker) else {
            return Awoken::ToSearch;
        };
        sleepers.remove(place);
        // SeqCst: pairs with the load in `must_wake`.
        self.counts.fetch_add(AWAKE, Ordering::SeqCst);
        Awoken::ByItself
    }

    /// A worker that is about to sleep keeps watch if somebody is awake whom it can help if that one gets stuck, and
    /// nobody else watches; or if it was appointed. Who gets true calls `end_watch` after its sleep.
    pub(crate) fn begin_watch(&self, appointed: bool) -> bool {
        // SeqCst, here and below: pairs with the load in `is_unwatched`. Nobody is awake after the store of `unwatched`
        // only if `counts` says so, and who wakes up later sees the store.
        if !appointed {
            if self.watchers.load(Ordering::SeqCst) > 0 {
                return false;
            }
            self.unwatched.store(true, Ordering::SeqCst);
            if self.awake_count() == 0 {
                return false;
            }
        }
        self.watchers.fetch_add(1, Ordering::SeqCst);
        self.unwatched.store(false, Ordering::SeqCst);
        true
    }

    /// The same, for one that has worked or searched until now, though nobody may be awake at the moment.
    pub(crate) fn begin_watch_if_none(&self) -> bool {
        // SeqCst: as in `begin_watch`.
        self.watchers.load(Ordering::SeqCst) == 0 && self.begin_watch(true)
    }

    /// A watcher does not sleep any more.
    pub(crate) fn end_watch(&self) {
        // SeqCst: pairs with the load in `begin_watch`.
        self.watchers.fetch_sub(1, Ordering::SeqCst);
    }

    /// How many workers are awake.
    pub(crate) fn awake_count(&self) -> u64 {
        // SeqCst: pairs with the exchange in `fall_asleep`; see `begin_watch`.
        awake(self.counts.load(Ordering::SeqCst))
    }

    /// Whether the sleepers should be told that somebody is awake again.
    #[inline]
    pub(crate) fn is_unwatched(&self) -> bool {
        // SeqCst: pairs with the stores in `begin_watch`.
        self.unwatched.load(Ordering::SeqCst)
    }

    /// Chooses the worker to keep watch: the one in the reactor, else any that sleeps.
    pub(crate) fn take_watcher(&self) -> Option<usize> {
        // SeqCst: pairs with the stores in `begin_watch`; one caller is enough.
        if !self.unwatched.swap(false, Ordering::SeqCst) {
            return None;
        }
        let sleepers = self.lock();
        // Relaxed: a preference only.
        let sitter = self.sitter.load(Ordering::Relaxed);
        if sleepers.contains(&sitter) { Some(sitter) } else { sleepers.last().copied() }
    }

    /// Notes who sits in the reactor.
    pub(crate) fn set_sitter(&self, worker: Option<usize>) {
        if worker.is_some() {
            // Relaxed, both: see `keep_seat`. Only the worker in the seat writes here.
            self.sits.store(self.sits().wrapping_add(1), Ordering::Relaxed);
            self.keeper.store(NOBODY, Ordering::Relaxed);
        }
        // SeqCst: pairs with the load in `seat_is_empty`.
        self.sitter.store(worker.unwrap_or(NOBODY), Ordering::SeqCst);
    }

    /// A worker has left the seat with little to do: the others need not take it.
    pub(crate) fn keep_seat(&self, worker: usize) {
        // Relaxed, like all that says who keeps the seat: advice, which nobody follows for longer than a watch.
        self.keeper.store(worker, Ordering::Relaxed);
    }

    /// Whether the seat is to be left to another worker, which will be back soon, and somebody watches that it is.
    pub(crate) fn is_kept_from(&self, worker: usize) -> bool {
        // Relaxed: see `keep_seat`.
        let keeper = self.keeper.load(Ordering::Relaxed);
        // SeqCst: as in `begin_watch`.
        keeper != NOBODY && keeper != worker && self.watchers.load(Ordering::SeqCst) > 0
    }

    /// How often somebody has sat down in the reactor.
    pub(crate) fn sits(&self) -> usize {
        // Relaxed: see `keep_seat`.
        self.sits.load(Ordering::Relaxed)
    }

    /// Whether nobody sits in the reactor.
    pub(crate) fn seat_is_empty(&self) -> bool {
        // SeqCst: pairs with the store in `set_sitter`.
        self.sitter.load(Ordering::SeqCst) == NOBODY
    }

    fn helpful(&self, counts: u64) -> bool {
        searching(counts) == 0 && awake(counts) < self.workers
    }

    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn searching(counts: u64) -> u64 {
    counts & (AWAKE - 1)
}

fn awake(counts: u64) -> u64 {
    counts >> AWAKE_SHIFT
}

const AWAKE_SHIFT: u32 = 32;
const AWAKE: u64 = 1 << AWAKE_SHIFT;
const SEARCHING: u64 = 1;
const NOBODY: usize = usize::MAX;
