//! What the attributes `main` and `test` call. Not for people: it may change in any version.

use std::fmt::Debug;
use std::panic::resume_unwind;
use std::process::ExitCode;

use crate::{Panic, Runner, TaskError, TaskOutput};

/// What may come out of a main or a test: nothing, since nobody would take it.
#[diagnostic::on_unimplemented(
    message = "a main or a test returns `()`, `!` or `Result<(), E>`",
    label = "nobody would take this value"
)]
pub trait NoValue: Send {}

impl NoValue for () {}
impl NoValue for <fn() -> ! as Returns>::Type {}

/// Names `!`. It is the same type as [`Never`](crate::Never), but only within one crate does the compiler look through
/// the projection and see that it is not `()`.
pub trait Returns {
    /// What the function returns.
    type Type;
}

impl<R> Returns for fn() -> R {
    type Type = R;
}

/// Runs the function below `#[brigade::main]`.
#[track_caller]
pub fn run_main<F>(runner: Runner, main: F) -> ExitCode
where
    F: Future<Output: TaskOutput<Ok: NoValue, Err: Send + Debug>> + Send + 'static,
{
    runner.exit_code(main)
}

/// Ends a test as its outcome says.
///
/// # Panics
///
/// If the outcome is no value; with the test's own panic, if it was one.
#[track_caller]
pub fn conclude<T: NoValue, E: Debug + 'static>(outcome: Result<T, TaskError<E>>) {
    match outcome {
        Ok(_) => {}
        Err(TaskError::Failed(error)) => panic!("the test failed: {error:?}"),
        Err(TaskError::Cancelled(reason)) => panic!("the test was cancelled: {reason}"),
        Err(TaskError::Panicked(panic)) => go_on_with(&panic),
    }
}

/// Panics as the test did, without a second report: the first was printed when it happened.
fn go_on_with(panic: &Panic) -> ! {
    resume_unwind(panic.take_payload().unwrap_or_else(|| Box::new(panic.message().to_owned())))
}
