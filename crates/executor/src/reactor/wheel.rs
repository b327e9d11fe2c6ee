//! A hierarchical timer wheel: set, move, replace and remove in constant time, whatever the number of timers.
//!
//! Time is cut into ticks of 2^16 ns (65.5 µs). Level 0 has a slot for each of the 64 ticks of the present round, level
//! 1 a slot for each of the 64 rounds above it, and so on; eight levels cover every `u64` of nanoseconds. A timer lies
//! on the level of the highest digit (base 64) in which its tick differs from the present one. When time enters a slot
//! above level 0, its timers move down.
//!
//! A slot is an array of small records with the deadlines. Moving down reads one array from its beginning to its end and
//! touches no timer; a million timers do not fit into a cache, and so each of them is looked at only when it is set and
//! when it ends.
//!
//! * Never early: a deadline is rounded up to a tick, and a tick fires when the clock has reached its beginning. So a
//!   timer is at most one tick late, plus what the operating system adds.
//! * Order: timers of one tick fire sorted by deadline, equal deadlines in the order in which they were set. At any time
//!   all timers of a tick lie in the same slot, and moving down keeps their order.
//! * The next wake-up is exact: each slot keeps the earliest deadline that was put into it, so a worker does not wake up
//!   just to move timers down. It may be too early after a removal, never too late.
//!
//! The wheel knows no clock, no lock and no waker; it is tested against a plain sorted map.

mod entries;
mod slots;

pub(crate) use self::entries::Key;
use self::entries::{Entries, Record};
use self::slots::{BITS, Due, Level, SLOTS};

/// A wheel whose timers carry a `T`.
#[derive(Debug)]
pub(crate) struct Wheel<T> {
    entries: Entries<T>,
    /// The timers of the ticks after the present one.
    levels: Box<[Level; LEVELS]>,
    /// A bit for each level that has timers.
    occupied: u32,
    /// The timers of the present tick, and those that were set for one that had passed.
    due: Due,
    /// The present tick: none after it has fired.
    now: u64,
}

impl<T> Wheel<T> {
    pub(crate) fn new() -> Self {
        Self {
            entries: Entries::new(),
            levels: Box::new([const { Level::new() }; LEVELS]),
            occupied: 0,
            due: Due::new(),
            now: 0,
        }
    }

    /// Sets a timer. `NEVER` gives one that does not fire until it is reset.
    pub(crate) fn insert(&mut self, deadline: u64, payload: T) -> Key {
        let (key, record) = self.entries.insert(deadline, payload);
        self.link(self.place_of(deadline), record);
        key
    }

    /// Moves a timer and gives its former deadline; `None` if it has fired or was removed.
    pub(crate) fn reset(&mut self, key: Key, deadline: u64) -> Option<u64> {
        let (former, record) = self.entries.reset(key, deadline)?;
        match self.place_of(former) {
            // Most moves are short beside the time that is left.
            Place::Ahead(level, slot) if is_same_slot(level, former, deadline) => {
                self.levels[level].replace(slot, record, &self.entries);
            }
            place => {
                self.unlink(place);
                self.link(self.place_of(deadline), record);
            }
        }
        Some(former)
    }

