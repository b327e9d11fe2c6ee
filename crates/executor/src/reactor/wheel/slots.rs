//! Where records of timers wait: the slots of one level of the wheel, and the queue of those whose time has come.
//!
//! A record stays where it is when its timer is moved or removed: it is void from then on, and only the number of valid
//! ones goes down. A slot without valid records is emptied at once, and one of which most are void is cleaned, so void
//! records cost constant time each, and no more room than valid ones.

use super::NEVER;
use super::entries::{Entries, Record};

/// The slots of one level.
#[derive(Debug)]
pub(super) struct Level {
    /// A bit for each slot that has timers.
    occupied: u64,
    slots: [Slot; SLOTS],
}

impl Level {
    pub(super) const fn new() -> Self {
        Self { occupied: 0, slots: [const { Slot::new() }; SLOTS] }
    }

    pub(super) fn push(&mut self, slot: usize, record: Record) {
        self.occupied |= 1 << slot;
        self.slots[slot].push(record);
    }

    /// A timer of this slot was moved or removed.
    pub(super) fn forget<T>(&mut self, slot: usize, entries: &Entries<T>) {
        if self.slots[slot].forget(entries) {
            self.occupied &= !(1 << slot);
        }
    }

    /// A timer of this slot was moved within it.
    pub(super) fn replace<T>(&mut self, slot: usize, record: Record, entries: &Entries<T>) {
        let slot = &mut self.slots[slot];
        slot.earliest = slot.earliest.min(record.deadline);
        slot.records.push(record);
        slot.sweep(entries);
    }

    /// How far ahead of the slot `here` the next occupied one is, in a circle.
    pub(super) fn distance(&self, here: u64) -> u64 {
        u64::from(self.occupied.rotate_right(here as u32).trailing_zeros())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.occupied == 0
    }

    /// The earliest deadline of a slot, or an earlier one that is not valid any more.
    pub(super) fn earliest(&self, slot: usize) -> u64 {
        self.slots[slot].earliest
    }

    #[cfg(test)]
    pub(super) fn records(&self) -> usize {
        self.slots.iter().map(|slot| slot.records.len()).sum()
    }

    /// Takes a slot's contents out.
    pub(super) fn take(&mut self, slot: usize) -> Slot {
        self.occupied &= !(1 << slot);
        std::mem::replace(&mut self.slots[slot], Slot::new())
    }

    /// Gives the room of a slot's former contents back to it.
    pub(super) fn reuse(&mut self, slot: usize, mut former: Slot) {
        former.clear();
        if self.slots[slot].records.capacity() == 0 {
            self.slots[slot].records = former.records;
        }
    }
}

/// Records in the order in which their timers were set.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) records: Vec<Record>,
    /// How many of them are valid.
    live: usize,
    /// Not later than the earliest of the valid ones.
    earliest: u64,
}

impl Slot {
    const fn new() -> Self {
        Self { records: Vec::new(), live: 0, earliest: NEVER }
    }

    fn push(&mut self, record: Record) {
        self.earliest = self.earliest.min(record.deadline);
        self.live += 1;
        self.records.push(record);
    }

    /// One of the records is void from now on; whether it was the last valid one.
    fn forget<T>(&mut self, entries: &Entries<T>) -> bool {
        self.live -= 1;
        if self.live == 0 {
            self.clear();
        } else {
            self.sweep(entries);
        }
        self.live == 0
    }

    /// Cleans the slot, if that is worth while.
    #[inline]
    fn sweep<T>(&mut self, entries: &Entries<T>) {
        if self.records.len() > 2 * self.live + DIRT {
            self.clean(entries);
        }
    }

    /// Drops the void records. Without any, which the numbers tell, no timer is looked at.
    pub(super) fn clean<T>(&mut self, entries: &Entries<T>) {
        if self.records.len() > self.live {
            self.records.retain(|&record| entries.is_valid(record));
            self.earliest = self.records.iter().map(|record| record.deadline).min().unwrap_or(NEVER);
        }
    }

    fn clear(&mut self) {
        self.records.clear();
        // What a crowd needed once is not kept for ever.
        self.records.shrink_to(KEPT);
        (self.live, self.earliest) = (0, NEVER);
    }
}

/// The timers whose tick has come, in the order in which they fire: by deadline, then by the order of setting.
#[derive(Debug)]
pub(super) struct Due {
    slot: Slot,
    /// How many of the records are done with.
    done: usize,
    sorted: bool,
}

impl Due {
    pub(super) const fn new() -> Self {
        Self { slot: Slot::new(), done: 0, sorted: true }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slot.live == 0
    }

    /// A timer that was set for a time that has passed.
    pub(super) fn push(&mut self, record: Record) {
        self.sorted = false;
        self.slot.push(record);
    }

    /// Takes over a slot whose tick has come; gives one that is empty. Only while nothing is due.
    pub(super) fn fill(&mut self, slot: Slot) -> Slot {
        (self.done, self.sorted) = (0, false);
        std::mem::replace(&mut self.slot, slot)
    }

    /// A timer that is due was moved or removed.
    pub(super) fn forget<T>(&mut self, entries: &Entries<T>) {
        let before = self.slot.records.len();
        self.slot.forget(entries);
        // Cleaning drops what is done with too.
        if self.slot.records.len() < before {
            self.done = 0;
        }
    }

    /// Brings the records into order, and so many timers into the cache; to be called before the `next` of each of them.
    pub(super) fn prepare<T>(&mut self, most: usize, entries: &Entries<T>) {
        if !self.sorted {
            self.skip_done();
            self.slot.records.sort_by_key(|record| record.deadline);
            self.sorted = true;
        }
        let waiting = &self.slot.records[self.done..];
        entries.fetch(&waiting[..most.min(waiting.len())]);
    }

    /// Ends the next timer; gives what it carried.
    pub(super) fn next<T>(&mut self, entries: &mut Entries<T>) -> Option<T> {
        while let Some(&record) = self.slot.records.get(self.done) {
            self.done += 1;
            if let Some(payload) = entries.expire(record) {
                self.slot.live -= 1;
                return Some(payload);
            }
        }
        self.done = 0;
        self.slot.clear();
        None
    }

    #[cfg(test)]
    pub(super) fn records(&self) -> usize {
        self.slot.records.len()
    }

    fn skip_done(&mut self) {
        self.slot.records.drain(..self.done);
        self.done = 0;
    }
}

pub(super) const BITS: u32 = 6;
pub(super) const SLOTS: usize = 1 << BITS;

/// So many void records are no reason to clean a slot.
const DIRT: usize = 64;

/// How much room an empty slot keeps.
const KEPT: usize = 1024;
