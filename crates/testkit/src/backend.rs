//! The simulation backend: one thread, virtual time, no surprises.
//!
//! This is the smallest complete backend, and the first thing to read for the author of another one. What
//! a backend has to do is in two traits:
//!
//! - [`Backend`]: take a [`Job`] from any thread at any time and run it *soon*, never inline
//!   ([`Backend::schedule`]); keep a clock and timers; run blocking jobs somewhere.
//! - [`Drive`]: run all that on the calling thread until a future is ready ([`Drive::drive`]), and end
//!   ([`Drive::close`]).
//!
//! Everything that the laws say about tasks, cancellation and groups is built above, in the core. Here it is
//! one loop (`drive`) over four answers (`Turn`):
//!
//! ```text
//!            ┌────────────── until is woken ──► poll it; ready? return
//!   next() ──┼────────────── a timer is due ──► wake, in order of (deadline, insertion)
//!            ├────────────── a job is ready ──► job.run()
//!            └────────────── nothing ─────────► blocking job running? wait for it (it holds the clock)
//!                                               a timer? time jumps to it
//!                                               else the program can never go on: panic with the live tasks
//! ```
//!
//! The lock is never held while foreign code runs: jobs, wakers and futures are taken out under the lock, and
//! run, woken or dropped after it is released.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use brigade_core::backend::{Backend, BlockingJob, Drive, Home, Job, ScheduleInfo, TimerKey};
use brigade_core::{Instant, TaskId};

use crate::clock::Clock;
use crate::interrupt::{self, Interruption};
use crate::schedule::{Choice, Policy, Schedule};
use crate::{blocking, dump, thread_mark};

/// A deterministic runtime for tests: single-threaded, with virtual time.
///
/// The same program does the same thing in every run: jobs run in the order in which they were woken, and time
/// stands still while anything can run, then jumps to the next timer. A program of hours takes
/// milliseconds. Blocking jobs run on real threads and hold the clock while they do.
///
/// A simulation belongs to the thread that created it, and is driven there. A program that can never go on
/// panics with a list of its live tasks instead of hanging.
///
/// # Examples
///
/// ```
/// use brigade_core::{Handle, RunOptions, run_main_local, sleep};
/// use brigade_testkit::Simulation;
/// use std::{rc::Rc, time::Duration};
///
/// let simulation = Simulation::new();
/// let handle = Handle::new(simulation.clone());
/// let outcome = run_main_local(&handle, &*simulation, RunOptions::new(), async {
///     sleep(Duration::from_secs(3600)).await;
///     Ok::<_, std::convert::Infallible>(Rc::new("an hour later"))
/// });
/// assert_eq!(*outcome.expect("nothing fails here"), "an hour later");
/// ```
#[derive(Debug)]
pub struct Simulation {
    shared: Arc<Shared>,
}

/// The only worker of a simulation.
const HOME: Home = Home(0);

/// How long a run that has ended waits for the threads of its blocking jobs, in real time.
const PATIENCE: Duration = Duration::from_secs(5);

impl Simulation {
    /// A simulation that belongs to the calling thread, with the FIFO schedule, at [`Instant::ZERO`].
    #[must_use]
    pub fn new() -> Arc<Simulation> {
        Simulation::with_policy(Policy::Fifo)
    }

    /// A simulation with another order of ready jobs.
    #[must_use]
    pub fn with_policy(policy: Policy) -> Arc<Simulation> {
        Simulation::build(policy, false)
    }

    /// A simulation whose time moves only by [`Simulation::advance`], and never jumps by itself.
    ///
    /// # Examples
    ///
    /// ```
    /// use brigade_core::{Handle, RunOptions, run_main_local, sleep, spawn, yield_now};
    /// use brigade_testkit::Simulation;
    /// use std::time::Duration;
    ///
    /// let simulation = Simulation::with_manual_clock();
    /// let handle = Handle::new(simulation.clone());
    /// let clock = simulation.clone();
    /// run_main_local(&handle, &*simulation, RunOptions::new(), async move {
    ///     let nap = spawn(sleep(Duration::from_secs(2)));
    ///     yield_now().await;
    ///     clock.advance(Duration::from_secs(1));
    ///     yield_now().await;
    ///     assert!(!nap.done());
    ///     clock.advance(Duration::from_secs(1));
    ///     nap.await
    /// })
    /// .expect("nothing fails here");
    /// ```
    #[must_use]
    pub fn with_manual_clock() -> Arc<Simulation> {
        Simulation::build(Policy::Fifo, true)
    }

