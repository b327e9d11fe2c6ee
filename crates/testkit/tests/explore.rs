//! Schedules: the suite holds under all of them, bugs are found, named and replayed.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use brigade_core::{Handle, RunOptions, run_main_local, spawn, spawn_local, yield_now};
use brigade_testkit::{Explorer, Policy, Simulation, conformance, explore};

#[cfg(not(miri))]
conformance!(random, Simulation::with_policy(Policy::Random { seed: 20 }));
#[cfg(not(miri))]
conformance!(priorities, Simulation::with_policy(Policy::Pct { seed: 7, changes: 3, steps: 60 }));
#[cfg(not(miri))]
conformance!(last_first, Simulation::with_policy(Policy::Lifo));

/// Two tasks that read, yield and write: one update is lost when they are interleaved badly.
async fn lost_update() {
    let total = Rc::new(Cell::new(0));
    let add = |total: Rc<Cell<u32>>| {
        spawn_local(async move {
            let seen = total.get();
            yield_now().await;
            total.set(seen + 1);
        })
    };
    let (first, second) = (add(total.clone()), add(total.clone()));
    first.await.expect("it cannot fail");
    second.await.expect("it cannot fail");
    assert_eq!(total.get(), 2, "an update was lost");
}

/// The same bug, hidden from the FIFO order: the second task starts only after the first has written.
async fn rarely_lost_update() {
    let total = Rc::new(Cell::new(0));
    let add = |total: Rc<Cell<u32>>, patience: usize| {
        spawn_local(async move {
            for _ in 0..patience {
                yield_now().await;
            }
            let seen = total.get();
            yield_now().await;
            total.set(seen + 1);
        })
    };
    let (first, second) = (add(total.clone(), 0), add(total.clone(), 3));
    first.await.expect("it cannot fail");
    second.await.expect("it cannot fail");
    assert_eq!(total.get(), 2, "an update was lost");
}

fn message<R>(run: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).map(|_| ()).expect_err("the bug is found");
    panic.downcast_ref::<String>().expect("the message is a text").clone()
}

/// A failing exploration names its schedule, and that schedule alone fails again.
#[test]
fn a_failing_schedule_is_named_and_replayed() {
    let text = message(|| explore(200, rarely_lost_update));
    assert!(text.contains("an update was lost"), "{text}");
    let name = text.rsplit('=').next().expect("the name stands at the end");
    let policy: Policy = name.parse().expect("it is a schedule");
    assert_ne!(policy, Policy::Fifo, "the bug is hidden from the FIFO order");
    let again = message(|| Explorer::new().only(policy).run(rarely_lost_update));
    assert!(again.contains("an update was lost"), "{again}");
}

/// All schedules of a small program are tried: the bug is found, and without it every one passes.
#[test]
fn exhausting_a_small_program() {
    let text = message(|| Explorer::new().runs(10_000).exhaust(rarely_lost_update));
    assert!(text.contains("an update was lost") && text.contains("replay:"), "{text}");
    let explored = Explorer::new().runs(10_000).exhaust(|| async {
        let tasks: Vec<_> = (0..3).map(|_| spawn(async {})).collect();
        for task in tasks {
            task.await?;
        }
        Ok::<_, brigade_core::TaskError<std::convert::Infallible>>(())
    });
    assert!(explored.complete, "{explored:?}");
    assert!(explored.schedules >= 6, "three tasks have six orders: {explored:?}");
}

/// The bound is kept.
#[test]
fn exhausting_stops_at_the_bound() {
    let explored = Explorer::new().runs(5).exhaust(|| async {
        let tasks: Vec<_> = (0..6).map(|_| spawn(async {})).collect();
        for task in tasks {
            task.await?;
        }
        Ok::<_, brigade_core::TaskError<std::convert::Infallible>>(())
    });
    assert_eq!((explored.runs, explored.complete), (5, false));
}

/// The bug that every order shows is found in the first run.
#[test]
fn the_first_schedule_is_fifo() {
    let text = message(|| explore(10, lost_update));
    assert!(text.contains("run 0, schedule `fifo`"), "{text}");
}

/// A program that is not deterministic is told so.
#[test]
fn a_program_that_is_not_deterministic_is_noticed() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let text = message(|| {
        explore(10, || async {
            // SeqCst: its partner is this line in the next run.
            let tasks = 2 + RUNS.fetch_add(1, Ordering::SeqCst);
            for _ in 0..tasks {
                drop(spawn(async {}));
            }
            yield_now().await;
        });
    });
    assert!(text.contains("not deterministic"), "{text}");
}

/// A recorded run is replayed choice by choice.
#[test]
fn a_recorded_run_is_replayed() {
    let run = |policy: Policy| {
        let simulation = Simulation::with_policy(policy);
        let handle = Handle::new(simulation.clone());
        let order = Rc::new(Cell::new(0_u64));
        let log = order.clone();
        let outcome = run_main_local(&handle, &*simulation, RunOptions::new(), async move {
            let tasks: Vec<_> = (1..=6)
                .map(|n| {
                    let log = log.clone();
                    spawn_local(async move { log.set(log.get() * 10 + n) })
                })
                .collect();
            for task in tasks {
                task.await.expect("it cannot fail");
            }
        });
        outcome.expect("main ends with a value");
        (order.get(), simulation.choices(), simulation.steps())
    };
    let first = run(Policy::Random { seed: 3 });
    assert_ne!(first.0, 123_456, "the random order is not the FIFO order");
    let replay = Policy::Replay(first.1.iter().map(|choice| choice.taken).collect());
    assert_eq!(run(replay), first);
    assert_eq!(run(Policy::Fifo).0, 123_456);
}

/// Every policy can be written and read.
#[test]
fn schedules_have_names() {
    let replay = Policy::Replay(vec![0, 2, 1]);
    let pct = Policy::Pct { seed: 7, changes: 2, steps: 300 };
    for policy in [Policy::Fifo, Policy::Lifo, Policy::Random { seed: 7 }, pct, replay] {
        assert_eq!(policy.to_string().parse(), Ok(policy));
    }
    for nonsense in ["", "random", "pct:1:2", "replay:x", "lilo"] {
        assert!(nonsense.parse::<Policy>().is_err(), "{nonsense}");
    }
}

/// Two draws in a run under this seed.
fn draws(seed: u64) -> (u64, u64) {
    let simulation = Simulation::with_policy(Policy::Random { seed });
    let drawn = Rc::new(Cell::new((0, 0)));
    let seen = drawn.clone();
    let main = async move {
        let draw = || Handle::current().backend().random_seed();
        seen.set((draw(), draw()));
    };
    let handle = Handle::new(simulation.clone());
    run_main_local(&handle, &*simulation, RunOptions::new(), main).expect("it cannot fail");
    drawn.get()
}

/// A program's own random numbers are a part of what the seed replays; a jitter is seeded with them.
#[test]
fn random_numbers_of_a_program_are_replayed() {
    let (first, second) = draws(7);
    assert_ne!(first, second);
    assert_eq!(draws(7), (first, second));
    assert_ne!(draws(8), (first, second));
}
