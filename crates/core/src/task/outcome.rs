//! The outcome of a task on its way to the one who awaits it.
//!
//! It is async-task's output, wrapped: async-task drops it exactly when nobody can observe it any
//! more, which is the moment in which law T6 wants a failure to be reported.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::runtime::reports;
use crate::sync::{AtomicBool, Ordering};
use crate::task::error::{TaskError, drop_flat_error};
use crate::task::output::Sink;
use crate::task::reference::TaskRef;
use crate::task::state::Ending;

/// Output of a task's root; see the module.
pub(crate) struct Out<T, E: 'static> {
    outcome: Option<Result<T, TaskError<E>>>,
    /// What a report needs; only for failures that are to be reported, so that other outcomes stay small.
    report: Option<Box<Report<E>>>,
    observed: AtomicBool,
}

struct Report<E> {
    task: TaskRef,
    describe: fn(&E) -> String,
}

impl<T, E: 'static> Out<T, E> {
    /// The outcome that `sink` leaves to the handle.
    pub(crate) fn new<S, E0>(outcome: Result<T, TaskError<E>>, task: impl FnOnce() -> TaskRef) -> Out<T, E>
    where
        S: Sink<T, E0, Error = E>,
    {
        let wanted = S::REPORTS && matches!(outcome, Err(TaskError::Failed(_) | TaskError::Panicked(_)));
        let report = wanted.then(|| Box::new(Report { task: task(), describe: S::describe }));
        Out { outcome: Some(outcome), report, observed: AtomicBool::new(false) }
    }

    /// The outcome of a task that ended without one.
    pub(crate) fn lost(error: TaskError<E>) -> Out<T, E> {
        Out { outcome: Some(Err(error)), report: None, observed: AtomicBool::new(false) }
    }

    pub(crate) fn ending(&self) -> Ending {
        match self.outcome {
            None | Some(Ok(_)) => Ending::Value,
            Some(Err(TaskError::Failed(_))) => Ending::Failed,
            Some(Err(TaskError::Cancelled(_))) => Ending::Cancelled,
            Some(Err(TaskError::Panicked(_))) => Ending::Panicked,
        }
    }

    /// The outcome by reference; an error that was shown counts as observed.
    pub(crate) fn peek(&self) -> Option<Result<&T, &TaskError<E>>> {
        let outcome = self.outcome.as_ref()?.as_ref();
        if outcome.is_err() {
            // Relaxed: read in `drop`, which is ordered after this by the end of the borrow.
            self.observed.store(true, Ordering::Relaxed);
        }
        Some(outcome)
    }

    pub(crate) fn take(mut self) -> Option<Result<T, TaskError<E>>> {
        self.outcome.take()
    }

    fn report(&mut self) {
        // Relaxed: as in `peek`.
        if self.observed.load(Ordering::Relaxed) {
            return;
        }
        let (Some(report), Some(Err(error))) = (&self.report, &self.outcome) else { return };
        match error {
            TaskError::Failed(error) => {
                let message = catch_unwind(AssertUnwindSafe(|| (report.describe)(error)));
                let message = message.unwrap_or_else(|_| "(its Debug panicked)".to_owned());
                reports::unobserved(&report.task, Ending::Failed, message);
            }
            TaskError::Panicked(panic) => {
                reports::unobserved(&report.task, Ending::Panicked, panic.message().to_owned());
            }
            TaskError::Cancelled(_) => {}
        }
    }
}

impl<T, E: 'static> Drop for Out<T, E> {
    /// Never panics: async-task would abort the process (law T10).
    fn drop(&mut self) {
        if self.outcome.is_none() {
            return;
        }
        self.report();
        let dropped = match self.outcome.take() {
            Some(Err(error)) => catch_unwind(AssertUnwindSafe(|| drop_flat_error(error))),
            value => catch_unwind(AssertUnwindSafe(|| drop(value))),
        };
        if let Err(payload) = dropped {
            reports::panic_outside("a task's output was dropped", payload);
        }
    }
}
