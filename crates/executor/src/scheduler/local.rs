//! A worker's own queues: a bounded FIFO ring from which others steal halves, and a LIFO slot for the last wake-up.
//!
//! ```text
//!            steal          real                    tail
//!              │              │                      │
//!   ··· ─ ─ ─ ┌┴─────────────┬┴──────────────────────┐ ─ ─ ─ ···     (indices modulo CAPACITY)
//!             │ being stolen │ items                 │ free
//!             └──────────────┴───────────────────────┘
//! ```
//!
//! `head` packs `steal` and `real` into one word. Outside of a theft both are equal. The algorithm is that of Go and
//! tokio: one read-modify-write to pop, none to push, two for a theft of up to half of the items.
//!
//! # Invariants
//!
//! * INVARIANT Q1: `tail` is written only through the one `Owner`, which is neither `Sync` nor `Clone`.
//! * INVARIANT Q2: `tail - steal <= CAPACITY`, and the slots in `steal..tail` are initialized and published by the
//!   release store of `tail`; every other slot is free, and only the owner writes to it.
//! * INVARIANT Q3: an item belongs to the one party whose compare-exchange moved `real` over its index, and to
//!   nobody else. Its slot stays untouched until `steal` has passed it, too.
//! * INVARIANT Q5: only the owner moves `steal` and `real` back, over slots that it has filled, by one exchange and while
//!   both are equal. A thief whose own exchange then finds the former value again claims what lies there by now.
//! * INVARIANT Q4: while `steal != real` one thief is at work; nobody but this thief moves `steal`.
//! * INVARIANT S1: the slot's value is initialized exactly while its state is `FULL` or `STEALING`.
//! * INVARIANT S2: `EMPTY → FULL` is made by the owner only. Whoever makes `FULL → EMPTY` (owner) or
//!   `FULL → STEALING` (thief) owns the value; `STEALING → EMPTY` is made by that thief, when it has moved it out.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::sync::{Arc, AtomicU8, AtomicU32, AtomicU64, Ordering, UnsafeCell};

/// The number of items that fit; small under loom, so that models reach the corners.
#[cfg(not(loom))]
pub(crate) const CAPACITY: u32 = 256;
#[cfg(loom)]
pub(crate) const CAPACITY: u32 = 4;

const MASK: u32 = CAPACITY - 1;

/// The owner's end: pushes, pops, spills.
pub(crate) struct Owner<T> {
    ring: Arc<Ring<T>>,
    /// Makes the owner `!Sync`, which INVARIANT Q1 and S2 rest on.
    not_sync: PhantomData<Cell<()>>,
}

/// Everybody else's end.
pub(crate) struct Stealer<T>(Arc<Ring<T>>);

/// Makes an empty pair of ends.
pub(crate) fn queue<T>() -> (Owner<T>, Stealer<T>) {
    let ring = Arc::new(Ring {
        head: Padded(AtomicU64::new(0)),
        tail: Padded(AtomicU32::new(0)),
        slot: Padded(Slot { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(MaybeUninit::uninit()) }),
        buffer: (0..CAPACITY).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect(),
    });
    (Owner { ring: ring.clone(), not_sync: PhantomData }, Stealer(ring))
}

impl<T> Owner<T> {
    /// Puts an item at the back, and gives the number of items, unless a thief has come meanwhile; gives the item back if
    /// the ring is full.
    #[inline]
    pub(crate) fn push(&self, item: T) -> Result<usize, T> {
        // Acquire: pairs with the release of a thief's last exchange, so that its reads of the slots are over.
        let (steal, real) = unpack(self.ring.head.0.load(Ordering::Acquire));
        // Relaxed: only this thread writes `tail` (Q1).
        let tail = self.ring.tail.0.load(Ordering::Relaxed);
        if tail.wrapping_sub(steal) >= CAPACITY {
            return Err(item);
        }
        self.ring.write(tail, item);
        // Release: publishes the slot to the acquire load of `tail` in `Ring::claim`.
        self.ring.tail.0.store(tail.wrapping_add(1), Ordering::Release);
        Ok(tail.wrapping_add(1).wrapping_sub(real) as usize)
    }

