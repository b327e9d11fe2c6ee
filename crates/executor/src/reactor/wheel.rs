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
            due: Due::new(),
            now: 0,
        }
    }

    /// Sets a timer. `NEVER` gives one that does not fire until it is reset.
    pub(crate) fn insert(&mut self, deadline: u64, payload: T) -> Key {
        let (key, record) = self.entries.insert(deadline, payload);
        self.link(record);
        key
    }

    /// Moves a timer and gives its former deadline; `None` if it has fired or was removed.
    pub(crate) fn reset(&mut self, key: Key, deadline: u64) -> Option<u64> {
        let (former, record) = self.entries.reset(key, deadline)?;
        self.unlink(former);
        self.link(record);
        Some(former)
    }

    /// The payload of a timer that has not fired.
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.entries.get_mut(key)
    }

    /// Removes a timer and gives its deadline and its payload, if it has not fired.
    pub(crate) fn remove(&mut self, key: Key) -> Option<(u64, T)> {
        let (deadline, payload) = self.entries.remove(key)?;
        self.unlink(deadline);
        Some((deadline, payload))
    }

    /// Fires what is due at `now`, in order, but at most so many; gives how many.
    pub(crate) fn advance(&mut self, now: u64, most: usize, mut fire: impl FnMut(T)) -> usize {
        let target = now / TICK;
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

    /// When `advance` should be called next: never later than the earliest deadline; `NEVER` if nothing is set.
    pub(crate) fn next_deadline(&self) -> u64 {
        if !self.due.is_empty() {
            return self.now.saturating_mul(TICK);
        }
        self.earliest_slot().map_or(NEVER, |(level, slot, _)| wake_up(self.levels[level].earliest(slot)))
    }

    /// Takes every payload out, in no order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.levels.iter_mut().for_each(|level| *level = Level::new());
        self.due = Due::new();
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

    /// Puts a record where its deadline belongs now.
    fn link(&mut self, record: Record) {
        if record.deadline == NEVER {
            return;
        }
        let tick = tick(record.deadline);
        if tick <= self.now {
            return self.due.push(record);
        }
        let (level, slot) = position(self.now, tick);
        self.levels[level].push(slot, record);
    }

    /// A timer with this deadline ended or got another one. Where its void record lies follows from the deadline.
    fn unlink(&mut self, deadline: u64) {
        if deadline == NEVER {
            return;
        }
        let tick = tick(deadline);
        if tick <= self.now {
            return self.due.forget(&self.entries);
        }
        let (level, slot) = position(self.now, tick);
        self.levels[level].forget(slot, &self.entries);
    }

    /// Time enters a slot: its timers are due, or move down.
    fn enter(&mut self, level: usize, slot: usize, tick: u64) {
        self.now = tick;
        let mut entered = self.levels[level].take(slot);
        if level == 0 {
            entered = self.due.fill(entered);
        } else {
            entered.clean(&self.entries);
            entered.records.iter().for_each(|&record| self.link(record));
        }
        self.levels[level].reuse(slot, entered);
    }

    /// The occupied slot that time reaches first: its level, its number, and the first tick of its span.
    fn earliest_slot(&self) -> Option<(usize, usize, u64)> {
        self.levels.iter().enumerate().find_map(|(level, floor)| {
            let shift = BITS * level as u32;
            let here = (self.now >> shift) % SLOTS as u64;
            // Timers lie ahead of the present digit, so the slots are looked at in a circle that begins there.
            let distance = floor.distance(here)?;
            let slot = (here + distance) % SLOTS as u64;
            Some((level, slot as usize, ((self.now >> shift) + distance) << shift))
        })
    }
}

/// When the clock has to be looked at for this deadline: its tick fires at once then.
pub(crate) fn wake_up(deadline: u64) -> u64 {
    if deadline == NEVER { NEVER } else { tick(deadline).saturating_mul(TICK) }
}

/// The tick that a deadline is rounded up to.
fn tick(deadline: u64) -> u64 {
    deadline.div_ceil(TICK).min(LAST_TICK)
}

/// The level and the slot of `tick`, seen from `now`: the highest digit in which they differ.
fn position(now: u64, tick: u64) -> (usize, usize) {
    let level = (63 - (now ^ tick).leading_zeros()) / BITS;
    (level as usize, ((tick >> (level * BITS)) % SLOTS as u64) as usize)
}

/// The deadline of a timer that does not fire.
pub(crate) const NEVER: u64 = u64::MAX;

const TICK: u64 = 1 << 16;
/// The last tick that the eight levels can tell apart, 584 years away.
const LAST_TICK: u64 = u64::MAX / TICK;
const LEVELS: usize = 8;

/// How many timers are fetched from memory together before they fire.
const AHEAD: usize = 32;

#[cfg(test)]
mod tests;
