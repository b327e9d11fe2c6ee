//! The waker of the one who awaits the handle: a cell without a lock, since there is only one handle.
//!
//! | who | may touch the cell |
//! |---|---|
//! | the handle, by its [`JoinRight`] | while `JOINED` is clear and the task was not seen to be done since |
//! | the epilogue | after a `transition_to_done` that met `JOINED` |
//!
//! INVARIANT K1: `JOINED` is set and cleared by the handle alone, and `DONE` is set once. Both are
//! read-modify-writes of the task word, so the first one decides whose the cell is from then on: the
//! epilogue's if `DONE` met `JOINED`, else the handle's.
//!
//! INVARIANT K2: a task has one `JoinRight`, which is lent as `&mut` for each use.

use std::cell::UnsafeCell;
use std::fmt;
use std::task::Waker;

use crate::sync::{AtomicUsize, Ordering};
use crate::task::meta::TaskMeta;

/// The cell; see the module.
#[derive(Default)]
pub(crate) struct Joiner {
    waker: UnsafeCell<Option<Waker>>,
    /// The data of the last waker, by which dumps of programs that hang recognise who waits.
    last: AtomicUsize,
}

// SAFETY: INVARIANT K1 and K2: at any time one thread at most has the right to touch the cell.
unsafe impl Sync for Joiner {}

/// The right to wait for a task through its handle.
pub(crate) struct JoinRight {
    /// A waker may be in the cell.
    left: bool,
}

impl JoinRight {
    /// Called once per task, when its handle is made (INVARIANT K2).
    pub(crate) const fn of_handle() -> JoinRight {
        JoinRight { left: false }
    }
}

impl TaskMeta {
    /// Keeps `waker` for the end of the task; `false` if the task is done.
    pub(crate) fn watch_as_joiner(&self, right: &mut JoinRight, waker: &Waker) -> bool {
        if self.word.ending().is_some() || right.left && !self.word.transition_to_unjoined() {
            return false;
        }
        right.left = true;
        // SAFETY: INVARIANT K1: `JOINED` is clear, and `DONE` will not meet it.
        let cell = unsafe { &mut *self.joiner.waker.get() };
        match cell {
            Some(known) if known.will_wake(waker) => {}
            _ => {
                *cell = Some(waker.clone());
                // Relaxed: nothing is reached through the number.
                self.joiner.last.store(waker.data().addr(), Ordering::Relaxed);
            }
        }
        let waiting = self.word.transition_to_joined();
        if !waiting {
            // INVARIANT K1: the end did not meet `JOINED`, so the cell is still the handle's.
            right.left = false;
            drop(cell.take());
        }
        waiting
    }

    /// Gives the waker up, for a handle that waits no longer.
    pub(crate) fn forget_joiner(&self, right: &mut JoinRight) {
        if std::mem::take(&mut right.left) && self.word.transition_to_unjoined() {
            // SAFETY: INVARIANT K1: `JOINED` is clear, and `DONE` will not meet it.
            let cell = unsafe { &mut *self.joiner.waker.get() };
            drop(cell.take());
        }
    }

    /// Whether a waker with this data is the last that was left.
    pub(crate) fn is_joined_with(&self, data: *const ()) -> bool {
        // Relaxed: as in `watch_as_joiner`; a dump is a snapshot.
        self.joiner.last.load(Ordering::Relaxed) == data.addr()
    }

    /// Takes the waker, for the epilogue of a task that was joined when it was done.
    ///
    /// # Safety
    ///
    /// The `transition_to_done` of this task met `JOINED`, and this is called once.
    pub(crate) unsafe fn take_joiner(&self) -> Option<Waker> {
        // SAFETY: INVARIANT K1 and the caller's promise.
        let cell = unsafe { &mut *self.joiner.waker.get() };
        cell.take()
    }
}

impl fmt::Debug for JoinRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JoinRight")
    }
}
