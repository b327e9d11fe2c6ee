//! A hierarchical timer wheel: set, move, replace and remove in constant time, whatever the number of timers.
//!
//! Time is cut into ticks of 2^16 ns (65.5 µs). Level 0 has a slot for each of the 64 ticks of the present round, level
//! 1 a slot for each of the 64 rounds above it, and so on; eight levels cover every `u64` of nanoseconds. A timer lies
//! on the level of the highest digit (base 64) in which its tick differs from the present one. When time enters a slot
//! above level 0, its timers move down.
//!
//! * Never early: a deadline is rounded up to a tick, and a tick fires when the clock has reached its beginning. So a
//!   timer is at most one tick late, plus what the operating system adds.
//! * Order: timers of one slot fire sorted by deadline, equal deadlines in the order in which they were set. Slots are
//!   reached in order of time.
//! * The next wake-up is exact: each slot keeps the earliest deadline that was put into it, so a worker does not wake up
//!   just to move timers down. It may be too early after a removal, never too late.
//!
//! The wheel knows no clock, no lock and no waker; it is tested against a plain sorted map.

/// A wheel whose timers carry a `T`.
#[derive(Debug)]
pub(crate) struct Wheel<T> {
    entries: Vec<Entry<T>>,
    /// The head of the list of free entries.
    free: u32,
    levels: Box<[Level; LEVELS]>,
    /// The tick up to which everything has fired.
    now: u64,
    /// Counts insertions and resets: the tie-breaker, and the generation of keys.
    sequence: u64,
}

/// Names a timer: its place, and the insertion that put it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) place: u32,
    pub(crate) generation: u64,
}

impl<T> Wheel<T> {
    pub(crate) fn new() -> Self {
        Self {
            entries: Vec::new(),
            free: NONE,
            levels: Box::new([const { Level::new() }; LEVELS]),
            now: 0,
            sequence: 0,
        }
    }

    /// Sets a timer. `NEVER` gives one that does not fire until it is reset.
    pub(crate) fn insert(&mut self, deadline: u64, payload: T) -> Key {
        let generation = self.next_sequence();
        let entry = Entry {
            deadline,
            order: generation,
            generation,
            payload: Some(payload),
            previous: NONE,
            next: NONE,
            slot: UNLINKED,
        };
        let place = self.allocate(entry);
        self.link(place);
        Key { place, generation }
    }

    /// Moves a timer; false if it has fired or was removed.
    pub(crate) fn reset(&mut self, key: Key, deadline: u64) -> bool {
        if !self.is_set(key) {
            return false;
        }
        self.unlink(key.place);
        let order = self.next_sequence();
        let entry = self.entry_mut(key.place);
        entry.deadline = deadline;
        entry.order = order;
        self.link(key.place);
        true
    }

