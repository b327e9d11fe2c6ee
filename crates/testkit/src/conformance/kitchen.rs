//! Where the tests of the suite cook: a fresh runtime of the backend under test for each run.
//!
//! A [`Kitchen`] knows how to make the backend. [`Kitchen::run`] opens a [`Shift`] (one backend, one
//! runtime), runs a main task on it and insists on three things: main ends with a value, no unobserved
//! failure was reported that the test did not ask for, and the run ends at all. The last is watched on
//! backends with a real clock; a virtual one panics by itself.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use brigade_core::backend::{Backend, Drive};
use brigade_core::{Handle, Instant, RunOptions, TaskError, TaskOutput, run_main, run_main_local};

use crate::Trace;

/// A run on a real clock that lasts longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(40);

/// The backend under test, as a recipe.
#[allow(missing_debug_implementations, reason = "it holds nothing but a closure")]
pub struct Kitchen {
    make: Box<dyn Fn() -> Subject>,
    fifo: bool,
}

/// One fresh backend, seen from its two sides.
type Subject = (Arc<dyn Backend>, Arc<dyn Drive>);

impl Kitchen {
    /// A kitchen whose backends come from `make`. With `fifo`, the backend promises to start and wake tasks in
    /// order (laws T4, B3), and is held to it.
    pub fn new<B: Backend + Drive>(make: impl Fn() -> Arc<B> + 'static, fifo: bool) -> Kitchen {
        let make = move || {
            let backend = make();
            (backend.clone() as Arc<dyn Backend>, backend as Arc<dyn Drive>)
        };
        Kitchen { make: Box::new(make), fifo }
    }

    /// Whether the backend runs tasks on one thread, in order.
    pub(crate) fn is_fifo(&self) -> bool {
        self.fifo
    }

    /// Whether time is virtual, so that times can be compared exactly.
    pub(crate) fn is_virtual(&self) -> bool {
        let (_, drive) = (self.make)();
        let answer = drive.is_virtual();
        drive.close();
        answer
    }

    /// A fresh backend with a runtime on it.
    pub(crate) fn open(&self) -> Shift {
        let (backend, drive) = (self.make)();
        let shift = Shift { handle: Handle::new(backend), drive, book: Arc::default() };
        let book = shift.book.clone();
        shift.handle.set_unobserved_hook(move |report| {
            lock(&book).reports.push(Report {
                task: report.task_name().to_owned(),
                message: report.message().to_owned(),
                place: report.location().to_string(),
            });
        });
        let book = shift.book.clone();
        shift.handle.set_warning_hook(move |warning| lock(&book).warnings.push(warning.to_string()));
        shift
    }

    /// Runs `main` on a fresh runtime; it must end with a value and leave no report.
    pub(crate) fn run<F>(&self, main: F) -> <F::Output as TaskOutput>::Ok
    where
        F: Future + Send + 'static,
        F::Output: TaskOutput<Ok: Send, Err: Send + Debug>,
    {
        self.open().run(main)
    }

    /// As [`Kitchen::run`]; main stays on the driving thread, so local tasks that it spawns cannot start before
    /// it suspends.
    pub(crate) fn run_local<F>(&self, main: F) -> <F::Output as TaskOutput>::Ok
    where
        F: Future + 'static,
        F::Output: TaskOutput<Err: Debug>,
    {
        self.open().run_local(main)
    }

    /// A trace that compares times as this backend allows.
    pub(crate) fn trace(&self) -> Trace {
        if self.is_virtual() { Trace::new() } else { Trace::with_lower_bounds() }
    }

    /// A judge of times for this backend.
    pub(crate) fn clock(&self) -> Clock {
        Clock { is_virtual: self.is_virtual() }
    }
}

/// One backend and one runtime: good for one run.
pub(crate) struct Shift {
    pub(crate) handle: Handle,
    pub(crate) drive: Arc<dyn Drive>,
    book: Arc<Mutex<Book>>,
}

#[derive(Default)]
struct Book {
    reports: Vec<Report>,
    warnings: Vec<String>,
}

/// A failure that nobody observed, as the hook got it.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) task: String,
    pub(crate) message: String,
    pub(crate) place: String,
}

