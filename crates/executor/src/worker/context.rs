//! Which worker the calling thread is, and how a job gets from there into that worker's own queues.
//!
//! The thread-local has no destructor, so it can be read from the destructors of other thread-locals (law T4). Whoever
//! enters a worker leaves it again before the thread ends.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;

use brigade_core::backend::{Job, ScheduleInfo};

use crate::multi_thread::shared::{Remote, Shared};
use crate::scheduler::local::Owner;
use crate::worker::main_loop::LEAST_ROUNDS;
use crate::worker::pace::Pace;
use crate::worker::tempo::Tempo;

/// What only the thread of a worker touches.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) index: usize,
    pub(crate) queue: Owner<Job>,
    /// This worker as the others see it.
    pub(crate) remote: Arc<Remote>,
    /// Counts polls.
    pub(crate) tick: Cell<u32>,
    /// When to look elsewhere.
    pub(crate) tempo: Tempo,
    /// What a look brings, while it goes on.
    pub(crate) arrivals: RefCell<Option<Vec<Job>>>,
    /// Whether a job is being run.
    pub(crate) running: Cell<bool>,
    /// Whether this worker is among the sleepers. What is woken then by an event or a timer waits for it to count itself
    /// as awake: it might wake itself.
    pub(crate) asleep: Cell<bool>,
    /// How many jobs in a row came out of the LIFO slot.
    pub(crate) lifo_streak: Cell<u32>,
    /// How many rounds the next search may take: fewer after each one in vain.
    pub(crate) patience: Cell<u32>,
    /// How fast it gets through what the reactor brings.
    pub(crate) pace: Pace,
    /// Whether this worker counts as searching.
    pub(crate) searching: Cell<bool>,
    /// What `worker::park` remembers from one sleep to the next.
    pub(crate) watch: Watch,
}

/// What a worker knows about the others between two looks.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// How many polls each worker had begun at the last look.
    pub(crate) seen: RefCell<Vec<u32>>,
    /// The last sleep had a limit: now is the time to look for jobs that their owners have left lying.
    pub(crate) due: Cell<bool>,
    /// This worker keeps watch aside before it sits down in the reactor, if it has nothing to run until its next sleep,
    /// which has this tick: it was woken for that, or has seen that the others come back to the seat.
    pub(crate) deputy: Cell<Option<u32>>,
    /// The tick of the next sleep if nothing is run and nobody calls until then.
    pub(crate) rested: Cell<Option<u32>>,
    /// How often somebody had sat down in the reactor when this worker last looked.
    pub(crate) sits: Cell<usize>,
}

impl Worker {
    pub(crate) fn new(shared: Arc<Shared>, index: usize, queue: Owner<Job>) -> Self {
        Self {
            remote: shared.remotes[index].clone(),
            shared,
            index,
            queue,
            tick: Cell::new(0),
            tempo: Tempo::default(),
            arrivals: RefCell::default(),
            running: Cell::new(false),
            asleep: Cell::new(false),
            lifo_streak: Cell::new(0),
            patience: Cell::new(LEAST_ROUNDS),
            pace: Pace::default(),
            searching: Cell::new(false),
            watch: Watch::default(),
        }
    }

    /// Takes a job that was scheduled on this worker's thread.
    #[inline]
    pub(crate) fn push(&self, job: Job, info: ScheduleInfo) {
        if !self.running.get() {
            return self.push_arrival(job);
        }
        if info.fresh || info.woken_while_running {
            // New tasks start in the order of spawning, and one that yields lets the others go first.
            return self.push_back(job);
        }
        match self.queue.put_lifo(job) {
            Ok(None) => self.shared.note_jobs(self.queue.len() + 1),
            Ok(Some(previous)) => self.push_back(previous),
            Err(job) => self.push_back(job),
        }
    }

    /// Puts a job at the back of the local queue, or makes room by moving the older half to the shared queue.
    #[inline]
    pub(crate) fn push_back(&self, job: Job) {
        match self.queue.push(job) {
            Ok(_) if self.asleep.get() => {}
            Ok(jobs) => self.shared.note_jobs(jobs + usize::from(self.queue.has_lifo())),
            Err(job) => self.overflow(job),
        }
    }

    /// Takes a job that no job has scheduled: what timers and events wake runs in the order in which they came.
    fn push_arrival(&self, job: Job) {
        if let Some(arrivals) = &mut *self.arrivals.borrow_mut() {
            return arrivals.push(job);
        }
        self.push_back(job);
    }

    #[cold]
    fn overflow(&self, job: Job) {
        self.shared.injector.push_batch(|sink| {
            self.queue.spill(&mut *sink);
            if let Err(job) = self.queue.push(job) {
                // A thief is about to make room.
                sink(job);
            }
        });
        self.shared.wake_for_shared_queue();
    }
}

/// Runs `action` with the worker that the calling thread is.
#[inline]
pub(crate) fn with_worker<R>(action: impl FnOnce(Option<&Worker>) -> R) -> R {
    CURRENT.with(|current| action(current.borrow().as_deref()))
}

/// Makes the calling thread a worker, and gives what it was before.
pub(crate) fn replace_worker(worker: Option<Rc<Worker>>) -> Option<Rc<Worker>> {
    CURRENT.with(|current| ManuallyDrop::into_inner(current.replace(ManuallyDrop::new(worker))))
}

thread_local! {
    /// `ManuallyDrop` keeps it from needing a destructor.
    static CURRENT: RefCell<ManuallyDrop<Option<Rc<Worker>>>> = const { RefCell::new(ManuallyDrop::new(None)) };
}
