//! Which thread is calling: a number that is never used twice and can be read at any time.
//!
//! std's `ThreadId` needs the thread's handle, which is not there for certain in the destructors of thread-locals.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of the calling thread; never 0.
pub(crate) fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    NUMBER.with(|number| {
        if number.get() == 0 {
            // Relaxed: only uniqueness matters.
            number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    })
}