impl Shift {
    /// Runs `main`, which must end with a value and leave no report.
    #[track_caller]
    pub(crate) fn run<F>(&self, main: F) -> <F::Output as TaskOutput>::Ok
    where
        F: Future + Send + 'static,
        F::Output: TaskOutput<Ok: Send, Err: Send + Debug>,
    {
        let value = self.run_reporting(main);
        self.expect_no_reports();
        value
    }

    /// Runs `main` on the driving thread; it must end with a value and leave no report.
    #[track_caller]
    pub(crate) fn run_local<F>(&self, main: F) -> <F::Output as TaskOutput>::Ok
    where
        F: Future + 'static,
        F::Output: TaskOutput<Err: Debug>,
    {
        let watchdog = self.watch();
        // Boxed, as in the prelude's `spawn`, so that the suite compiles faster.
        let main: Pin<Box<dyn Future<Output = F::Output>>> = Box::pin(main);
        let outcome = run_main_local(&self.handle, &*self.drive, RunOptions::new(), main);
        drop(watchdog);
        let value = expect_value(outcome);
        self.expect_no_reports();
        value
    }

    /// Runs `main`, which must end with a value; reports are the test's business.
    #[track_caller]
    pub(crate) fn run_reporting<F>(&self, main: F) -> <F::Output as TaskOutput>::Ok
    where
        F: Future + Send + 'static,
        F::Output: TaskOutput<Ok: Send, Err: Send + Debug>,
    {
        expect_value(self.outcome(RunOptions::new(), main))
    }

    /// Runs `main` and gives its outcome.
    pub(crate) fn outcome<F>(
        &self,
        options: RunOptions,
        main: F,
    ) -> Result<<F::Output as TaskOutput>::Ok, TaskError<<F::Output as TaskOutput>::Err>>
    where
        F: Future + Send + 'static,
        F::Output: TaskOutput<Ok: Send, Err: Send>,
    {
        let watchdog = self.watch();
        let main: Pin<Box<dyn Future<Output = F::Output> + Send>> = Box::pin(main);
        let outcome = run_main(&self.handle, &*self.drive, options, main);
        drop(watchdog);
        outcome
    }

    /// The failures that nobody observed, until now.
    pub(crate) fn reports(&self) -> Vec<Report> {
        lock(&self.book).reports.clone()
    }

    /// Reads the reports from inside the run.
    pub(crate) fn reporter(&self) -> impl Fn() -> Vec<Report> + Send + 'static {
        let book = self.book.clone();
        move || lock(&book).reports.clone()
    }

    /// The warnings until now, as texts.
    pub(crate) fn warnings(&self) -> Vec<String> {
        lock(&self.book).warnings.clone()
    }

    #[track_caller]
    fn expect_no_reports(&self) {
        let reports = self.reports();
        assert!(reports.is_empty(), "failures that nobody observed: {reports:?}");
    }

    /// Ends the process when a run on a real clock hangs, with the names of its live tasks. The watch ends when
    /// its answer is dropped.
    pub(crate) fn watch(&self) -> Option<Sender<()>> {
        if self.drive.is_virtual() {
            return None;
        }
        let (alive, ended) = mpsc::channel::<()>();
        let handle = self.handle.clone();
        let test = thread::current().name().unwrap_or("a test").to_owned();
        thread::spawn(move || {
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let _guard = handle.enter();
                eprintln!("{test} hangs; live tasks:{}", crate::dump::live_tasks());
                std::process::abort();
            }
        });
        Some(alive)
    }
}

/// Judges moments: exactly if time is virtual, else as lower bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    is_virtual: bool,
}

impl Clock {
    /// Asserts that it is `millis` after the start.
    #[track_caller]
    pub(crate) fn expect(self, millis: u64) {
        let now = Instant::now() - Instant::ZERO;
        let expected = Duration::from_millis(millis);
        if self.is_virtual {
            assert_eq!(now, expected, "the time is wrong");
        } else {
            assert!(now >= expected, "too early: {now:?} instead of {expected:?}");
        }
    }
}

#[track_caller]
fn expect_value<T, E: Debug + 'static>(outcome: Result<T, TaskError<E>>) -> T {
    match outcome {
        Ok(value) => value,
        Err(TaskError::Panicked(panic)) => panic!("main panicked: {}", panic.message()),
        Err(error) => panic!("main ended without a value: {error:?}"),
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}
