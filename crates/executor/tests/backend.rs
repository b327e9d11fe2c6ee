//! What the two backends promise beside what the conformance suite asks of every backend: who runs, who sleeps, and
//! what is left in the end.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use brigade_core::backend::{Backend, Drive};
use brigade_core::{
    Handle, Instant, RunOptions, Task, TaskError, TaskState, run_main, sleep, spawn, spawn_blocking,
    yield_now,
};
use brigade_executor::{CurrentThread, MultiThread, Runner};

type Answer = Result<(), TaskError<Infallible>>;

fn runners() -> [Runner; 3] {
    [Runner::new().workers(1), Runner::new().workers(3), Runner::current_thread()]
}

#[test]
fn spawned_tasks_start_in_order_on_one_thread() {
    let (sender, receiver) = mpsc::channel();
    let outcome: Answer = Runner::current_thread().run(async move {
        let tasks = (0..1_000).map(|number| {
            let sender = sender.clone();
            spawn(async move { sender.send(number).expect("the test listens") })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("no panic");
        }
    });
    outcome.expect("no error");
    assert!(receiver.iter().eq(0..1_000));
}

/// Each worker that waits for something has gone to sleep, once at least; nobody else took part.
#[test]
fn counters_tell_who_slept_and_who_was_woken() {
    let backend = MultiThread::new(1).expect("a worker");
    let main = sleep(Duration::from_millis(5));
    let outcome: Answer = run_main(&Handle::new(backend.clone()), &*backend, RunOptions::new(), main);
    outcome.expect("no error");
    let counters = backend.counters();
    assert!(counters.parks >= 1, "{counters:?}");
    assert_eq!((counters.wakes, counters.steals), (0, 0), "{counters:?}");
}

#[test]
fn a_lone_task_is_run_by_another_worker_if_its_owner_is_stuck() {
    for lifo in [false, true] {
        let outcome: Answer = Runner::new().workers(2).run(async move {
            let ran = Arc::new(AtomicBool::new(false));
            let waker = Arc::new(std::sync::Mutex::new(None::<Waker>));
            let flag = ran.clone();
            let shared = waker.clone();
            // Spawned, or woken once it sleeps: the one lies in the queue, the other in the LIFO slot.
            let make = move || {
                spawn(poll_fn(move |cx| {
                    let mut waker = shared.lock().expect("not poisoned");
                    if lifo && waker.is_none() {
                        *waker = Some(cx.waker().clone());
                        return Poll::Pending;
                    }
                    flag.store(true, Ordering::SeqCst);
                    Poll::Ready(())
                }))
            };
            let task = if lifo {
                let task = make();
                while waker.lock().expect("not poisoned").is_none() {
                    yield_now().await;
                }
                waker.lock().expect("not poisoned").as_ref().expect("there").wake_by_ref();
                task
            } else {
                make()
            };
            let begin = std::time::Instant::now();
            while !ran.load(Ordering::SeqCst) {
                assert!(begin.elapsed() < Duration::from_secs(20), "nobody took the task, lifo: {lifo}");
                std::hint::spin_loop();
            }
            task.await.expect("no panic");
        });
        outcome.expect("no error");
    }
}

#[test]
fn timers_and_sockets_are_served_while_every_poll_is_short_but_none_is_idle() {
    for runner in runners() {
        let outcome: Answer = runner.run(async {
            let stop = Arc::new(AtomicBool::new(false));
            let busy = (0..8).map(|_| {
                let stop = stop.clone();
                spawn(async move {
                    while !stop.load(Ordering::SeqCst) {
                        yield_now().await;
                    }
                })
            });
            let busy = busy.collect::<Vec<_>>();
            sleep(Duration::from_millis(20)).await;
            stop.store(true, Ordering::SeqCst);
            for task in busy {
                task.await.expect("no panic");
            }
        });
        outcome.expect("no error");
    }
}

#[test]
fn timers_never_fire_early_and_keep_their_order() {
    for runner in runners() {
        let outcome: Answer = runner.run(async {
            let order = Arc::new(AtomicUsize::new(0));
            let base = Instant::now() + Duration::from_millis(5);
            let sleepers = (0..200_usize).map(|number| {
                let order = order.clone();
                spawn(async move {
                    let until = base + Duration::from_micros(50) * (number / 4) as u32;
                    brigade_core::sleep_until(until).await;
                    assert!(Instant::now() >= until, "early");
                    order.fetch_add(1, Ordering::SeqCst);
                })
            });
            for sleeper in sleepers.collect::<Vec<_>>() {
                sleeper.await.expect("not early");
            }
            assert_eq!(order.load(Ordering::SeqCst), 200);
        });
        outcome.expect("no error");
    }
}

#[test]
fn tasks_that_one_turn_of_timers_wakes_run_in_the_order_of_their_deadlines() {
    for runner in [Runner::new().workers(1), Runner::current_thread()] {
        let outcome: Answer = runner.run(async {
            let order = Arc::new(std::sync::Mutex::new(Vec::new()));
            // Long enough for all of them to be set before the first is due, also on a slow machine.
            let base = Instant::now() + Duration::from_millis(250);
            let sleepers = (0..100_u32).map(|number| {
                let order = order.clone();
                spawn(async move {
                    // The last one is the first, and all are due when the worker comes back from its long poll.
                    brigade_core::sleep_until(base - Duration::from_micros(10) * number).await;
                    order.lock().expect("not poisoned").push(number);
                })
            });
            let sleepers = sleepers.collect::<Vec<_>>();
            while sleepers.iter().any(|sleeper| sleeper.state() != TaskState::Suspended) {
                yield_now().await;
            }
            while Instant::now() < base + Duration::from_millis(5) {
                std::hint::spin_loop();
            }
            for sleeper in sleepers {
                sleeper.await.expect("no panic");
            }
            assert!(order.lock().expect("not poisoned").iter().copied().eq((0..100).rev()));
        });
        outcome.expect("no error");
    }
}

#[test]
fn a_timer_that_is_set_from_outside_wakes_a_sleeping_runtime() {
    for runner in runners() {
        let outcome: Answer = runner.run(async {
            let handle = Handle::current();
            let (sender, receiver) = mpsc::channel();
            let setter = std::thread::spawn(move || {
                // Sent as soon as the timer fires; the runtime has nothing else to wake up for but a far one.
                let at = handle.backend().now() + Duration::from_millis(10);
                handle.backend().insert_timer(at, Waker::from(Arc::new(Ring(sender))));
            });
            let far = spawn(sleep(Duration::from_secs(3600)));
            let rung = spawn_blocking(move || receiver.recv_timeout(Duration::from_secs(20)));
            assert!(rung.await.is_ok(), "the timer fired");
            setter.join().expect("no panic");
            far.cancel();
        });
        outcome.expect("no error");
    }
}

#[test]
fn every_job_from_outside_is_heard_by_workers_that_fall_asleep() {
    for runner in runners() {
        let outcome: Answer = runner.run(async {
            let handle = Handle::current();
            let knocking = spawn_blocking(move || {
                // Each round lets the workers search, fall asleep, or be about to: a lost wake-up hangs.
                for round in 0..3_000_u32 {
                    let (sender, receiver) = mpsc::channel();
                    drop(handle.spawn(async move { sender.send(round).expect("the other side listens") }));
                    assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok(round), "lost");
                    (0..round % 64 * 16).for_each(|_| std::hint::spin_loop());
                }
            });
            knocking.await.expect("nothing is lost");
        });
        outcome.expect("no error");
    }
}

