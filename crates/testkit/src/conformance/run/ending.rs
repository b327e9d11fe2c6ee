//! R1, R2, R5: how a run ends.

use crate::conformance::prelude::*;

/// `run` returns main's outcome, whichever of the four it is.
pub fn law_r1_mains_outcome_is_returned(kitchen: &Kitchen) {
    let options = RunOptions::new;
    assert_eq!(value(kitchen.open().outcome(options(), async { Ok::<_, Burnt>(1) })), 1);
    assert_eq!(
        failed(kitchen.open().outcome(options(), async { Err::<(), _>(Burnt("main")) })),
        Burnt("main")
    );
    let panics = async { panic!("main burns") };
    let panic = panicked(kitchen.open().outcome(options(), panics).map(drop));
    assert_eq!((panic.message(), panic.task_name()), ("main burns", "main"));
    let cancels_itself = async {
        current_task().expect("inside a task").cancel_with("enough");
        pending::<Result<(), Burnt>>().await
    };
    assert_eq!(cancelled(kitchen.open().outcome(options(), cancels_itself)).text(), Some("enough"));
}

/// When main ends, the tasks of the root are cancelled and waited for.
pub fn law_r1_the_shutdown_cancels_and_waits(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        for (millis, word) in [(20, "second"), (10, "first")] {
            let words = log.clone();
            drop(spawn(parked(ready.clone()).finally(async move {
                sleep(ms(millis)).await;
                words.add(word);
            })));
        }
        ready.reached(2).await;
        log.add("main ends");
    });
    trace.expect(&[(0, "main ends"), (10, "first"), (20, "second")]);
}

/// A task that has not started when main ends never starts.
pub fn law_r1_unstarted_tasks_never_start(kitchen: &Kitchen) {
    let (ran, probe) = (Gate::new(), Probe::new());
    let (flag, item) = (ran.clone(), probe.item());
    kitchen.run_local(async move {
        drop(spawn_local(async move {
            let _item = item;
            flag.open();
        }));
    });
    assert!(!ran.is_open());
    assert_eq!(probe.dropped(), 1);
}

/// Children of groups are cancelled by their groups, not by the root.
pub fn law_r1_children_are_cancelled_by_their_groups(kitchen: &Kitchen) {
    let seen = Slot::new();
    let slot = seen.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let gate = ready.clone();
        drop(spawn(async move {
            let group = TaskGroup::<Burnt>::scope(async move |group| {
                group.spawn(async move {
                    let token = catch_cancel(parked(gate)).await.expect_err("the group ends");
                    slot.put(token.reason().kind());
                    token.resume().await
                });
                Ok(())
            });
            group.await.map_err(|_| Burnt("group"))
        }));
        ready.wait().await;
    });
    assert_eq!(seen.take(), Some(CancelKind::ParentCancelled));
}

/// Main's error comes out although a leftover fails in its cleanup, and that one is reported.
pub fn law_r1_leftover_failures_are_reported(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let outcome = shift.outcome(RunOptions::new(), async {
        let ready = Gate::new();
        drop(spawn(parked(ready.clone()).finally(async { Err::<(), _>(Burnt("leftover")) })));
        ready.wait().await;
        Err::<(), _>(Burnt("main"))
    });
    assert_eq!(failed(outcome), Burnt("main"));
    let reports = shift.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].message.contains("leftover"));
}

/// A failing main shuts down like any other.
pub fn law_r1_a_panicking_main_shuts_down(kitchen: &Kitchen) {
    let probe = Probe::new();
    let item = probe.item();
    let shift = kitchen.open();
    let outcome = shift.outcome(RunOptions::new(), async move {
        let ready = Gate::new();
        let gate = ready.clone();
        drop(spawn(async move {
            let _item = item;
            parked(gate).await
        }));
        ready.wait().await;
        panic!("main burns")
    });
    panicked(outcome.map(drop));
    assert_eq!(probe.dropped(), 1);
}

/// A local main need not be `Send`.
pub fn law_r2_a_local_main_need_not_be_send(kitchen: &Kitchen) {
    let cell = std::rc::Rc::new(std::cell::Cell::new(0));
    let shared = cell.clone();
    kitchen.run_local(async move {
        for n in 1..=3 {
            shared.set(shared.get() + n);
            yield_now().await;
        }
    });
    assert_eq!(cell.get(), 6);
}

