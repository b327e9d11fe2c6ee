//! How a task ends when it does not end with a value (law T2).

use std::any::Any;
use std::error::Error;
use std::fmt;

use crate::cancel::reason::CancelReason;
use crate::sync::{Arc, Mutex, lock};

/// Any error, as it crosses threads.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Why a task has no value: exactly one of three (law T2).
///
/// It is an [`Error`] for every `E: Debug + Display`, so one `?` carries it into [`BoxError`] or
/// `anyhow::Error`. [`TaskError::erase`] keeps the whole chain of sources.
///
/// `Debug` is written for people, since `fn main() -> Result<..>` prints it.
pub enum TaskError<E> {
    /// The task returned this error.
    Failed(E),
    /// The task was cancelled. From `task.await` this always means that the *awaited* task was, by
    /// somebody else (law C10).
    Cancelled(CancelReason),
    /// The task panicked.
    Panicked(Panic),
}

impl<E> TaskError<E> {
    /// The error that the task returned, if it did.
    #[must_use]
    pub fn failed(&self) -> Option<&E> {
        match self {
            TaskError::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// The same by value.
    ///
    /// # Errors
    ///
    /// `self`, if the task did not return an error.
    pub fn into_failed(self) -> Result<E, TaskError<E>> {
        match self {
            TaskError::Failed(error) => Ok(error),
            other => Err(other),
        }
    }

    /// Whether the task was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, TaskError::Cancelled(_))
    }

    /// Whether the task panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(self, TaskError::Panicked(_))
    }

    /// Why the task was cancelled, if it was.
    #[must_use]
    pub fn reason(&self) -> Option<&CancelReason> {
        match self {
            TaskError::Cancelled(reason) => Some(reason),
            _ => None,
        }
    }

    /// The same outcome with another error type.
    pub fn map<F>(self, convert: impl FnOnce(E) -> F) -> TaskError<F> {
        match self {
            TaskError::Failed(error) => TaskError::Failed(convert(error)),
            TaskError::Cancelled(reason) => TaskError::Cancelled(reason),
            TaskError::Panicked(panic) => TaskError::Panicked(panic),
        }
    }

    /// An error that keeps the whole chain of sources, which a generic `E` cannot give.
    pub fn erase(self) -> DynError
    where
        E: Into<BoxError>,
    {
        DynError(match self {
            TaskError::Failed(error) => error.into(),
            TaskError::Cancelled(reason) => Box::new(TaskError::<BoxError>::Cancelled(reason)),
            TaskError::Panicked(panic) => Box::new(TaskError::<BoxError>::Panicked(panic)),
        })
    }
}

impl<E: fmt::Display + 'static> fmt::Display for TaskError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::Failed(error) => match innermost(error) {
                Some(TaskError::Failed(error)) => error.fmt(f),
                Some(other) => other.fmt(f),
                None => error.fmt(f),
            },
            TaskError::Cancelled(reason) => reason.fmt(f),
            TaskError::Panicked(panic) => panic.fmt(f),
        }
    }
}

impl<E: fmt::Debug + 'static> fmt::Debug for TaskError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::Failed(error) => match innermost(error) {
                Some(TaskError::Failed(error)) => write!(f, "Failed({error:?})"),
                Some(other) => write!(f, "Failed({other:?})"),
                None => write!(f, "Failed({error:?})"),
            },
            TaskError::Cancelled(reason) => write!(f, "Cancelled({reason})"),
            TaskError::Panicked(panic) => write!(f, "Panicked({panic})"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display + 'static> Error for TaskError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let TaskError::Failed(error) = self else { return None };
        let any: &dyn Any = error;
        any.downcast_ref::<BoxError>().and_then(|error| error.source())
    }
}

/// Where `error` is the error of a task that failed with the error of a task, and so on: the last of
/// them. Found by a loop, since tasks that await each other nest without bound (law T12).
fn innermost<E: 'static>(error: &E) -> Option<&TaskError<BoxError>> {
    let any: &dyn Any = error;
    let mut found = any.downcast_ref::<BoxError>()?.downcast_ref::<TaskError<BoxError>>()?;
    while let TaskError::Failed(next) = found {
        let Some(next) = next.downcast_ref::<TaskError<BoxError>>() else { break };
        found = next;
    }
    Some(found)
}

/// Drops an error as [`innermost`] reads it: level by level, without recursion.
pub(crate) fn drop_flat_error<E: 'static>(error: TaskError<E>) {
    let TaskError::Failed(error) = error else { return };
    let any: &mut dyn Any = &mut Some(error);
    let Some(mut error) = any.downcast_mut::<Option<BoxError>>().and_then(Option::take) else { return };
    while let Ok(inner) = error.downcast::<TaskError<BoxError>>() {
        let TaskError::Failed(next) = *inner else { return };
        error = next;
    }
}

/// An erased [`TaskError`]; shows and forwards everything that the error inside does.
pub struct DynError(BoxError);

impl DynError {
    /// The error inside.
    #[must_use]
    pub fn into_inner(self) -> BoxError {
        self.0
    }
}

impl fmt::Display for DynError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for DynError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for DynError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// A panic of a task (law T2): its message, the task's name, and the payload for the first who takes
/// it.
#[derive(Clone)]
pub struct Panic(Arc<Inner>);

struct Inner {
    message: Box<str>,
    task: Arc<str>,
    payload: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Panic {
    /// A panic with this payload in the task of this name.
    #[must_use]
    pub fn new(payload: Box<dyn Any + Send>, task: impl Into<Arc<str>>) -> Panic {
        let message = payload
            .downcast_ref::<&'static str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "(the payload is not a text)".to_owned());
        let payload = Mutex::new(Some(payload));
        Panic(Arc::new(Inner { message: message.into_boxed_str(), task: task.into(), payload }))
    }

    /// The text that the panic was raised with.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The name that the task had when it panicked.
    #[must_use]
    pub fn task_name(&self) -> &str {
        &self.0.task
    }

    /// Whether both are the same panic.
    #[must_use]
    pub fn same_as(&self, other: &Panic) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The payload; the first call among all clones gets it.
    #[must_use]
    pub fn take_payload(&self) -> Option<Box<dyn Any + Send>> {
        lock(&self.0.payload).take()
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task `{}` panicked: {}", self.0.task, self.0.message)
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Panic({self})")
    }
}

impl Error for Panic {}
