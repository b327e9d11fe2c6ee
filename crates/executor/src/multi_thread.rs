//! The work-stealing backend: the thread that drives it is worker 0, the others are threads of its own.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::{Builder, JoinHandle};

use brigade_core::Instant;
use brigade_core::backend::{Backend, BlockingJob, Drive, Home, Job, ScheduleInfo, TimerKey};

use crate::scheduler::idle::Idle;
use crate::scheduler::inject::Injector;
use crate::scheduler::local::{Owner, Stealer, queue};
use crate::scheduler::pinned::Inbox;
use crate::services::{self, Services};
use crate::thread;
use crate::until::Until;
use crate::worker::context::{Worker, replace_worker, with_worker};
use crate::worker::park::Parker;

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
    pub fn new(workers: usize) -> io::Result<Arc<Self>> {
        if workers == 0 || workers > MOST_WORKERS {
            let message = format!("a runtime needs 1 to {MOST_WORKERS} workers, not {workers}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let shared = Arc::new(Shared::new(workers)?);
        let backend = Arc::new(Self { shared, threads: Mutex::default() });
        services::publish(Arc::as_ptr(&backend).cast(), &backend.shared.services.reactor);
        for index in 1..workers {
            let shared = backend.shared.clone();
            let thread =
                Builder::new().name(format!("brigade-{index}")).spawn(move || shared.serve(index))?;
            backend.threads().push((index, thread));
        }
        Ok(backend)
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.shared.remotes.len()
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
        for (index, thread) in threads {
            // A worker that lets go of the last handle of a runtime that was never closed does this itself.
            if !self.shared.remotes[index].is_this_thread() {
                // A worker cannot have panicked: jobs contain their panics.
                let _ = thread.join();
            }
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

/// What the workers and the threads that schedule share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) services: Services,
    pub(crate) injector: Injector<Job>,
    pub(crate) idle: Idle,
    pub(crate) remotes: Box<[Remote]>,
    /// How often a worker looks for work before it sleeps.
    pub(crate) search_rounds: u32,
    /// The owners' ends of queues that have no worker at present.
    owners: Mutex<Vec<Option<Owner<Job>>>>,
    closed: AtomicBool,
}

/// What others see of a worker.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) stealer: Stealer<Job>,
    pub(crate) inbox: Inbox,
    pub(crate) parker: Parker,
    /// The number of the worker's present poll.
    pub(crate) polls: std::sync::atomic::AtomicU32,
    /// The thread that is this worker, or was the last one; 0 if none was.
    thread: AtomicU64,
}

impl Shared {
    fn new(workers: usize) -> io::Result<Self> {
        let (owners, stealers): (Vec<_>, Vec<_>) = (0..workers).map(|_| queue()).unzip();
        let remotes = stealers.into_iter().enumerate().map(|(index, stealer)| Remote {
            stealer,
            inbox: Inbox::new(index),
            parker: Parker::default(),
            polls: Default::default(),
            thread: AtomicU64::new(0),
        });
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            services: Services::new(workers)?,
            injector: Injector::new(),
            idle: Idle::new(workers),
            remotes: remotes.collect(),
            // On one processor whoever could give work needs the time that a search takes.
            search_rounds: if processors > 1 && workers > 1 { SEARCH_ROUNDS } else { 1 },
            owners: Mutex::new(owners.into_iter().map(Some).collect()),
            closed: AtomicBool::new(false),
        })
    }

    /// A worker has this many jobs now: one more worker may be useful, or at least somebody who watches.
    #[inline]
    pub(crate) fn note_jobs(&self, count: usize) {
        if count >= 2 {
            if self.idle.wants_help() {
                self.wake_one();
            }
        } else if self.idle.is_unwatched() {
            self.call_watcher();
        }
    }

    /// Something was put into the shared queue.
    pub(crate) fn wake_for_shared_queue(&self) {
        if self.idle.must_wake() {
            self.wake_one();
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        // SeqCst: pairs with the store in `close`, which is followed by a notification of every worker.
        self.closed.load(Ordering::SeqCst)
    }

    #[cold]
    fn wake_one(&self) {
        if let Some(worker) = self.idle.take_sleeper() {
            self.remotes[worker].parker.unpark(&self.services);
        }
    }

    #[cold]
    fn call_watcher(&self) {
        if let Some(worker) = self.idle.take_watcher() {
            self.remotes[worker].parker.unpark(&self.services);
        }
    }

    /// Takes a job from a thread that is no worker of this backend.
    fn inject(&self, job: Job) {
        match self.injector.push(job) {
            Ok(()) => self.wake_for_shared_queue(),
            Err(job) => drop(job),
        }
    }

    /// Leaves a job for the only worker that may run it.
    fn deliver(&self, home: Home, job: Job) {
        // The home is one that this backend gave, so the worker exists.
        let index = home.0 as usize;
        let remote = &self.remotes[index];
        remote.inbox.deliver(job);
        if self.own_index() != Some(index) {
            remote.parker.unpark(&self.services);
        }
    }

    /// The worker of this backend that the calling thread is.
    #[inline]
    fn own_index(&self) -> Option<usize> {
        with_worker(|worker| {
            worker.filter(|worker| std::ptr::eq(&*worker.shared, self)).map(|worker| worker.index)
        })
    }

    /// The life of a worker that has its own thread.
    fn serve(self: Arc<Self>, index: usize) {
        let Some(owner) = self.take_owner(index) else { return };
        let worker = self.enter(index, owner);
        worker.work(|| self.is_closed());
        replace_worker(None);
        self.remotes[index].inbox.close();
        worker.drop_jobs();
        self.idle.depart();
    }

    fn enter(self: &Arc<Self>, index: usize, owner: Owner<Job>) -> Rc<Worker> {
        let worker = Rc::new(Worker::new(self.clone(), index, owner));
        // Relaxed: only compared with the reader's own number.
        self.remotes[index].thread.store(thread::number(), Ordering::Relaxed);
        replace_worker(Some(worker.clone()));
        self.idle.arrive();
        worker
    }

    fn take_owner(&self, index: usize) -> Option<Owner<Job>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)[index].take()
    }

    /// Refuses jobs from now on and tells every worker.
    fn close(&self) {
        // SeqCst: pairs with the load in `is_closed`.
        self.closed.store(true, Ordering::SeqCst);
        self.injector.close();
        self.remotes.iter().for_each(|remote| remote.parker.unpark(&self.services));
    }

    /// Drops what the workers have left, after their end.
    fn drop_rest(&self) {
        let driver = &self.remotes[0];
        driver.inbox.close();
        std::iter::from_fn(|| driver.inbox.take()).for_each(drop);
        self.injector.drain().into_iter().for_each(drop);
        self.services.close();
    }
}