    /// Moves time forward; timers that are due then fire before the next job runs. Callable from any thread,
    /// also where time jumps by itself.
    pub fn advance(&self, by: Duration) {
        let mut state = self.shared.lock();
        let at = state.clock.now() + by;
        state.clock.jump_to(at);
        drop(state);
        self.shared.notify();
    }

    /// What the schedule has chosen until now, whenever more than one job was ready. [`Policy::Replay`] of
    /// what was `taken` runs the same program in the same way.
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        self.shared.lock().schedule.choices().to_vec()
    }

    /// How many jobs have run.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.shared.lock().schedule.steps()
    }

    /// How many timers wait.
    #[must_use]
    pub fn timers(&self) -> usize {
        self.shared.lock().clock.len()
    }

    /// How many timers and jobs were still there when the simulation was closed. After a run there is none: each
    /// of them would belong to a task that the run has lost (law R4).
    #[must_use]
    pub fn left_behind(&self) -> usize {
        self.shared.lock().left_behind
    }

    /// Waits, for a while, until the threads of blocking jobs have ended: a job whose task was cancelled may still be
    /// on its way out.
    pub(crate) fn wait_for_threads(&self) {
        let busy = |state: &mut State| state.blocking.is_busy();
        drop(self.shared.changed.wait_timeout_while(self.shared.lock(), PATIENCE, busy));
    }

    /// Interrupts the task that runs at step `step` (the first is 1), right after that step, if it is not done by
    /// then. [`interrupt_everywhere`](crate::interrupt_everywhere) is made of this.
    pub fn interrupt_after(&self, step: u64, how: Interruption) {
        self.shared.lock().interruptions.push((step, how));
    }

    /// How many interruptions met a task that was not done.
    #[must_use]
    pub fn interrupted(&self) -> u64 {
        self.shared.lock().interrupted
    }

    fn build(policy: Policy, manual: bool) -> Arc<Simulation> {
        let state = State {
            schedule: Schedule::new(policy),
            manual,
            clock: Clock::new(),
            blocking: blocking::Queue::new(),
            interruptions: Vec::new(),
            interrupted: 0,
            left_behind: 0,
            until_woken: false,
            closed: false,
            burying: false,
        };
        let shared =
            Shared { home_thread: thread_mark::current(), state: Mutex::new(state), changed: Condvar::new() };
        Arc::new(Simulation { shared: Arc::new(shared) })
    }
}

impl Backend for Simulation {
    fn random_seed(&self) -> u64 {
        self.shared.lock().schedule.seed()
    }

    fn schedule(&self, job: Job, info: ScheduleInfo) {
        let mut state = self.shared.lock();
        state.schedule.push(job, info.woken_while_running);
        // After the end nobody runs jobs any more, so whoever brings one buries it.
        let bury = state.closed;
        drop(state);
        self.shared.changed.notify_one();
        if bury {
            self.shared.bury();
        }
    }

    fn now(&self) -> Instant {
        self.shared.lock().clock.now()
    }

    fn insert_timer(&self, at: Instant, waker: Waker) -> TimerKey {
        self.shared.lock().clock.insert(at, waker)
    }

    fn reset_timer(&self, key: TimerKey, at: Instant) -> bool {
        self.shared.lock().clock.reset(key, at)
    }

    fn update_timer(&self, key: TimerKey, waker: &Waker) -> bool {
        let waker = waker.clone();
        let replaced = self.shared.lock().clock.update(key, waker);
        replaced.is_ok()
    }

    fn remove_timer(&self, key: TimerKey) {
        let waker = self.shared.lock().clock.remove(key);
        drop(waker);
    }

    fn run_blocking(&self, job: BlockingJob) {
        blocking::submit(&self.shared, job);
    }

    fn home(&self) -> Option<Home> {
        self.shared.is_home().then_some(HOME)
    }
}

