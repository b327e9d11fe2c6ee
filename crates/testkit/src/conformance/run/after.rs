//! R3, R4: runs inside runs, and what is left after one.

use crate::conformance::prelude::*;

/// The core knows where one may not start another run, and names the place.
pub fn law_r3_a_nested_run_is_noticed(kitchen: &Kitchen) {
    assert!(is_inside_task_or_drive().is_none());
    kitchen.run(async {
        let place = is_inside_task_or_drive().expect("inside a run");
        assert!(place.file().ends_with(".rs"));
        let job = spawn_blocking(|| Ok::<_, Burnt>(is_inside_task_or_drive().is_none()));
        assert!(value(job.await), "a blocking job may start a run of its own");
    });
    assert!(is_inside_task_or_drive().is_none());
}

/// A blocking job can run a whole runtime of its own.
pub fn law_r3_a_run_in_a_blocking_job(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run(async {
        let job = spawn_blocking(|| {
            let outcome = crate::simulate(async {
                sleep(ms(10)).await;
                Ok::<_, Burnt>(6)
            });
            outcome.map_err(|_| Burnt("the inner run"))
        });
        assert_eq!(value(job.await), 6);
    });
}

/// After the end every handle in foreign hands is inert.
pub fn law_r4_handles_are_inert_after_the_end(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let (live, finished) = shift.run(async {
        let ready = Gate::new();
        let live = spawn(parked(ready.clone()));
        let finished = spawn(async { Ok::<_, Burnt>(3) });
        ready.wait().await;
        finished.finished().await;
        Ok::<_, Burnt>((live, finished))
    });
    assert!(live.done() && live.cancelled());
    assert_eq!(live.cancel(), CancelOutcome::Done);
    live.abort();
    assert!(matches!(finished.result(), Some(Ok(3))));
    let mut finished = finished;
    assert_eq!(value(finished.try_take().expect("it is done")), 3);
    assert!(shift.handle.all_tasks().is_empty());
    assert!(shift.handle.is_closing());
}

/// Wakers of tasks that are gone can be woken, cloned and dropped, on any thread.
pub fn law_r4_wakers_are_inert_after_the_end(kitchen: &Kitchen) {
    let kept = Slot::<Waker>::new();
    let slot = kept.clone();
    let probe = Probe::new();
    let item = probe.item();
    kitchen.run(async move {
        let ready = Gate::new();
        let gate = ready.clone();
        drop(spawn(async move {
            let _item = item;
            poll_fn::<(), _>(|cx| {
                slot.put(cx.waker().clone());
                gate.open();
                Poll::Pending
            })
            .await;
        }));
        ready.wait().await;
    });
    assert_eq!(probe.dropped(), 1);
    let waker = kept.take().expect("the task left it here");
    waker.wake_by_ref();
    let copy = waker.clone();
    std::thread::spawn(move || {
        for _ in 0..100 {
            copy.wake_by_ref();
            drop(copy.clone());
        }
        drop(copy);
    })
    .join()
    .expect("waking never panics");
    waker.wake();
}

/// A task finished inside can be woken later without being polled again.
pub fn law_r4_a_finished_task_is_not_polled_again(kitchen: &Kitchen) {
    kitchen.run(async {
        let (polls, kept) = (Gate::new(), Slot::<Waker>::new());
        let slot = kept.clone();
        let task = spawn(counting(
            polls.clone(),
            poll_fn(move |cx| {
                slot.put(cx.waker().clone());
                Poll::Ready(Ok::<_, Burnt>(()))
            }),
        ));
        value(task.await);
        let waker = kept.take().expect("the task left it here");
        for _ in 0..1000 {
            waker.wake_by_ref();
        }
        turns(10).await;
        assert_eq!(polls.count(), 1);
    });
}

/// Timers of futures that outlive the runtime fire nowhere and can be dropped.
pub fn law_r4_timers_are_inert_after_the_end(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let nap = shift.run(async {
        let mut nap = Box::pin(sleep(ms(10_000)));
        assert!(poll_once(nap.as_mut()).await.is_pending());
        Ok::<_, Burnt>(nap)
    });
    drop(nap);
}

/// Late spawns of every sort give tasks that are over.
pub fn law_r4_late_spawns_fail(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run(async {});
    let probe = Probe::new();
    let (item, job_item) = (probe.item(), probe.item());
    let task = shift.handle.spawn(async move {
        item.deliver();
    });
    let job = shift.handle.spawn_blocking(move || {
        job_item.deliver();
    });
    assert!(task.cancelled() && job.cancelled());
    assert_eq!(probe.delivered(), 0);
    assert!(probe.is_balanced());
}

/// Everything that a run made is gone when it returns.
pub fn law_r4_nothing_is_left(kitchen: &Kitchen) {
    let probe = Probe::new();
    let ledger = probe.clone();
    let shift = kitchen.open();
    shift.run(async move {
        let ready = Gate::new();
        for n in 0..20 {
            let (item, gate) = (ledger.item(), ready.clone());
            drop(spawn(async move {
                let _item = item;
                gate.open();
                if n % 2 == 0 {
                    sleep(ms(60_000)).await;
                }
                pending::<()>().await;
            }));
        }
        ready.reached(20).await;
    });
    assert_eq!((probe.created(), probe.dropped()), (20, 20));
    assert!(shift.handle.all_tasks().is_empty());
}

/// A run after a run, on a fresh backend, starts from nothing.
pub fn law_r4_runs_do_not_know_each_other(kitchen: &Kitchen) {
    for _ in 0..3 {
        kitchen.run(async {
            assert_eq!(all_tasks().len(), 1);
            value(spawn(async {}).await);
        });
    }
}
