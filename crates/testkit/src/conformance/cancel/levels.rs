//! C6: explicit requests interrupt handlers, requests of scopes wait for them.

use crate::conformance::prelude::*;

/// A second explicit request interrupts a handler that still runs, and its scope ends.
pub fn law_c6_a_second_request_interrupts_the_handler(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling, finished) = (Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (ready, handling, finished) = (ready.clone(), handling.clone(), finished.clone());
            async move {
                let _token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                parked(handling).await?;
                finished.open();
                Ok::<_, Burnt>(())
            }
        });
        ready.wait().await;
        task.cancel();
        handling.wait().await;
        task.cancel();
        cancelled(task.await);
        assert!(!finished.is_open());
    });
}

/// The second request goes to the receivers inside the handler, if there are any.
pub fn law_c6_a_second_request_reaches_a_catch_in_the_handler(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling) = (Gate::new(), Gate::new());
        let task = spawn({
            let (ready, handling) = (ready.clone(), handling.clone());
            async move {
                let first = catch_cancel(parked(ready)).await.expect_err("the first request");
                let second = catch_cancel(parked(handling)).await.expect_err("the second request");
                second.uncancel();
                first.uncancel();
                yield_now().await;
                Ok::<_, Burnt>("both absorbed")
            }
        });
        ready.wait().await;
        task.cancel();
        handling.wait().await;
        task.cancel();
        assert_eq!(value(task.await), "both absorbed");
    });
}

/// Absorbing only the second leaves the first.
pub fn law_c6_absorbing_one_leaves_the_other(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling) = (Gate::new(), Gate::new());
        let task = spawn({
            let (ready, handling) = (ready.clone(), handling.clone());
            async move {
                let first = catch_cancel(parked(ready)).await.expect_err("the first request");
                let second = catch_cancel(parked(handling)).await.expect_err("the second request");
                second.uncancel();
                drop(first);
                yield_now().await;
                Ok::<_, Burnt>("swallowed")
            }
        });
        ready.wait().await;
        task.cancel();
        handling.wait().await;
        task.cancel();
        cancelled(task.await);
    });
}

/// A deadline waits until no handler inside its scope runs, and then is not lost.
pub fn law_c6_a_deadline_waits_for_a_handler(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let (gate, words) = (ready.clone(), log.clone());
        let task = spawn(async move {
            let timed = timeout(ms(10), async {
                let token = catch_cancel(parked(gate)).await.expect_err("it is cancelled");
                words.add("handler");
                sleep(ms(30)).await;
                words.add("handler ends");
                token.uncancel();
                pending::<()>().await;
            });
            assert!(timed.await.is_err());
            words.add("timed out");
            Ok::<_, Burnt>(())
        });
        ready.wait().await;
        task.cancel();
        value(task.await);
    });
    trace.expect(&[(0, "handler"), (30, "handler ends"), (30, "timed out")]);
}

/// The request of a group waits for a handler in its body, too.
pub fn law_c6_a_groups_request_waits_for_a_handler(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling, fail, go, ended) =
            (Gate::new(), Gate::new(), Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (ready, handling, fail, go, ended) =
                (ready.clone(), handling.clone(), fail.clone(), go.clone(), ended.clone());
            async move {
                let outcome = TaskGroup::<Burnt>::scope(async |group| {
                    group.spawn(async move {
                        fail.wait().await;
                        Err::<(), _>(Burnt("child"))
                    });
                    let token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                    handling.open();
                    go.wait().await;
                    ended.open();
                    token.uncancel();
                    pending::<Result<(), Burnt>>().await
                });
                outcome.await.map_err(first_failure)
            }
        });
        ready.wait().await;
        task.cancel();
        handling.wait().await;
        fail.open();
        turns(10).await;
        assert!(!task.done());
        go.open();
        assert_eq!(failed(task.await), Burnt("child"));
        assert!(ended.is_open(), "the handler was interrupted");
    });
}

/// A token stands for every request that was delivered to its catch.
pub fn law_c6_a_token_absorbs_everything_delivered_to_it(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let task = spawn_local(async move {
            let token = catch_cancel(parked(gate)).await.expect_err("it is cancelled");
            token.uncancel();
            assert_eq!(current_task().expect("inside a task").cancelling(), 0);
            yield_now().await;
            Ok::<_, Burnt>("clean")
        });
        ready.wait().await;
        task.cancel();
        task.cancel_with("again");
        assert_eq!(value(task.await), "clean");
    });
}

/// A linked await passes on the level that it got: the second request interrupts the handler of the child.
pub fn law_c6_a_link_passes_on_the_level(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling) = (Gate::new(), Gate::new());
        let child = spawn({
            let (ready, handling) = (ready.clone(), handling.clone());
            async move {
                let _token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                parked(handling).await
            }
        });
        let (waiting, watch) = (Gate::new(), child.to_ref());
        let waiter = spawn(counting(waiting.clone(), async move { child.await.map_err(|_| Burnt("no")) }));
        waiting.wait().await;
        ready.wait().await;
        waiter.cancel();
        handling.wait().await;
        assert!(!watch.done());
        waiter.cancel();
        cancelled(waiter.await);
        assert!(watch.cancelled());
    });
}

/// A group passes a second explicit request to its body, never again to its children.
pub fn law_c6_a_second_request_does_not_reach_children_again(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling, go, cleaned) = (Gate::new(), Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (ready, handling, go, cleaned) =
                (ready.clone(), handling.clone(), go.clone(), cleaned.clone());
            async move {
                let outcome = TaskGroup::<Burnt>::scope(async |group| {
                    group.spawn(async move {
                        let token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                        handling.open();
                        go.wait().await;
                        cleaned.open();
                        token.resume().await
                    });
                    Ok(())
                });
                outcome.await.map_err(|_| Burnt("group"))
            }
        });
        ready.wait().await;
        task.cancel();
        handling.wait().await;
        task.cancel();
        turns(10).await;
        assert!(!task.done(), "the group waits for the handler of its child");
        go.open();
        cancelled(task.await);
        assert!(cleaned.is_open());
    });
}
