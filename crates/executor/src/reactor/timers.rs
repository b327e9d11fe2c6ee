//! The timers of a runtime: a wheel per worker, each under its own lock, each with its next deadline in one atomic.
//!
//! A worker sets its timers in its own wheel, so the locks are not contended; a key says in which wheel its timer lies,
//! so anybody can move or remove it. Whoever is about to sleep, or looks after the reactor now and then, fires what is
//! due in all of them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use brigade_core::Instant;
use brigade_core::backend::TimerKey;

use super::wake::{self, WakeList};
use super::wheel::{Key, NEVER, Wheel};

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
        this.publish(&wheel);
        TimerKey { index: (shard as u64) << 32 | u64::from(key.place), generation: key.generation }
    }

    /// Moves a timer; false if it is gone.
    pub(crate) fn reset(&self, key: TimerKey, at: Instant) -> bool {
        let Some((shard, key)) = self.locate(key) else { return false };
        let mut wheel = shard.lock();
        let moved = wheel.reset(key, at.as_nanos());
        shard.publish(&wheel);
        moved
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
        let waker = wheel.remove(key);
        shard.publish(&wheel);
        drop(wheel);
        if let Some(waker) = waker {
            wake::discard(waker);
        }
    }

    /// Fires what is due at `now` in every wheel; gives how many there were.
    pub(crate) fn fire(&self, now: Instant) -> usize {
        let mut fired = 0;
        for shard in self.shards.iter().filter(|shard| shard.next() <= now.as_nanos()) {
            let mut due = WakeList::default();
            let mut wheel = shard.lock();
            wheel.advance(now.as_nanos(), |waker| due.push(waker));
            shard.publish(&wheel);
            drop(wheel);
            fired += due.len();
            due.fire();
        }
        fired
    }

    /// When `fire` should be called next.
    pub(crate) fn next_deadline(&self) -> Instant {
        Instant::from_nanos(self.shards.iter().map(Shard::next).min().unwrap_or(NEVER))
    }

    /// Drops every timer, and refuses new ones from now on.
    pub(crate) fn close(&self) {
        // Relaxed: the locks below order it against `insert`.
        self.closed.store(true, Ordering::Relaxed);
        for shard in &self.shards {
            let wakers = shard.lock().drain();
            // Relaxed: nobody waits for the deadline of an empty wheel.
            shard.next.store(NEVER, Ordering::Relaxed);
            wakers.into_iter().for_each(wake::discard);
        }
    }

    fn locate(&self, key: TimerKey) -> Option<(&Shard, Key)> {
        let shard = self.shards.get((key.index >> 32) as usize)?;
        Some((shard, Key { place: key.index as u32, generation: key.generation }))
    }
}

#[derive(Debug)]
#[repr(align(128))]
struct Shard {
    /// The wheel's next deadline; written under the lock.
    next: AtomicU64,
    wheel: Mutex<Wheel<Waker>>,
}

impl Shard {
    fn new() -> Self {
        Self { next: AtomicU64::new(NEVER), wheel: Mutex::new(Wheel::new()) }
    }

    fn publish(&self, wheel: &Wheel<Waker>) {
        let next = wheel.next_deadline();
        // Relaxed: only holders of the lock write it.
        if next != self.next.load(Ordering::Relaxed) {
            // SeqCst: pairs with the load in `next`. Who sets an earlier timer stores this and then looks until when
            // the reactor sleeps; who goes to sleep announces that and then looks here (`Reactor::announce`).
            self.next.store(next, Ordering::SeqCst);
        }
    }

    fn next(&self) -> u64 {
        // SeqCst: pairs with the store in `publish`.
        self.next.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, Wheel<Waker>> {
        self.wheel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
