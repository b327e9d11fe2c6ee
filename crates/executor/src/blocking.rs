//! Threads for closures that block: started when needed, bounded in number, gone when idle.
//!
//! A job is queued if all threads are busy and the bound is reached, or if the system refuses another thread; as long
//! as one thread lives the queue is served. Jobs never panic out of `BlockingJob::run`: what happens in them is the
//! outcome of their task.
//!
//! A job that waits is no error, but a program that waits for it may look as if it hung. So the pool tells how long its
//! oldest job has waited, and says so in the log where one has waited long.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use brigade_core::backend::BlockingJob;

/// The pool of one runtime.
#[derive(Debug)]
pub(crate) struct Pool {
    state: Mutex<State>,
    /// Notified when a job is queued, and when the pool closes.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// With the time at which each was queued.
    jobs: VecDeque<(Instant, BlockingJob)>,
    /// When it was said last that jobs wait long.
    said: Option<Instant>,
    /// The threads, by number. A thread that leaves takes its handle out.
    threads: HashMap<u64, Worker>,
    /// Threads that wait for a job and were not notified yet.
    idle: usize,
    /// Notifications that no thread has received yet.
    notified: usize,
    next_number: u64,
    closed: bool,
}

#[derive(Debug)]
struct Worker {
    handle: JoinHandle<()>,
    running: bool,
}

impl Pool {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), changed: Condvar::new() })
    }

    /// Queues a job and sees to it that a thread will run it. A closed pool drops the job, which cancels it.
    pub(crate) fn run(self: &Arc<Self>, job: BlockingJob) {
        let mut state = self.lock();
        if state.closed {
            drop(state);
            drop(job);
            return;
        }
        state.jobs.push_back((Instant::now(), job));
        if state.idle > 0 {
            state.idle -= 1;
            state.notified += 1;
            drop(state);
            self.changed.notify_one();
        } else if state.threads.len() < MOST_THREADS {
            self.start_thread(state);
        }
    }

    /// How long the job that waits for a thread has waited that was queued first; `None` if none does.
    pub(crate) fn queue_age(&self) -> Option<Duration> {
        self.lock().jobs.front().map(|(queued, _)| queued.elapsed())
    }

    /// Refuses jobs, drops those that wait, and joins the threads that run none. Those that do are left behind; they
    /// end after their job.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let jobs = std::mem::take(&mut state.jobs);
        let workers = std::mem::take(&mut state.threads);
        drop(state);
        self.changed.notify_all();
        drop(jobs);
        for worker in workers.into_values().filter(|worker| !worker.running) {
            // The thread ends at once, and it cannot have panicked: jobs contain their panics.
            let _ = worker.handle.join();
        }
    }

    fn start_thread(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        let number = state.next_number;
        state.next_number += 1;
        let pool = self.clone();
        let started = thread::Builder::new()
            .name(format!("brigade-blocking-{number}"))
            .spawn(move || pool.serve(number));
        match started {
            // The thread waits for this lock before it looks for its entry.
            Ok(handle) => {
                state.threads.insert(number, Worker { handle, running: false });
            }
            Err(error) if state.threads.is_empty() => {
                let jobs = std::mem::take(&mut state.jobs);
                drop(state);
                log::error!("no thread for {} blocking job(s), which are cancelled: {error}", jobs.len());
                drop(jobs);
            }
            Err(error) => log::warn!("no further thread for blocking jobs, the job waits: {error}"),
        }
    }

    fn serve(&self, number: u64) {
        let mut state = self.lock();
        loop {
            if let Some((queued, job)) = state.jobs.pop_front() {
                state.mark(number, true);
                let complaint = state.complaint(queued.elapsed());
                drop(state);
                complaint.into_iter().for_each(|complaint| log::warn!("{complaint}"));
                job.run();
                state = self.lock();
                continue;
            }
            state.mark(number, false);
            state = match self.wait_for_job(state) {
                Ok(state) => state,
                Err(mut state) => {
                    // The handle is dropped with the entry: a thread that leaves by itself needs no joining.
                    state.threads.remove(&number);
                    return;
                }
            };
        }
    }

    /// Waits until there is a job; `Err` if the thread should leave.
    fn wait_for_job<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
    ) -> Result<MutexGuard<'a, State>, MutexGuard<'a, State>> {
        let until = Instant::now() + PATIENCE;
        state.idle += 1;
        loop {
            if state.closed {
                return Err(state);
            }
            let left = until.saturating_duration_since(Instant::now());
            (state, _) = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            if state.notified > 0 {
                // A busy thread may have been faster; then this one waits again.
                state.notified -= 1;
                return Ok(state);
            }
            if left.is_zero() {
                state.idle -= 1;
                return Err(state);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// What to say about a job that has waited so long, if it was not said lately.
    fn complaint(&mut self, waited: Duration) -> Option<String> {
        let lately = self.said.is_some_and(|said| said.elapsed() < SILENCE);
        if waited < LONG || lately {
            return None;
        }
        self.said = Some(Instant::now());
        Some(format!(
            "a blocking job has waited {waited:?} for a thread: {} run and {} more wait; use fewer `spawn_blocking` at a \
             time, or split long ones",
            self.threads.len(),
            self.jobs.len()
        ))
    }

    fn mark(&mut self, number: u64, running: bool) {
        if let Some(worker) = self.threads.get_mut(&number) {
            worker.running = running;
        }
    }
}

/// How many blocking jobs can run at a time.
const MOST_THREADS: usize = 512;

/// How long a thread waits for a job before it leaves.
const PATIENCE: Duration = Duration::from_secs(10);

/// A job that has waited this long is worth a line in the log.
const LONG: Duration = Duration::from_secs(1);

/// How long such lines are apart at least.
const SILENCE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_wait_is_told_once_in_a_while() {
        let mut state = State::default();
        assert_eq!(state.complaint(LONG - Duration::from_nanos(1)), None);
        let told = state.complaint(LONG).expect("it is long");
        assert!(told.contains("waited 1s") && told.contains("0 more wait"), "{told}");
        assert_eq!(state.complaint(LONG * 2), None, "it was told just now");
    }
}
