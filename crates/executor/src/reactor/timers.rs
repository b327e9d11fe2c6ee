//! The timers of a runtime: a wheel per worker, each under its own lock, each with its next deadline in one atomic.
//!
//! A worker sets its timers in its own wheel, so the locks are not contended; a key says in which wheel its timer lies,
//! so anybody can move or remove it. Whoever is about to sleep, or looks after the reactor now and then, fires what is
//! due in all of them, a bounded number each time: the tasks that are woken run before their memory has left the caches
//! again, and a lock is never held for long.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::Waker;

use brigade_core::Instant;
use brigade_core::backend::TimerKey;

use super::wake;
use super::wheel::{Key, NEVER, Wheel, beginning, tick, ticks};

/// All wheels of a runtime.
#[derive(Debug)]
pub(crate) struct Timers {
    shards: Box<[Shard]>,
    closed: AtomicBool,
}

impl Timers {
    pub(crate) fn new(shards: usize) -> Self {
        Self { shards: (0..shards).map(|_| Shard::new()).collect(), closed: AtomicBool::new(false) }
    }

    /// Sets a timer in one worker's wheel.
    pub(crate) fn insert(&self, shard: usize, at: Instant, waker: Waker) -> TimerKey {
        let this = &self.shards[shard];
        let mut wheel = this.lock();
        // Relaxed: `close` stores it before it takes this lock.
        if self.closed.load(Ordering::Relaxed) {
            drop(wheel);
            wake::discard(waker);
            return TimerKey { index: u64::MAX, generation: 0 };
        }
        let key = wheel.insert(at.as_nanos(), waker);
        this.lower(at.as_nanos());
        TimerKey { index: (shard as u64) << 32 | u64::from(key.place), generation: u64::from(key.generation) }
    }

    /// Moves a timer; false if it is gone.
    pub(crate) fn reset(&self, key: TimerKey, at: Instant) -> bool {
        self.locate(key).is_some_and(|(shard, key)| shard.reset(&mut shard.lock(), key, at))
    }

    /// Moves a timer and replaces its waker; false if it is gone.
    pub(crate) fn renew(&self, key: TimerKey, at: Instant, waker: &Waker) -> bool {
        let Some((shard, place)) = self.locate(key) else { return false };
        let mut wheel = shard.lock();
        if !shard.reset(&mut wheel, place, at) {
            return false;
        }
        if wheel.get_mut(place).is_some_and(|present| present.will_wake(waker)) {
            return true;
        }
        drop(wheel);
        self.update(key, waker)
    }

    /// Replaces a timer's waker; false if it is gone.
    pub(crate) fn update(&self, key: TimerKey, waker: &Waker) -> bool {
        let Some((shard, key)) = self.locate(key) else { return false };
        match shard.lock().get_mut(key) {
            None => return false,
            Some(present) if present.will_wake(waker) => return true,
            Some(_) => {}
        }
        // Cloned and dropped without the lock: both may be code of a stranger.
        let fresh = waker.clone();
        let old = shard.lock().get_mut(key).map(|slot| std::mem::replace(slot, fresh));
        old.map(wake::discard).is_some()
    }

    /// Removes a timer, if it is still there.
    pub(crate) fn remove(&self, key: TimerKey) {
        let Some((shard, key)) = self.locate(key) else { return };
        let mut wheel = shard.lock();
        let Some((former, waker)) = wheel.remove(key) else { return };
        shard.raise(former, &wheel);
        drop(wheel);
        wake::discard(waker);
    }

    /// For a worker that has nothing else to do: fires what is due at `now`, but not too much at once; gives how many
    /// there were.
    pub(crate) fn fire(&self, now: Instant) -> usize {
        self.fire_at_most(MANY, now)
    }

    /// For a worker that is between two jobs.
    pub(crate) fn fire_some(&self, now: Instant) -> usize {
        self.fire_at_most(FEW, now)
    }

    /// The wheel that is latest comes first.
    fn fire_at_most(&self, most: usize, now: Instant) -> usize {
        let mut fired = 0;
        while fired < most {
            let latest = self.shards.iter().min_by_key(|shard| shard.next());
            let Some(shard) = latest.filter(|shard| shard.next() <= ticks(now.as_nanos())) else { break };
            let Some(count) = shard.fire(most - fired, now.as_nanos()) else { break };
            fired += count;
        }
        fired
    }

