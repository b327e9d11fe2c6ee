//! The way into a runtime: `run`, and `Runner` for those who want to set something.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use brigade_core::backend::{Backend, Drive};
use brigade_core::{
    Handle, RunOptions, TaskError, TaskOutput, is_inside_task_or_drive, run_main, run_main_local,
};

use crate::reactor::driver::Reactor;
use crate::signal::Signals;
use crate::{CurrentThread, MultiThread};

/// What a main ends with.
type Outcome<F> =
    Result<<<F as Future>::Output as TaskOutput>::Ok, TaskError<<<F as Future>::Output as TaskOutput>::Err>>;

/// Runs a program: `main` and everything that it starts, to the end of all of it (law R1).
///
/// A worker for each processor runs the tasks; the calling thread is one of them. When main ends, the tasks that nobody
/// owns are cancelled and get ten seconds for their cleanup. [`Runner`] is the same with knobs.
///
/// # Errors
///
/// Main's own outcome. `fn main() -> Result<..>` may return it: it prints for people.
///
/// # Panics
///
/// Inside a task or another `run`, and if the system has no thread or descriptor left; [`Runner::try_run`] returns
/// these as errors.
///
/// # Examples
///
/// ```
/// let answer = brigade_executor::run(async {
///     let task = brigade_core::spawn(async { Ok::<_, std::io::Error>(6 * 7) });
///     task.await
/// });
/// # let answer = answer.map_err(|error| error.to_string());
/// # let answer: Result<i32, String> = answer;
/// assert_eq!(answer.unwrap(), 42);
/// ```
#[track_caller]
pub fn run<F>(main: F) -> Outcome<F>
where
    F: Future<Output: TaskOutput<Ok: Send, Err: Send>> + Send + 'static,
{
    Runner::new().run(main)
}

/// Runs a program, with knobs; see [`run`].
///
/// # Examples
///
/// ```
/// use brigade_executor::Runner;
/// use std::time::Duration;
///
/// let outcome = Runner::new().workers(2).grace(Duration::from_secs(1)).name("kitchen").run(async {
///     assert_eq!(&*brigade_core::current_task().unwrap().name(), "kitchen");
/// });
/// assert!(outcome.is_ok());
/// ```
#[derive(Clone, Debug)]
#[must_use = "a runner does nothing until it is given a main"]
pub struct Runner {
    flavor: Flavor,
    grace: Duration,
    signals: bool,
    name: Option<Arc<str>>,
}

#[derive(Clone, Copy, Debug)]
enum Flavor {
    CurrentThread,
    MultiThread { workers: Option<usize> },
}

impl Runner {
    /// A runner with a worker for each processor, ten seconds of grace, and no interest in signals.
    pub fn new() -> Self {
        Self { flavor: Flavor::MultiThread { workers: None }, grace: GRACE, signals: false, name: None }
    }

    /// A runner that runs everything on the calling thread, in strict order.
    pub fn current_thread() -> Self {
        Self { flavor: Flavor::CurrentThread, ..Self::new() }
    }

    /// How many threads run tasks, the calling one included.
    pub fn workers(mut self, workers: usize) -> Self {
        self.flavor = Flavor::MultiThread { workers: Some(workers) };
        self
    }

    /// How much time tasks get to end after main has, before they are aborted (law C13).
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Whether SIGINT and SIGTERM cancel main, whose grace begins with that; a second one ends the grace at once, and
    /// main with it (law R2). A third has its default effect.
    pub fn signals(mut self, signals: bool) -> Self {
        self.signals = signals;
        self
    }