impl Remote {
    fn is_this_thread(&self) -> bool {
        // Relaxed: a thread always sees its own store, and no other thread has its number.
        self.thread.load(Ordering::Relaxed) == thread::number()
    }
}

/// The calling thread as worker 0; leaves when dropped.
struct DriverSeat<'a> {
    shared: &'a Arc<Shared>,
    worker: Option<Rc<Worker>>,
}

impl<'a> DriverSeat<'a> {
    fn take(shared: &'a Arc<Shared>) -> Self {
        assert!(
            with_worker(|worker| worker.is_none()),
            "a runtime cannot be driven inside a worker of a runtime: await the future instead, or use another thread"
        );
        let owner = shared.take_owner(0).expect("this runtime is being driven by another thread already");
        Self { shared, worker: Some(shared.enter(0, owner)) }
    }

    fn worker(&self) -> &Rc<Worker> {
        self.worker.as_ref().expect("the worker is there until the seat is left")
    }
}

impl Drop for DriverSeat<'_> {
    fn drop(&mut self) {
        replace_worker(None);
        let Some(worker) = self.worker.take().and_then(Rc::into_inner) else { return };
        // The other workers go on while nobody drives: they get what waits here.
        while let Some(job) = worker.queue.take_lifo().or_else(|| worker.queue.pop()) {
            self.shared.inject(job);
        }
        self.shared.owners.lock().unwrap_or_else(PoisonError::into_inner)[0] = Some(worker.queue);
        self.shared.idle.depart();
        if !self.shared.injector.is_empty() {
            self.shared.wake_for_shared_queue();
        }
    }
}

const MOST_WORKERS: usize = u16::MAX as usize;

/// Rounds of looking for work, a few hundred nanoseconds each: about as long as waking a thread takes.
const SEARCH_ROUNDS: u32 = 30;
