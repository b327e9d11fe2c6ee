//! The tasks that were interrupted, and what must have become of them.

use std::cell::RefCell;

use brigade_core::{Ending, TaskRef, TaskState};

use super::Interruption;

thread_local! {
    // As for `breaking`: one thread drives, interrupts and looks.
    static MET: RefCell<Vec<(TaskRef, Interruption)>> = const { RefCell::new(Vec::new()) };
}

/// A run begins.
pub(super) fn begin() {
    MET.take();
}

/// A task was interrupted.
pub(super) fn note(task: TaskRef, how: Interruption) {
    MET.with_borrow_mut(|met| met.push((task, how)));
}

/// What is wrong with one of them after the run.
pub(crate) fn finding() -> Option<String> {
    MET.take().iter().find_map(|(task, how)| match (how, task.state()) {
        (_, TaskState::Done(Ending::Cancelled | Ending::Panicked)) => None,
        // Absorbed, or put aside for an error, which goes first (law C8).
        (Interruption::Cancel, TaskState::Done(Ending::Failed)) => None,
        (Interruption::Cancel, TaskState::Done(_)) if task.cancelling() == 0 => None,
        (Interruption::Cancel, TaskState::Done(_)) => {
            Some(format!("the request to `{}` was lost: it has ended with a value", task.name()))
        }
        (Interruption::Abort, state) => Some(format!("`{}` was aborted, and is {state:?}", task.name())),
        // A group may have caught it, or another interruption came first.
        (Interruption::Panic, TaskState::Done(_)) => None,
        (_, state) => Some(format!("`{}` is {state:?} after the run", task.name())),
    })
}
