//! R6: blocking jobs.

use crate::conformance::prelude::*;
use std::sync::mpsc;

/// A blocking job gives its value, its error or its panic, and the pool stays whole.
pub fn law_r6_outcomes(kitchen: &Kitchen) {
    kitchen.run(async {
        assert_eq!(value(spawn_blocking(|| Ok::<_, Burnt>(5)).await), 5);
        assert_eq!(failed(spawn_blocking(|| Err::<(), _>(Burnt("job"))).await), Burnt("job"));
        for _ in 0..10 {
            let panicking = spawn_blocking(|| {
                if true {
                    panic!("the job burns");
                }
                Ok::<(), Burnt>(())
            });
            assert_eq!(panicked(panicking.await).message(), "the job burns");
        }
        let jobs: Vec<_> = (0..20).map(|n| spawn_blocking(move || Ok::<_, Burnt>(n))).collect();
        for (n, job) in jobs.into_iter().enumerate() {
            assert_eq!(value(job.await), n);
        }
    });
}

/// Jobs do not run on the thread of the tasks: these go on meanwhile.
pub fn law_r6_tasks_go_on_meanwhile(kitchen: &Kitchen) {
    kitchen.run(async {
        let (send, receive) = mpsc::channel();
        let job = spawn_blocking(move || receive.recv().map_err(|_| Burnt("no sender")));
        turns(10).await;
        assert!(!job.done());
        send.send(11).expect("the job listens");
        assert_eq!(value(job.await), 11);
    });
}

/// A cancelled waiter leaves at once; the running job goes on and its output is dropped once.
pub fn law_r6_a_cancelled_waiter_leaves_at_once(kitchen: &Kitchen) {
    kitchen.run(async {
        let (probe, started, waiting) = (Probe::new(), Gate::new(), Gate::new());
        let (send, receive) = mpsc::channel::<()>();
        let (item, start) = (probe.item(), started.clone());
        let job = spawn_blocking(move || {
            start.open();
            let _ = receive.recv();
            Ok::<_, Burnt>(item)
        });
        let waiter =
            spawn(counting(waiting.clone(), async move { job.await.map(drop).map_err(|_| Burnt("no")) }));
        started.wait().await;
        waiting.wait().await;
        waiter.cancel();
        cancelled(waiter.await);
        assert_eq!(probe.alive(), 1, "the job still holds it");
        drop(send);
        until(|| probe.dropped() == 1).await;
        assert!(probe.is_balanced());
    });
}

/// A running job can ask whether it was cancelled.
pub fn law_r6_a_job_can_ask(kitchen: &Kitchen) {
    kitchen.run(async {
        let (started, ended) = (Gate::new(), Gate::new());
        let (start, end) = (started.clone(), ended.clone());
        let job = spawn_blocking(move || {
            assert!(!blocking_cancelled());
            start.open();
            while !blocking_cancelled() {
                std::thread::yield_now();
            }
            end.open();
            Ok::<_, Burnt>(())
        });
        started.wait().await;
        job.cancel();
        cancelled(job.await);
        until(|| ended.is_open()).await;
    });
}

/// A job that was cancelled before it started never runs; either way its captures are dropped once.
pub fn law_r6_a_job_runs_once_or_not_at_all(kitchen: &Kitchen) {
    let probe = Probe::new();
    let ledger = probe.clone();
    kitchen.run(async move {
        for _ in 0..ROUNDS / 10 {
            let item = ledger.item();
            let job = spawn_blocking(move || {
                item.deliver();
                Ok::<_, Burnt>(())
            });
            job.cancel();
            drop(job.await);
        }
        until(|| ledger.is_balanced()).await;
    });
    assert!(probe.is_balanced());
}

/// The shutdown waits for running jobs within the grace.
pub fn law_r6_the_shutdown_waits_for_running_jobs(kitchen: &Kitchen) {
    let ended = Gate::new();
    let end = ended.clone();
    kitchen.run(async move {
        let (send, receive) = mpsc::channel::<()>();
        let (started, ready) = (Gate::new(), Gate::new());
        let start = started.clone();
        drop(spawn_blocking(move || {
            start.open();
            let _ = receive.recv();
            end.open();
            Ok::<_, Burnt>(())
        }));
        drop(spawn(parked(ready.clone()).finally(async move { drop(send) })));
        started.wait().await;
        ready.wait().await;
    });
    assert!(ended.is_open(), "the run did not wait for the job");
}

/// A job that outlasts the grace is left behind, and a warning says so.
pub fn law_r6_a_job_that_outlasts_the_grace_is_left_behind(kitchen: &Kitchen) {
    if kitchen.is_virtual() {
        // A real job holds virtual time, so there the grace cannot end before the job.
        return;
    }
    let shift = kitchen.open();
    let (send, receive) = mpsc::channel::<()>();
    let outcome = shift.outcome(RunOptions::new().grace(ms(30)), async move {
        let started = Gate::new();
        let start = started.clone();
        drop(Builder::new().name("sleepy job").spawn_blocking(move || {
            start.open();
            let _ = receive.recv();
            Ok::<_, Burnt>(())
        }));
        started.wait().await;
    });
    value(outcome);
    let warnings = shift.warnings();
    assert!(warnings.iter().any(|warning| warning.contains("sleepy job")), "{warnings:?}");
    drop(send);
}

/// Time-outs fire while a job is running.
pub fn law_r6_timeouts_fire_while_a_job_runs(kitchen: &Kitchen) {
    if kitchen.is_virtual() {
        return;
    }
    kitchen.run(async {
        let (send, receive) = mpsc::channel::<()>();
        let job = spawn_blocking(move || {
            let _ = receive.recv();
            Ok::<_, Burnt>(())
        });
        assert!(timeout(ms(20), job).await.is_err());
        drop(send);
    });
}
