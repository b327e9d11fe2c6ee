//! Where the enclosing `run` of this thread is, so that a nested one can name both places (law R3).

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;

use crate::context;

thread_local! {
    static DRIVING: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// The place of the `run` or of the task inside which this thread is, if it is inside one.
///
/// Blocking there would stop the worker that the code waits for, so entry points refuse it.
#[must_use]
pub fn is_inside_task_or_drive() -> Option<&'static Location<'static>> {
    context::with_task(|task| task.map(|task| task.location)).or(DRIVING.get())
}

/// Marks this thread as driving a runtime until it is dropped; made by entry points and by workers.
#[derive(Debug)]
pub struct DriveGuard {
    former: Option<&'static Location<'static>>,
    _thread: PhantomData<*const ()>,
}

impl DriveGuard {
    /// Marks this thread; `location` is the place of the `run`.
    #[must_use]
    pub fn enter(location: &'static Location<'static>) -> DriveGuard {
        DriveGuard { former: DRIVING.replace(Some(location)), _thread: PhantomData }
    }
}

impl Drop for DriveGuard {
    fn drop(&mut self) {
        DRIVING.set(self.former);
    }
}
