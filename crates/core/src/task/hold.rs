//! What a task holds as long as it is registered, and what its end takes out.
//!
//! | cell | until the task leaves the registry | afterwards |
//! |---|---|---|
//! | `waker` | keeps the task alive; cloned by the registry's looker and by the task's own poll | taken by who lets go |
//! | `owner` | taken by the epilogue | empty |
//! | `bound` | the task-locals, copied by the task's own polls | the next cell on the way back; see `returns.rs` |
//!
//! INVARIANT H1: writing before the task is entered, the polls of a task, its epilogue, and letting go of it follow one
//! another (INVARIANT R1 and B1 order them), and a looker touches `waker` alone, which nobody changes during a look.

use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::ptr;
use std::task::Waker;

use crate::locals::Locals;
use crate::sync::Arc;
use crate::task::meta::TaskMeta;
use crate::task::output::Owner;
use crate::task::reports::guarded;

/// See the module.
pub(crate) struct Hold {
    waker: UnsafeCell<Option<Waker>>,
    owner: UnsafeCell<Option<(Arc<dyn Owner>, usize)>>,
    bound: UnsafeCell<Bound>,
}

/// One word for two times.
#[repr(C)]
union Bound {
    locals: ManuallyDrop<Locals>,
    next: *mut TaskMeta,
}

// SAFETY: INVARIANT H1: the accesses exclude each other.
unsafe impl Sync for Hold {}
// SAFETY: INVARIANT H1 and V1: all of it is Send; `next` is a task that only the holder of this one knows of.
unsafe impl Send for Hold {}

impl Hold {
    #[inline]
    pub(crate) const fn new(owner: Option<(Arc<dyn Owner>, usize)>, locals: Locals) -> Hold {
        Hold {
            waker: UnsafeCell::new(None),
            owner: UnsafeCell::new(owner),
            bound: UnsafeCell::new(Bound { locals: ManuallyDrop::new(locals) }),
        }
    }

    /// # Safety
    ///
    /// Nobody else knows of the task.
    #[inline]
    pub(super) unsafe fn set_waker(&self, waker: Waker) {
        // SAFETY: INVARIANT H1 and the caller's promise.
        unsafe { *self.waker.get() = Some(waker) };
    }

    /// # Safety
    ///
    /// From a look, or from a poll of the task.
    pub(super) unsafe fn waker(&self) -> Option<Waker> {
        // SAFETY: INVARIANT H1 and the caller's promise.
        unsafe { (*self.waker.get()).clone() }
    }

    /// The same without counting a reference.
    ///
    /// # Safety
    ///
    /// From the epilogue. The copy must not be dropped.
    pub(super) unsafe fn lend_waker(&self) -> Option<ManuallyDrop<Waker>> {
        // SAFETY: INVARIANT H1 and the caller's promise.
        let copy: Option<Waker> = unsafe { ptr::read(self.waker.get()) };
        copy.map(ManuallyDrop::new)
    }

    /// # Safety
    ///
    /// From who lets go of the task.
    #[inline]
    pub(super) unsafe fn take_waker(&self) -> Option<Waker> {
        // SAFETY: INVARIANT H1 and the caller's promise.
        unsafe { (*self.waker.get()).take() }
    }

    /// # Safety
    ///
    /// From the epilogue.
    #[inline]
    pub(super) unsafe fn take_owner(&self) -> Option<(Arc<dyn Owner>, usize)> {
        // SAFETY: INVARIANT H1 and the caller's promise.
        unsafe { (*self.owner.get()).take() }
    }

    /// A copy of the task-locals without counting a reference.
    ///
    /// # Safety
    ///
    /// From a poll of the task, which must not drop the copy, nor keep it.
    #[inline]
    pub(crate) unsafe fn copy_locals(&self) -> ManuallyDrop<Locals> {
        // SAFETY: INVARIANT H1: the task has not left.
        unsafe { ptr::read(self.bound.get().cast()) }
    }

    /// # Safety
    ///
    /// Once, from who lets go of the task.
    #[inline]
    pub(super) unsafe fn drop_locals(&self) {
        // SAFETY: INVARIANT H1 and the caller's promise: there is no further poll.
        let locals: Locals = unsafe { ptr::read(self.bound.get().cast()) };
        if locals.0.is_some() {
            // The values are the user's, and so are their destructors.
            guarded("the task-locals of a task were dropped at its end", || drop(locals));
        }
    }

    /// # Safety
    ///
    /// From who lets go of the task, after the task-locals were dropped.
    #[inline]
    pub(super) unsafe fn set_next(&self, next: *mut TaskMeta) {
        // SAFETY: INVARIANT H1 and the caller's promise.
        unsafe { ptr::write(self.bound.get(), Bound { next }) };
    }

    /// # Safety
    ///
    /// From who lets go of the task, after `set_next`.
    #[inline]
    pub(super) unsafe fn next(&self) -> *mut TaskMeta {
        // SAFETY: INVARIANT H1 and the caller's promise.
        unsafe { ptr::read(self.bound.get().cast()) }
    }
}
