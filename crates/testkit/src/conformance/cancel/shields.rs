//! C11: `shield` postpones, it never detaches.

use crate::conformance::prelude::*;

/// Delivery waits until the shielded future is complete; its value is returned, then the request acts.
pub fn law_c11_delivery_is_postponed(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let (gate, words) = (ready.clone(), log.clone());
        let task = spawn(async move {
            let value = shield(async {
                gate.open();
                sleep(ms(20)).await;
                "plated"
            });
            words.add(value.await);
            yield_now().await;
            words.add("not reached");
            Ok::<_, Burnt>(())
        });
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
        log.add("cancelled");
    });
    trace.expect(&[(20, "plated"), (20, "cancelled")]);
}

/// A handler inside the shield does not see the request, not even a second one.
pub fn law_c11_handlers_inside_do_not_see_it(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go) = (Gate::new(), Gate::new());
        let task = spawn({
            let (ready, go) = (ready.clone(), go.clone());
            async move {
                let inside = shield(catch_cancel(async {
                    ready.open();
                    go.wait().await;
                }));
                assert!(inside.await.is_ok());
                pending::<Result<(), Burnt>>().await
            }
        });
        ready.wait().await;
        task.cancel();
        turns(3).await;
        task.cancel();
        turns(3).await;
        assert!(!task.done());
        go.open();
        cancelled(task.await);
    });
}

/// A group opened inside is protected from outside; one opened outside is not.
pub fn law_c11_protects_lexically(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go, inner_lives, outer_lives) = (Gate::new(), Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (ready, go) = (ready.clone(), go.clone());
            let (inner_lives, outer_lives) = (inner_lives.clone(), outer_lives.clone());
            async move {
                let outer = TaskGroup::<Burnt>::scope(async |outer| {
                    let gate = go.clone();
                    outer.spawn(async move {
                        gate.wait().await;
                        outer_lives.open();
                    });
                    let inner = shield(TaskGroup::<Burnt>::scope(async |inner| {
                        let gate = go.clone();
                        inner.spawn(async move {
                            gate.wait().await;
                            inner_lives.open();
                        });
                        ready.open();
                        Ok(())
                    }));
                    assert!(inner.await.is_ok());
                    pending::<Result<(), Burnt>>().await
                });
                outer.await.map_err(|_| Burnt("group"))
            }
        });
        ready.wait().await;
        task.cancel();
        turns(5).await;
        assert!(!task.done());
        go.open();
        cancelled(task.await);
        assert!(inner_lives.is_open(), "the child inside the shield was cancelled");
    });
}

/// Deadlines outside are invisible inside.
pub fn law_c11_deadlines_outside_are_invisible(kitchen: &Kitchen) {
    kitchen.run(async {
        assert_eq!(effective_deadline(), None);
        let seen = timeout(ms(1000), async {
            let outside = effective_deadline();
            let inside = shield(async { effective_deadline() }).await;
            (outside.is_some(), inside)
        });
        assert_eq!(seen.await.expect("in time"), (true, None));
    });
}

/// A timeout around a shield waits for what is inside, and a timeout inside works.
pub fn law_c11_timeouts_outside_wait_and_inside_work(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let inside = timeout(ms(5), shield(timeout(ms(20), pending::<()>()))).await;
        assert!(inside.expect("the shield gave a value").is_err());
        clock.expect(20);
    });
}

/// The group inside can still be cancelled by itself.
pub fn law_c11_a_group_inside_can_end_itself(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let task = spawn(async move {
            let inside = shield(TaskGroup::<Burnt>::scope(async |group| {
                group.spawn(parked(gate.clone()));
                gate.wait().await;
                group.cancel();
                pending::<Result<(), Burnt>>().await
            }));
            assert!(inside.await.expect_err("it gave no value").is_cancelled());
            Ok::<_, Burnt>("outside again")
        });
        assert_eq!(value(task.await), "outside again");
    });
}
