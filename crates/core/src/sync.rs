//! The gate through which every synchronisation primitive enters the crate: std's, or loom's when a
//! model is checked.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize};
pub(crate) use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Stands for the order of the sequentially consistent accesses around it, which loom does not model, except of fences.
#[inline(always)]
pub(crate) fn loom_fence() {
    // SeqCst: pairs with the other fences of this function, between the accesses that its callers name.
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// Locks `mutex`; a panic of an earlier holder does not make the state unusable, because every
/// critical section of this crate leaves it consistent before it can panic (law T10).
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