    /// The payload of a timer that has not fired.
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        if !self.is_set(key) {
            return None;
        }
        self.entry_mut(key.place).payload.as_mut()
    }

    /// Removes a timer and gives its payload, if it has not fired.
    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        if !self.is_set(key) {
            return None;
        }
        self.unlink(key.place);
        self.release(key.place)
    }

    /// Fires what is due at `now`, in order.
    pub(crate) fn advance(&mut self, now: u64, mut fire: impl FnMut(T)) {
        let target = now / TICK;
        let mut due = Vec::new();
        while let Some((level, slot, tick)) = self.earliest_slot() {
            if tick > target {
                break;
            }
            self.now = self.now.max(tick);
            self.empty(level, slot, &mut due);
            if level > 0 {
                due.drain(..).for_each(|place| self.link(place));
            } else {
                due.sort_unstable_by_key(|&place| {
                    let entry = &self.entries[place as usize];
                    (entry.deadline, entry.order)
                });
                due.drain(..).filter_map(|place| self.release(place)).for_each(&mut fire);
            }
        }
        self.now = self.now.max(target);
    }

    /// When `advance` should be called next: never later than the earliest deadline; `NEVER` if nothing is set.
    pub(crate) fn next_deadline(&self) -> u64 {
        match self.earliest_slot() {
            // A clock that shows the rounded deadline makes the tick fire at once. What was set in the past fires with
            // the present tick.
            Some((level, slot, tick)) => {
                self.levels[level].earliest[slot].div_ceil(TICK).max(tick).saturating_mul(TICK)
            }
            None => NEVER,
        }
    }

    /// Takes every payload out, in no order.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        let entries = std::mem::take(&mut self.entries);
        self.free = NONE;
        self.levels.iter_mut().for_each(|level| *level = Level::new());
        entries.into_iter().filter_map(|entry| entry.payload).collect()
    }

    fn is_set(&self, key: Key) -> bool {
        self.entries
            .get(key.place as usize)
            .is_some_and(|entry| entry.generation == key.generation && entry.payload.is_some())
    }

    /// Puts an entry into the slot that its deadline belongs to now.
    fn link(&mut self, place: u32) {
        let deadline = self.entries[place as usize].deadline;
        if deadline == NEVER {
            return;
        }
        // A deadline in the past belongs to the present tick, which can fire again.
        let tick = deadline.div_ceil(TICK).min(LAST_TICK).max(self.now);
        let (level, slot) = position(self.now, tick);
        let floor = &mut self.levels[level];
        let head = floor.heads[slot];
        floor.heads[slot] = place;
        if head == NONE {
            floor.occupied |= 1 << slot;
            floor.earliest[slot] = deadline;
        } else {
            floor.earliest[slot] = floor.earliest[slot].min(deadline);
            self.entry_mut(head).previous = place;
        }
        let entry = self.entry_mut(place);
        entry.previous = NONE;
        entry.next = head;
        entry.slot = (level * SLOTS + slot) as u16;
    }

    fn unlink(&mut self, place: u32) {
        let entry = self.entry_mut(place);
        let (previous, next, at) = (entry.previous, entry.next, entry.slot);
        entry.slot = UNLINKED;
        if at == UNLINKED {
            return;
        }
        if next != NONE {
            self.entry_mut(next).previous = previous;
        }
        if previous != NONE {
            self.entry_mut(previous).next = next;
            return;
        }
        let (level, slot) = (at as usize / SLOTS, at as usize % SLOTS);
        self.levels[level].heads[slot] = next;
        if next == NONE {
            self.levels[level].occupied &= !(1 << slot);
        }
    }

    /// Takes every entry out of a slot.
    fn empty(&mut self, level: usize, slot: usize, into: &mut Vec<u32>) {
        let floor = &mut self.levels[level];
        floor.occupied &= !(1 << slot);
        let mut place = std::mem::replace(&mut floor.heads[slot], NONE);
        while place != NONE {
            into.push(place);
            let entry = self.entry_mut(place);
            entry.slot = UNLINKED;
            place = entry.next;
        }
    }

    /// The occupied slot that time reaches first: its level, its number, and the first tick of its span.
    fn earliest_slot(&self) -> Option<(usize, usize, u64)> {
        for (level, floor) in self.levels.iter().enumerate() {
            if floor.occupied == 0 {
                continue;
            }
            let shift = BITS * level as u32;
            let here = (self.now >> shift) & (SLOTS as u64 - 1);
            // Timers lie ahead of the present digit, so the slots are looked at in a circle that begins there.
            let distance = u64::from(floor.occupied.rotate_right(here as u32).trailing_zeros());
            let slot = (here + distance) % SLOTS as u64;
            let tick = ((self.now >> shift) + distance) << shift;
            return Some((level, slot as usize, tick.max(self.now)));
        }
        None
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    fn allocate(&mut self, entry: Entry<T>) -> u32 {
        if self.free != NONE {
            let place = self.free;
            self.free = self.entries[place as usize].next;
            self.entries[place as usize] = entry;
            return place;
        }
        let place = u32::try_from(self.entries.len()).expect("fewer than 2^32 timers are set at a time");
        assert!(place != NONE, "fewer than 2^32 timers are set at a time");
        self.entries.push(entry);
        place
    }

    fn release(&mut self, place: u32) -> Option<T> {
        let free = std::mem::replace(&mut self.free, place);
        let entry = self.entry_mut(place);
        entry.next = free;
        entry.payload.take()
    }

    fn entry_mut(&mut self, place: u32) -> &mut Entry<T> {
        &mut self.entries[place as usize]
    }
}

#[derive(Debug)]
struct Entry<T> {
    deadline: u64,
    order: u64,
    generation: u64,
    /// Empty once the timer has fired or was removed.
    payload: Option<T>,
    previous: u32,
    next: u32,
    slot: u16,
}

#[derive(Debug)]
struct Level {
    /// A bit for each slot that has timers.
    occupied: u64,
    heads: [u32; SLOTS],
    /// The earliest deadline that was put into the slot since it was empty.
    earliest: [u64; SLOTS],
}

impl Level {
    const fn new() -> Self {
        Self { occupied: 0, heads: [NONE; SLOTS], earliest: [NEVER; SLOTS] }
    }
}

/// The level and the slot of `tick`, seen from `now`: the highest digit in which they differ.
fn position(now: u64, tick: u64) -> (usize, usize) {
    let differing = 63 - (now ^ tick).leading_zeros().min(63);
    let level = differing / BITS;
    (level as usize, ((tick >> (level * BITS)) & (SLOTS as u64 - 1)) as usize)
}

/// The deadline of a timer that does not fire.
pub(crate) const NEVER: u64 = u64::MAX;

const TICK: u64 = 1 << 16;
/// The last tick that the eight levels can tell apart, 584 years away.
const LAST_TICK: u64 = u64::MAX / TICK;
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = 8;
const NONE: u32 = u32::MAX;
const UNLINKED: u16 = u16::MAX;

#[cfg(test)]
mod tests;
