//! Dropping nested results without recursion (law T12).
//!
//! A task's result may own a handle whose result owns a handle, and so on. Dropping the outermost one
//! would recurse once per level. So a drop that is already nested deeply hands its value to a
//! queue of the thread, which the outermost drop works off.

use std::any::Any;
use std::cell::{Cell, RefCell};

/// How many drops may nest before the next one is put off.
const DEPTH: u32 = 16;

thread_local! {
    static NESTING: Cell<u32> = const { Cell::new(0) };
    static PUT_OFF: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Drops `value` now, or soon if this thread is deep inside other drops.
pub(crate) fn drop_flat<T: 'static>(value: T) {
    let depth = NESTING.get();
    if depth >= DEPTH {
        // The queue is gone only while the thread ends; then the value is dropped here.
        let _ = PUT_OFF.try_with(|queue| queue.borrow_mut().push(Box::new(value)));
        return;
    }
    let _nested = Nested::enter(depth);
    drop(value);
    if depth == 0 {
        while let Some(next) = PUT_OFF.try_with(|queue| queue.borrow_mut().pop()).ok().flatten() {
            drop(next);
        }
    }
}

struct Nested(u32);

impl Nested {
    fn enter(depth: u32) -> Nested {
        NESTING.set(depth + 1);
        Nested(depth)
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        NESTING.set(self.0);
    }
}
