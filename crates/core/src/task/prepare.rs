//! Building a task: one allocation, registered before it is scheduled.
//!
//! INVARIANT S1: the schedule function is a function item without captures, so it is `Send`, `Sync`
//! and `'static`; the future and its output are `'static`. A future that is not `Send` gets a home, and
//! [`Job`] never runs or drops it on another thread; the output of such a task is dropped with the
//! future's thread or by the handle, which is `Send` only if the output is.

use std::future::Future;
use std::panic::Location;
use std::ptr::NonNull;

use async_task::Runnable;

use crate::backend::Home;
use crate::cancel::account::Level;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::context;
use crate::runtime::handle::Handle;
use crate::runtime::shared::Phase;
use crate::sync::Arc;
use crate::task::handle::{Detach, Task};
use crate::task::job::{self, Job};
use crate::task::meta::{LocalHome, Parts, TaskMeta};
use crate::task::output::{Owner, Sink, TaskOutput};
use crate::task::reference::TaskRef;
use crate::task::registry::Place;
use crate::task::root::Root;

/// How a task shall be built.
pub struct SpawnOptions {
    /// Its name; `task-<id>` if there is none (law T7).
    pub name: Option<Arc<str>>,
    /// Where it is spawned, for reports.
    pub location: &'static Location<'static>,
    /// Who owns it, and under which key; the runtime if nobody does.
    pub owner: Option<(Arc<dyn Owner>, usize)>,
}

impl std::fmt::Debug for SpawnOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpawnOptions")
            .field("name", &self.name)
            .field("location", &format_args!("{}", self.location))
            .finish_non_exhaustive()
    }
}

/// A task that is built and registered, but not scheduled yet.
///
/// An owner enters it into its books between [`prepare`] and [`start`](Prepared::start). Dropping it
/// ends the task as cancelled.
#[must_use = "the task is cancelled unless it is started"]
pub struct Prepared<T: 'static, E: 'static> {
    job: Job,
    parts: HandleParts<T, E>,
    fate: Fate,
}

/// What becomes of a task when it is started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Scheduled,
    /// Cancelled before its first poll: the runtime is closing (laws C7, R5).
    Doomed,
    /// Ended at once: the runtime has ended while the task was being built.
    Late,
}

/// What the handle will be made of. Few words: they are moved about more often than the handle.
struct HandleParts<T: 'static, E: 'static> {
    reference: TaskRef,
    output: Detach<T, E>,
}

impl<T: 'static, E: 'static> HandleParts<T, E> {
    #[inline]
    fn into_task(mut self) -> Task<T, E> {
        Task::new(self.output.0.take(), self.reference)
    }
}

impl<T: 'static, E: 'static> std::fmt::Debug for Prepared<T, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Prepared").field(&self.parts.reference).finish()
    }
}

impl<T: 'static, E: 'static> Prepared<T, E> {
    /// A reference to the task.
    #[must_use]
    pub fn task_ref(&self) -> TaskRef {
        self.parts.reference.clone()
    }

    /// Schedules the task. It never runs inside this call (law T4).
    #[inline]
    pub fn start(self) -> Task<T, E> {
        if self.fate != Fate::Scheduled {
            return self.start_late();
        }
        self.job.start();
        self.parts.into_task()
    }

    #[cold]
    fn start_late(self) -> Task<T, E> {
        let reason = CancelReason::new(CancelKind::Shutdown);
        if self.fate == Fate::Late {
            return self.refuse(reason);
        }
        let _ = self.parts.reference.meta().request(Level::Soft, reason, false);
        self.job.start();
        self.parts.into_task()
    }

    /// Drops the future without polling it; the task that comes back has already ended as cancelled
    /// for this reason.
    pub fn refuse(self, reason: CancelReason) -> Task<T, E> {
        let _ = self.parts.reference.meta().request(Level::Soft, reason, false);
        // The request precedes the first poll, so this poll ends the task without one (law C7).
        self.job.run();
        self.parts.into_task()
    }
}

/// The value and the error of a future that can be a task, after its sink.
pub(crate) type TaskOf<F, S> =
    Prepared<<<F as Future>::Output as TaskOutput>::Ok, <S as SinkOf<<F as Future>::Output>>::Error>;

/// A sink for the outcome of a future with this output.
pub trait SinkOf<O: TaskOutput>: Sink<O::Ok, O::Err, Error = <Self as SinkOf<O>>::Error> {
    /// The error type that the handle gives.
    type Error: 'static;
}

impl<O: TaskOutput, S: Sink<O::Ok, O::Err>> SinkOf<O> for S {
    type Error = <S as Sink<O::Ok, O::Err>>::Error;
}

/// Builds a task on `handle`.
///
/// # Errors
///
/// Gives future and sink back if the runtime has ended, or is closing and the task has no owner
/// (laws T4, R5).
#[inline]
pub fn prepare<F, S>(
    handle: &Handle,
    options: SpawnOptions,
    future: F,
    sink: S,
) -> Result<TaskOf<F, S>, (F, S)>
where
    F: Future + Send + 'static,
    F::Output: TaskOutput,
    S: SinkOf<F::Output> + Send,
{
    build(handle, options, None, WhileClosing::Refuse, future, sink)
}

