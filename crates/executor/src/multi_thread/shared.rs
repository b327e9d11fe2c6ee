//! What the workers of one backend share, and how a thread becomes a worker and ceases to be one.

use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use brigade_core::backend::{Home, Job};

use crate::current_thread;
use crate::scheduler::idle::Idle;
use crate::scheduler::inject::Injector;
use crate::scheduler::local::{Owner, Stealer, queue};
use crate::scheduler::pinned::Inbox;
use crate::services::Services;
use crate::thread;
use crate::worker::context::{Worker, replace_worker, with_worker};
use crate::worker::counts::Counts;
use crate::worker::park::Parker;

/// What the workers and the threads that schedule share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) services: Services,
    pub(crate) injector: Injector<Job>,
    pub(crate) idle: Idle,
    pub(crate) remotes: Box<[Arc<Remote>]>,
    /// Whether a worker looks for work more than once before it sleeps. On one processor whoever could give work needs
    /// the time that this takes.
    pub(crate) spins: bool,
    /// The owners' ends of queues that have no worker at present.
    owners: Mutex<Vec<Option<Owner<Job>>>>,
    closed: AtomicBool,
    /// The workers whose threads end.
    departed: Mutex<Vec<usize>>,
    departure: Condvar,
}

/// What others see of a worker.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Remote {
    pub(crate) stealer: Stealer<Job>,
    pub(crate) inbox: Inbox,
    pub(crate) parker: Parker,
    /// The number of the worker's present poll.
    pub(crate) polls: Polls,
    pub(crate) counts: Counts,
    /// The thread that is this worker, or was the last one; 0 if none was.
    thread: AtomicU64,
}

/// Written in every poll, so on a cache line of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Polls(AtomicU32);

impl Polls {
    /// The worker begins a poll.
    #[inline]
    pub(crate) fn begin(&self, number: u32) {
        // Relaxed: only the worker writes it, and who reads it only wants to see whether a poll lasts long.
        self.0.store(number, Ordering::Relaxed);
    }

    pub(crate) fn present(&self) -> u32 {
        // Relaxed: see `begin`.
        self.0.load(Ordering::Relaxed)
    }
}

impl Shared {
    pub(super) fn new(workers: usize) -> io::Result<Self> {
        let (owners, stealers): (Vec<_>, Vec<_>) = (0..workers).map(|_| queue()).unzip();
        let remotes = stealers.into_iter().enumerate().map(|(index, stealer)| {
            Arc::new(Remote {
                stealer,
                inbox: Inbox::new(index),
                parker: Parker::default(),
                polls: Polls(AtomicU32::new(0)),
                counts: Counts::default(),
                thread: AtomicU64::new(0),
            })
        });
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            services: Services::new(workers)?,
            injector: Injector::new(),
            idle: Idle::new(workers),
            remotes: remotes.collect(),
            spins: processors > 1,
            owners: Mutex::new(owners.into_iter().map(Some).collect()),
            closed: AtomicBool::new(false),
            departed: Mutex::default(),
            departure: Condvar::new(),
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
            self.remotes[worker].counts.woken();
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
    pub(super) fn inject(&self, job: Job) {
        match self.injector.push(job) {
            Ok(()) => self.wake_for_shared_queue(),
            Err(job) => drop(job),
        }
    }

    /// Leaves a job for the only worker that may run it.
    pub(super) fn deliver(&self, home: Home, job: Job) {
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
    pub(super) fn own_index(&self) -> Option<usize> {
        with_worker(|worker| {
            worker.filter(|worker| std::ptr::eq(&*worker.shared, self)).map(|worker| worker.index)
        })
    }

    /// The life of a worker that has its own thread.
    pub(super) fn serve(self: Arc<Self>, index: usize) {
        let Some(owner) = self.take_owner(index) else { return };
        let worker = self.enter(index, owner);
        worker.work(|| self.is_closed());
        replace_worker(None);
        self.remotes[index].inbox.close();
        worker.drop_jobs();
        self.idle.depart();
        self.departed.lock().unwrap_or_else(PoisonError::into_inner).push(index);
        self.departure.notify_all();
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
    pub(super) fn close(&self) {
        // SeqCst: pairs with the load in `is_closed`.
        self.closed.store(true, Ordering::SeqCst);
        self.injector.close();
        self.remotes.iter().for_each(|remote| remote.parker.unpark(&self.services));
    }

    /// Joins the threads that end; gives the number of those that do not, because they are stuck in a poll.
    pub(super) fn wait_for_end(&self, threads: Vec<(usize, JoinHandle<()>)>) -> usize {
        let until = Instant::now() + PATIENCE;
        let mut departed = self.departed.lock().unwrap_or_else(PoisonError::into_inner);
        while threads.iter().any(|(index, _)| !departed.contains(index)) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (departed, _) =
                self.departure.wait_timeout(departed, left).unwrap_or_else(PoisonError::into_inner);
        }
        let departed = departed.clone();
        let (ended, stuck) =
            threads.into_iter().partition::<Vec<_>, _>(|(index, _)| departed.contains(index));
        for (_, thread) in ended {
            // It cannot have panicked: jobs contain their panics.
            let _ = thread.join();
        }
        stuck.len()
    }

    /// Drops what the workers have left, after their end.
    pub(super) fn drop_rest(&self) {
        let driver = &self.remotes[0];
        driver.inbox.close();
        std::iter::from_fn(|| driver.inbox.take()).for_each(drop);
        self.injector.drain().into_iter().for_each(drop);
        self.services.close();
    }
}

impl Remote {
    pub(super) fn is_this_thread(&self) -> bool {
        // Relaxed: a thread always sees its own store, and no other thread has its number.
        self.thread.load(Ordering::Relaxed) == thread::number()
    }
}

/// The calling thread as worker 0; leaves when dropped.
pub(super) struct DriverSeat<'a> {
    shared: &'a Arc<Shared>,
    worker: Option<Rc<Worker>>,
}

impl<'a> DriverSeat<'a> {
    pub(super) fn take(shared: &'a Arc<Shared>) -> Self {
        assert!(
            with_worker(|worker| worker.is_none()) && !current_thread::drives_here(),
            "a runtime cannot be driven inside a worker of a runtime: await the future instead, or use another thread"
        );
        let owner = shared.take_owner(0).expect("this runtime is being driven by another thread already");
        Self { shared, worker: Some(shared.enter(0, owner)) }
    }

    pub(super) fn worker(&self) -> &Rc<Worker> {
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

/// How long the end waits for a worker that is in the middle of a poll.
const PATIENCE: Duration = Duration::from_secs(1);
