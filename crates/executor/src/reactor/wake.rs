//! Wakers that were collected under a lock and are fired after it is released.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// Wakers to fire once no lock is held any more; they fire in the order in which they came, also on drop.
#[derive(Debug, Default)]
pub(crate) struct WakeList(Vec<Waker>);

impl WakeList {
    pub(crate) fn push(&mut self, waker: Waker) {
        self.0.push(waker);
    }

    /// Fires them all.
    pub(crate) fn fire(&mut self) {
        self.0.drain(..).for_each(wake);
    }
}

impl Drop for WakeList {
    fn drop(&mut self) {
        self.fire();
    }
}

/// Fires one waker. One that panics, which a foreign waker may do, is reported and stops nobody else (law T10).
pub(crate) fn wake(waker: Waker) {
    guarded("a waker panicked when it was woken", || waker.wake());
}

/// Drops a waker, which may drop a whole task of a stranger.
pub(crate) fn discard(waker: Waker) {
    guarded("a waker panicked when it was dropped", || drop(waker));
}

fn guarded(what: &str, action: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(action)).is_err() {
        log::error!("{what}");
    }
}
