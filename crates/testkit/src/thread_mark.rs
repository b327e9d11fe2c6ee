//! A number for the calling thread that can be asked for at any time.
//!
//! `std::thread::current()` may not be asked in the destructors of thread-local values, but a backend's
//! `schedule` may be called there (law B1). A constant without a destructor can be read until the very end.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static MARK: Cell<u64> = const { Cell::new(0) };
}

/// The number of the calling thread; no other thread of this process ever has the same.
pub(crate) fn current() -> u64 {
    MARK.with(|mark| {
        if mark.get() == 0 {
            // Relaxed: only the uniqueness of the number counts, it publishes nothing; its partner is
            // this same line on other threads.
            mark.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        mark.get()
    })
}