impl Drive for Simulation {
    fn drive(&self, mut until: Pin<&mut dyn Future<Output = ()>>) {
        assert!(self.shared.is_home(), "a simulation must be driven by the thread that created it");
        let waker = Waker::from(self.shared.clone());
        let mut cx = Context::from_waker(&waker);
        self.shared.lock().until_woken = true;
        loop {
            match self.shared.next() {
                Turn::Until if until.as_mut().poll(&mut cx).is_ready() => return,
                Turn::Until => {}
                Turn::Timers(wakers) => wakers.into_iter().for_each(wake),
                Turn::Job(job) => {
                    let task = job.id();
                    job.run();
                    self.shared.interrupt_if_due(task);
                }
                Turn::Stuck { now, timers } => panic!("{}", dump::stuck(now, timers)),
            }
        }
    }

    fn close(&self) {
        let mut state = self.shared.lock();
        if !state.closed {
            state.left_behind = state.clock.len() + state.schedule.len();
        }
        state.closed = true;
        let wakers = state.clock.clear();
        let blocking = state.blocking.close();
        drop(state);
        drop(blocking);
        drop(wakers);
        self.shared.bury();
    }

    fn is_virtual(&self) -> bool {
        true
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        self.close();
    }
}

/// What `Simulation`, the waker of `until` and the threads of blocking jobs have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    home_thread: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
pub(crate) struct State {
    schedule: Schedule,
    clock: Clock,
    /// Time does not jump by itself.
    manual: bool,
    pub(crate) blocking: blocking::Queue,
    interruptions: Vec<(u64, Interruption)>,
    interrupted: u64,
    left_behind: usize,
    until_woken: bool,
    pub(crate) closed: bool,
    /// Somebody is in `bury`; jobs that arrive meanwhile are left to them.
    burying: bool,
}

/// What the driving thread does next.
enum Turn {
    Until,
    Timers(Vec<Waker>),
    Job(Job),
    Stuck { now: Instant, timers: usize },
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // No foreign code runs under this lock, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the driving thread to look again.
    pub(crate) fn notify(&self) {
        self.changed.notify_one();
    }

    fn next(&self) -> Turn {
        let mut state = self.lock();
        loop {
            if std::mem::take(&mut state.until_woken) {
                return Turn::Until;
            }
            let due = state.clock.take_due();
            if !due.is_empty() {
                return Turn::Timers(due);
            }
            if let Some(job) = state.schedule.pop() {
                return Turn::Job(job);
            }
            if state.blocking.is_busy() {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else if let Some(at) = state.clock.next_deadline().filter(|_| !state.manual) {
                state.clock.jump_to(at);
            } else {
                return Turn::Stuck { now: state.clock.now(), timers: state.clock.len() };
            }
        }
    }

    fn interrupt_if_due(&self, task: TaskId) {
        let state = self.lock();
        let step = state.schedule.steps();
        let due: Vec<_> =
            state.interruptions.iter().filter(|(at, _)| *at == step).map(|(_, how)| *how).collect();
        drop(state);
        for how in due {
            let met = interrupt::interrupt(task, how);
            self.lock().interrupted += u64::from(met);
        }
    }

    /// Drops the jobs that are queued after the end. Dropping one may wake, and so bring, the next: that one
    /// is taken by this loop and not by a nested call, so that a long chain needs no deep stack (T12).
    fn bury(&self) {
        if std::mem::replace(&mut self.lock().burying, true) {
            return;
        }
        while let Some(job) = self.next_to_bury() {
            if job.home().is_none() || self.is_home() {
                drop(job);
            } else {
                // Law B2: its future must not be dropped on this thread, and the right one is gone.
                brigade_core::scope::warn(format!("task {:?} leaked: its thread has ended", job.id()));
                std::mem::forget(job);
            }
        }
    }

    fn next_to_bury(&self) -> Option<Job> {
        let mut state = self.lock();
        let job = state.schedule.pop();
        state.burying = job.is_some();
        job
    }

    fn is_home(&self) -> bool {
        thread_mark::current() == self.home_thread
    }
}

/// Waking the future that is driven.
impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.lock().until_woken = true;
        self.changed.notify_one();
    }
}

fn wake(waker: Waker) {
    // A stranger's waker may panic; the others that are due must be woken all the same (T10).
    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
}
