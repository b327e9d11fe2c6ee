//! The work-stealing backend: the thread that drives it is worker 0, the others are threads of its own.

pub(crate) mod shared;

use std::future::Future;
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use brigade_core::backend::{Backend, BlockingJob, Drive, Home, Job, ScheduleInfo, TimerKey};
use brigade_core::{DriveGuard, Instant};

use self::shared::{DriverSeat, Shared};
use crate::reactor::driver::Reactor;
use crate::services;
use crate::until::Until;
use crate::worker::context::with_worker;
use crate::worker::counts::Counters;

/// A backend that runs tasks on several threads, which take work from one another.
///
/// `n` workers are the thread that calls [`drive`](Drive::drive) and `n - 1` threads that are started by
/// [`new`](Self::new) and sleep while there is nothing to do. Tasks made by `spawn_local` stay on the worker on which
/// they were made.
///
/// Jobs are started in the order in which a worker scheduled them, with two exceptions: a task that is woken (not new,
/// and not yielding) goes first, at most eight times in a row while others wait; and other workers take what waits.
///
/// # Examples
///
/// ```
/// use brigade_executor::MultiThread;
///
/// let backend = MultiThread::new(2).expect("two workers");
/// assert_eq!(backend.workers(), 2);
/// ```
#[derive(Debug)]
pub struct MultiThread {
    shared: Arc<Shared>,
    /// The workers that have threads of their own: index and handle.
    threads: Mutex<Vec<(usize, JoinHandle<()>)>>,
}

impl MultiThread {
    /// Makes a backend with `workers` workers and starts all of its threads but the one that will drive it.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] for no workers or more than 65 535; else the operating system's error when it has
    /// no thread or descriptor left.
    #[track_caller]
    pub fn new(workers: usize) -> io::Result<Arc<Self>> {
        Self::start(workers, Location::caller())
    }

    /// The same; `location` is what a nested run on a worker's thread is told.
    pub(crate) fn start(workers: usize, location: &'static Location<'static>) -> io::Result<Arc<Self>> {
        if workers == 0 || workers > MOST_WORKERS {
            let message = format!("a runtime needs 1 to {MOST_WORKERS} workers, not {workers}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let shared = Arc::new(Shared::new(workers)?);
        let backend = Arc::new(Self { shared, threads: Mutex::default() });
        services::publish(Arc::as_ptr(&backend).cast(), backend.reactor());
        for index in 1..workers {
            let shared = backend.shared.clone();
            let thread = Builder::new().name(format!("brigade-{index}")).spawn(move || {
                let _inside = DriveGuard::enter(location);
                shared.serve(index);
            })?;
            backend.threads().push((index, thread));
        }
        Ok(backend)
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.shared.remotes.len()
    }

    /// What the workers have done so far, for those who measure.
    #[must_use]
    pub fn counters(&self) -> Counters {
        Counters::sum(self.shared.remotes.iter().map(|remote| &remote.counts))
    }

    /// How long the blocking job has waited for a thread that was queued first; `None` if none waits.
    ///
    /// All threads for blocking closures are busy then. One that has waited for a second is told of in the log.
    #[must_use]
    pub fn blocking_queue_age(&self) -> Option<Duration> {
        self.shared.services.blocking.queue_age()
    }

    pub(crate) fn reactor(&self) -> &Arc<Reactor> {
        &self.shared.services.reactor
    }

    fn threads(&self) -> MutexGuard<'_, Vec<(usize, JoinHandle<()>)>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for MultiThread {
    #[inline]
    fn schedule(&self, job: Job, info: ScheduleInfo) {
        let shared = &*self.shared;
        if let Some(home) = info.home {
            return shared.deliver(home, job);
        }
        let foreign = with_worker(|worker| match worker {
            Some(worker) if std::ptr::eq(&*worker.shared, shared) => {
                worker.push(job, info);
                None
            }
            _ => Some(job),
        });
        if let Some(job) = foreign {
            shared.inject(job);
        }
    }

    fn now(&self) -> Instant {
        self.shared.services.now()
    }

    fn insert_timer(&self, at: Instant, waker: Waker) -> TimerKey {
        let shard = self.shared.own_index().unwrap_or(0);
        self.shared.services.insert_timer(shard, at, waker)
    }

    fn reset_timer(&self, key: TimerKey, at: Instant) -> bool {
        self.shared.services.reset_timer(key, at)
    }

    fn renew_timer(&self, key: TimerKey, at: Instant, waker: &Waker) -> bool {
        self.shared.services.renew_timer(key, at, waker)
    }

    fn update_timer(&self, key: TimerKey, waker: &Waker) -> bool {
        self.shared.services.timers.update(key, waker)
    }

    fn remove_timer(&self, key: TimerKey) {
        self.shared.services.timers.remove(key);
    }

    fn run_blocking(&self, job: BlockingJob) {
        self.shared.services.run_blocking(job);
    }

    fn home(&self) -> Option<Home> {
        self.shared.own_index().map(|index| self.shared.remotes[index].inbox.home())
    }
}

impl Drive for MultiThread {
    /// # Panics
    ///
    /// If the calling thread is a worker already, if another thread drives this backend, or if it was closed before
    /// `until` is ready.
    fn drive(&self, until: Pin<&mut dyn Future<Output = ()>>) {
        let seat = DriverSeat::take(&self.shared);
        let shared = self.shared.clone();
        let mut until = Until::new(until, move || shared.remotes[0].parker.unpark(&shared.services));
        seat.worker().work(|| until.is_ready(self.shared.is_closed()));
    }

    fn close(&self) {
        self.shared.close();
        let threads = std::mem::take(&mut *self.threads());
        // A worker that lets go of the last handle of a runtime that was never closed does this itself.
        let others = threads.into_iter().filter(|(index, _)| !self.shared.remotes[*index].is_this_thread());
        let stuck = self.shared.wait_for_end(others.collect());
        if stuck > 0 {
            log::error!(
                "{stuck} worker(s) are blocked by a task that does not end its poll; their threads are left behind"
            );
        }
        self.shared.drop_rest();
    }
}

impl Drop for MultiThread {
    fn drop(&mut self) {
        self.close();
        services::withdraw(std::ptr::from_ref(self).cast());
    }
}

const MOST_WORKERS: usize = u16::MAX as usize;
