//! A small backend on plain threads, for stress: every job may run on any of them.

#![allow(clippy::unwrap_used, reason = "a poisoned lock means that the test has failed")]

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};

use brigade_core::backend::{Backend, BlockingJob, Drive, Job, ScheduleInfo, TimerKey};
use brigade_core::{Handle, Instant, RunOptions, TaskError, TaskOutput, run_main};

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    timers: BTreeMap<u64, Waker>,
    next: u64,
    closed: bool,
}

pub(crate) struct Pool {
    state: Arc<(Mutex<State>, Condvar)>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Pool {
    pub(crate) fn new(workers: usize) -> Arc<Pool> {
        let state = Arc::new((Mutex::new(State::default()), Condvar::new()));
        let spawn = |_| {
            let state = state.clone();
            thread::spawn(move || work(&state))
        };
        let threads = Mutex::new((0..workers).map(spawn).collect());
        Arc::new(Pool { state, threads })
    }
}

fn work(state: &(Mutex<State>, Condvar)) {
    loop {
        let mut locked = state.0.lock().unwrap();
        while locked.jobs.is_empty() && !locked.closed {
            locked = state.1.wait(locked).unwrap();
        }
        let Some(job) = locked.jobs.pop_front() else { return };
        drop(locked);
        job.run();
    }
}

impl Backend for Pool {
    fn schedule(&self, job: Job, _info: ScheduleInfo) {
        let mut state = self.state.0.lock().unwrap();
        if !state.closed {
            state.jobs.push_back(job);
            self.state.1.notify_one();
            return;
        }
        drop(state);
        drop(job);
    }
    fn now(&self) -> Instant {
        Instant::ZERO
    }
    /// Time stands still: timers are kept and never fire.
    fn insert_timer(&self, _at: Instant, waker: Waker) -> TimerKey {
        let mut state = self.state.0.lock().unwrap();
        state.next += 1;
        let index = state.next;
        state.timers.insert(index, waker);
        TimerKey { index, generation: 0 }
    }
    fn reset_timer(&self, key: TimerKey, _at: Instant) -> bool {
        self.state.0.lock().unwrap().timers.contains_key(&key.index)
    }
    fn update_timer(&self, key: TimerKey, waker: &Waker) -> bool {
        let fresh = waker.clone();
        let former = self.state.0.lock().unwrap().timers.insert(key.index, fresh);
        former.is_some()
    }
    fn remove_timer(&self, key: TimerKey) {
        let former = self.state.0.lock().unwrap().timers.remove(&key.index);
        drop(former);
    }
    fn run_blocking(&self, job: BlockingJob) {
        let thread = thread::spawn(move || job.run());
        self.threads.lock().unwrap().push(thread);
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Drive for Pool {
    fn drive(&self, mut until: Pin<&mut dyn Future<Output = ()>>) {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        while until.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            thread::park();
        }
    }
    fn close(&self) {
        let mut state = self.state.0.lock().unwrap();
        state.closed = true;
        let jobs = std::mem::take(&mut state.jobs);
        let timers = std::mem::take(&mut state.timers);
        drop(state);
        self.state.1.notify_all();
        drop((jobs, timers));
        let threads = std::mem::take(&mut *self.threads.lock().unwrap());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// Runs `main` on a pool of two threads.
pub(crate) fn run<F>(
    main: F,
) -> Result<<F::Output as TaskOutput>::Ok, TaskError<<F::Output as TaskOutput>::Err>>
where
    F: Future<Output: TaskOutput<Ok: Send, Err: Send>> + Send + 'static,
{
    let pool = Pool::new(2);
    let handle = Handle::new(pool.clone());
    run_main(&handle, &*pool, RunOptions::new(), main)
}
