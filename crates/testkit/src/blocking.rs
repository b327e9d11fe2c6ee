//! Blocking jobs of the simulation: a few real threads, which hold the clock while they work.
//!
//! Virtual time must not jump past a real job, or its answer would come hours late. So the driving thread
//! waits whenever [`Queue::is_busy`]. Threads are made on demand, at most [`MOST_THREADS`] (law R6), and end
//! as soon as the queue is empty: nothing is left to join.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

use brigade_core::backend::BlockingJob;

use crate::backend::Shared;

/// Few, so that tests reach the bound.
const MOST_THREADS: usize = 4;

/// Blocking jobs that wait for a thread, and the number of threads that work.
#[derive(Debug)]
pub(crate) struct Queue {
    waiting: VecDeque<BlockingJob>,
    threads: usize,
}

impl Queue {
    pub(crate) fn new() -> Queue {
        Queue { waiting: VecDeque::new(), threads: 0 }
    }

    /// Whether a job runs or waits; then time stands still.
    pub(crate) fn is_busy(&self) -> bool {
        self.threads > 0
    }

    /// Takes the jobs that never got a thread, to be dropped (which cancels them).
    pub(crate) fn close(&mut self) -> VecDeque<BlockingJob> {
        std::mem::take(&mut self.waiting)
    }
}

/// Queues a job and starts a thread for it if there may be one more.
pub(crate) fn submit(shared: &Arc<Shared>, job: BlockingJob) {
    let mut state = shared.lock();
    if state.closed {
        drop(state);
        return drop(job);
    }
    state.blocking.waiting.push_back(job);
    if state.blocking.threads == MOST_THREADS {
        return;
    }
    state.blocking.threads += 1;
    drop(state);
    let worker = shared.clone();
    let started = thread::Builder::new().name("simulation-blocking".into()).spawn(move || work(&worker));
    if started.is_err() {
        give_up(shared);
    }
}

fn work(shared: &Shared) {
    while let Some(job) = next(shared) {
        job.run();
    }
}

/// The next job for this thread. With `None` the thread has signed off and lets time go on.
fn next(shared: &Shared) -> Option<BlockingJob> {
    let mut state = shared.lock();
    let job = state.blocking.waiting.pop_front();
    if job.is_none() {
        state.blocking.threads -= 1;
        drop(state);
        shared.notify();
    }
    job
}

/// The system gave us no thread. Other threads serve the queue; without any, its jobs are cancelled.
fn give_up(shared: &Shared) {
    let mut state = shared.lock();
    state.blocking.threads -= 1;
    let lost = if state.blocking.threads == 0 { state.blocking.close() } else { VecDeque::new() };
    drop(state);
    drop(lost);
    shared.notify();
}
