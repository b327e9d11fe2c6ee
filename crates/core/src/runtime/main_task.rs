//! Running a program from its main task to the end of everything (law R1).

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::pin;
use std::time::Duration;

use crate::backend::Drive;
use crate::runtime::handle::Handle;
use crate::runtime::nesting::DriveGuard;
use crate::runtime::shared::Phase;
use crate::runtime::shutdown::{self, Ending};
use crate::sync::{Arc, Mutex, lock};
use crate::task::error::TaskError;
use crate::task::handle::Task;
use crate::task::job;
use crate::task::output::{Owner, Plain, TaskOutput};
use crate::task::prepare::{Prepared, SpawnOptions, prepare, prepare_local};
use crate::task::reference::TaskRef;

type StartHook = Box<dyn FnOnce(&TaskRef)>;

/// How [`run_main`] shall run.
pub struct RunOptions {
    grace: Duration,
    name: Arc<str>,
    location: &'static Location<'static>,
    on_start: Option<StartHook>,
}

impl RunOptions {
    /// A grace of 10 seconds and the name `main`.
    #[must_use]
    #[track_caller]
    pub fn new() -> RunOptions {
        RunOptions {
            grace: Duration::from_secs(10),
            name: "main".into(),
            location: Location::caller(),
            on_start: None,
        }
    }

    /// How long tasks may take to end after main has ended, before they are aborted (law C13).
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> RunOptions {
        self.grace = grace;
        self
    }

    /// The name of the main task.
    #[must_use]
    pub fn name(mut self, name: impl Into<Arc<str>>) -> RunOptions {
        self.name = name.into();
        self
    }

    /// The place that reports give for the main task, if it is not the one that called
    /// [`RunOptions::new`].
    #[must_use]
    pub fn location(mut self, location: &'static Location<'static>) -> RunOptions {
        self.location = location;
        self
    }

    /// Called with the main task before it runs.
    #[must_use]
    pub fn on_start(mut self, hook: impl FnOnce(&TaskRef) + 'static) -> RunOptions {
        self.on_start = Some(Box::new(hook));
        self
    }
}

impl Default for RunOptions {
    #[track_caller]
    fn default() -> RunOptions {
        RunOptions::new()
    }
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("grace", &self.grace)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

type Outcome<F> =
    Result<<<F as Future>::Output as TaskOutput>::Ok, TaskError<<<F as Future>::Output as TaskOutput>::Err>>;

/// Runs `main` as a task and everything to its end (law R1).
///
/// In the moment in which main ends, the tasks that the root owns are cancelled (`Shutdown`), the rest
/// of the grace is waited for, what is left is aborted and named in a warning, and the backend is
/// closed.
///
/// # Errors
///
/// Main's own outcome.
pub fn run_main<F, D>(handle: &Handle, drive: &D, options: RunOptions, main: F) -> Outcome<F>
where
    F: Future<Output: TaskOutput<Ok: Send, Err: Send>> + Send + 'static,
    D: Drive + ?Sized,
{
    run(handle, drive, options, |options| prepare(handle, options, main, Plain::<F::Output>::new()).ok())
}

/// The same for a main that is not `Send`: it lives on the calling thread.
///
/// # Errors
///
/// Main's own outcome.
pub fn run_main_local<F, D>(handle: &Handle, drive: &D, options: RunOptions, main: F) -> Outcome<F>
where
    F: Future<Output: TaskOutput> + 'static,
    D: Drive + ?Sized,
{
    run(handle, drive, options, |options| {
        prepare_local(handle, options, main, Plain::<F::Output>::new()).ok()
    })
}

fn run<T: 'static, E: 'static, D>(
    handle: &Handle,
    drive: &D,
    options: RunOptions,
    build: impl FnOnce(SpawnOptions) -> Option<Prepared<T, E>>,
) -> Result<T, TaskError<E>>
where
    D: Drive + ?Sized,
{
    let _inside = DriveGuard::enter(options.location);
    let _ambient = handle.enter();
    let close = Close { handle, drive };
    let outcome = Mutex::new(None::<Task<T, E>>);
    let until = async {
        let owner: Arc<dyn Owner> = Arc::new(EndsTheRuntime(handle.clone()));
        let spawn =
            SpawnOptions { name: Some(options.name), location: options.location, owner: Some((owner, 0)) };
        // Built inside the drive, where the calling thread is a worker.
        let Some(prepared) = build(spawn) else { return };
        let main = prepared.task_ref();
        if let Some(hook) = options.on_start {
            hook(&main);
        }
        *lock(&outcome) = Some(prepared.start());
        main.finished().await;
        Ending::new(handle.clone(), options.grace).await;
    };
    drive.drive(pin!(until));
    drop(close);
    let main = lock(&outcome).take();
    let result = main.and_then(|mut main| main.try_take());
    result.expect("run_main needs a runtime that has not ended, and a drive that returns when main has ended")
}

/// Closes the backend, also when the drive panics (a simulation that can never go on does).
struct Close<'a, D: Drive + ?Sized> {
    handle: &'a Handle,
    drive: &'a D,
}

impl<D: Drive + ?Sized> Drop for Close<'_, D> {
    fn drop(&mut self) {
        self.handle.shared().advance(Phase::Closed);
        self.drive.close();
        job::forget_runtime();
    }
}

/// The owner of the main task: its end begins the shutdown, before any other task runs.
struct EndsTheRuntime(Handle);

impl Owner for EndsTheRuntime {
    fn child_done(&self, _key: usize, _task: &TaskRef) {
        shutdown::begin(&self.0);
    }
}
