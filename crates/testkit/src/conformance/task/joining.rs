//! T11, T13: awaiting the finished, awaiting oneself, and awaiting together.

use crate::conformance::prelude::*;

/// Awaiting a finished task does not suspend.
pub fn law_t11_awaiting_the_finished_does_not_suspend(kitchen: &Kitchen) {
    kitchen.run(async {
        let task = spawn(async { Ok::<_, Burnt>(9) });
        let mut watched = spawn(async { Ok::<_, Burnt>(10) });
        until(|| task.done() && watched.done()).await;
        assert!(poll_once(pin!(task.finished())).await.is_ready());
        let Poll::Ready(first) = poll_once(pin!((&mut watched).into_future())).await else {
            panic!("watching a finished task suspended");
        };
        let Poll::Ready(second) = poll_once(pin!(task.into_future())).await else {
            panic!("awaiting a finished task suspended");
        };
        assert_eq!((value(first), value(second)), (10, 9));
    });
}

/// A task that awaits itself panics with a message that names it.
pub fn law_t11_awaiting_oneself_panics(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let (own, result) = (Slot::<Task<(), Burnt>>::new(), Gate::new());
        let (slot, go) = (own.clone(), result.clone());
        let task = Builder::new().name("narcissus").spawn(async move {
            go.wait().await;
            slot.take().expect("main put it there").await.map_err(|_| Burnt("never"))
        });
        let watch = task.to_ref();
        let called = Gate::new();
        let count = called.clone();
        watch.on_done(move |_| count.open());
        own.put(task);
        result.open();
        watch.finished().await;
        called.wait().await;
        assert_eq!(watch.state(), TaskState::Done(Ending::Panicked));
    });
    let reports = shift.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].message.contains("narcissus"), "{reports:?}");
}

/// The message of such a panic names the task; watching and waiting for all are no way around it.
pub fn law_t11_awaiting_oneself_in_disguise_panics(kitchen: &Kitchen) {
    type Disguise = fn(Task<(), Burnt>) -> Pin<Box<dyn Future<Output = ()> + Send>>;
    let disguises: [Disguise; 4] = [
        |task| Box::pin(async move { task.finished().await }),
        |task| Box::pin(async move { drop(gather_all(vec![task]).await) }),
        |task| Box::pin(async move { drop(wait(vec![task]).await) }),
        |mut task| Box::pin(async move { drop((&mut task).await) }),
    ];
    let shift = kitchen.open();
    shift.run_reporting(async move {
        for disguise in disguises {
            let (own, go) = (Slot::<Task<(), Burnt>>::new(), Gate::new());
            let (slot, start) = (own.clone(), go.clone());
            let task = Builder::new().name("narcissus").spawn(async move {
                start.wait().await;
                disguise(slot.take().expect("main put it there")).await;
                Ok(())
            });
            let watch = task.to_ref();
            own.put(task);
            go.open();
            watch.finished().await;
            assert_eq!(watch.state(), TaskState::Done(Ending::Panicked));
        }
    });
    for report in shift.reports() {
        assert!(report.message.contains("narcissus"), "{report:?}");
    }
}

/// A shared handle gives the value to every waiter.
pub fn law_t13_every_waiter_of_a_shared_handle_gets_the_value(kitchen: &Kitchen) {
    kitchen.run(async {
        let go = Gate::new();
        let task = spawn({
            let go = go.clone();
            async move {
                go.wait().await;
                Ok::<_, Burnt>(String::from("bread"))
            }
        });
        let shared = task.shared();
        let waiting = Gate::new();
        let waiters: Vec<_> = (0..5)
            .map(|_| {
                let (shared, waiting) = (shared.clone(), waiting.clone());
                spawn(async move { counting(waiting, shared.into_future()).await.map_err(|_| Burnt("no")) })
            })
            .collect();
        waiting.reached(5).await;
        go.open();
        for waiter in waiters {
            assert_eq!(value(waiter.await), "bread");
        }
        assert_eq!(shared.await.expect("late waiters too"), "bread");
    });
}