    /// The name of the main task, `main` if not set.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Runs `main` to the end of everything; see [`run`](crate::run()).
    ///
    /// # Errors
    ///
    /// Main's own outcome.
    ///
    /// # Panics
    ///
    /// Where [`try_run`](Self::try_run) returns an error.
    #[track_caller]
    pub fn run<F>(self, main: F) -> Outcome<F>
    where
        F: Future<Output: TaskOutput<Ok: Send, Err: Send>> + Send + 'static,
    {
        self.try_run(main).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs `main`; what keeps it from being run is an error of its own.
    ///
    /// # Errors
    ///
    /// [`RunError`]: inside a task or another `run`, no workers, no thread or descriptor left. The inner result is
    /// main's own outcome.
    #[track_caller]
    pub fn try_run<F>(self, main: F) -> Result<Outcome<F>, RunError>
    where
        F: Future<Output: TaskOutput<Ok: Send, Err: Send>> + Send + 'static,
    {
        let started = self.start(Location::caller())?;
        Ok(started.run(|handle, drive, options| run_main(handle, drive, options, main)).0)
    }

    /// Runs a `main` that is not `Send`; it stays on the calling thread.
    ///
    /// # Errors
    ///
    /// Main's own outcome.
    ///
    /// # Panics
    ///
    /// Where [`try_run`](Self::try_run) returns an error.
    #[track_caller]
    pub fn run_local<F>(self, main: F) -> Outcome<F>
    where
        F: Future<Output: TaskOutput> + 'static,
    {
        self.try_run_local(main).unwrap_or_else(|error| panic!("{error}"))
    }

    /// [`try_run`](Self::try_run) for a `main` that is not `Send`.
    ///
    /// # Errors
    ///
    /// As [`try_run`](Self::try_run).
    #[track_caller]
    pub fn try_run_local<F>(self, main: F) -> Result<Outcome<F>, RunError>
    where
        F: Future<Output: TaskOutput> + 'static,
    {
        let started = self.start(Location::caller())?;
        Ok(started.run(|handle, drive, options| run_main_local(handle, drive, options, main)).0)
    }

    /// Runs `main` and says how the process should end: 0; 1 for anything but a value, which is printed to standard
    /// error; 128 plus its number after a signal (130 or 143).
    ///
    /// # Panics
    ///
    /// Where [`try_run`](Self::try_run) returns an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use brigade_executor::Runner;
    /// use std::process::ExitCode;
    ///
    /// fn main() -> ExitCode {
    ///     Runner::new().signals(true).exit_code(async { println!("serving") })
    /// }
    /// ```
    #[track_caller]
    pub fn exit_code<F>(self, main: F) -> ExitCode
    where
        F: Future<Output: TaskOutput<Ok: Send, Err: Send + fmt::Debug>> + Send + 'static,
    {
        let started = self.start(Location::caller()).unwrap_or_else(|error| panic!("{error}"));
        let (outcome, signal) = started.run(|handle, drive, options| run_main(handle, drive, options, main));
        exit_code(outcome, signal)
    }

    fn start(self, location: &'static Location<'static>) -> Result<Started, RunError> {
        if let Some(outer) = is_inside_task_or_drive() {
            return Err(RunError(Cause::Nested { here: location, outer }));
        }
        let (handle, drive, reactor) =
            self.flavor.make(location).map_err(|error| RunError(Cause::Io(error)))?;
        let signals = self.signals.then(|| Signals::listen(&reactor, &handle, self.grace)).transpose();
        let signals = signals.map_err(|error| RunError(Cause::Io(error)))?;
        let mut options = RunOptions::new().location(location).grace(self.grace);
        if let Some(name) = self.name {
            options = options.name(name);
        }
        if let Some(signals) = &signals {
            options = options.on_start(signals.attach());
        }
        Ok(Started { handle, drive, options, signals })
    }
}

impl Default for Runner {
    fn default() -> Self {
        Self::new()
    }
}

impl Flavor {
    fn make(
        self,
        location: &'static Location<'static>,
    ) -> io::Result<(Handle, Arc<dyn Drive>, Arc<Reactor>)> {
        match self {
            Self::CurrentThread => {
                let backend = CurrentThread::new()?;
                let reactor = backend.reactor().clone();
                Ok((handle(&backend), backend, reactor))
            }
            Self::MultiThread { workers } => {
                let processors = || std::thread::available_parallelism().map_or(1, usize::from);
                let backend = MultiThread::start(workers.unwrap_or_else(processors), location)?;
                let reactor = backend.reactor().clone();
                Ok((handle(&backend), backend, reactor))
            }
        }
    }
}

fn handle<B: Backend>(backend: &Arc<B>) -> Handle {
    Handle::new(backend.clone())
}

/// A runtime that is ready for its main.
struct Started {
    handle: Handle,
    drive: Arc<dyn Drive>,
    options: RunOptions,
    signals: Option<Signals>,
}

impl Started {
    /// Gives the outcome, and the first signal that came.
    fn run<T>(self, run: impl FnOnce(&Handle, &dyn Drive, RunOptions) -> T) -> (T, Option<i32>) {
        let outcome = run(&self.handle, &*self.drive, self.options);
        (outcome, self.signals.and_then(|signals| signals.received()))
    }
}

fn exit_code<T, E: fmt::Debug + 'static>(outcome: Result<T, TaskError<E>>, signal: Option<i32>) -> ExitCode {
    let failure = outcome.err().filter(|error| signal.is_none() || !error.is_cancelled());
    if let Some(error) = &failure {
        eprintln!("Error: {error:?}");
    }
    match signal {
        Some(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        None if failure.is_some() => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    }
}

/// Why a runtime could not be started.
#[derive(Debug)]
pub struct RunError(Cause);

#[derive(Debug)]
enum Cause {
    Nested { here: &'static Location<'static>, outer: &'static Location<'static> },
    Io(io::Error),
}

impl RunError {
    /// Whether the calling thread was inside a task or another `run`.
    #[must_use]
    pub fn is_nested(&self) -> bool {
        matches!(self.0, Cause::Nested { .. })
    }

    /// Whether the runner was set up wrongly, for instance with no workers.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        matches!(&self.0, Cause::Io(error) if error.kind() == io::ErrorKind::InvalidInput)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::Nested { here, outer } => write!(
                f,
                "a runtime cannot be started at {here}, because this thread is inside a task or a run that began at \
                 {outer}: await or spawn the future there, or use another thread"
            ),
            Cause::Io(error) => write!(f, "the runtime could not be started: {error}"),
        }
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Cause::Nested { .. } => None,
            Cause::Io(error) => Some(error),
        }
    }
}

/// How much time tasks get to end, if nothing else is said.
const GRACE: Duration = Duration::from_secs(10);
