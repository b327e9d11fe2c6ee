//! Ended tasks on their way back to the thread that allocated them.
//!
//! A task is often ended by another worker than the one that spawned it. Freed there, its memory goes back to the
//! spawner's part of the allocator under a lock that both then fight for; with two workers that was two thirds of the time
//! of a detached spawn. So who ends such a task pushes it here, and the spawner frees it when it needs its next block
//! of places: a stack that many push to, and one thread takes whole.
//!
//! ```text
//!                 1 push (many)                2 take (the spawner)
//!   (item gone) ───────────────► head ► … ► ─────────────────────► a chain, freed item by item
//!                                  │ 3 close: take, and no more pushes
//!                                  ▼
//!                                CLOSED ── 1 push answers `false`: the caller frees it
//! ```
//!
//! INVARIANT V1: who pushes an item owns it until then; who takes the chain owns its items from then on.

use std::ptr::{self, NonNull};

use crate::sync::{AtomicPtr, AtomicU32, Ordering};

/// About how many items wait at most; the next ones are freed where they are.
pub(crate) const LIMIT: u32 = 1024;

/// Something that has a word to spare for its successor.
pub(crate) trait Item {
    /// # Safety
    ///
    /// The caller owns the item (INVARIANT V1).
    unsafe fn set_next(item: NonNull<Self>, next: *mut Self);

    /// # Safety
    ///
    /// The caller owns the item, and `set_next` was called.
    unsafe fn next(item: NonNull<Self>) -> *mut Self;
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Returns<T> {
    head: AtomicPtr<T>,
    /// A bound need not be exact: it is read and written without an exchange.
    count: AtomicU32,
}

impl<T: Item> Returns<T> {
    pub(crate) fn new() -> Returns<T> {
        Returns { head: AtomicPtr::new(ptr::null_mut()), count: AtomicU32::new(0) }
    }

    /// Edge 1; `false` if the item remains the caller's.
    ///
    /// # Safety
    ///
    /// The caller owns the item, which keeps this stack alive until it is pushed.
    #[must_use]
    pub(crate) unsafe fn push(&self, item: NonNull<T>) -> bool {
        // Relaxed: only about right.
        let count = self.count.load(Ordering::Relaxed);
        // Relaxed: nothing is read through it here.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head == closed() || count >= LIMIT {
                return false;
            }
            // SAFETY: INVARIANT V1: not pushed yet.
            unsafe { T::set_next(item, head) };
            // Relaxed: as above. Before the exchange, after which the stack may be gone.
            self.count.store(count + 1, Ordering::Relaxed);
            // Release: publishes the item to the Acquire of `take` and `close`. Relaxed: as the load above.
            match self.head.compare_exchange_weak(head, item.as_ptr(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => head = now,
            }
        }
    }

    /// Edge 2.
    pub(crate) fn take(&self) -> Chain<T> {
        // Relaxed: as in `push`.
        if self.head.load(Ordering::Relaxed).is_null() {
            return Chain(ptr::null_mut());
        }
        // Relaxed: as in `push`.
        self.count.store(0, Ordering::Relaxed);
        // Acquire: pairs with the Release of `push`.
        Chain(self.head.swap(ptr::null_mut(), Ordering::Acquire))
    }

    /// Edge 3.
    pub(crate) fn close(&self) -> Chain<T> {
        // Acquire: pairs with the Release of `push`.
        Chain(self.head.swap(closed(), Ordering::Acquire))
    }
}

/// Items that were taken, last come first.
pub(crate) struct Chain<T>(*mut T);

impl<T: Item> Iterator for Chain<T> {
    type Item = NonNull<T>;

    fn next(&mut self) -> Option<NonNull<T>> {
        let item = NonNull::new(self.0).filter(|item| item.as_ptr() != closed())?;
        // SAFETY: INVARIANT V1: it is the taker's; the caller has not got it yet.
        self.0 = unsafe { T::next(item) };
        Some(item)
    }
}

/// No item has this address.
fn closed<T>() -> *mut T {
    ptr::without_provenance_mut(1)
}
