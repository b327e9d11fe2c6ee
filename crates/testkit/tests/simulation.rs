//! The simulation backend passes the suite, and keeps the promises that are its own.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::time::Duration;

use brigade_core::{Handle, Instant, RunOptions, run_main_local, sleep, spawn, spawn_blocking};
use brigade_testkit::{Gate, Probe, Simulation, conformance, simulate};

conformance!(simulation, Simulation::new(), fifo);

/// A program that can never go on panics with the names of its tasks instead of hanging.
#[test]
fn a_hang_is_a_panic_with_names() {
    let hang = std::panic::catch_unwind(|| {
        simulate(async {
            let task =
                brigade_core::Builder::new().name("waits for ever").spawn(std::future::pending::<()>());
            task.await
        })
    });
    let panic = hang.expect_err("it can never go on");
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("can never go on") && text.contains("waits for ever"), "{text}");
    assert!(text.contains("simulation.rs"), "{text}");
}

/// Tasks that wait for each other in a circle are named as a deadlock, each with what it waits for.
#[test]
fn a_circle_of_joins_is_named_as_a_deadlock() {
    type Place = std::rc::Rc<std::cell::RefCell<Option<brigade_core::Task<(), std::convert::Infallible>>>>;
    let hang = std::panic::catch_unwind(|| {
        simulate(async {
            let (left, right) = (Place::default(), Place::default());
            let waits_for = |name: &'static str, other: Place| {
                brigade_core::Builder::new().name(name).spawn_local(async move {
                    let other = other.borrow_mut().take();
                    if let Some(task) = other {
                        let _ = task.await;
                    }
                })
            };
            let (first, second) = (waits_for("hen", right.clone()), waits_for("egg", left.clone()));
            let hen = first.to_ref();
            left.replace(Some(first));
            right.replace(Some(second));
            hen.finished().await;
        })
    });
    let panic = hang.expect_err("it can never go on");
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(
        text.contains("deadlock: hen -> egg -> hen") || text.contains("deadlock: egg -> hen -> egg"),
        "{text}"
    );
    assert!(text.contains("waits for egg") && text.contains("waits for hen"), "{text}");
}

/// A manual clock stands still until it is advanced, and says so when everybody waits for it.
#[test]
fn a_manual_clock_stands_still() {
    let simulation = Simulation::with_manual_clock();
    let handle = Handle::new(simulation.clone());
    let clock = simulation.clone();
    run_main_local(&handle, &*simulation, RunOptions::new(), async move {
        let nap = spawn(sleep(Duration::from_millis(10)));
        brigade_core::yield_now().await;
        clock.advance(Duration::from_millis(9));
        brigade_core::yield_now().await;
        assert!(!nap.done());
        clock.advance(Duration::from_millis(1));
        nap.await.unwrap();
        assert_eq!(Instant::now(), Instant::ZERO + Duration::from_millis(10));
    })
    .unwrap();
    assert_eq!(simulation.timers(), 0);
    let stuck = std::panic::catch_unwind(|| {
        let simulation = Simulation::with_manual_clock();
        let handle = Handle::new(simulation.clone());
        run_main_local(&handle, &*simulation, RunOptions::new(), sleep(Duration::from_millis(1)))
    });
    let panic = stuck.expect_err("nobody advances the clock");
    assert!(panic.downcast_ref::<String>().unwrap().contains("manual"));
}

/// Blocking jobs beyond the bound wait in a queue, and one that is cancelled there never runs.
#[test]
fn a_queued_job_is_removed_unrun() {
    simulate(async {
        let (started, probe) = (Gate::new(), Probe::new());
        let (senders, busy): (Vec<_>, Vec<_>) = (0..4)
            .map(|_| {
                let (send, receive) = std::sync::mpsc::channel::<()>();
                let started = started.clone();
                let job = spawn_blocking(move || {
                    started.open();
                    let _ = receive.recv();
                });
                (send, job)
            })
            .unzip();
        started.reached(4).await;
        let item = probe.item();
        let queued = spawn_blocking(move || item.deliver());
        queued.cancel();
        assert!(queued.await.is_err());
        drop(senders);
        for job in busy {
            job.await.unwrap();
        }
        spawn_blocking(|| {}).await.unwrap();
        assert_eq!((probe.delivered(), probe.dropped()), (0, 1));
    })
    .unwrap();
}

/// The same program does the same thing twice, event by event.
#[test]
fn the_same_program_runs_the_same_way() {
    fn program() -> Vec<(u64, u64)> {
        let simulation = Simulation::new();
        let handle = Handle::new(simulation.clone());
        let story = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let log = story.clone();
        run_main_local(&handle, &*simulation, RunOptions::new(), async move {
            for n in 0..20_u64 {
                let log = log.clone();
                brigade_core::spawn_local(async move {
                    for step in 0..5 {
                        sleep(Duration::from_millis(n * 7 % 5 * step)).await;
                        let now = (Instant::now() - Instant::ZERO).as_millis();
                        log.borrow_mut().push((n, u64::try_from(now).unwrap()));
                    }
                });
            }
            sleep(Duration::from_secs(1)).await;
        })
        .unwrap();
        story.take()
    }
    let first = program();
    assert_eq!(first.len(), 100);
    assert_eq!(first, program());
}

/// A simulation is driven by its own thread only.
#[test]
fn another_thread_cannot_drive() {
    let simulation = Simulation::new();
    let elsewhere = std::thread::spawn(move || {
        use brigade_core::backend::Drive;
        simulation.drive(std::pin::pin!(std::future::ready(())));
    });
    assert!(elsewhere.join().is_err());
}

/// Tasks of the simulation see a time that only jumps.
#[test]
fn time_jumps_to_the_next_timer() {
    simulate(async {
        let nap = spawn(async {
            sleep(Duration::from_secs(86_400)).await;
            Ok::<_, std::convert::Infallible>(Instant::now())
        });
        assert_eq!(nap.await.unwrap(), Instant::ZERO + Duration::from_secs(86_400));
    })
    .unwrap();
}
