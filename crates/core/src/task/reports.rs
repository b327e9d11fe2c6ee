//! Calling strangers' code so that its panics stay where they are (law T10).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

use crate::runtime::reports;

/// Wakes a waker that may be anybody's.
pub(crate) fn wake_safely(waker: Waker) {
    guarded("a waker was called", || waker.wake());
}

/// Runs `f`; a panic is reported and goes no further.
pub(crate) fn guarded(what: &str, f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        reports::panic_outside(what, payload);
    }
}