/// What a signal does: main is cancelled with kind `Signal`, and its cleanup runs.
pub fn law_r2_a_signal_cancels_main(kitchen: &Kitchen) {
    let (main, cleaned) = (Slot::<TaskRef>::new(), Gate::new());
    let (slot, after) = (main.clone(), cleaned.clone());
    let options = RunOptions::new().on_start(move |task| slot.put(task.clone()));
    let outcome = kitchen.open().outcome(options, async move {
        let main = main.take().expect("main is known from its start");
        assert_eq!(&*main.name(), "main");
        drop(spawn(async move {
            main.request(scope::Level::Hard, CancelReason::new(CancelKind::Signal));
        }));
        pending::<Result<(), Burnt>>().finally(async move { after.open() }).await
    });
    assert_eq!(cancelled(outcome).kind(), CancelKind::Signal);
    assert!(cleaned.is_open());
}

/// What a second signal does: the grace ends at once.
pub fn law_r2_a_second_signal_ends_the_grace(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let handle = shift.handle.clone();
    let probe = Probe::new();
    let item = probe.item();
    let real = std::time::Instant::now();
    let outcome = shift.outcome(RunOptions::new().grace(Duration::from_secs(3600)), async move {
        let ready = Gate::new();
        let gate = ready.clone();
        drop(spawn(async move {
            let _item = item;
            shield(parked(gate)).await
        }));
        drop(spawn(parked(ready.clone()).finally(async move { handle.end_grace() })));
        ready.reached(2).await;
    });
    value(outcome);
    assert_eq!(probe.dropped(), 1);
    assert!(real.elapsed() < Duration::from_secs(600));
}

/// A task spawned into the root during shutdown is cancelled before its first poll.
pub fn law_r5_spawned_during_shutdown(kitchen: &Kitchen) {
    let (ran, outcome) = (Gate::new(), Slot::new());
    let (flag, slot) = (ran.clone(), outcome.clone());
    kitchen.run(async move {
        let ready = Gate::new();
        drop(spawn(parked(ready.clone()).finally(async move {
            let late = spawn(async move {
                flag.open();
                Ok::<_, Burnt>(())
            });
            slot.put(cancelled(late.await).kind());
        })));
        ready.wait().await;
    });
    assert_eq!(outcome.take(), Some(CancelKind::Shutdown));
    assert!(!ran.is_open());
}

/// Groups opened by handlers during shutdown still work, with all their children.
pub fn law_r5_groups_work_during_shutdown(kitchen: &Kitchen) {
    let sum = Slot::new();
    let slot = sum.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        drop(spawn(parked(ready.clone()).finally(async move {
            let group = TaskGroup::<Burnt>::scope(async |group| {
                let tasks: Vec<_> = (1..=3)
                    .map(|n| {
                        group.spawn(async move {
                            sleep(ms(n)).await;
                            Ok(n)
                        })
                    })
                    .collect();
                let mut sum = 0;
                for task in tasks {
                    sum += task.await.map_err(|_| Burnt("child"))?;
                }
                Ok(sum)
            });
            slot.put(group.await.ok());
        })));
        ready.wait().await;
    });
    assert_eq!(sum.take(), Some(Some(6)));
}

/// An endless chain of tasks that spawn in their cleanups ends.
pub fn law_r5_the_shutdown_always_ends(kitchen: &Kitchen) {
    fn respawn(ready: Gate) -> Pin<Box<dyn Future<Output = Result<(), Burnt>> + Send>> {
        Box::pin(parked(ready).finally(async {
            drop(spawn(respawn(Gate::new())));
        }))
    }
    let shift = kitchen.open();
    value(shift.outcome(RunOptions::new().grace(ms(50)), async {
        let ready = Gate::new();
        drop(spawn(respawn(ready.clone())));
        ready.wait().await;
    }));
}

/// Drop code that uses the runtime during shutdown gets answers, not panics.
pub fn law_r5_destructors_may_use_the_runtime(kitchen: &Kitchen) {
    struct Nosy(Slot<bool>);
    impl Drop for Nosy {
        fn drop(&mut self) {
            let task = spawn(async { Ok::<_, Burnt>(()) });
            let job = spawn_blocking(|| Ok::<_, Burnt>(()));
            drop(sleep(ms(1)));
            drop(all_tasks());
            self.0.put(task.cancelled() || !task.done());
            drop(job);
        }
    }
    let seen = Slot::new();
    let nosy = Nosy(seen.clone());
    kitchen.run(async move {
        let ready = Gate::new();
        let gate = ready.clone();
        drop(spawn(async move {
            let _nosy = nosy;
            parked(gate).await
        }));
        ready.wait().await;
    });
    assert_eq!(seen.take(), Some(true));
}
