//! One waker per branch, so that an aggregate polls only the branches that were woken (law A6).
//!
//! ```text
//!  branch 7 is woken ──► wake of its slot ──► `ready` gets 7, once ──► the aggregate's task is woken, once
//!                                                                              │
//!  the aggregate's poll ◄── Slots::take_woken: all of `ready`, in wake order ◄─┘
//! ```
//!
//! A poll of an aggregate costs as much as branches were woken, whatever the number of branches.
//! Wakes that come while the woken ones are polled wait for the next poll, so a branch that wakes
//! itself cannot keep the aggregate's task from suspending.
//!
//! A waker is the address of its slot in one array, so ten thousand branches cost two allocations, and a branch
//! that only waits counts no references.
//!
//! | what | who touches it, when |
//! |---|---|
//! | `Shared` | counted by [`Slots`] and by every waker that was cloned |
//! | `slots` | written before the first waker is made, constant afterwards |
//! | `state` | anybody, under its lock |
//!
//! INVARIANT S1: an element of a pinned slice is never moved: the slice is only handed out by
//! `Pin<&mut [T]>`, and nothing in this crate moves out of it, resizes it, or swaps its elements.
//!
//! INVARIANT S2: the data of a waker with [`VTABLE`] is the address of a slot, whose `shared` points at the
//! [`Shared`] that owns the slot and is the content of an `Arc`. A waker that was cloned owns one count of it; one that
//! was lent by [`Slots::waker`] owns none and ends before the borrow of `Slots`. So the slot outlives its wakers.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::sync::{Arc, Mutex, lock, wake_safely};

/// The wakers of an aggregate's branches.
#[derive(Debug)]
pub(crate) struct Slots {
    shared: Arc<Shared>,
    /// What [`Slots::recycle`] was given.
    spare: Vec<usize>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    slots: Box<[Slot]>,
}

#[derive(Debug)]
struct State {
    /// Branches that were woken and not polled since, in wake order.
    ready: Vec<usize>,
    /// Whether a branch is in `ready`.
    queued: Vec<bool>,
    /// Who polls the aggregate.
    parent: Option<Waker>,
    /// Whether `parent` was woken since `ready` was last taken.
    notified: bool,
}

/// What a waker points at.
#[derive(Debug)]
struct Slot {
    shared: *const Shared,
    index: usize,
}

// SAFETY: INVARIANT S2: the pointer is used to reach what is `Send` and `Sync` itself (checked below).
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<Mutex<State>>();
};

/// The waker of a branch, lent to a poll.
pub(crate) struct LentWaker<'a> {
    waker: ManuallyDrop<Waker>,
    _slots: PhantomData<&'a Slots>,
}

impl Deref for LentWaker<'_> {
    type Target = Waker;
    fn deref(&self) -> &Waker {
        &self.waker
    }
}

impl Slots {
    /// Slots of `count` branches, all of which count as woken: each has to be polled a first time.
    pub(crate) fn new(count: usize) -> Slots {
        let state =
            State { ready: (0..count).collect(), queued: vec![true; count], parent: None, notified: true };
        let shared = Arc::new_cyclic(|shared| Shared {
            state: Mutex::new(state),
            slots: (0..count).map(|index| Slot { shared: shared.as_ptr(), index }).collect(),
        });
        Slots { shared, spare: Vec::new() }
    }

    /// The waker with which to poll this branch.
    pub(crate) fn waker(&self, index: usize) -> LentWaker<'_> {
        let slot = &raw const self.shared.slots[index];
        // SAFETY: INVARIANT S2: `self` counts the slot's `Shared` as long as it is borrowed, and this waker is never
        // dropped, as it owns no count.
        let waker = unsafe { Waker::from_raw(RawWaker::new(slot.cast(), &VTABLE)) };
        LentWaker { waker: ManuallyDrop::new(waker), _slots: PhantomData }
    }

    /// Takes the branches that were woken, in wake order; later wakes go to `parent`.
    pub(crate) fn take_woken(&mut self, parent: &Waker) -> Vec<usize> {
        let mut retired = None;
        let mut state = lock(&self.shared.state);
        if !state.parent.as_ref().is_some_and(|old| old.will_wake(parent)) {
            retired = state.parent.replace(parent.clone());
        }
        state.notified = false;
        let woken = std::mem::replace(&mut state.ready, std::mem::take(&mut self.spare));
        for &index in &woken {
            state.queued[index] = false;
        }
        drop(state);
        drop(retired);
        woken
    }

    /// Gives the memory of what was taken back.
    pub(crate) fn recycle(&mut self, mut woken: Vec<usize>) {
        woken.clear();
        self.spare = woken;
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // Wakers of branches may live on in strange hands; they must not keep the task alive.
        let parent = lock(&self.shared.state).parent.take();
        drop(parent);
    }
}

impl Shared {
    fn wake(&self, index: usize) {
        let mut state = lock(&self.state);
        if !std::mem::replace(&mut state.queued[index], true) {
            state.ready.push(index);
        }
        if std::mem::replace(&mut state.notified, true) {
            return;
        }
        let parent = state.parent.clone();
        drop(state);
        if let Some(parent) = parent {
            wake_safely(parent);
        }
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone_slot, wake_slot, wake_slot_by_ref, drop_slot);

/// # Safety
///
/// `slot` is the data of a waker with [`VTABLE`] that lives as long as the result is used.
unsafe fn shared_of(slot: *const ()) -> *const Shared {
    // SAFETY: INVARIANT S2: the waker keeps the slot alive.
    unsafe { (*slot.cast::<Slot>()).shared }
}

/// # Safety
///
/// As [`shared_of`]; so for the three below, as the contract of a vtable says.
unsafe fn clone_slot(slot: *const ()) -> RawWaker {
    // SAFETY: INVARIANT S2, which the caller promises.
    let shared = unsafe { shared_of(slot) };
    // SAFETY: INVARIANT S2: it is the content of an `Arc`, which the waker or the lender counts. The new waker owns the
    // count that is added.
    unsafe { Arc::increment_strong_count(shared) };
    RawWaker::new(slot, &VTABLE)
}

unsafe fn wake_slot(slot: *const ()) {
    // SAFETY: INVARIANT S2, which the caller promises.
    unsafe { wake_slot_by_ref(slot) };
    // SAFETY: INVARIANT S2, which the caller promises: the waker is given up here.
    unsafe { drop_slot(slot) };
}

unsafe fn wake_slot_by_ref(slot: *const ()) {
    // SAFETY: INVARIANT S2: the waker keeps the slot alive during this call.
    let slot = unsafe { &*slot.cast::<Slot>() };
    // SAFETY: INVARIANT S2: and what owns it.
    let shared = unsafe { &*slot.shared };
    shared.wake(slot.index);
}

unsafe fn drop_slot(slot: *const ()) {
    // SAFETY: INVARIANT S2, which the caller promises.
    let shared = unsafe { shared_of(slot) };
    // SAFETY: INVARIANT S2: this is the count that the waker owned; the slot is not touched afterwards.
    unsafe { Arc::decrement_strong_count(shared) };
}

/// The pinned element of a pinned slice, which `Pin` alone does not give.
pub(crate) fn element<T>(slice: Pin<&mut [T]>, index: usize) -> Pin<&mut T> {
    // SAFETY: INVARIANT S1: the element is pinned as its slice is (structural pinning), and it is
    // dropped in place with it.
    unsafe { slice.map_unchecked_mut(|slice| &mut slice[index]) }
}
