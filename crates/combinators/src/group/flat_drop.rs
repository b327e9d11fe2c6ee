//! Dropping trees of errors without recursion (law T12).
//!
//! The errors in a group may hold groups again, in boxes or in types of the user that nobody here can
//! look into. So a group error that is dropped while another one is being dropped on the same thread
//! leaves its entries to that one: the depth of the stack is that of one level.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

thread_local! {
    /// `Some` while a drop is running on this thread: what it will drop next.
    static LATER: Cell<Option<Vec<Box<dyn Any>>>> = const { Cell::new(None) };
}

/// Drops `value` now, or soon if this happens inside another `flat_drop`.
pub(super) fn flat_drop<T: 'static>(value: T) {
    if std::mem::needs_drop::<T>() {
        match LATER.try_with(Cell::take) {
            Ok(Some(mut later)) => {
                later.push(Box::new(value));
                LATER.set(Some(later));
            }
            Ok(None) => drop_all(value),
            // The thread is ending: nothing is left to queue in.
            Err(_) => drop(value),
        }
    }
}

/// A destructor that panics does so after the others have run, so that nothing is leaked.
fn drop_all<T>(value: T) {
    LATER.set(Some(Vec::new()));
    let mut panicked = catch_unwind(AssertUnwindSafe(|| drop(value))).err();
    while let Some(next) = pop() {
        let caught = catch_unwind(AssertUnwindSafe(|| drop(next))).err();
        panicked = panicked.or(caught);
    }
    if let Some(payload) = panicked {
        resume_unwind(payload);
    }
}

/// What is to be dropped next; ends the outermost drop if there is nothing.
fn pop() -> Option<Box<dyn Any>> {
    let mut later = LATER.take()?;
    let next = later.pop()?;
    LATER.set(Some(later));
    Some(next)
}
