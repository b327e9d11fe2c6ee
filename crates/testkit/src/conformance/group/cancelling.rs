//! G5, G6, G10: requests from outside, groups that end themselves, and groups that are dropped.

use crate::conformance::prelude::*;

/// A request from outside unwinds the body first, then cancels the children, waits, and goes on.
pub fn law_g5_a_request_unwinds_body_then_children(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let (gate, words) = (ready.clone(), log.clone());
        let task = spawn(async move {
            let group = TaskGroup::<Burnt>::scope(async |group| {
                let (child_gate, child_words) = (gate.clone(), words.clone());
                group.spawn(async move {
                    let token = catch_cancel(parked(child_gate)).await.expect_err("the group ends");
                    child_words.add(format!("child {:?}", token.reason().kind()));
                    sleep(ms(10)).await;
                    child_words.add("child ends");
                    token.resume().await
                });
                gate.wait().await;
                let token = catch_cancel(parked(gate)).await.expect_err("it is cancelled");
                sleep(ms(10)).await;
                words.add("body ends");
                token.resume().await
            });
            let outcome: Result<Never, _> = group.await;
            words.add("not reached");
            outcome.map_err(|_| Burnt("group"))
        });
        ready.reached(2).await;
        task.cancel();
        cancelled(task.await);
        log.add("cancelled");
    });
    trace.expect(&[(10, "body ends"), (10, "child ParentCancelled"), (20, "child ends"), (20, "cancelled")]);
}

/// A group that already waits at its end passes the request to its children.
pub fn law_g5_a_request_while_waiting_at_the_end(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, probe) = (Gate::new(), Probe::new());
        let (gate, ledger) = (ready.clone(), probe.clone());
        let task = spawn(async move {
            let group = TaskGroup::<Burnt>::scope(async move |group| {
                for _ in 0..5 {
                    let (gate, item) = (gate.clone(), ledger.item());
                    group.spawn(async move {
                        let _item = item;
                        parked(gate).await
                    });
                }
                Ok(())
            });
            group.await.map_err(|_| Burnt("group"))
        });
        ready.reached(5).await;
        task.cancel();
        cancelled(task.await);
        assert_eq!(probe.dropped(), 5);
    });
}

/// Real errors are returned instead, and the request goes back to the enclosing scope.
pub fn law_g5_real_errors_are_returned_and_the_request_stays(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, got, passed) = (Gate::new(), Slot::new(), Gate::new());
        let (gate, slot, after) = (ready.clone(), got.clone(), passed.clone());
        let task = spawn(async move {
            let group = TaskGroup::<Burnt>::scope(async move |group| {
                group.spawn(async move {
                    let _token = catch_cancel(parked(gate)).await.expect_err("the group ends");
                    Err::<(), _>(Burnt("cleanup"))
                });
                Ok(())
            });
            slot.put(group.await.expect_err("a child failed").iter().count());
            yield_now().await;
            after.open();
            Ok::<_, Burnt>(())
        });
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
        assert_eq!(got.take(), Some(1));
        assert!(!passed.is_open(), "the request was lost");
    });
}

/// If the body absorbs the request, the group goes on as if nothing had been.
pub fn law_g5_the_body_may_absorb(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go) = (Gate::new(), Gate::new());
        let (gate, open) = (ready.clone(), go.clone());
        let task = spawn(async move {
            let group = TaskGroup::<Burnt>::scope(async move |group| {
                group.spawn(async move { open.wait().await });
                catch_cancel(parked(gate)).await.expect_err("it is cancelled").uncancel();
                go.open();
                Ok("absorbed")
            });
            group.await.map_err(|_| Burnt("group"))
        });
        ready.wait().await;
        task.cancel();
        assert_eq!(value(task.await), "absorbed");
    });
}

/// The inner of two groups does not consume the outer one's request.
pub fn law_g5_an_inner_group_does_not_eat_the_outer_request(kitchen: &Kitchen) {
    kitchen.run(async {
        let passed = Gate::new();
        let after = passed.clone();
        let outer = TaskGroup::<Burnt>::scope(async |outer| {
            let (ready, fail) = (Gate::new(), Gate::new());
            let (gate, trigger) = (ready.clone(), fail.clone());
            outer.spawn(async move {
                trigger.wait().await;
                Err::<(), _>(Burnt("outer child"))
            });
            let inner = TaskGroup::<Burnt>::scope(async move |inner| {
                inner.spawn(async move {
                    let _token = catch_cancel(parked(gate)).await.expect_err("the outer group ends");
                    Err::<(), _>(Burnt("inner child"))
                });
                ready.wait().await;
                fail.open();
                pending::<Result<(), Burnt>>().await
            });
            let errors = inner.await.expect_err("its child failed");
            yield_now().await;
            after.open();
            Err::<(), _>(first_failure(errors))
        });
        assert_eq!(outer.await.expect_err("a child failed").iter().count(), 1);
        assert!(!passed.is_open(), "the block went on");
    });
}

/// `g.cancel()` ends everything without failure; the value of a body that had ended is returned.
pub fn law_g6_cancel_keeps_the_value_of_an_ended_body(kitchen: &Kitchen) {
    kitchen.run(async {
        let probe = Probe::new();
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (ready, item) = (Gate::new(), probe.item());
            let gate = ready.clone();
            group.spawn(async move {
                let _item = item;
                parked(gate).await
            });
            let handle = group.clone();
            group.spawn(async move {
                ready.wait().await;
                handle.cancel();
            });
            Ok("the body's value")
        });
        assert_eq!(group.await.expect("no failure"), "the body's value");
        assert_eq!(probe.dropped(), 1);
    });
}

