//! What comes from elsewhere does not wait for a round of those who always have something to do (law D7).
//!
//! How long it waits is counted in polls of the others, which a slow machine does not change; the median of many tries
//! leaves out those in which the system took the processor away from the thread that counts.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use brigade_core::{Handle, RunOptions, Task, TaskError, run_main, sleep, spawn, spawn_blocking, yield_now};
use brigade_executor::{CurrentThread, Runner};

#[test]
fn a_task_from_another_thread_runs_after_few_polls_of_busy_ones() {
    for runner in [Runner::current_thread(), Runner::new().workers(1)] {
        let outcome: Result<(), TaskError<Infallible>> = runner.run(async {
            let load = Load::start();
            let (polls, handle) = (load.polls.clone(), Handle::current());
            let waits = spawn_blocking(move || {
                let mut waits: Vec<usize> = (0..TRIES).map(|_| wait_from_outside(&handle, &polls)).collect();
                waits.sort_unstable();
                Ok::<_, Infallible>(waits)
            });
            let waits = waits.await.expect("no panic");
            load.end().await;
            assert!(waits[TRIES / 2] <= 5, "polls of others until it ran: {waits:?}");
        });
        outcome.expect("no error");
    }
}

#[test]
fn a_fixed_interval_serves_timers_beside_busy_tasks() {
    let backend = CurrentThread::with_event_interval(5).expect("a descriptor");
    let main = async {
        let load = Load::start();
        let begin = load.polls.load(Ordering::SeqCst);
        sleep(Duration::from_millis(1)).await;
        let waited = load.polls.load(Ordering::SeqCst) - begin;
        load.end().await;
        assert!(waited >= 5, "there was no poll without a look: {waited}");
    };
    let outcome: Result<(), TaskError<Infallible>> =
        run_main(&Handle::new(backend.clone()), &*backend, RunOptions::new(), main);
    outcome.expect("no error");
}

/// How many polls of others begin until a task from this thread runs.
fn wait_from_outside(handle: &Handle, polls: &Arc<AtomicUsize>) -> usize {
    let (ran, told) = mpsc::channel();
    let (begin, counted) = (polls.load(Ordering::SeqCst), polls.clone());
    drop(
        handle.spawn(async move { ran.send(counted.load(Ordering::SeqCst)).expect("the other side waits") }),
    );
    told.recv().expect("the task runs") - begin
}

/// Tasks that wake themselves, and work for a while in each poll.
struct Load {
    over: Arc<AtomicBool>,
    polls: Arc<AtomicUsize>,
    tasks: Vec<Task<(), Infallible>>,
}

impl Load {
    fn start() -> Load {
        let (over, polls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let body = |over: Arc<AtomicBool>, polls: Arc<AtomicUsize>| async move {
            while !over.load(Ordering::SeqCst) {
                polls.fetch_add(1, Ordering::SeqCst);
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_micros(100) {
                    std::hint::spin_loop();
                }
                yield_now().await;
            }
        };
        let tasks = (0..BUSY).map(|_| spawn(body(over.clone(), polls.clone()))).collect();
        Load { over, polls, tasks }
    }

    async fn end(self) {
        self.over.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.expect("no panic");
        }
    }
}

const BUSY: usize = 32;
const TRIES: usize = 101;