    /// The payload of a timer that has not fired.
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.entries.get_mut(key)
    }

    /// Removes a timer and gives its deadline and its payload, if it has not fired.
    pub(crate) fn remove(&mut self, key: Key) -> Option<(u64, T)> {
        let (deadline, payload) = self.entries.remove(key)?;
        self.unlink(self.place_of(deadline));
        Some((deadline, payload))
    }

    /// Fires what is due at `now`, in order, but at most so many; gives how many.
    pub(crate) fn advance(&mut self, now: u64, most: usize, mut fire: impl FnMut(T)) -> usize {
        let target = ticks(now);
        let mut fired = 0;
        while fired < most {
            if !self.due.is_empty() {
                fired += self.fire(most - fired, &mut fire);
                continue;
            }
            match self.earliest_slot() {
                Some((level, slot, tick)) if tick <= target => self.enter(level, slot, tick),
                _ => {
                    self.now = self.now.max(target);
                    break;
                }
            }
        }
        fired
    }

    /// The tick in which `advance` should be called next: not after that of the earliest deadline; `NEVER` if nothing is
    /// set.
    pub(crate) fn next_tick(&self) -> u64 {
        if !self.due.is_empty() {
            return self.now;
        }
        self.earliest_slot().map_or(NEVER, |(level, slot, _)| tick(self.levels[level].earliest(slot)))
    }

    /// Takes every payload out, in no order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.levels.iter_mut().for_each(|level| *level = Level::new());
        (self.due, self.occupied) = (Due::new(), 0);
        self.entries.drain()
    }

    #[cfg(test)]
    fn records(&self) -> usize {
        self.levels.iter().map(Level::records).sum::<usize>() + self.due.records()
    }

    /// Fires at most so many of those that are due.
    fn fire(&mut self, most: usize, mut fire: impl FnMut(T)) -> usize {
        self.due.prepare(most.min(AHEAD), &self.entries);
        let due = std::iter::from_fn(|| self.due.next(&mut self.entries));
        due.take(most.min(AHEAD)).map(&mut fire).count()
    }

    /// Where the record of a timer with this deadline lies now: it follows from the time.
    fn place_of(&self, deadline: u64) -> Place {
        let tick = tick(deadline);
        if tick <= self.now {
            Place::Due
        } else if tick < END {
            let (level, slot) = position(self.now, tick);
            Place::Ahead(level, slot)
        } else {
            Place::Nowhere
        }
    }

    fn link(&mut self, place: Place, record: Record) {
        match place {
            Place::Due => self.due.push(record),
            Place::Ahead(level, slot) => {
                self.occupied |= 1 << level;
                self.levels[level].push(slot, record);
            }
            Place::Nowhere => {}
        }
    }

    /// A timer whose record lies there ended or got another one.
    fn unlink(&mut self, place: Place) {
        match place {
            Place::Due => self.due.forget(&self.entries),
            Place::Ahead(level, slot) => {
                self.levels[level].forget(slot, &self.entries);
                self.note_emptiness(level);
            }
            Place::Nowhere => {}
        }
    }

    /// Time enters a slot: its timers are due, or move down.
    fn enter(&mut self, level: usize, slot: usize, tick: u64) {
        self.now = tick;
        let mut entered = self.levels[level].take(slot);
        self.note_emptiness(level);
        if level == 0 {
            entered = self.due.fill(entered);
        } else {
            entered.clean(&self.entries);
            entered.records.iter().for_each(|&record| self.link(self.place_of(record.deadline), record));
        }
        self.levels[level].reuse(slot, entered);
    }

    fn note_emptiness(&mut self, level: usize) {
        if self.levels[level].is_empty() {
            self.occupied &= !(1 << level);
        }
    }

    /// The occupied slot that time reaches first: its level, its number, and the first tick of its span.
    fn earliest_slot(&self) -> Option<(usize, usize, u64)> {
        // Whatever lies on a level comes before all that lies above it.
        let level = self.occupied.trailing_zeros();
        let shift = BITS * level;
        let floor = self.levels.get(level as usize)?;
        let here = (self.now >> shift) % SLOTS as u64;
        // Timers lie ahead of the present digit, so the slots are looked at in a circle that begins there.
        let distance = floor.distance(here);
        let slot = (here + distance) % SLOTS as u64;
        Some((level as usize, slot as usize, ((self.now >> shift) + distance) << shift))
    }
}

/// Where a record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Due,
    /// On this level, in this slot.
    Ahead(usize, usize),
    /// It will not fire in the time that a clock can show.
    Nowhere,
}

/// The tick that a deadline is rounded up to.
pub(crate) fn tick(deadline: u64) -> u64 {
    deadline.div_ceil(TICK)
}

/// How many ticks have begun when the clock shows `now`.
pub(crate) fn ticks(now: u64) -> u64 {
    now / TICK
}

/// When a tick begins; never, if that is beyond the clock.
pub(crate) fn beginning(tick: u64) -> u64 {
    tick.saturating_mul(TICK)
}

/// The level and the slot of `tick`, seen from `now`: the highest digit in which they differ.
fn position(now: u64, tick: u64) -> (usize, usize) {
    let level = (63 - (now ^ tick).leading_zeros()) / BITS;
    (level as usize, ((tick >> (level * BITS)) % SLOTS as u64) as usize)
}

/// Whether a timer that lies on this level lies in the same slot with another deadline.
fn is_same_slot(level: usize, former: u64, latter: u64) -> bool {
    (tick(former) ^ tick(latter)) >> (level as u32 * BITS) == 0
}

/// The deadline of a timer that does not fire.
pub(crate) const NEVER: u64 = u64::MAX;

const TICK: u64 = 1 << 16;
/// No clock comes to this tick, in 584 years. The eight levels tell apart those before.
const END: u64 = u64::MAX / TICK + 1;
const LEVELS: usize = 8;

/// How many timers are fetched from memory together before they fire.
const AHEAD: usize = 32;

#[cfg(test)]
mod tests;
