//! One waker per branch, so that an aggregate polls only the branches that were woken (law A6).
//!
//! ```text
//!  branch 7 is woken ──► SlotWaker::wake ──► `ready` gets 7, once ──► the aggregate's task is woken, once
//!                                                                              │
//!  the aggregate's poll ◄── Slots::take_woken: all of `ready`, in wake order ◄─┘
//! ```
//!
//! A poll of an aggregate costs as much as branches were woken, whatever the number of branches.
//! Wakes that come while the woken ones are polled wait for the next poll, so a branch that wakes
//! itself cannot keep the aggregate's task from suspending.

use std::pin::Pin;
use std::task::{Wake, Waker};

use crate::sync::{Arc, Mutex, lock, wake_safely};

/// The wakers of an aggregate's branches.
#[derive(Debug)]
pub(crate) struct Slots {
    shared: Arc<Mutex<State>>,
    wakers: Vec<Waker>,
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

struct SlotWaker {
    shared: Arc<Mutex<State>>,
    index: usize,
}

impl Slots {
    /// Slots of `count` branches, all of which count as woken: each has to be polled a first time.
    pub(crate) fn new(count: usize) -> Slots {
        let state =
            State { ready: (0..count).collect(), queued: vec![true; count], parent: None, notified: true };
        let shared = Arc::new(Mutex::new(state));
        let waker = |index| Waker::from(Arc::new(SlotWaker { shared: shared.clone(), index }));
        Slots { wakers: (0..count).map(waker).collect(), shared }
    }

    /// The waker with which to poll this branch.
    pub(crate) fn waker(&self, index: usize) -> &Waker {
        &self.wakers[index]
    }

    /// Takes the branches that were woken, in wake order; later wakes go to `parent`.
    pub(crate) fn take_woken(&self, parent: &Waker) -> Vec<usize> {
        let mut retired = None;
        let mut state = lock(&self.shared);
        if !state.parent.as_ref().is_some_and(|old| old.will_wake(parent)) {
            retired = state.parent.replace(parent.clone());
        }
        state.notified = false;
        let woken = std::mem::take(&mut state.ready);
        for &index in &woken {
            state.queued[index] = false;
        }
        drop(state);
        drop(retired);
        woken
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // Wakers of branches may live on in strange hands; they must not keep the task alive.
        let parent = lock(&self.shared).parent.take();
        drop(parent);
    }
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = lock(&self.shared);
        if !std::mem::replace(&mut state.queued[self.index], true) {
            state.ready.push(self.index);
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

/// The pinned element of a pinned slice, which `Pin` alone does not give.
///
/// INVARIANT S1: an element of a pinned slice is never moved: the slice is only handed out by
/// `Pin<&mut [T]>`, and nothing in this crate moves out of it, resizes it, or swaps its elements.
pub(crate) fn element<T>(slice: Pin<&mut [T]>, index: usize) -> Pin<&mut T> {
    // SAFETY: INVARIANT S1: the element is pinned as its slice is (structural pinning), and it is
    // dropped in place with it.
    unsafe { slice.map_unchecked_mut(|slice| &mut slice[index]) }
}