    /// Takes the item at the front.
    #[inline]
    pub(crate) fn pop(&self) -> Option<T> {
        // Acquire here and below: pairs with the thieves' exchanges of `head`.
        let mut head = self.ring.head.0.load(Ordering::Acquire);
        loop {
            let (steal, real) = unpack(head);
            // Relaxed: only this thread writes `tail` (Q1).
            if real == self.ring.tail.0.load(Ordering::Relaxed) {
                return None;
            }
            let next_real = real.wrapping_add(1);
            let next = pack(if steal == real { next_real } else { steal }, next_real);
            // AcqRel: orders this claim against the thieves' exchanges of `head`.
            match self.ring.head.0.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(self.ring.read(real)),
                Err(actual) => head = actual,
            }
        }
    }

    /// Puts items at the front, the first of them foremost. If there is no room or a thief is at work, nothing happens.
    pub(crate) fn push_front(&self, items: &mut Vec<T>) {
        // Acquire: as in `push`.
        let head = self.ring.head.0.load(Ordering::Acquire);
        let (steal, real) = unpack(head);
        // Relaxed: only this thread writes `tail` (Q1).
        let tail = self.ring.tail.0.load(Ordering::Relaxed);
        let count = items.len() as u32;
        if steal != real || tail.wrapping_sub(real) + count > CAPACITY {
            return;
        }
        let first = real.wrapping_sub(count);
        for (index, item) in items.drain(..).enumerate() {
            self.ring.write(first.wrapping_add(index as u32), item);
        }
        // AcqRel: orders it against the thieves' exchanges, and publishes the slots to theirs.
        let moved =
            self.ring.head.0.compare_exchange(head, pack(first, first), Ordering::AcqRel, Ordering::Relaxed);
        if moved.is_err() {
            items.extend((0..count).map(|offset| self.ring.read(first.wrapping_add(offset))));
        }
    }

    /// Hands the older half of a full ring to `sink`. Gives false, and moves nothing, if a thief is making room.
    pub(crate) fn spill(&self, mut sink: impl FnMut(T)) -> bool {
        // Acquire: as in `push`.
        let head = self.ring.head.0.load(Ordering::Acquire);
        let (steal, real) = unpack(head);
        if steal != real || self.len() < CAPACITY as usize {
            return false;
        }
        let next = real.wrapping_add(CAPACITY / 2);
        // AcqRel: as in `pop`.
        let claim =
            self.ring.head.0.compare_exchange(head, pack(next, next), Ordering::AcqRel, Ordering::Relaxed);
        if claim.is_err() {
            return false;
        }
        for offset in 0..CAPACITY / 2 {
            sink(self.ring.read(real.wrapping_add(offset)));
        }
        true
    }

    /// How many items can be popped.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    /// How many items can be pushed for certain.
    pub(crate) fn room(&self) -> usize {
        // Acquire and relaxed: as in `push`.
        let (steal, _) = unpack(self.ring.head.0.load(Ordering::Acquire));
        let tail = self.ring.tail.0.load(Ordering::Relaxed);
        (CAPACITY - tail.wrapping_sub(steal)) as usize
    }

    /// Puts an item in the LIFO slot and gives what was there before; `Err` gives it back while a thief reads the slot.
    #[inline]
    pub(crate) fn put_lifo(&self, item: T) -> Result<Option<T>, T> {
        let previous = self.take_lifo();
        // Acquire: pairs with the release store in `Stealer::steal_lifo`, after which the value is moved out.
        if self.ring.slot.0.state.load(Ordering::Acquire) != EMPTY {
            return Err(item);
        }
        // SAFETY: the state is EMPTY and only this owner can change that (INVARIANT S2), so nobody reads or writes.
        self.ring.slot.0.value.with_mut(|value| unsafe { (*value).write(item) });
        // Release: publishes the value to the acquire exchange of a thief.
        self.ring.slot.0.state.store(FULL, Ordering::Release);
        Ok(previous)
    }

    /// Takes the item of the LIFO slot.
    #[inline]
    pub(crate) fn take_lifo(&self) -> Option<T> {
        // Relaxed: only this thread sets FULL (S2), so it cannot miss an item.
        if self.ring.slot.0.state.load(Ordering::Relaxed) != FULL {
            return None;
        }
        self.ring.slot.0.claim(EMPTY)
    }

    /// Whether the LIFO slot holds an item.
    #[inline]
    pub(crate) fn has_lifo(&self) -> bool {
        // Relaxed: as in `take_lifo`.
        self.ring.slot.0.state.load(Ordering::Relaxed) == FULL
    }
}

impl<T> Stealer<T> {
    /// How many items could be stolen from the ring, for a look from outside.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Moves half of the items to `into`, if there are at least `least`, and gives one of them at once.
    pub(crate) fn steal(&self, into: &Owner<T>, least: u32) -> Option<T> {
        if into.room() < (CAPACITY / 2) as usize {
            return None;
        }
        let (real, count) = self.0.claim(least)?;
        // Relaxed: `into` is ours (Q1).
        let tail = into.ring.tail.0.load(Ordering::Relaxed);
        let first = self.0.read(real);
        for offset in 1..count {
            into.ring.write(tail.wrapping_add(offset - 1), self.0.read(real.wrapping_add(offset)));
        }
        self.0.release_claim();
        // Release: as in `Owner::push`.
        into.ring.tail.0.store(tail.wrapping_add(count - 1), Ordering::Release);
        Some(first)
    }

