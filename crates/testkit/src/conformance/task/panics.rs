//! T10: a panic stays in its task.

use crate::conformance::prelude::*;

/// The runtime still does everything: spawn, sleep, cancel, group.
async fn everything_works() {
    let sleeper = spawn(async {
        sleep(ms(1)).await;
        Ok::<_, Burnt>(1)
    });
    let ready = Gate::new();
    let stopped = spawn(parked(ready.clone()));
    ready.wait().await;
    stopped.cancel();
    cancelled(stopped.await);
    let group = TaskGroup::<Burnt>::scope(async |group| {
        group.spawn(async {});
        Ok(2)
    });
    assert_eq!(group.await.expect("nobody fails"), 2);
    assert_eq!(value(sleeper.await), 1);
}

/// A panic in a poll becomes the outcome; siblings and executor go on.
pub fn law_t10_panic_in_a_poll(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go) = (Gate::new(), Gate::new());
        let sibling = spawn({
            let (ready, go) = (ready.clone(), go.clone());
            async move {
                ready.open();
                go.wait().await;
            }
        });
        ready.wait().await;
        let task = spawn(async {
            yield_now().await;
            panic!("the oven explodes")
        });
        assert_eq!(panicked(task.await.map(drop)).message(), "the oven explodes");
        go.open();
        value(sibling.await);
        everything_works().await;
    });
}

/// A panic in the drop of a cancelled future becomes `Panicked` or a report; nothing else breaks.
pub fn law_t10_panic_in_the_drop_of_a_future(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        for abort in [false, true] {
            let ready = Gate::new();
            let task = spawn({
                let ready = ready.clone();
                async move {
                    let _bomb = PanicOnDrop("the lid flies off");
                    parked(ready).await
                }
            });
            ready.wait().await;
            if abort {
                task.abort();
            } else {
                task.cancel();
            }
            let outcome = task.await;
            assert!(matches!(outcome, Err(TaskError::Panicked(_) | TaskError::Cancelled(_))), "{outcome:?}");
            everything_works().await;
        }
    });
}

/// A panic in the drop of an output that nobody takes is reported, and does not reach who drops the handle.
pub fn law_t10_panic_in_the_drop_of_an_output(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let task = spawn(async { Ok::<_, Burnt>(PanicOnDrop("the plate breaks")) });
        until(|| task.done()).await;
        drop(task);
        let detached = spawn(async { Ok::<_, Burnt>(PanicOnDrop("the glass breaks")) });
        let watch = detached.to_ref();
        drop(detached);
        watch.finished().await;
        everything_works().await;
    });
    let mut told = shift.warnings();
    told.extend(shift.reports().into_iter().map(|report| report.message));
    assert!(told.iter().any(|text| text.contains("the plate breaks")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("the glass breaks")), "{told:?}");
}

/// A panic in the drop of captures that were never polled harms nobody.
pub fn law_t10_panic_in_the_drop_of_an_unstarted_future(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let bomb = PanicOnDrop("the box falls");
        let task = spawn(async move {
            let _bomb = bomb;
            pending::<Result<(), Burnt>>().await
        });
        task.cancel();
        let outcome = task.await;
        assert!(matches!(outcome, Err(TaskError::Panicked(_) | TaskError::Cancelled(_))), "{outcome:?}");
        everything_works().await;
    });
}

/// A panic in a handler ends the task `Panicked`.
pub fn law_t10_panic_in_a_handler(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let task = spawn({
            let ready = ready.clone();
            async move {
                let _token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                panic!("the handler burns")
            }
        });
        ready.wait().await;
        task.cancel();
        assert_eq!(panicked(task.await.map(drop)).message(), "the handler burns");
        everything_works().await;
    });
}

/// A stranger's waker that panics does not keep the others from being woken.
pub fn law_t10_a_strangers_waker_panics(kitchen: &Kitchen) {
    struct Bomb;
    impl Wake for Bomb {
        fn wake(self: Arc<Self>) {
            panic!("the bell falls off");
        }
    }
    let shift = kitchen.open();
    shift.run_reporting(async {
        let go = Gate::new();
        let task = spawn({
            let go = go.clone();
            async move { go.wait().await }
        });
        let (early, late) = (task.to_ref(), task.to_ref());
        let mut first = pin!(early.finished());
        assert!(poll_once(first.as_mut()).await.is_pending());
        let bomb = Waker::from(Arc::new(Bomb));
        let mut stranger = pin!(task.finished());
        assert!(stranger.as_mut().poll(&mut Context::from_waker(&bomb)).is_pending());
        let waiting = Gate::new();
        let watcher = spawn(counting(waiting.clone(), async move { late.finished().await }));
        waiting.wait().await;
        go.open();
        first.await;
        value(watcher.await);
        value(task.await);
        everything_works().await;
    });
}

/// The panic of a child in a group's drop is contained in the child.
pub fn law_t10_panic_in_the_drop_of_a_child(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let outcome = TaskGroup::<Burnt>::scope(async move |group| {
            group.spawn(async move {
                let _bomb = PanicOnDrop("the shelf falls");
                parked(gate).await
            });
            ready.wait().await;
            Err::<(), _>(Burnt("body"))
        });
        let errors = outcome.await.expect_err("the body fails");
        assert!(errors.iter().any(brigade_combinators::ChildError::is_body));
        everything_works().await;
    });
}