/// Without a value of the body there is an error for which `is_cancelled()` holds, and it has no entries.
pub fn law_g6_cancel_without_a_value(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            group.cancel();
            pending::<Result<(), Burnt>>().await
        });
        let errors = group.await.expect_err("the body gave no value");
        assert!(errors.is_cancelled());
        assert_eq!(errors.iter().count(), 0);
        yield_now().await;
    });
}

/// `g.finish(value)` ends the group with that value.
pub fn law_g6_finish_gives_the_value(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            group.spawn(pending::<Result<(), Burnt>>());
            group.finish(42);
            pending::<Result<i32, Burnt>>().await
        });
        assert_eq!(group.await.expect("no failure"), 42);
    });
}

/// Real errors are returned even if the group was cancelled.
pub fn law_g6_real_errors_win(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let ready = Gate::new();
            let gate = ready.clone();
            group.spawn(async move {
                let _token = catch_cancel(parked(gate)).await.expect_err("the group ends");
                Err::<(), _>(Burnt("cleanup"))
            });
            ready.wait().await;
            group.cancel();
            Ok(())
        });
        let errors = group.await.expect_err("a child failed");
        assert_eq!(errors.iter().count(), 1);
    });
}

/// Cancelling twice, or after the end, changes nothing.
pub fn law_g6_cancel_is_idempotent(kitchen: &Kitchen) {
    kitchen.run(async {
        let kept = Slot::new();
        let slot = kept.clone();
        let group = TaskGroup::<Burnt>::scope(async move |group| {
            slot.put(group.clone());
            group.cancel();
            group.cancel();
            Ok(1)
        });
        assert_eq!(group.await.expect("the body ended"), 1);
        let handle: TaskGroup<Burnt> = kept.take().expect("the body left it here");
        handle.cancel();
        yield_now().await;
    });
}

/// A request from outside still unwinds, even if the group was cancelled too.
pub fn law_g6_a_foreign_request_still_unwinds(kitchen: &Kitchen) {
    kitchen.run(async {
        let passed = Gate::new();
        let after = passed.clone();
        let task = spawn(async move {
            let group = TaskGroup::<Burnt>::scope(async |group| {
                group.cancel();
                current_task().expect("inside a task").cancel();
                pending::<Result<(), Burnt>>().await
            });
            drop(group.await);
            yield_now().await;
            after.open();
            Ok::<_, Burnt>(())
        });
        cancelled(task.await);
        assert!(!passed.is_open());
    });
}

/// Nested groups are cancelled quietly, at any depth.
pub fn law_g6_nested_groups_are_cancelled_quietly(kitchen: &Kitchen) {
    fn nest(depth: usize, ready: Gate) -> Pin<Box<dyn Future<Output = Result<(), Burnt>> + Send>> {
        Box::pin(async move {
            if depth == 0 {
                return parked(ready).await;
            }
            let group = TaskGroup::<Burnt>::scope(async move |group| {
                group.spawn(nest(depth - 1, ready));
                Ok(())
            });
            group.await.map_err(|_| Burnt("an error came out"))
        })
    }
    kitchen.run(async {
        for depth in [1, 2, 64] {
            let group = TaskGroup::<Burnt>::scope(async |group| {
                let ready = Gate::new();
                group.spawn(nest(depth, ready.clone()));
                ready.wait().await;
                group.cancel();
                Ok(())
            });
            group.await.expect("no error");
        }
    });
}

/// A child that cancels its own group before its first suspension.
pub fn law_g6_a_child_cancels_its_own_group(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let handle = group.clone();
            group.spawn(async move {
                handle.cancel();
                pending::<Result<(), Burnt>>().await
            });
            Ok("quiet")
        });
        assert_eq!(group.await.expect("no failure"), "quiet");
    });
}

/// A group whose future is dropped cancels its children at once; the root waits for them.
pub fn law_g10_a_dropped_group_cancels_its_children(kitchen: &Kitchen) {
    let (cancelled_child, cleaned) = (Gate::new(), Gate::new());
    let (seen, after) = (cancelled_child.clone(), cleaned.clone());
    kitchen.run(async move {
        let ready = Gate::new();
        {
            let gate = ready.clone();
            let child_seen = seen.clone();
            let mut group = Box::pin(TaskGroup::<Burnt>::scope(async move |group| {
                group.spawn(async move {
                    let token = catch_cancel(parked(gate)).await.expect_err("the group is dropped");
                    child_seen.open();
                    sleep(ms(20)).await;
                    after.open();
                    token.resume().await
                });
                pending::<Result<(), Burnt>>().await
            }));
            assert!(poll_once(group.as_mut()).await.is_pending());
            ready.wait().await;
        }
        seen.wait().await;
    });
    assert!(cleaned.is_open(), "the run waits for adopted children");
}

/// A group that was never polled has no children to cancel, and drops its body.
pub fn law_g10_an_unpolled_group_is_nothing(kitchen: &Kitchen) {
    kitchen.run(async {
        let probe = Probe::new();
        let item = probe.item();
        drop(TaskGroup::<Burnt>::scope(async move |_| {
            item.deliver();
            Ok(())
        }));
        assert_eq!((probe.delivered(), probe.dropped()), (0, 1));
    });
}
