//! The contract between Brigade and whatever runs it (laws B1–B5).
//!
//! A backend runs jobs soon, keeps time, and runs blocking closures somewhere. That is all: every
//! law about tasks, cancellation, groups and shutdown is built on it in this crate and its siblings, so
//! behaviour cannot differ between backends. A backend proves itself with one line,
//! `brigade_testkit::conformance!(name, constructor)`.
//!
//! What an author must keep:
//!
//! * **B1** [`Backend::schedule`] puts the job away and returns. It never runs or drops it inline (except
//!   after the end), never blocks, and may be called from any thread, from a waker, under a user's
//!   lock, and from the destructors of thread-locals.
//! * **B2** A job is run or dropped on a thread where that is allowed: one with
//!   [`ScheduleInfo::home`] only on that worker, where [`Backend::home`] answers the same value. If the
//!   worker is gone, forget the job; the core reports it. After [`Drive::close`] jobs are dropped.
//! * **B3** Jobs scheduled by one thread start in that order, unless the backend's documentation says
//!   otherwise.
//! * **B4** Timers never fire early; equal deadlines fire in insertion order among the timers of one
//!   thread; removal is O(1); an idle backend makes no wake-ups.
//! * **B5** [`Drive::is_virtual`] says whether time jumps.

use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::Pin;
use std::task::Waker;

pub use crate::task::blocking::BlockingJob;
pub use crate::task::job::Job;
use crate::time::instant::Instant;

/// A worker of a backend that can host `!Send` tasks; the number is the backend's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Home(pub u32);

/// What a backend may want to know about a job.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ScheduleInfo {
    /// The task woke itself while it was being polled: it asks to let others run first.
    pub woken_while_running: bool,
    /// The only worker on which the job may be run or dropped, if there is one.
    pub home: Option<Home>,
    /// The task is new: this is the first time that it is scheduled.
    pub fresh: bool,
}

/// A timer of a backend; what the numbers mean is the backend's business.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct TimerKey {
    /// Where the timer is kept.
    pub index: u64,
    /// Tells apart timers that were kept in the same place one after the other.
    pub generation: u64,
}

/// Runs jobs, keeps time (see the module for what an author must keep).
pub trait Backend: Send + Sync + 'static {
    /// Arranges for `job` to be run soon by [`Job::run`], or dropped if the backend has ended.
    fn schedule(&self, job: Job, info: ScheduleInfo);

    /// The clock's time.
    fn now(&self) -> Instant;

    /// Wakes `waker` at `at` or as soon as possible after it, once. [`Instant::FAR_FUTURE`] is never.
    fn insert_timer(&self, at: Instant, waker: Waker) -> TimerKey;

    /// Moves a timer; `false` and no effect if it has fired or was removed.
    fn reset_timer(&self, key: TimerKey, at: Instant) -> bool;

    /// Replaces the waker of a timer; `false` and no effect if it has fired or was removed.
    fn update_timer(&self, key: TimerKey, waker: &Waker) -> bool;

    /// Moves a timer and replaces its waker; `false` if it has fired or was removed. For backends that can do both in
    /// one step.
    fn renew_timer(&self, key: TimerKey, at: Instant, waker: &Waker) -> bool {
        self.reset_timer(key, at) && self.update_timer(key, waker)
    }

    /// Removes a timer, if it is still there.
    fn remove_timer(&self, key: TimerKey);

    /// Runs a blocking job on a thread where blocking is allowed; queues it without blocking.
    fn run_blocking(&self, job: BlockingJob);

    /// The worker that the calling thread is, if it can host `!Send` tasks.
    fn home(&self) -> Option<Home> {
        None
    }

    /// A number to seed a generator of random numbers with, such as that of a jitter. A backend whose runs can be
    /// replayed takes it from the seed of the run; others from the system.
    fn random_seed(&self) -> u64 {
        RandomState::new().build_hasher().finish()
    }
}

/// Lets a thread run a backend until something is done.
pub trait Drive {
    /// Runs jobs, timers and input/output on the calling thread until `until` is ready.
    ///
    /// `until` is polled on the calling thread only: at once, and whenever its waker was woken.
    fn drive(&self, until: Pin<&mut dyn Future<Output = ()>>);

    /// Ends the backend: its threads are joined (those of running blocking jobs are left behind),
    /// queued jobs and timers dropped, descriptors closed. Calling it again does nothing.
    fn close(&self);

    /// Whether the clock is virtual: it jumps when everything is blocked (law D8).
    fn is_virtual(&self) -> bool {
        false
    }
}
