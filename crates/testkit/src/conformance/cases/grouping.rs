//! Cases 23–44: groups and aggregates.

use crate::conformance::prelude::*;

/// Case 26: a child fails while the host sits in a shield inside an already cancelled scope.
pub fn case_026_a_failure_inside_a_cancelled_shield(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, fail, got) = (Gate::new(), Gate::new(), Slot::new());
        let (gate, trigger, slot) = (ready.clone(), fail.clone(), got.clone());
        let task = spawn(async move {
            let inner = shield(TaskGroup::<Burnt>::scope(async move |group| {
                group.spawn(async move {
                    gate.open();
                    trigger.wait().await;
                    Err::<(), _>(Burnt("child"))
                });
                pending::<Result<(), Burnt>>().await
            }));
            slot.put(inner.await.expect_err("a child failed").iter().count());
            pending::<Result<(), Burnt>>().await
        });
        ready.wait().await;
        task.cancel();
        turns(5).await;
        fail.open();
        cancelled(task.await);
        assert_eq!(got.take(), Some(1));
    });
}

/// Case 29: both the inner and the outer group are cancelled; the outer request is not eaten.
pub fn case_029_inner_and_outer_are_cancelled(kitchen: &Kitchen) {
    kitchen.run(async {
        let worse = Gate::new();
        let flag = worse.clone();
        let outer = TaskGroup::<Burnt>::scope(async |outer| {
            let inner = TaskGroup::<Burnt>::scope(async |inner| {
                inner.cancel();
                outer.cancel();
                yield_now().await;
                Ok(())
            });
            drop(inner.await);
            yield_now().await;
            flag.open();
            Ok(())
        });
        assert!(outer.await.expect_err("the body gave no value").is_cancelled());
        assert!(!worse.is_open());
    });
}

/// Case 30: a request from outside does not enter the shield of a group's host, the group's own does.
pub fn case_030_a_shielded_host(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handle) = (Gate::new(), Slot::new());
        let (gate, slot) = (ready.clone(), handle.clone());
        let task = spawn(async move {
            let group = shield(TaskGroup::<Burnt>::scope(async move |group| {
                slot.put(group.clone());
                group.spawn(parked(gate));
                Ok("ended by itself")
            }));
            let result = group.await.expect("no failure");
            yield_now().await;
            Ok::<_, Burnt>(result)
        });
        ready.wait().await;
        task.cancel();
        turns(10).await;
        assert!(!task.done());
        let group: TaskGroup<Burnt> = handle.take().expect("the body left it here");
        group.cancel();
        cancelled(task.await);
    });
}

/// Case 31: a thousand children fail in one turn.
pub fn case_031_a_thousand_failures(kitchen: &Kitchen) {
    kitchen.run(async {
        let count = DEEP / 100;
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (ready, go) = (Gate::new(), Gate::new());
            for _ in 0..count {
                let (ready, go) = (ready.clone(), go.clone());
                group.spawn(shield(async move {
                    ready.open();
                    go.wait().await;
                    Err::<(), _>(Burnt("all"))
                }));
            }
            ready.reached(count).await;
            go.open();
            Ok(())
        });
        assert_eq!(group.await.expect_err("all failed").iter().count(), count);
    });
}

/// Case 34: after many short children, all counts agree.
pub fn case_034_gone_children_are_gone(kitchen: &Kitchen) {
    kitchen.run(async {
        let (probe, count) = (Probe::new(), DEEP / 10);
        let group = TaskGroup::<Burnt>::scope(async |group| {
            for _ in 0..count {
                let item = probe.item();
                group.spawn(async move { drop(item) });
                if probe.alive() > 100 {
                    until(|| probe.alive() == 0).await;
                }
            }
            until(|| probe.alive() == 0).await;
            until(|| all_tasks().len() == 1).await;
            Ok(())
        });
        group.await.expect("nobody fails");
        assert!(probe.is_balanced());
    });
}

