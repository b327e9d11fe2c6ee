//! How a worker sleeps: in the reactor if its seat is free, else on a parker of its own.
//!
//! ```text
//!             ┌───────────────1──────────────┐
//!   EMPTY ────┤                              ├──► IN_REACTOR ──┐
//!     ▲       └──► PARKED ──────────────────┐                  │
//!     │                                     ▼2                 ▼2
//!     └──────────────────3────────────── NOTIFIED ◄────────────┘
//! ```
//!
//! 1 `sleep` · 2 `unpark` (any thread) · 3 `sleep`, when it returns
//!
//! A notification is never lost: it is a state, not an event. One that comes while the worker is awake makes its
//! next sleep return at once.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use brigade_core::Instant;

use crate::services::Services;

/// Where one worker sleeps.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Parker {
    state: AtomicU8,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Parker {
    /// Makes the worker return from its sleep, the present or the next one.
    pub(crate) fn unpark(&self, services: &Services) {
        // SeqCst: pairs with the exchanges in `enter` and `leave`; it also orders what the caller has published before.
        match self.state.swap(NOTIFIED, Ordering::SeqCst) {
            PARKED => {
                // The lock makes sure that the worker waits by now and not only intends to.
                drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
                self.wake.notify_one();
            }
            IN_REACTOR => services.reactor.notify(),
            _ => {}
        }
    }

    /// Sleeps in the reactor until an event, a timer, a notification, or `limit` is over. `None` if the seat is taken.
    pub(crate) fn sleep_in_reactor(
        &self,
        services: &Services,
        limit: Option<Duration>,
        occupied: impl Fn(bool),
    ) -> Option<usize> {
        let mut seat = services.reactor.sit()?;
        if !self.enter(IN_REACTOR) {
            return Some(0);
        }
        occupied(true);
        let end = limit.map_or(Instant::FAR_FUTURE, |limit| services.now().saturating_add(limit));
        let plan = || services.timers.next_deadline().min(end);
        let events = seat.sleep(|| services.now(), plan);
        occupied(false);
        drop(seat);
        self.leave();
        let now = services.now();
        services.note_question(now);
        Some(events + services.timers.fire(now))
    }

    /// Sleeps until a notification, or until `limit` is over.
    pub(crate) fn sleep_aside(&self, limit: Option<Duration>) {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.enter(PARKED) {
            return;
        }
        // Acquire: pairs with the exchange in `unpark`.
        while self.state.load(Ordering::Acquire) == PARKED {
            guard = match limit {
                None => self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner),
                Some(limit) => {
                    drop(self.wake.wait_timeout(guard, limit).unwrap_or_else(PoisonError::into_inner));
                    break;
                }
            };
        }
        self.leave();
    }

    /// Announces the sleep; false if a notification has come before, which is used up by this.
    fn enter(&self, how: u8) -> bool {
        // SeqCst: pairs with the exchange in `unpark`.
        let entered = self.state.compare_exchange(EMPTY, how, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if !entered {
            self.leave();
        }
        entered
    }

    fn leave(&self) {
        // SeqCst: pairs with the exchange in `unpark`, whose caller has published something that is looked for now.
        self.state.swap(EMPTY, Ordering::SeqCst);
    }
}

const EMPTY: u8 = 0;
const PARKED: u8 = 1;
const IN_REACTOR: u8 = 2;
const NOTIFIED: u8 = 3;