/// Every waiter gets the same error.
pub fn law_t13_every_waiter_gets_the_same_error(kitchen: &Kitchen) {
    kitchen.run(async {
        let shared = spawn(async { Err::<(), _>(Burnt("toast")) }).shared();
        let first = shared.clone().await.expect_err("it fails");
        let second = shared.await.expect_err("it fails");
        assert!(Arc::ptr_eq(&first, &second));
        assert!(matches!(&*first, TaskError::Failed(Burnt("toast"))));
    });
}

/// A shared handle is no link: a cancelled waiter leaves the task alone.
pub fn law_t13_shared_waiters_are_not_linked(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go) = (Gate::new(), Gate::new());
        let task = spawn({
            let go = go.clone();
            async move {
                go.wait().await;
                Ok::<_, Burnt>(4)
            }
        });
        let shared = task.shared();
        let waiter = spawn({
            let (shared, ready) = (shared.clone(), ready.clone());
            async move { counting(ready, shared.into_future()).await.map_err(|_| Burnt("no")) }
        });
        ready.wait().await;
        waiter.cancel();
        cancelled(waiter.await);
        go.open();
        assert_eq!(shared.await.expect("it lives on"), 4);
    });
}

/// Neither a dropped waiter nor a peek steals another's wake-up.
pub fn law_t13_nobody_steals_a_wake_up(kitchen: &Kitchen) {
    kitchen.run(async {
        let (go, waiting) = (Gate::new(), Gate::new());
        let task = spawn({
            let go = go.clone();
            async move {
                go.wait().await;
                Ok::<_, Burnt>(1)
            }
        });
        let watch = task.to_ref();
        let shared = task.shared();
        let waiter = spawn({
            let (shared, waiting) = (shared.clone(), waiting.clone());
            async move { counting(waiting, shared.into_future()).await.map_err(|_| Burnt("no")) }
        });
        waiting.wait().await;
        {
            let mut peek = pin!(shared.clone().into_future());
            assert!(poll_once(peek.as_mut()).await.is_pending());
            let mut look = pin!(watch.finished());
            assert!(poll_once(look.as_mut()).await.is_pending());
            go.open();
        }
        assert_eq!(value(waiter.await), 1);
    });
}

/// A waiter that moved to another task is woken there: the latest waker wins.
pub fn law_t13_the_latest_waker_wins(kitchen: &Kitchen) {
    kitchen.run(async {
        let go = Gate::new();
        let task = spawn({
            let go = go.clone();
            async move {
                go.wait().await;
                Ok::<_, Burnt>(2)
            }
        });
        let mut join = Box::pin(task.into_future());
        assert!(poll_once(join.as_mut()).await.is_pending());
        let moved = Gate::new();
        let elsewhere = spawn(counting(moved.clone(), async move { join.await.map_err(|_| Burnt("no")) }));
        moved.wait().await;
        go.open();
        assert_eq!(value(elsewhere.await), 2);
    });
}

/// A `TaskRef` is weak: it tells, cancels and waits, and holds no outcome back.
pub fn law_t13_task_ref_is_weak(kitchen: &Kitchen) {
    kitchen.run(async {
        let (probe, ready) = (Probe::new(), Gate::new());
        let task = spawn({
            let (item, ready) = (probe.item(), ready.clone());
            async move {
                let token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                token.uncancel();
                Ok::<_, Burnt>(item)
            }
        });
        let first = task.to_ref();
        let second = first.clone();
        assert_eq!((first.id(), &*first.name()), (task.id(), &*task.name()));
        drop(task);
        ready.wait().await;
        assert_eq!(second.cancel(), CancelOutcome::Requested);
        first.finished().await;
        until(|| probe.dropped() == 1).await;
        assert!(second.done() && !second.cancelled());
    });
}
