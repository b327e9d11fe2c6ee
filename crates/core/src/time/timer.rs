//! A timer of the ambient runtime that is armed lazily and removed when it is dropped.

use std::task::Waker;

use crate::backend::TimerKey;
use crate::context;
use crate::runtime::handle::Handle;
use crate::time::instant::Instant;

/// A timer for combinators: nothing happens until it is armed, so a future that is ready at once
/// touches no timer.
#[derive(Debug, Default)]
pub struct DeadlineTimer {
    armed: Option<Armed>,
}

#[derive(Debug)]
struct Armed {
    runtime: Handle,
    key: TimerKey,
    at: Instant,
    /// The waker that the timer wakes, by identity: the timer holds a clone of it, so no other one
    /// can have the same address meanwhile.
    waker: (usize, usize),
}

impl DeadlineTimer {
    /// A timer that is not armed.
    #[must_use]
    pub const fn new() -> DeadlineTimer {
        DeadlineTimer { armed: None }
    }

    /// Arms the timer for `at`, moves it there, or refreshes its waker, as needed.
    /// [`Instant::FAR_FUTURE`] disarms it. Outside a runtime it does nothing.
    pub fn poll_arm(&mut self, at: Instant, waker: &Waker) {
        if at == Instant::FAR_FUTURE {
            self.disarm();
        } else if !self.keep(at, waker) {
            self.armed = context::runtime().map(|runtime| Armed::new(runtime, at, waker));
        }
    }

    /// Removes the timer.
    pub fn disarm(&mut self) {
        if let Some(armed) = self.armed.take() {
            armed.runtime.backend().remove_timer(armed.key);
        }
    }

    /// Whether an armed timer serves: with the right time and the right waker after this call.
    fn keep(&mut self, at: Instant, waker: &Waker) -> bool {
        let Some(armed) = &mut self.armed else { return false };
        let backend = armed.runtime.backend();
        if armed.at != at {
            if !backend.reset_timer(armed.key, at) {
                self.armed = None;
                return false;
            }
            armed.at = at;
        }
        if armed.waker != identity(waker) {
            if !backend.update_timer(armed.key, waker) {
                self.armed = None;
                return false;
            }
            armed.waker = identity(waker);
        }
        true
    }
}

impl Armed {
    fn new(runtime: Handle, at: Instant, waker: &Waker) -> Armed {
        let key = runtime.backend().insert_timer(at, waker.clone());
        Armed { runtime, key, at, waker: identity(waker) }
    }
}

impl Drop for DeadlineTimer {
    fn drop(&mut self) {
        self.disarm();
    }
}

fn identity(waker: &Waker) -> (usize, usize) {
    (waker.data().addr(), std::ptr::from_ref(waker.vtable()).addr())
}
