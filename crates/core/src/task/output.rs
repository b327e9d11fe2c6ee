//! What a task may return, and how its outcome reaches the one who owns the task.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;

use crate::task::error::{BoxError, TaskError};
use crate::task::reference::TaskRef;

/// The type `!`, nameable on stable: what `async { loop { .. } }` returns.
pub type Never = <fn() -> ! as ReturnType>::Type;

/// Helps to name [`Never`].
#[doc(hidden)]
#[expect(unnameable_types, reason = "only its associated type is used, under the name `Never`")]
pub trait ReturnType {
    /// The return type.
    type Type;
}

impl<R> ReturnType for fn() -> R {
    type Type = R;
}

/// What a task's future may return: `()`, `!` or `Result<T, E>`, as `main` does (law T1).
#[diagnostic::on_unimplemented(
    message = "a task must return `()` or `Result<T, E>`, not `{Self}`",
    label = "this future's output is `{Self}`",
    note = "return `Ok(value)` from the task (and name the error type, e.g. `Ok::<_, MyError>(value)`)",
    note = "the error type must implement `Debug`, so that it can be reported if nobody awaits the task"
)]
pub trait TaskOutput: sealed::Sealed {
    /// The value of a task that succeeds.
    type Ok;
    /// The error of a task that fails.
    type Err: 'static;

    /// The output as a result.
    ///
    /// # Errors
    ///
    /// The error that the task returned.
    fn into_result(self) -> Result<Self::Ok, Self::Err>;

    /// The error in words, for the report of a failure that nobody observed (law T6).
    #[doc(hidden)]
    fn describe(error: &Self::Err) -> String;
}

impl TaskOutput for () {
    type Ok = ();
    type Err = Infallible;
    fn into_result(self) -> Result<(), Infallible> {
        Ok(())
    }
    fn describe(error: &Infallible) -> String {
        match *error {}
    }
}

impl TaskOutput for Never {
    type Ok = Never;
    type Err = Infallible;
    fn into_result(self) -> Result<Never, Infallible> {
        self
    }
    fn describe(error: &Infallible) -> String {
        match *error {}
    }
}

impl<T, E: fmt::Debug + 'static> TaskOutput for Result<T, E> {
    type Ok = T;
    type Err = E;
    fn into_result(self) -> Result<T, E> {
        self
    }
    fn describe(error: &E) -> String {
        describe(error)
    }
}

mod sealed {
    use super::{Never, fmt};

    #[expect(unnameable_types, reason = "a sealed trait cannot be named, by intention")]
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for Never {}
    impl<T, E: fmt::Debug> Sealed for Result<T, E> {}
}

/// Where the outcome of a task goes before it is published.
pub trait Sink<T, E>: 'static {
    /// The error type that the task's own handle gives.
    type Error: 'static;

    /// Whether a failure that the handle did not observe is reported (law T6); no if the owner has
    /// taken the error.
    const REPORTS: bool = false;

    /// Called in the finishing poll, before the outcome is readable; `task` makes a reference to the
    /// task for those who need one.
    ///
    /// # Errors
    ///
    /// What the task's handle shall give.
    fn map(
        &mut self,
        outcome: Result<T, TaskError<E>>,
        task: &dyn Fn() -> TaskRef,
    ) -> Result<T, TaskError<Self::Error>>;

    /// The error in words, if [`Sink::REPORTS`].
    fn describe(error: &Self::Error) -> String {
        let _ = error;
        String::new()
    }
}

/// The sink of a task that belongs to nobody but the runtime.
pub struct Plain<O>(std::marker::PhantomData<fn() -> O>);

impl<O> Plain<O> {
    /// The sink.
    #[must_use]
    pub const fn new() -> Plain<O> {
        Plain(std::marker::PhantomData)
    }
}

impl<O> Default for Plain<O> {
    fn default() -> Plain<O> {
        Plain::new()
    }
}

impl<O> fmt::Debug for Plain<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Plain")
    }
}

impl<O: TaskOutput + 'static> Sink<O::Ok, O::Err> for Plain<O> {
    type Error = O::Err;
    const REPORTS: bool = true;

    fn map(
        &mut self,
        outcome: Result<O::Ok, TaskError<O::Err>>,
        _task: &dyn Fn() -> TaskRef,
    ) -> Result<O::Ok, TaskError<O::Err>> {
        outcome
    }

    fn describe(error: &O::Err) -> String {
        O::describe(error)
    }
}

/// One who owns tasks: a group. Tasks with an owner are cancelled by it, not by the shutdown of the
/// runtime (law R1).
pub trait Owner: Send + Sync + 'static {
    /// Called on the executor after the outcome of the task with this key is readable; no lock is
    /// held.
    fn child_done(&self, key: usize, task: &TaskRef);
}

/// An error in words: with its chain of sources if it is a [`BoxError`], else by `Debug`.
pub(crate) fn describe<E: fmt::Debug + 'static>(error: &E) -> String {
    let any: &dyn std::any::Any = error;
    if let Some(error) =
        any.downcast_ref::<BoxError>().and_then(|error| error.downcast_ref::<TaskError<BoxError>>())
    {
        return error.to_string();
    }
    let Some(error) = any.downcast_ref::<BoxError>() else {
        return format!("{error:?}");
    };
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = Error::source(cause);
    }
    text
}
