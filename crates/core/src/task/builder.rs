//! Spawning with a name, or on a runtime that is not the ambient one.

use std::future::Future;
use std::panic::Location;

use crate::context::{self, AmbientRuntime};
use crate::runtime::handle::Handle;
use crate::sync::Arc;
use crate::task::blocking;
use crate::task::handle::Task;
use crate::task::output::{Plain, TaskOutput};
use crate::task::prepare::{SpawnOptions, home_here, prepare};
use crate::task::spawn::{SpawnError, Spawned, ambient, spawn_for_root};

/// Spawns a task with knobs (law T7).
///
/// # Examples
///
/// ```no_run
/// # async fn refill() {}
/// let task = brigade_core::Builder::new().name("refill").spawn(refill());
/// assert_eq!(&*task.name(), "refill");
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder spawns nothing until `spawn` is called"]
pub struct Builder {
    name: Option<Arc<str>>,
    handle: Option<Handle>,
}

impl Builder {
    /// A builder for the ambient runtime.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Gives the task a name. Names need not be unique.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Builder {
        self.name = Some(name.into());
        self
    }

    /// Spawns on this runtime instead of the ambient one.
    pub fn on(mut self, handle: &Handle) -> Builder {
        self.handle = Some(handle.clone());
        self
    }

    /// See [`spawn`](crate::spawn()).
    ///
    /// # Panics
    ///
    /// Outside a runtime, unless [`on`](Builder::on) named one.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> Spawned<F>
    where
        F: Future<Output: TaskOutput<Ok: Send, Err: Send>> + Send + 'static,
    {
        let (handle, options) = self.parts("spawn");
        spawn_for_root(&handle, options, None, future)
    }

    /// See [`try_spawn`](crate::try_spawn).
    ///
    /// # Errors
    ///
    /// [`SpawnError`] holds the future, if the runtime is closing or closed.
    ///
    /// # Panics
    ///
    /// As [`spawn`](Builder::spawn).
    #[track_caller]
    pub fn try_spawn<F>(self, future: F) -> Result<Spawned<F>, SpawnError<F>>
    where
        F: Future<Output: TaskOutput<Ok: Send, Err: Send>> + Send + 'static,
    {
        let (handle, options) = self.parts("try_spawn");
        match prepare(&handle, options, future, Plain::<F::Output>::new()) {
            Ok(prepared) => Ok(prepared.start()),
            Err((future, _)) => Err(SpawnError::new(future)),
        }
    }

    /// See [`spawn_local`](crate::spawn_local).
    ///
    /// # Panics
    ///
    /// As [`spawn`](Builder::spawn), and on threads that are no workers of the runtime.
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> Spawned<F>
    where
        F: Future<Output: TaskOutput> + 'static,
    {
        let (handle, options) = self.parts("spawn_local");
        let home = home_here(&handle);
        spawn_for_root(&handle, options, Some(home), future)
    }

    /// See [`spawn_blocking`](crate::spawn_blocking).
    ///
    /// # Panics
    ///
    /// As [`spawn`](Builder::spawn).
    #[track_caller]
    pub fn spawn_blocking<O, F>(self, closure: F) -> Task<O::Ok, O::Err>
    where
        F: FnOnce() -> O + Send + 'static,
        O: TaskOutput<Ok: Send, Err: Send> + Send + 'static,
    {
        let (handle, options) = self.parts("spawn_blocking");
        blocking::start(&handle, options, closure)
    }

    #[track_caller]
    #[inline]
    fn parts(self, what: &str) -> (AmbientRuntime, SpawnOptions) {
        let handle = match self.handle {
            Some(handle) => AmbientRuntime::Counted(handle),
            None => context::ambient_runtime().unwrap_or_else(|| AmbientRuntime::Counted(ambient(what))),
        };
        (handle, SpawnOptions { name: self.name, location: Location::caller(), owner: None })
    }
}