/// The same for a future that is not `Send`; it lives and dies on the calling worker.
///
/// # Errors
///
/// As [`prepare`].
///
/// # Panics
///
/// If the calling thread is not a worker of the runtime's backend that can host local tasks.
#[track_caller]
pub fn prepare_local<F, S>(
    handle: &Handle,
    options: SpawnOptions,
    future: F,
    sink: S,
) -> Result<TaskOf<F, S>, (F, S)>
where
    F: Future + 'static,
    F::Output: TaskOutput,
    S: SinkOf<F::Output>,
{
    build(handle, options, Some(home_here(handle)), WhileClosing::Refuse, future, sink)
}

/// What becomes of a task without an owner that is spawned while the runtime is closing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhileClosing {
    /// It is given back.
    Refuse,
    /// It is cancelled before its first poll (laws C7, R5).
    Doom,
}

/// The worker on which a local task that is spawned here lives.
#[track_caller]
pub(crate) fn home_here(handle: &Handle) -> Home {
    match handle.backend().home() {
        Some(worker) => worker,
        None => panic!(
            "a local task must be spawned on a worker of its runtime, which this thread is not; \
             call spawn_local inside a task, or run main by Runner::run_local"
        ),
    }
}

/// Builds any task; the callers answer for a future that is not `Send` (INVARIANT S1).
#[inline(always)]
pub(crate) fn build<F, S>(
    handle: &Handle,
    options: SpawnOptions,
    home: Option<Home>,
    closing: WhileClosing,
    future: F,
    sink: S,
) -> Result<TaskOf<F, S>, (F, S)>
where
    F: Future + 'static,
    F::Output: TaskOutput,
    S: SinkOf<F::Output>,
{
    let refused = match (handle.shared().phase(), &options.owner) {
        (Phase::Open, _) | (Phase::Closing, Some(_)) => false,
        (Phase::Closing, None) => closing == WhileClosing::Refuse,
        (Phase::Closed, _) => true,
    };
    if refused {
        return Err((future, sink));
    }
    Ok(enter(handle, options, home, future, sink))
}

/// Allocates the task and enters it into the registry, so that nothing can be scheduled that is not registered.
///
/// Inlined into its two callers, as the functions around it: else the metadata, which is large, is moved
/// from one stack frame to the next.
#[inline(always)]
fn enter<F, S>(
    runtime: &Handle,
    options: SpawnOptions,
    home: Option<Home>,
    future: F,
    sink: S,
) -> TaskOf<F, S>
where
    F: Future + 'static,
    F::Output: TaskOutput,
    S: SinkOf<F::Output>,
{
    let owned = options.owner.is_some();
    let meta = TaskMeta::new(Parts {
        place: Place::take(runtime, size_of::<F>()),
        home: home.map(|worker| LocalHome { worker, thread: context::thread_token() }),
        parent: context::with_task(|task| task.map(TaskMeta::id)),
        location: options.location,
        owner: options.owner,
        name: options.name,
    });
    let (runnable, task) = allocate(meta, future, sink);
    // SAFETY: INVARIANT R1: the task is new.
    unsafe { runnable.metadata().enter(runnable.waker()) };
    let reference = TaskRef::from_parts(runnable.waker(), NonNull::from(runnable.metadata()));
    let parts = HandleParts { reference, output: Detach(Some(task)) };
    // The shutdown moves the phase on and then looks at the tasks; this task is among them, or the phase is seen here.
    let fate = match runtime.shared().phase() {
        Phase::Open => Fate::Scheduled,
        Phase::Closing if owned => Fate::Scheduled,
        Phase::Closing => Fate::Doomed,
        Phase::Closed => Fate::Late,
    };
    Prepared { job: Job::new(runnable), parts, fate }
}

type Built<F, S> = (
    Runnable<TaskMeta>,
    async_task::Task<
        crate::task::outcome::Out<
            <<F as Future>::Output as TaskOutput>::Ok,
            <S as SinkOf<<F as Future>::Output>>::Error,
        >,
        TaskMeta,
    >,
);

#[inline(always)]
fn allocate<F, S>(meta: TaskMeta, future: F, sink: S) -> Built<F, S>
where
    F: Future + 'static,
    F::Output: TaskOutput,
    S: SinkOf<F::Output>,
{
    let builder = async_task::Builder::new().metadata(meta);
    let schedule = async_task::WithInfo(job::schedule);
    // SAFETY: INVARIANT S1: schedule function and future are 'static; a future that is not Send
    // stays on its thread.
    unsafe { builder.spawn_unchecked(|meta| Root::new(future, sink, meta), schedule) }
}

/// A task that has ended as cancelled before it began: what spawning on a runtime or in a group that has
/// ended returns (laws T4, R5, G4). Its future is dropped here, unpolled.
pub fn stillborn<F, S>(
    options: SpawnOptions,
    future: F,
    sink: S,
    reason: CancelReason,
) -> Task<<F::Output as TaskOutput>::Ok, <S as SinkOf<F::Output>>::Error>
where
    F: Future + 'static,
    F::Output: TaskOutput,
    S: SinkOf<F::Output>,
{
    let options = SpawnOptions { owner: None, ..options };
    enter(Handle::ended(), options, None, future, sink).refuse(reason)
}