/// Case 37: the same shared handle twice; nothing at all.
pub fn case_037_the_same_handle_twice(kitchen: &Kitchen) {
    kitchen.run(async {
        let shared = spawn(async { Ok::<_, Burnt>(5) }).shared();
        let branch = |shared: SharedTask<i32, Burnt>| async move { shared.await.map_err(|_| Burnt("no")) };
        assert_eq!(gather((branch(shared.clone()), branch(shared))).await, Ok((5, 5)));
    });
}

/// Case 38: a hundred children that end in reverse order.
pub fn case_038_result_order(kitchen: &Kitchen) {
    kitchen.run(async {
        let gates: Vec<_> = (0..100).map(|_| Gate::new()).collect();
        let tasks: Vec<_> = gates
            .iter()
            .enumerate()
            .map(|(n, gate)| {
                let gate = gate.clone();
                spawn(async move {
                    gate.wait().await;
                    Ok::<_, Burnt>(n)
                })
            })
            .collect();
        let opener = spawn(async move {
            for gate in gates.iter().rev() {
                gate.open();
                yield_now().await;
            }
        });
        assert_eq!(value(gather(tasks).await), (0..100).collect::<Vec<_>>());
        value(opener.await);
    });
}

/// Case 41: a short timeout around a watched task, again and again, leaves nothing on the task.
pub fn case_041_watching_in_a_retry_loop(kitchen: &Kitchen) {
    kitchen.run(async {
        let go = Gate::new();
        let mut task = spawn({
            let go = go.clone();
            async move {
                go.wait().await;
                Ok::<_, Burnt>("the last one gets it")
            }
        });
        for _ in 0..ROUNDS {
            assert!(timeout(Duration::ZERO, &mut task).await.is_err());
        }
        assert_eq!(task.cancelling(), 0);
        go.open();
        assert_eq!(value(task.await), "the last one gets it");
    });
}

/// Case 43: a task whose handle is dropped at once finishes, or is cancelled with its cleanup.
pub fn case_043_fire_and_forget_does_not_disappear(kitchen: &Kitchen) {
    let (finished, cleaned) = (Gate::new(), Gate::new());
    let (done, after) = (finished.clone(), cleaned.clone());
    kitchen.run(async move {
        let ready = Gate::new();
        let count = done.clone();
        drop(spawn(async move {
            sleep(ms(5)).await;
            count.open();
        }));
        drop(spawn(parked(ready.clone()).finally(async move { after.open() })));
        done.wait().await;
        ready.wait().await;
    });
    assert!(finished.is_open() && cleaned.is_open());
}

/// Case 64: a child that is woken between its push and its first poll is not forgotten.
pub fn case_064_woken_before_the_first_poll(kitchen: &Kitchen) {
    kitchen.run(async {
        let gate = Gate::new();
        let open = gate.clone();
        let mut both = pin!(gather((
            async {
                gate.wait().await;
                Ok::<_, Burnt>(1)
            },
            async {
                open.open();
                Ok::<_, Burnt>(2)
            }
        )));
        assert_eq!(both.as_mut().await, Ok((1, 2)));
    });
}

/// Case 73: a future whose construction panics in a group's body is the body's panic; children are waited for.
pub fn case_073_a_construction_that_panics(kitchen: &Kitchen) {
    fn make() -> std::future::Ready<()> {
        panic!("it cannot even be made")
    }
    kitchen.run(async {
        let probe = Probe::new();
        let item = probe.item();
        let group = TaskGroup::<Burnt>::scope(async move |group| {
            group.spawn(async move {
                let _item = item;
                pending::<Result<(), Burnt>>().await
            });
            group.spawn(make());
            Ok(())
        });
        let errors = group.await.expect_err("the body panicked");
        assert_eq!(errors.iter().count(), 1);
        assert_eq!(probe.dropped(), 1);
    });
}
