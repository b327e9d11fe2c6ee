//! Closures that block, as tasks (law R6); asyncio's `to_thread`.
//!
//! The task waits for a slot that the closure's thread fills:
//!
//! ```text
//!   Queued(closure) ──1 BlockingJob::run──► Running ──2──► Done(output) ──3 Waiting::poll──► Taken
//!        │ 4 Waiting::drop                     │ 4                │ 4
//!        ▼                                     ▼                  ▼
//!      Taken (closure dropped unrun)         Left ──2──►        Taken (output dropped)
//! ```

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::cancel::account::Level;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::context;
use crate::locals::Locals;
use crate::runtime::handle::Handle;
use crate::sync::{Arc, AtomicBool, Mutex, Ordering, lock};
use crate::task::builder::Builder;
use crate::task::handle::Task;
use crate::task::output::TaskOutput;
use crate::task::prepare::SpawnOptions;
use crate::task::reports::{guarded, wake_safely};
use crate::task::spawn::spawn_for_root;

/// Runs a closure that blocks on a thread made for that; asyncio's `to_thread`.
///
/// The closure returns `()`, `!` or `Result<T, E>`, as a task does. Its panic is the task's outcome.
///
/// # Cancellation
///
/// The task ends at once. A closure that was still queued is dropped unrun; a running one goes on,
/// its output is dropped, and it can ask [`blocking_cancelled`]. The shutdown waits for running closures
/// within its grace.
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub fn spawn_blocking<O, F>(closure: F) -> Task<O::Ok, O::Err>
where
    F: FnOnce() -> O + Send + 'static,
    O: TaskOutput<Ok: Send, Err: Send> + Send + 'static,
{
    Builder::new().spawn_blocking(closure)
}

/// Whether the task of the blocking closure that runs on this thread was cancelled meanwhile.
#[must_use]
pub fn blocking_cancelled() -> bool {
    // Acquire: pairs with the Release in `Waiting::drop`.
    let asked =
        CANCELLED.try_with(|flag| flag.borrow().as_ref().is_some_and(|flag| flag.load(Ordering::Acquire)));
    asked.unwrap_or(false)
}

thread_local! {
    /// The flag of the closure that runs on this thread.
    static CANCELLED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// A blocking closure on its way to a thread; a backend calls [`BlockingJob::run`] there.
///
/// Dropping it ends its task as cancelled.
#[must_use = "dropping a blocking job cancels its task"]
pub struct BlockingJob(Option<Arc<dyn Runs>>);

impl BlockingJob {
    /// Runs the closure, if its task still waits for it. Never panics.
    pub fn run(mut self) {
        if let Some(slot) = self.0.take() {
            slot.run();
        }
    }
}

impl Drop for BlockingJob {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            slot.refuse();
        }
    }
}

impl fmt::Debug for BlockingJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlockingJob")
    }
}

/// Starts the task and hands the closure to the backend.
pub(crate) fn start<O, F>(handle: &Handle, options: SpawnOptions, closure: F) -> Task<O::Ok, O::Err>
where
    F: FnOnce() -> O + Send + 'static,
    O: TaskOutput<Ok: Send, Err: Send> + Send + 'static,
{
    let slot = Arc::new(Slot {
        runtime: handle.clone(),
        locals: Locals::capture(),
        name: options.name.clone().unwrap_or_else(|| Arc::from(format!("closure of {}", options.location))),
        stage: Mutex::new(Stage::Queued(closure)),
        waker: Mutex::new(None),
        cancelled: Arc::new(AtomicBool::new(false)),
    });
    let task = spawn_for_root(handle, options, None, Waiting { slot: slot.clone() });
    if !task.done() {
        handle.backend().run_blocking(BlockingJob(Some(slot)));
    }
    task
}

trait Runs: Send + Sync {
    fn run(&self);
    fn refuse(&self);
}

struct Slot<O, F> {
    runtime: Handle,
    locals: Locals,
    name: Arc<str>,
    stage: Mutex<Stage<O, F>>,
    waker: Mutex<Option<Waker>>,
    cancelled: Arc<AtomicBool>,
}

enum Stage<O, F> {
    Queued(F),
    Running,
    Done(Result<O, Box<dyn Any + Send>>),
    /// The task has gone while the closure runs.
    Left,
    /// The backend dropped the job.
    Refused,
    Taken,
}

impl<O: Send, F: FnOnce() -> O + Send> Slot<O, F> {
    /// Edge 2.
    fn fill(&self, output: Result<O, Box<dyn Any + Send>>) {
        let mut stage = lock(&self.stage);
        let unwanted = match *stage {
            Stage::Running => {
                *stage = Stage::Done(output);
                None
            }
            _ => Some(output),
        };
        drop(stage);
        guarded("the output of a blocking closure was dropped", || drop(unwanted));
        self.wake();
    }

    fn wake(&self) {
        let waker = lock(&self.waker).take();
        if let Some(waker) = waker {
            wake_safely(waker);
        }
    }
}

impl<O: Send, F: FnOnce() -> O + Send> Runs for Slot<O, F> {
    /// Edge 1, and 2 at its end.
    fn run(&self) {
        let mut stage = lock(&self.stage);
        let Stage::Queued(_) = *stage else { return };
        let closure = match std::mem::replace(&mut *stage, Stage::Running) {
            Stage::Queued(closure) => closure,
            _ => return,
        };
        drop(stage);
        let _counted = self.runtime.shared().blocking_started(self.name.clone());
        let _ambient = self.runtime.enter();
        let _ = CANCELLED.try_with(|flag| flag.replace(Some(self.cancelled.clone())));
        let output = catch_unwind(AssertUnwindSafe(|| self.locals.run(closure)));
        let _ = CANCELLED.try_with(|flag| flag.replace(None));
        self.fill(output);
    }

    fn refuse(&self) {
        let mut stage = lock(&self.stage);
        let closure = match &*stage {
            Stage::Queued(_) => Some(std::mem::replace(&mut *stage, Stage::Refused)),
            _ => None,
        };
        drop(stage);
        guarded("a blocking closure was dropped", || drop(closure));
        self.wake();
    }
}

/// The future of a blocking task.
struct Waiting<O: Send, F: FnOnce() -> O + Send> {
    slot: Arc<Slot<O, F>>,
}

impl<O: Send, F: FnOnce() -> O + Send> Future for Waiting<O, F> {
    type Output = O;

    /// Edge 3.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<O> {
        let former = lock(&self.slot.waker).replace(cx.waker().clone());
        drop(former);
        let mut stage = lock(&self.slot.stage);
        match &*stage {
            Stage::Done(_) => {}
            Stage::Refused => {
                drop(stage);
                let reason = CancelReason::new(CancelKind::Shutdown);
                context::with_task(|task| task.map(|task| task.request(Level::Soft, reason, false)));
                return Poll::Pending;
            }
            _ => return Poll::Pending,
        }
        let done = std::mem::replace(&mut *stage, Stage::Taken);
        drop(stage);
        match done {
            Stage::Done(Ok(output)) => Poll::Ready(output),
            Stage::Done(Err(payload)) => resume_unwind(payload),
            _ => Poll::Pending,
        }
    }
}

impl<O: Send, F: FnOnce() -> O + Send> Drop for Waiting<O, F> {
    /// Edge 4.
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `blocking_cancelled`.
        self.slot.cancelled.store(true, Ordering::Release);
        let mut stage = lock(&self.slot.stage);
        let next = if matches!(*stage, Stage::Running) { Stage::Left } else { Stage::Taken };
        let unwanted = std::mem::replace(&mut *stage, next);
        drop(stage);
        drop(unwanted);
    }
}