    /// Takes the item of the LIFO slot away from its owner: only for one that its owner has left lying.
    pub(crate) fn steal_lifo(&self) -> Option<T> {
        let item = self.0.slot.0.claim(STEALING)?;
        // Release: pairs with the acquire load in `put_lifo`; the value was moved out before.
        self.0.slot.0.state.store(EMPTY, Ordering::Release);
        Some(item)
    }
}

struct Ring<T> {
    /// `steal` in the upper half, `real` in the lower one.
    head: Padded<AtomicU64>,
    tail: Padded<AtomicU32>,
    slot: Padded<Slot<T>>,
    buffer: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

struct Slot<T> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// Keeps what the owner writes and what thieves write on different cache lines.
#[repr(align(128))]
struct Padded<T>(T);

// SAFETY: items move between threads, never references to them (INVARIANTS Q3 and S2), so `T: Send` suffices.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    fn len(&self) -> usize {
        // Acquire: pairs with the exchanges of `head` and the release store of `tail`; the answer is a snapshot. The
        // order of the loads keeps the difference from being negative.
        let (_, real) = unpack(self.head.0.load(Ordering::Acquire));
        let tail = self.tail.0.load(Ordering::Acquire);
        tail.wrapping_sub(real).min(CAPACITY) as usize
    }

    /// Claims half of the items for a thief: the index of the first and how many.
    fn claim(&self, least: u32) -> Option<(u32, u32)> {
        // Acquire: pairs with the other exchanges of `head`.
        let mut head = self.head.0.load(Ordering::Acquire);
        loop {
            let (steal, real) = unpack(head);
            // Acquire: pairs with the release store of `tail`, which published the slots.
            let tail = self.tail.0.load(Ordering::Acquire);
            let available = tail.wrapping_sub(real);
            if steal != real || available < least.max(1) {
                return None;
            }
            let count = available - available / 2;
            if count > CAPACITY / 2 {
                // `head` was read before `tail` and is stale.
                head = self.head.0.load(Ordering::Acquire);
                continue;
            }
            let next = pack(steal, real.wrapping_add(count));
            // AcqRel: orders this claim against the owner's and the other thieves' exchanges.
            match self.head.0.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some((real, count)),
                Err(actual) => head = actual,
            }
        }
    }

    /// Ends a theft: the slots are free again.
    fn release_claim(&self) {
        // Acquire and AcqRel: the owner may move `real` meanwhile; the release part tells it that the slots were read.
        let mut head = self.head.0.load(Ordering::Acquire);
        loop {
            let (_, real) = unpack(head);
            match self.head.0.compare_exchange(head, pack(real, real), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(actual) => head = actual,
            }
        }
    }

    fn read(&self, index: u32) -> T {
        let cell = &self.buffer[(index & MASK) as usize];
        // SAFETY: the caller has claimed this index (INVARIANT Q3), or has filled it and published it to nobody (Q5), so
        // the slot is initialized (Q2) and read only once.
        cell.with(|slot| unsafe { slot.cast::<T>().read() })
    }

    fn write(&self, index: u32, item: T) {
        let cell = &self.buffer[(index & MASK) as usize];
        // SAFETY: only the owner calls this, with an index outside of `steal..tail`, so the slot is free (INVARIANT Q2).
        cell.with_mut(|slot| unsafe { (*slot).write(item) });
    }
}

impl<T> Slot<T> {
    #[inline]
    fn claim(&self, next: u8) -> Option<T> {
        // Acquire: pairs with the release store of FULL in `put_lifo`, which published the value.
        self.state.compare_exchange(FULL, next, Ordering::Acquire, Ordering::Relaxed).ok()?;
        // SAFETY: this exchange made the value ours (INVARIANT S2), and it was initialized (INVARIANT S1).
        Some(self.value.with(|value| unsafe { value.cast::<T>().read() }))
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // Relaxed throughout: the last owner is alone, and `Arc` has ordered everything before this.
        let (_, real) = unpack(self.head.0.load(Ordering::Relaxed));
        let tail = self.tail.0.load(Ordering::Relaxed);
        for offset in 0..tail.wrapping_sub(real) {
            drop(self.read(real.wrapping_add(offset)));
        }
        drop(self.slot.0.claim(EMPTY));
    }
}

impl<T> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner").field("len", &self.len()).finish()
    }
}

impl<T> fmt::Debug for Stealer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealer").field("len", &self.len()).finish()
    }
}

fn pack(steal: u32, real: u32) -> u64 {
    (u64::from(steal) << 32) | u64::from(real)
}

fn unpack(head: u64) -> (u32, u32) {
    ((head >> 32) as u32, head as u32)
}

const EMPTY: u8 = 0;
const FULL: u8 = 1;
const STEALING: u8 = 2;

#[cfg(all(test, loom))]
mod loom_models;
