//! A handle to a runtime, for spawning from anywhere.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use crate::backend::{Backend, BlockingJob, Job, ScheduleInfo, TimerKey};
use crate::context;
use crate::runtime::reports::{Unobserved, Warning};
use crate::runtime::shared::{Phase, Shared};
use crate::sync::{Arc, OnceLock, Ordering, lock};
use crate::task::builder::Builder;
use crate::task::handle::Task;
use crate::task::output::TaskOutput;
use crate::task::reference::TaskRef;
use crate::task::spawn::{SpawnError, Spawned, ambient};
use crate::time::instant::Instant;

/// A runtime: the tasks of one program on one backend. Cheap to clone, usable from any thread.
#[derive(Clone)]
pub struct Handle(Arc<Shared>);

impl Handle {
    /// A runtime on this backend. It does nothing until somebody drives the backend, which
    /// [`run_main`](crate::run_main) does.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>) -> Handle {
        Handle(Arc::new(Shared::new(backend)))
    }

    /// The runtime of the current task, else the one that was entered on this thread.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    #[track_caller]
    pub fn current() -> Handle {
        ambient("Handle::current")
    }

    /// The same, or `None`.
    #[must_use]
    pub fn try_current() -> Option<Handle> {
        context::runtime()
    }

    /// Makes this runtime the ambient one of a foreign thread until the guard is dropped.
    #[must_use = "the runtime is ambient until the guard is dropped"]
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard { former: context::enter_runtime(Some(self.clone())), _borrow: PhantomData }
    }

    /// What runs the tasks.
    #[must_use]
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.0.backend
    }

    /// See [`spawn`](crate::spawn()).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> Spawned<F>
    where
        F: Future<Output: TaskOutput<Ok: Send, Err: Send>> + Send + 'static,
    {
        Builder::new().on(self).spawn(future)
    }

    /// See [`try_spawn`](crate::try_spawn).
    ///
    /// # Errors
    ///
    /// [`SpawnError`] holds the future, if the runtime is closing or closed.
    #[track_caller]
    pub fn try_spawn<F>(&self, future: F) -> Result<Spawned<F>, SpawnError<F>>
    where
        F: Future<Output: TaskOutput<Ok: Send, Err: Send>> + Send + 'static,
    {
        Builder::new().on(self).try_spawn(future)
    }

    /// See [`spawn_blocking`](crate::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<O, F>(&self, closure: F) -> Task<O::Ok, O::Err>
    where
        F: FnOnce() -> O + Send + 'static,
        O: TaskOutput<Ok: Send, Err: Send> + Send + 'static,
    {
        Builder::new().on(self).spawn_blocking(closure)
    }

    /// The tasks that are not done (law T8).
    #[must_use]
    pub fn all_tasks(&self) -> Vec<TaskRef> {
        self.0.registry.snapshot()
    }

    /// Installs the hook for failures that nobody observed (law T6). Default: the `log` crate at error
    /// level if a logger is set, else standard error.
    pub fn set_unobserved_hook(&self, hook: impl Fn(&Unobserved) + Send + Sync + 'static) {
        let former = lock(&self.0.hooks).unobserved.replace(Arc::new(hook));
        drop(former);
    }

    /// Installs the hook for warnings: spawns into ended groups, tasks that a shutdown had to abort
    /// or leave behind. Default: the `log` crate at warn level if a logger is set, else standard error.
    pub fn set_warning_hook(&self, hook: impl Fn(&Warning) + Send + Sync + 'static) {
        let former = lock(&self.0.hooks).warning.replace(Arc::new(hook));
        drop(former);
    }

    /// Ends the grace of a shutdown at once, now or when it begins: a second signal (law R2).
    pub fn end_grace(&self) {
        // Release: pairs with the Acquire in the shutdown's poll.
        self.0.grace_over.store(true, Ordering::Release);
        self.0.wake_waiting();
    }

    /// Whether main has ended (law R5).
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.0.phase() != Phase::Open
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    pub(crate) fn is_same(&self, other: &Handle) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A runtime that has always ended; home of the tasks that ended before they began.
    pub(crate) fn ended() -> &'static Handle {
        static ENDED: OnceLock<Handle> = OnceLock::new();
        ENDED.get_or_init(|| {
            let handle = Handle::new(Arc::new(Nothing));
            handle.0.advance(Phase::Closed);
            handle
        })
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("phase", &self.0.phase()).finish_non_exhaustive()
    }
}

/// Keeps a runtime ambient; see [`Handle::enter`].
pub struct EnterGuard<'a> {
    former: Option<Handle>,
    _borrow: PhantomData<(&'a Handle, *const ())>,
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        let left = context::enter_runtime(self.former.take());
        drop(left);
    }
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnterGuard")
    }
}

/// The backend of [`Handle::ended`].
struct Nothing;

impl Backend for Nothing {
    fn schedule(&self, job: Job, _info: ScheduleInfo) {
        drop(job);
    }
    fn now(&self) -> Instant {
        Instant::ZERO
    }
    fn insert_timer(&self, _at: Instant, _waker: std::task::Waker) -> TimerKey {
        TimerKey { index: 0, generation: 0 }
    }
    fn reset_timer(&self, _key: TimerKey, _at: Instant) -> bool {
        false
    }
    fn update_timer(&self, _key: TimerKey, _waker: &std::task::Waker) -> bool {
        false
    }
    fn remove_timer(&self, _key: TimerKey) {}
    fn run_blocking(&self, job: BlockingJob) {
        drop(job);
    }
}
