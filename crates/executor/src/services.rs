//! What every backend of this crate has beside its scheduler: a clock, timers, a reactor, a pool for blocking jobs.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;

use brigade_core::backend::{Backend, BlockingJob, TimerKey};
use brigade_core::{Handle, Instant};

use crate::blocking::Pool;
use crate::clock::Clock;
use crate::reactor::driver::Reactor;
use crate::reactor::timers::Timers;

/// The parts that do not depend on how jobs are scheduled.
#[derive(Debug)]
pub(crate) struct Services {
    clock: Clock,
    pub(crate) timers: Timers,
    pub(crate) reactor: Arc<Reactor>,
    pub(crate) blocking: Arc<Pool>,
    /// When somebody asked the reactor for events the last time, in nanoseconds.
    asked: AtomicU64,
}

impl Services {
    pub(crate) fn new(shards: usize) -> io::Result<Self> {
        Ok(Self {
            clock: Clock::new(),
            timers: Timers::new(shards),
            reactor: Arc::new(Reactor::new()?),
            blocking: Pool::new(),
            asked: AtomicU64::new(0),
        })
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(crate) fn insert_timer(&self, shard: usize, at: Instant, waker: Waker) -> TimerKey {
        let key = self.timers.insert(shard, at, waker);
        self.reactor.note_deadline(at);
        key
    }

    pub(crate) fn reset_timer(&self, key: TimerKey, at: Instant) -> bool {
        let moved = self.timers.reset(key, at);
        if moved {
            self.reactor.note_deadline(at);
        }
        moved
    }

    pub(crate) fn renew_timer(&self, key: TimerKey, at: Instant, waker: &Waker) -> bool {
        let moved = self.timers.renew(key, at, waker);
        if moved {
            self.reactor.note_deadline(at);
        }
        moved
    }

    /// Queues a blocking job; one that cannot be run any more is dropped, which cancels it.
    pub(crate) fn run_blocking(&self, job: BlockingJob) {
        self.blocking.run(job);
    }

    /// Fires the timers that are due, and handles the events that are there unless somebody did so a moment ago; without
    /// waiting.
    pub(crate) fn look(&self, now: Instant) {
        // Relaxed: a system call too many or too late harms nobody.
        let asked = self.asked.load(Ordering::Relaxed);
        if self.reactor.has_sources() && now.as_nanos().saturating_sub(asked) >= BETWEEN_QUESTIONS {
            if let Some(mut seat) = self.reactor.sit() {
                self.note_question(now);
                seat.look();
            }
        }
        self.timers.fire_some(now);
    }

    /// Notes that the reactor was asked for events.
    pub(crate) fn note_question(&self, now: Instant) {
        // Relaxed: see `look`.
        self.asked.store(now.as_nanos(), Ordering::Relaxed);
    }

    /// Ends everything; jobs that are running on the pool are left behind.
    pub(crate) fn close(&self) {
        self.blocking.close();
        self.timers.close();
        self.reactor.close();
    }
}

/// Makes a backend's reactor known to sockets that are opened on it.
///
/// The network is not a part of the backend contract, so a socket finds its reactor by the identity of the runtime's
/// backend. The list has one entry for each runtime of the process that is alive, and is read when a socket is opened.
pub(crate) fn publish(backend: *const (), reactor: &Arc<Reactor>) {
    known().push((backend as usize, Arc::downgrade(reactor)));
}

/// Forgets a backend that is about to be freed.
pub(crate) fn withdraw(backend: *const ()) {
    known().retain(|(known, _)| *known != backend as usize);
}

/// The reactor of the ambient runtime.
pub(crate) fn ambient_reactor() -> io::Result<Arc<Reactor>> {
    let Some(handle) = Handle::try_current() else {
        return Err(io::Error::other(
            "sockets need a running Brigade runtime: open them in a task, or call `Handle::enter` first",
        ));
    };
    let backend: *const dyn Backend = Arc::as_ptr(handle.backend());
    let identity = backend.cast::<()>() as usize;
    let reactor =
        known().iter().find(|(known, _)| *known == identity).and_then(|(_, reactor)| reactor.upgrade());
    reactor.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "this runtime's backend has no reactor for brigade's sockets: use `MultiThread` or `CurrentThread` of \
             brigade-executor, or the sockets of the runtime that hosts the tasks",
        )
    })
}

/// How much time there is between two questions to the operating system while jobs wait, in nanoseconds: each costs
/// a hundredth of that or two.
const BETWEEN_QUESTIONS: u64 = 40_000;

type Known = Vec<(usize, Weak<Reactor>)>;

fn known() -> MutexGuard<'static, Known> {
    static KNOWN: Mutex<Known> = Mutex::new(Vec::new());
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}
