//! A backend from outside: one thread, one queue and one map of timers, in less than a hundred lines.
//!
//! What to see: tasks, groups, timeouts and cancellation work as on every other backend, because the core
//! builds them on the few methods below. `tests/custom_backend.rs` proves it with one line, the conformance
//! suite of `brigade-testkit`. Jobs, timers and wakers are always run and dropped after the lock is released.
#![allow(clippy::print_stdout, reason = "an example prints what it does")]

use brigade::backend::{
    Backend, BlockingJob, Drive, Handle, Home, Job, RunOptions, ScheduleInfo, TimerKey, run_main,
};
use brigade::{BoxError, Instant, TaskError, gather_all, sleep, timeout};
use std::collections::{BTreeMap, VecDeque};
use std::mem::{swap, take};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread::{Thread, current, park_timeout, spawn};
use std::time::Duration;

/// A backend that runs its jobs on the thread that drives it.
#[derive(Debug)]
pub(crate) struct Tiny {
    state: Mutex<State>,
    start: std::time::Instant,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    timers: BTreeMap<u64, (Instant, Waker)>, // by number, so equal deadlines fire in the order of insertion
    last: u64,
    driver: Option<Thread>,
    closed: bool,
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Tiny {
    /// Builds the backend; its clock starts here.
    pub(crate) fn new() -> Arc<Tiny> {
        Arc::new(Tiny { state: Mutex::default(), start: std::time::Instant::now() })
    }

    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.state.lock().expect("nothing panics under this lock"))
    }
}

impl State {
    fn nudge(&self) {
        self.driver.as_ref().inspect(|driver| driver.unpark());
    }
}

impl Backend for Tiny {
    fn schedule(&self, job: Job, info: ScheduleInfo) {
        let mut job = Some(job); // what stays in here is dropped at the end, after the lock
        self.change(|state| {
            state.jobs.extend(job.take_if(|_| !state.closed));
            state.nudge();
        });
        if info.home.is_some() && info.home != self.home() {
            std::mem::forget(job); // a local task whose thread is gone
        }
    }

    fn now(&self) -> Instant {
        Instant::ZERO + self.start.elapsed()
    }

    fn insert_timer(&self, at: Instant, waker: Waker) -> TimerKey {
        let index = self.change(|state| {
            state.last += 1;
            state.timers.insert(state.last, (at, waker));
            state.nudge();
            state.last
        });
        TimerKey { index, generation: 0 }
    }

    fn reset_timer(&self, key: TimerKey, at: Instant) -> bool {
        self.change(|state| {
            state.nudge();
            state.timers.get_mut(&key.index).map(|timer| timer.0 = at).is_some()
        })
    }

    fn update_timer(&self, key: TimerKey, waker: &Waker) -> bool {
        let mut waker = waker.clone();
        self.change(|state| state.timers.get_mut(&key.index).map(|timer| swap(&mut timer.1, &mut waker)))
            .is_some()
    }

    fn remove_timer(&self, key: TimerKey) {
        drop(self.change(|state| state.timers.remove(&key.index)));
    }

    fn run_blocking(&self, job: BlockingJob) {
        spawn(move || job.run());
    }

    fn home(&self) -> Option<Home> {
        let driver = self.change(|state| state.driver.as_ref().map(Thread::id));
        (driver == Some(current().id())).then_some(Home(0))
    }
}

impl Drive for Tiny {
    fn drive(&self, mut until: Pin<&mut dyn Future<Output = ()>>) {
        let waker = Waker::from(Arc::new(Unpark(current())));
        self.change(|state| state.driver = Some(current()));
        while until.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            let first =
                self.change(|state| state.timers.iter().map(|(&index, timer)| (timer.0, index)).min());
            if let Some((_, index)) = first.filter(|first| first.0 <= self.now()) {
                self.change(|state| state.timers.remove(&index)).inspect(|timer| timer.1.wake_by_ref());
            } else if let Some(job) = self.change(|state| state.jobs.pop_front()) {
                job.run();
            } else {
                park_timeout(first.map_or(Duration::MAX, |first| first.0 - self.now()));
            }
        }
    }

    fn close(&self) {
        self.change(|state| state.closed = true);
        drop(self.change(|state| (take(&mut state.jobs), take(&mut state.timers))));
    }
}

/// Shows that the combinators know nothing of the backend below them.
pub(crate) async fn program() -> Result<(), BoxError> {
    let nap = |millis| async move {
        sleep(Duration::from_millis(millis)).await;
        Ok::<_, BoxError>(millis)
    };
    println!("gathered {:?}", gather_all([30, 10, 20].map(nap)).await?);
    println!("in time: {}", timeout(Duration::from_millis(10), sleep(Duration::MAX)).await.is_ok());
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    let tiny = Tiny::new();
    run_main(&Handle::new(tiny.clone()), &*tiny, RunOptions::new(), program())
}
