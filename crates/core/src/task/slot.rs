//! One place for a live task in the registry: filled by who spawns, left by who ends, looked at by anybody.
//!
//! ```text
//!            1 fill                2 begin_look
//!   EMPTY ───────────► FILLED ◄────────────────► LOOKED_AT
//!     ▲                  │        3 end_look        │
//!     │ 4 leave          │                          │ 4 leave
//!     ├──────────────────┘                          ▼
//!     └─────────────────────────────────────────── LEFT
//!                          3 end_look
//! ```
//!
//! Nobody waits for another. Who leaves while somebody looks goes its way, and the looker does the rest. The state is
//! kept in the two lowest bits of the pointer, which its alignment leaves free.
//!
//! INVARIANT B1: one party fills a slot, and not before it is empty; one party leaves it, once per filling; there is
//! one looker at most. Either `leave` or `end_look` answers `true` for each filling, once, and the item stays valid
//! until then.

use std::ptr::{self, NonNull};

use crate::sync::{AtomicPtr, Ordering, loom_fence};

const LOOKED_AT: usize = 1;
const LEFT: usize = 2;

/// See the module. `T` is aligned to four bytes at least.
pub(crate) struct Slot<T>(AtomicPtr<T>);

impl<T> Slot<T> {
    pub(crate) fn new() -> Slot<T> {
        const { assert!(align_of::<T>() >= 4) };
        Slot(AtomicPtr::new(ptr::null_mut()))
    }

    /// Edge 1.
    #[inline]
    pub(crate) fn fill(&self, item: NonNull<T>) {
        // Release: pairs with the Acquire of `begin_look`, which then reads the item. SeqCst: the caller looks at the
        // phase of the runtime next, and who moves the phase on looks into the slots next; one sees the other.
        self.0.swap(item.as_ptr(), Ordering::SeqCst);
        loom_fence();
    }

    /// Edge 2: the item, which stays until `end_look`.
    pub(crate) fn begin_look(&self) -> Option<NonNull<T>> {
        loom_fence();
        // SeqCst: pairs with `fill`; see there.
        let item = NonNull::new(self.0.load(Ordering::SeqCst))?;
        let marked = item.as_ptr().map_addr(|address| address | LOOKED_AT);
        // Acquire: pairs with the Release of `fill`. A failure means that the item has left.
        let begun = self.0.compare_exchange(item.as_ptr(), marked, Ordering::Acquire, Ordering::Relaxed);
        begun.is_ok().then_some(item)
    }

    /// Edge 3; `true` if the item has left meanwhile, and the caller lets go of it in its stead.
    #[must_use]
    pub(crate) fn end_look(&self, item: NonNull<T>) -> bool {
        let marked = item.as_ptr().map_addr(|address| address | LOOKED_AT);
        // Release: pairs with the Acquire of `leave`, so that the look is over. Acquire: pairs with its Release.
        if self.0.compare_exchange(marked, item.as_ptr(), Ordering::AcqRel, Ordering::Acquire).is_ok() {
            return false;
        }
        // Release: pairs with the Acquire of `is_empty`.
        self.0.store(ptr::null_mut(), Ordering::Release);
        true
    }

    /// Edge 4; `true` if the caller lets go of the item, `false` if a looker does.
    #[must_use]
    #[inline]
    pub(crate) fn leave(&self, item: NonNull<T>) -> bool {
        // Acquire: pairs with the Release of `end_look`. Release: pairs with the Acquire of `is_empty` and of `end_look`.
        // SeqCst: as in `fill`; who leaves looks at the phase, too.
        let (old, new) = (item.as_ptr(), ptr::null_mut());
        if self.0.compare_exchange(old, new, Ordering::SeqCst, Ordering::Acquire).is_ok() {
            loom_fence();
            return true;
        }
        self.leave_looker()
    }

    /// Whether nobody is here.
    pub(crate) fn is_empty(&self) -> bool {
        loom_fence();
        // SeqCst: pairs with `fill` and `leave`; see there.
        self.0.load(Ordering::SeqCst).is_null()
    }

    #[cold]
    fn leave_looker(&self) -> bool {
        // The looker may end between the two exchanges, and another one begin.
        loop {
            // Acquire: pairs with the Release of `end_look`.
            let state = self.0.load(Ordering::Acquire);
            let looked_at = state.addr() & LOOKED_AT != 0;
            let next = if looked_at { state.map_addr(|address| address | LEFT) } else { ptr::null_mut() };
            // Release: pairs with the Acquire of `end_look`, or of `is_empty`.
            if self.0.compare_exchange(state, next, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
                loom_fence();
                return !looked_at;
            }
        }
    }
}