    /// When `fire` should be called next.
    pub(crate) fn next_deadline(&self) -> Instant {
        Instant::from_nanos(beginning(self.shards.iter().map(Shard::next).min().unwrap_or(NEVER)))
    }

    /// Drops every timer, and refuses new ones from now on.
    pub(crate) fn close(&self) {
        // Relaxed: the locks below order it against `insert`.
        self.closed.store(true, Ordering::Relaxed);
        for shard in &self.shards {
            let wakers = shard.lock().drain();
            // Relaxed: nobody waits for the deadline of an empty wheel.
            shard.next.store(NEVER, Ordering::Relaxed);
            wakers.for_each(wake::discard);
        }
    }

    fn locate(&self, key: TimerKey) -> Option<(&Shard, Key)> {
        let shard = self.shards.get((key.index >> 32) as usize)?;
        let generation = u32::try_from(key.generation).ok()?;
        Some((shard, Key { place: key.index as u32, generation }))
    }
}

#[derive(Debug)]
#[repr(align(128))]
struct Shard {
    /// The tick of the wheel's next deadline; written under the lock.
    next: AtomicU64,
    wheel: Mutex<Wheel<Waker>>,
}

impl Shard {
    fn new() -> Self {
        Self { next: AtomicU64::new(NEVER), wheel: Mutex::new(Wheel::new()) }
    }

    /// Fires some of what is due; `None` if somebody else does so at present.
    fn fire(&self, most: usize, now: u64) -> Option<usize> {
        let mut batch = [const { None }; BATCH];
        let mut wheel = self.try_lock()?;
        let mut places = batch.iter_mut();
        let count = wheel.advance(now, most.min(BATCH), |waker| {
            *places.next().expect("no more come than there are places") = Some(waker);
        });
        // Relaxed: as in `raise`.
        self.next.store(wheel.next_tick(), Ordering::Relaxed);
        drop(wheel);
        batch.into_iter().flatten().for_each(wake::wake);
        Some(count)
    }

    fn reset(&self, wheel: &mut Wheel<Waker>, key: Key, at: Instant) -> bool {
        let at = at.as_nanos();
        let Some(former) = wheel.reset(key, at) else { return false };
        if tick(at) > tick(former) {
            self.raise(former, wheel);
        } else {
            self.lower(at);
        }
        true
    }

    /// A timer was set for `at`; called under the lock.
    fn lower(&self, at: u64) {
        let next = tick(at);
        // Relaxed: only holders of the lock write it.
        if next < self.next.load(Ordering::Relaxed) {
            // SeqCst: pairs with the load in `next`. Who sets an earlier timer stores this and then looks until when
            // the reactor sleeps; who goes to sleep announces that and then looks here (`Seat::sleep`).
            self.next.store(next, Ordering::SeqCst);
        }
    }

    /// A timer for `former` is gone from there, maybe the one that is waited for; called under the lock.
    fn raise(&self, former: u64, wheel: &Wheel<Waker>) {
        // Relaxed: only holders of the lock write it.
        if tick(former) <= self.next.load(Ordering::Relaxed) {
            // Relaxed: who does not see it yet wakes up too early, and sees it then.
            self.next.store(wheel.next_tick(), Ordering::Relaxed);
        }
    }

    fn next(&self) -> u64 {
        // SeqCst: pairs with the store in `publish`.
        self.next.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, Wheel<Waker>> {
        self.wheel.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Wheel<Waker>>> {
        match self.wheel.try_lock() {
            Ok(wheel) => Some(wheel),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// How many timers fire under one lock.
const BATCH: usize = 32;

/// How many timers an idle worker fires before it runs what they wake, while that is still in the cache: fewer than its
/// queue has room for.
const MANY: usize = 128;

/// How many timers a busy worker fires each time it looks around, every few microseconds: a crowd whose time has come
/// gets a good part of its time, and those who came before go on.
const FEW: usize = 8;

#[cfg(test)]
mod tests;
