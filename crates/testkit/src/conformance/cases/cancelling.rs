//! Cases 01–12: cancellation.

use crate::conformance::prelude::*;

/// Case 03: awaiting in the cleanup of a cancelled group is not cut off again.
pub fn case_003_awaiting_in_a_cancelled_groups_cleanup(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let ready = Gate::new();
            let (gate, words) = (ready.clone(), log.clone());
            group.spawn(parked(gate).finally(async move {
                words.add("a");
                sleep(ms(20)).await;
                words.add("b");
            }));
            ready.wait().await;
            sleep(ms(10)).await;
            group.cancel();
            Ok(())
        });
        group.await.expect("no failure");
        log.add("group");
    });
    trace.expect(&[(10, "a"), (30, "b"), (30, "group")]);
}

/// Case 05: a cancelled scope with a shielded sleeper and a finished task in it does not spin.
pub fn case_005_a_refusing_future_does_not_spin(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go, polls) = (Gate::new(), Gate::new(), Gate::new());
        let task = spawn(counting(polls.clone(), {
            let (ready, go) = (ready.clone(), go.clone());
            async move {
                let group = TaskGroup::<Burnt>::scope(async |group| {
                    group.spawn(async {});
                    let (gate, open) = (ready.clone(), go.clone());
                    group.spawn(shield(async move {
                        gate.open();
                        open.wait().await;
                    }));
                    ready.wait().await;
                    Ok(())
                });
                group.await.map_err(|_| Burnt("group"))
            }
        }));
        ready.wait().await;
        turns(10).await;
        task.cancel();
        turns(10).await;
        let before = polls.count();
        turns(200).await;
        assert!(polls.count() <= before + 1, "{} polls while parked", polls.count() - before);
        go.open();
        cancelled(task.await);
    });
}

/// Case 06: tasks that await each other in a cycle end when one of them is cancelled.
pub fn case_006_a_cycle_of_tasks_is_cancelled(kitchen: &Kitchen) {
    kitchen.run(async {
        let (slots, go) = ([Slot::<Task<(), Burnt>>::new(), Slot::new()], Gate::new());
        let spawn_one = |mine: usize| {
            let (slots, go) = (slots.clone(), go.clone());
            spawn(async move {
                go.wait().await;
                slots[1 - mine].take().expect("main put it there").await.map_err(|_| Burnt("cycle"))
            })
        };
        let (first, second) = (spawn_one(0), spawn_one(1));
        let watches = [first.to_ref(), second.to_ref()];
        slots[0].put(first);
        slots[1].put(second);
        go.open();
        turns(10).await;
        watches[0].cancel();
        for watch in &watches {
            watch.finished().await;
        }
    });
}

/// Case 08: absorb one request, go on working; later timeouts still work.
pub fn case_008_absorb_and_go_on(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let task = spawn(async move {
            catch_cancel(parked(gate)).await.expect_err("it is cancelled").uncancel();
            assert_eq!(current_task().expect("inside a task").cancelling(), 0);
            for _ in 0..3 {
                assert!(timeout(ms(2), pending::<()>()).await.is_err());
            }
            Ok::<_, Burnt>(())
        });
        ready.wait().await;
        task.cancel();
        value(task.await);
    });
}

/// Case 09: cancel a task and wait for its end, while being cancelled oneself.
pub fn case_009_cancel_and_wait(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, cleaning, go, cleaned) = (Gate::new(), Gate::new(), Gate::new(), Gate::new());
        let child = spawn({
            let (cleaning, go, cleaned) = (cleaning.clone(), go.clone(), cleaned.clone());
            parked(ready.clone()).finally(async move {
                cleaning.open();
                go.wait().await;
                cleaned.open();
            })
        });
        let watch = child.to_ref();
        ready.wait().await;
        let caller = spawn(async move {
            child.cancel();
            cancelled(child.await);
            pending::<Result<(), Burnt>>().await
        });
        cleaning.wait().await;
        caller.cancel();
        go.open();
        cancelled(caller.await);
        assert!(watch.cancelled() && cleaned.is_open());
    });
}

/// Case 10: cancelling a waiter reaches what it waits for, at once.
pub fn case_010_a_cancelled_waiter_leaves_nothing_behind(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, probe) = (Gate::new(), Probe::new());
        let (gate, item) = (ready.clone(), probe.item());
        let waiter = spawn(async move {
            let inner = async move {
                let _item = item;
                parked(gate).await
            };
            wait_for(inner, Duration::from_secs(100)).await.map_err(|_| Burnt("too late"))?
        });
        ready.wait().await;
        waiter.cancel();
        cancelled(waiter.await);
        assert_eq!(probe.dropped(), 1);
        assert!(Instant::now() < Instant::ZERO + Duration::from_secs(100));
    });
}

/// Case 12: a child that belongs to an outer group is not touched when the inner group is cancelled.
pub fn case_012_an_inner_group_does_not_cancel_the_outer(kitchen: &Kitchen) {
    kitchen.run(async {
        let go = Gate::new();
        let outer = TaskGroup::<Burnt>::scope(async |outer| {
            let (ready, open) = (Gate::new(), go.clone());
            let handle = outer.clone();
            let inner = TaskGroup::<Burnt>::scope(async |inner| {
                let gate = ready.clone();
                let child = handle.spawn(async move {
                    gate.open();
                    open.wait().await;
                    Ok("of the outer group")
                });
                ready.wait().await;
                inner.cancel();
                Ok(child)
            });
            let child = inner.await.expect("no failure");
            turns(5).await;
            assert!(!child.done());
            go.open();
            Ok(value(child.await))
        });
        assert_eq!(outer.await.expect("no failure"), "of the outer group");
    });
}
