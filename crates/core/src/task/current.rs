//! The task that is running here, and all that are alive (law T8).

use crate::context;
use crate::task::reference::TaskRef;

/// The task that is being polled on this thread, or `None`; asyncio's `current_task`.
///
/// It is right inside nested polls and in `Drop` of the task's future. Done-callbacks see `None`.
#[must_use]
pub fn current_task() -> Option<TaskRef> {
    context::task_ref()
}

/// The tasks of the ambient runtime that are not done, the caller included; asyncio's `all_tasks`.
///
/// A snapshot, weakly consistent, in time linear in the number of tasks. Empty outside a runtime; a
/// foreign thread uses [`Handle::all_tasks`](crate::Handle::all_tasks).
#[must_use]
pub fn all_tasks() -> Vec<TaskRef> {
    context::runtime().map_or_else(Vec::new, |runtime| runtime.all_tasks())
}
