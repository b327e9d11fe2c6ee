//! Virtual time: a number that moves only when the simulation moves it, and the timers that wait for it.
//!
//! Timers fire by (deadline, insertion order), law D6. The heap is cleaned lazily: removing or moving a
//! timer only forgets its slot, which is O(1) (law B4); the entry that is left in the heap is recognised
//! later, because every arming has a number of its own. When more than half of the heap is such litter it
//! is rebuilt, so a million short timeouts leave nothing behind.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::task::Waker;

use brigade_core::Instant;
use brigade_core::backend::TimerKey;
use slab::Slab;

/// The clock of a simulation. Nothing here wakes or drops a waker: the caller gets them back and does so
/// after its lock is released.
#[derive(Debug)]
pub(crate) struct Clock {
    now: Instant,
    timers: Slab<Timer>,
    order: BinaryHeap<Reverse<Arming>>,
    /// Counts armings, so that equal deadlines keep their order and keys are never reused.
    armings: u64,
}

#[derive(Debug)]
struct Timer {
    generation: u64,
    /// The number of the heap entry that is valid for this timer; all others are litter.
    armed: u64,
    waker: Waker,
}

/// A heap entry. Ordered by its fields from the top: deadline first, then insertion.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arming {
    at: Instant,
    number: u64,
    index: usize,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock { now: Instant::ZERO, timers: Slab::new(), order: BinaryHeap::new(), armings: 0 }
    }

    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    pub(crate) fn insert(&mut self, at: Instant, waker: Waker) -> TimerKey {
        let number = self.next_number();
        let index = self.timers.insert(Timer { generation: number, armed: number, waker });
        self.arm(Arming { at, number, index });
        TimerKey { index: index as u64, generation: number }
    }

    /// Moves a timer; it then counts as inserted now. False if it has fired or was removed.
    pub(crate) fn reset(&mut self, key: TimerKey, at: Instant) -> bool {
        let number = self.next_number();
        let Some(timer) = self.get(key) else { return false };
        timer.armed = number;
        self.arm(Arming { at, number, index: key.index as usize });
        true
    }

    /// Replaces the waker of a timer and gives the other one back: the old one, or the new one if the
    /// timer is gone.
    pub(crate) fn update(&mut self, key: TimerKey, waker: Waker) -> Result<Waker, Waker> {
        match self.get(key) {
            Some(timer) => Ok(std::mem::replace(&mut timer.waker, waker)),
            None => Err(waker),
        }
    }

    pub(crate) fn remove(&mut self, key: TimerKey) -> Option<Waker> {
        self.get(key)?;
        let waker = self.timers.remove(key.index as usize).waker;
        self.sweep();
        Some(waker)
    }

    /// Takes the wakers of all timers that are due, in the order in which they fire.
    pub(crate) fn take_due(&mut self) -> Vec<Waker> {
        let mut due = Vec::new();
        while self.next_deadline().is_some_and(|at| at <= self.now) {
            let Some(Reverse(arming)) = self.order.pop() else { break };
            due.push(self.timers.remove(arming.index).waker);
        }
        due
    }

    /// The earliest deadline of a live timer. Litter on the way there is thrown away.
    pub(crate) fn next_deadline(&mut self) -> Option<Instant> {
        while let Some(Reverse(first)) = self.order.peek() {
            if self.is_live(first) {
                return Some(first.at);
            }
            self.order.pop();
        }
        None
    }

    /// Lets time jump. It never runs backwards.
    pub(crate) fn jump_to(&mut self, at: Instant) {
        self.now = self.now.max(at);
    }

    /// How many timers wait.
    pub(crate) fn len(&self) -> usize {
        self.timers.len()
    }

    /// Forgets all timers and gives their wakers back.
    pub(crate) fn clear(&mut self) -> Vec<Waker> {
        self.order.clear();
        self.timers.drain().map(|timer| timer.waker).collect()
    }

    fn get(&mut self, key: TimerKey) -> Option<&mut Timer> {
        self.timers.get_mut(key.index as usize).filter(|timer| timer.generation == key.generation)
    }

    fn arm(&mut self, arming: Arming) {
        // A timer in the far future never fires, so it needs no place in the order.
        if arming.at < Instant::FAR_FUTURE {
            self.order.push(Reverse(arming));
        }
        self.sweep();
    }

    fn is_live(&self, arming: &Arming) -> bool {
        self.timers.get(arming.index).is_some_and(|timer| timer.armed == arming.number)
    }

    /// Rebuilds the heap when it is mostly litter; amortised over the removals, this is O(1) each.
    fn sweep(&mut self) {
        if self.order.len() > 2 * self.timers.len() + 64 {
            let mut entries = std::mem::take(&mut self.order).into_vec();
            entries.retain(|Reverse(arming)| self.is_live(arming));
            self.order = entries.into();
        }
    }

    fn next_number(&mut self) -> u64 {
        self.armings += 1;
        self.armings
    }
}
