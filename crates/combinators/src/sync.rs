//! The gate through which this crate takes its shared state: everything that more than one thread
//! touches comes from here, so that one file decides what a lock is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;
use std::task::Waker;

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub(crate) use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Locks, also after a panic: no invariant of this crate's state spans user code, and no user code
/// runs under its locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes a waker that may be a stranger's: one that panics must not disturb the task that finishes
/// (law T10).
pub(crate) fn wake_safely(waker: Waker) {
    // The panic hook has told of it already; there is nobody else to tell.
    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
}
