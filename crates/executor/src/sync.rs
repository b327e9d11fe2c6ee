//! The gate through which the hand-written queues get their primitives: std's, or loom's when a model runs.
//!
//! Only `scheduler::local` needs it: it is the only file of this crate whose correctness rests on memory
//! orderings alone. Everything else uses std's locks, or atomics whose partner is named beside them.

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc,
    atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering},
};

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering},
    },
};

#[cfg(not(loom))]
pub(crate) use plain::UnsafeCell;

#[cfg(not(loom))]
mod plain {
    /// std's cell with loom's closure interface, so that the queues are written once.
    #[derive(Debug)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}
