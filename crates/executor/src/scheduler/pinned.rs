//! Inboxes for jobs that may run on one thread only: the wake-ups of tasks made by `spawn_local`.
//!
//! The home of a local task is the number of its worker. Worker 0 is whoever calls `drive`; should another thread take
//! its place, it finds the local jobs of the former one here, and the core, which knows each local task's thread,
//! leaks and reports them instead of touching them (law B2). For the same reason any thread may drop these jobs.

use brigade_core::backend::{Home, Job};
use concurrent_queue::ConcurrentQueue;

/// The inbox of one worker.
#[derive(Debug)]
pub(crate) struct Inbox {
    home: Home,
    jobs: ConcurrentQueue<Job>,
}

impl Inbox {
    pub(crate) fn new(worker: usize) -> Self {
        let home = Home(u32::try_from(worker).expect("the number of workers is bounded"));
        Self { home, jobs: ConcurrentQueue::unbounded() }
    }

    /// The home that local tasks of this worker get.
    pub(crate) fn home(&self) -> Home {
        self.home
    }

    /// Leaves a job for the worker; one that comes after the end is dropped.
    pub(crate) fn deliver(&self, job: Job) {
        drop(self.jobs.push(job));
    }

    /// The next job.
    #[inline]
    pub(crate) fn take(&self) -> Option<Job> {
        if self.jobs.is_empty() { None } else { self.jobs.pop().ok() }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Refuses jobs from now on.
    pub(crate) fn close(&self) {
        self.jobs.close();
    }
}
