//! Spawning on the ambient runtime (laws T1, T4).

use std::error::Error;
use std::fmt;
use std::future::Future;

use crate::backend::Home;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::runtime::handle::Handle;
use crate::task::builder::Builder;
use crate::task::handle::Task;
use crate::task::output::{Plain, TaskOutput};
use crate::task::prepare::{SpawnOptions, WhileClosing, build, stillborn};

/// The handle of a future that was spawned.
pub(crate) type Spawned<F> =
    Task<<<F as Future>::Output as TaskOutput>::Ok, <<F as Future>::Output as TaskOutput>::Err>;

/// Spawns a task on the ambient runtime; asyncio's `create_task`.
///
/// The future returns `()`, `!` or `Result<T, E>` (law T1). It never runs inside this call, and
/// starts in spawn order on single-threaded backends (law T4). On a runtime that is closing or closed
/// the task
/// never starts and ends as cancelled (`Shutdown`).
///
/// # Panics
///
/// Outside a runtime.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), brigade_core::TaskError<std::fmt::Error>> {
/// let task = brigade_core::spawn(async { Ok::<_, std::fmt::Error>(6 * 7) });
/// assert_eq!(task.await?, 42);
/// # Ok(()) }
/// ```
///
/// Any other output does not compile:
///
/// ```compile_fail
/// brigade_core::spawn(async { 42 });
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> Spawned<F>
where
    F: Future<Output: TaskOutput<Ok: Send, Err: Send>> + Send + 'static,
{
    Builder::new().spawn(future)
}

/// The same, but a runtime that is closing or closed gives the future back.
///
/// # Errors
///
/// [`SpawnError`] holds the future.
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub fn try_spawn<F>(future: F) -> Result<Spawned<F>, SpawnError<F>>
where
    F: Future<Output: TaskOutput<Ok: Send, Err: Send>> + Send + 'static,
{
    Builder::new().try_spawn(future)
}

/// Spawns a future that is not `Send`; it lives and dies on the worker that calls this.
///
/// # Panics
///
/// Outside a runtime, and on threads that are no workers of it.
#[track_caller]
pub fn spawn_local<F>(future: F) -> Spawned<F>
where
    F: Future<Output: TaskOutput> + 'static,
{
    Builder::new().spawn_local(future)
}

/// A future that was not spawned because the runtime takes no more tasks.
pub struct SpawnError<F>(F);

impl<F> SpawnError<F> {
    pub(crate) fn new(future: F) -> SpawnError<F> {
        SpawnError(future)
    }

    /// The future, never polled.
    pub fn into_future(self) -> F {
        self.0
    }
}

impl<F> fmt::Debug for SpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpawnError")
    }
}

impl<F> fmt::Display for SpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the runtime is closing and takes no more tasks; the future is in this error")
    }
}

impl<F> Error for SpawnError<F> {}

/// The ambient runtime, or a panic that says what to call (law T4).
#[track_caller]
pub(crate) fn ambient(what: &str) -> Handle {
    match Handle::try_current() {
        Some(handle) => handle,
        None => panic!(
            "{what} was called outside a runtime; call it inside a task (brigade::run starts the first one), \
             or make a runtime ambient on this thread by Handle::enter"
        ),
    }
}

/// Spawns a task that belongs to the root: it is cancelled before its first poll where the runtime is
/// closing, and has already ended where the runtime has (laws T4, R5).
#[inline]
pub(crate) fn spawn_for_root<F>(
    handle: &Handle,
    options: SpawnOptions,
    home: Option<Home>,
    future: F,
) -> Spawned<F>
where
    F: Future + 'static,
    F::Output: TaskOutput,
{
    let (name, location) = (options.name.clone(), options.location);
    match build(handle, options, home, WhileClosing::Doom, future, Plain::<F::Output>::new()) {
        Ok(prepared) => prepared.start(),
        Err((future, sink)) => {
            let reason = CancelReason::at(CancelKind::Shutdown, location);
            stillborn(SpawnOptions { name, location, owner: None }, future, sink, reason)
        }
    }
}