/// A waker that sends a word.
struct Ring(mpsc::Sender<()>);

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        self.0.send(()).expect("the test listens");
    }
}

/// A waker that panics.
struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        panic!("boom");
    }
}

#[test]
fn a_waker_that_panics_stops_nobody_else() {
    for runner in runners() {
        let outcome: Answer = runner.run(async {
            let handle = Handle::current();
            let at = Instant::now() + Duration::from_millis(2);
            let (sender, receiver) = mpsc::channel();
            handle.backend().insert_timer(at, Waker::from(Arc::new(Bomb)));
            handle.backend().insert_timer(at, Waker::from(Arc::new(Ring(sender))));
            assert!(spawn_blocking(move || receiver.recv_timeout(Duration::from_secs(20))).await.is_ok());
        });
        outcome.expect("no error");
    }
}

#[test]
fn blocking_closures_run_side_by_side_and_contain_their_panics() {
    let outcome: Answer = Runner::current_thread().run(async {
        let barrier = Arc::new(std::sync::Barrier::new(8));
        let tasks = (0..8).map(|_| {
            let barrier = barrier.clone();
            spawn_blocking(move || {
                barrier.wait();
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("all eight ran at the same time");
        }
        assert!(matches!(spawn_blocking(|| panic!("spilt")).await, Err(TaskError::Panicked(_))));
        spawn_blocking(|| ()).await.expect("the pool is whole");
    });
    outcome.expect("no error");
}

/// As many jobs run as there may be threads; one more waits, and the backend tells that it does.
#[test]
fn a_blocking_job_that_waits_has_an_age() {
    let backend = MultiThread::new(1).expect("a backend");
    let handle = Handle::new(backend.clone());
    let watched = backend.clone();
    let outcome: Answer = run_main(&handle, &*backend, RunOptions::new(), async move {
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        assert_eq!(watched.blocking_queue_age(), None);
        let jobs: Vec<_> = (0..=512).map(|_| gate.clone()).map(wait_at_the_gate).collect();
        assert!(watched.blocking_queue_age().is_some());
        *gate.0.lock().expect("nobody panics here") = true;
        gate.1.notify_all();
        for job in jobs {
            job.await.expect("it ends when the gate opens");
        }
        assert_eq!(watched.blocking_queue_age(), None);
    });
    outcome.expect("no error");
}

fn wait_at_the_gate(gate: Arc<(Mutex<bool>, Condvar)>) -> Task<(), Infallible> {
    spawn_blocking(move || {
        let open = gate.0.lock().expect("nobody panics here");
        drop(gate.1.wait_while(open, |open| !*open).expect("nobody panics here"));
    })
}

#[test]
fn what_was_waited_for_on_one_drive_goes_on_in_the_next() {
    let backend = CurrentThread::new().expect("a backend");
    drive_twice(backend.clone(), &*backend);
    let backend = MultiThread::new(2).expect("a backend");
    drive_twice(backend.clone(), &*backend);
}

fn drive_twice(backend: Arc<dyn Backend>, drive: &dyn Drive) {
    let handle = Handle::new(backend);
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let task = handle.spawn(async move {
        for _ in 0..1_000 {
            counter.fetch_add(1, Ordering::SeqCst);
            yield_now().await;
        }
    });
    drive.drive(std::pin::pin!(async {}));
    let end = task.finished();
    drive.drive(std::pin::pin!(end));
    assert_eq!(task.state(), TaskState::Done(brigade_core::Ending::Value));
    assert_eq!(count.load(Ordering::SeqCst), 1_000);
    drive.close();
    drive.close();
}

#[test]
fn after_the_end_everything_is_inert() {
    for runner in runners() {
        let kept: Result<_, TaskError<Infallible>> = runner.run(async {
            let at = Instant::now() + Duration::from_secs(3600);
            let handle = Handle::current();
            let key = handle.backend().insert_timer(at, Waker::noop().clone());
            Ok((handle, key))
        });
        let (handle, key) = kept.expect("no error");
        let backend = handle.backend();
        assert!(!backend.reset_timer(key, Instant::FAR_FUTURE));
        assert!(!backend.update_timer(key, Waker::noop()));
        backend.remove_timer(key);
        let late = backend.insert_timer(backend.now(), Waker::from(Arc::new(Bomb)));
        backend.remove_timer(late);
        assert!(handle.spawn(async {}).cancelled());
        assert!(handle.spawn_blocking(|| ()).cancelled());
    }
}

#[test]
fn thread_locals_may_use_the_runtime_in_their_destructors() {
    struct Late(Handle, Waker);

    impl Drop for Late {
        fn drop(&mut self) {
            self.1.wake_by_ref();
            drop(self.0.spawn(async {}));
            let backend = self.0.backend();
            let key = backend.insert_timer(backend.now(), self.1.clone());
            backend.update_timer(key, &self.1);
            backend.remove_timer(key);
            assert_eq!(backend.home(), None);
        }
    }

    thread_local! {
        static LATE: std::cell::RefCell<Option<Late>> = const { std::cell::RefCell::new(None) };
    }

    for runner in runners() {
        let outcome: Answer = runner.run(async {
            let handle = Handle::current();
            let waker = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
            let thread = std::thread::spawn(move || LATE.set(Some(Late(handle, waker))));
            assert!(thread.join().is_ok(), "no destructor panics");
        });
        outcome.expect("no error");
    }
}

#[test]
fn driving_from_two_places_is_refused_in_words() {
    let backend = MultiThread::new(2).expect("a backend");
    let handle = Handle::new(backend.clone());
    let inner = backend.clone();
    let outcome: Answer = run_main(&handle, &*backend, RunOptions::new(), async move {
        let attempt = std::thread::spawn(move || inner.drive(std::pin::pin!(async {})));
        let panic = attempt.join().expect_err("it is driven already");
        let message =
            panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        assert!(message.is_some_and(|message| message.contains("driven by another thread")), "{message:?}");
    });
    outcome.expect("the first drive goes on");
}

/// Counts what the kernel counts: threads, descriptors, and how often threads went to sleep.
#[cfg(target_os = "linux")]
mod counted {
    use std::process::Command;

    use super::*;

    const CHILD: &str = "BRIGADE_TEST_COUNTED";

    /// Runs the test of this name in a process of its own, in which nothing else counts.
    fn alone(name: &str, test: fn()) {
        if std::env::var(CHILD).is_ok_and(|child| child == name) {
            return test();
        }
        let mut child = Command::new(std::env::current_exe().expect("this test"));
        let output = child.args(["--exact", name, "--test-threads=1"]).env(CHILD, name).output();
        let output = output.expect("a child process");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    fn entries(directory: &str) -> usize {
        std::fs::read_dir(directory).expect("procfs").count()
    }

    /// How often the threads of this process, whose names begin with `brigade`, or all, have gone to sleep.
    fn sleeps() -> u64 {
        let threads = std::fs::read_dir("/proc/self/task").expect("procfs").filter_map(Result::ok);
        let status = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok());
        let counts = status.filter_map(|status| {
            let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?.to_owned();
            line.split_whitespace().last()?.parse::<u64>().ok()
        });
        counts.sum()
    }

    #[test]
    fn law_r4_nothing_is_left_after_the_end() {
        alone("counted::law_r4_nothing_is_left_after_the_end", || {
            let rounds = |count: usize| {
                for _ in 0..count {
                    for runner in runners() {
                        let outcome: Answer = runner.run(async {
                            spawn_blocking(|| ()).await.expect("no panic");
                            drop(spawn(sleep(Duration::from_secs(3600))));
                            yield_now().await;
                        });
                        outcome.expect("no error");
                    }
                }
            };
            rounds(1);
            let before = (entries("/proc/self/task"), entries("/proc/self/fd"));
            rounds(5);
            assert_eq!(
                (entries("/proc/self/task"), entries("/proc/self/fd")),
                before,
                "threads and descriptors"
            );
        });
    }

    #[test]
    fn law_d6_an_idle_runtime_makes_no_wake_ups() {
        alone("counted::law_d6_an_idle_runtime_makes_no_wake_ups", || {
            for runner in [Runner::new().workers(3), Runner::current_thread()] {
                let outcome: Answer = runner.run(async {
                    let far = spawn(sleep(Duration::from_secs(3600)));
                    // Lets the workers fall asleep.
                    sleep(Duration::from_millis(50)).await;
                    let before = sleeps();
                    sleep(Duration::from_millis(500)).await;
                    let slept = sleeps() - before;
                    assert!(slept <= 8, "{slept} sleeps in half a second");
                    far.cancel();
                });
                outcome.expect("no error");
            }
        });
    }
}
