//! C9, C17: neither a request nor a value is ever lost.

use crate::conformance::prelude::*;
use futures_lite::future::or;

/// A foreign `select` drops the receiver whose handler runs: the request comes back.
pub fn law_c9_a_foreign_select_drops_the_handler(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling, go, passed) = (Gate::new(), Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (ready, handling, go, passed) = (ready.clone(), handling.clone(), go.clone(), passed.clone());
            async move {
                let slow = async {
                    let _token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                    parked(handling).await
                };
                let quick = async {
                    go.wait().await;
                    Ok(())
                };
                or(slow, quick).await?;
                yield_now().await;
                passed.open();
                Ok::<_, Burnt>(())
            }
        });
        ready.wait().await;
        task.cancel();
        handling.wait().await;
        go.open();
        cancelled(task.await);
        assert!(!passed.is_open(), "the request was lost");
    });
}

/// The receiver is dropped in the very turn in which the request is delivered to it.
pub fn law_c9_a_receiver_is_dropped_with_the_request_in_hand(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let (ready, go, passed) = (Gate::new(), Gate::new(), Gate::new());
        let task = spawn_local({
            let (ready, go, passed) = (ready.clone(), go.clone(), passed.clone());
            async move {
                let quick = async {
                    go.wait().await;
                    Ok(())
                };
                let caught = async {
                    catch_cancel(parked(ready)).await.map_err(|token| {
                        token.uncancel();
                        Burnt("handled")
                    })?
                };
                or(quick, caught).await?;
                yield_now().await;
                passed.open();
                Ok::<_, Burnt>(())
            }
        });
        ready.wait().await;
        go.open();
        task.cancel();
        let outcome = task.await;
        assert!(matches!(outcome, Err(TaskError::Cancelled(_))), "{outcome:?}");
        assert!(!passed.is_open(), "the request was lost");
    });
}

/// A linked await that gives the child's value hands the request back to the task, not to the timeout around it.
pub fn law_c9_handed_back_to_the_scope_it_was_aimed_at(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, waiting, passed) = (Gate::new(), Gate::new(), Gate::new());
        let child = spawn({
            let ready = ready.clone();
            async move {
                catch_cancel(parked(ready)).await.expect_err("it is cancelled").uncancel();
                Ok::<_, Burnt>(1)
            }
        });
        let after = passed.clone();
        let task = spawn(counting(waiting.clone(), async move {
            let inside = timeout(None::<Duration>, child).await.expect("no deadline");
            assert_eq!(value(inside), 1);
            yield_now().await;
            after.open();
            Ok::<_, Burnt>(())
        }));
        ready.wait().await;
        waiting.wait().await;
        task.cancel();
        cancelled(task.await);
        assert!(!passed.is_open());
    });
}

/// Only the scope that made a request to itself withdraws it when it completes.
pub fn law_c9_an_expired_timeout_takes_its_request_along(kitchen: &Kitchen) {
    kitchen.run(async {
        let timed = timeout(
            ms(5),
            shield(async {
                sleep(ms(20)).await;
                "finished anyway"
            }),
        );
        assert_eq!(timed.await.expect("a value after the expiry is returned"), "finished anyway");
        for _ in 0..3 {
            yield_now().await;
        }
        assert_eq!(current_task().expect("main is a task").cancelling(), 0);
    });
}

/// A token that is carried out of its scope inside a value settles the enclosing scope.
pub fn law_c9_a_token_carried_out_still_settles(kitchen: &Kitchen) {
    kitchen.run(async {
        for absorb in [true, false] {
            let ready = Gate::new();
            let gate = ready.clone();
            let task = spawn(async move {
                let timed = timeout(None::<Duration>, catch_cancel(parked(gate))).await;
                let token = timed.expect("no deadline").expect_err("it is cancelled");
                turns(3).await;
                if absorb {
                    token.uncancel();
                }
                yield_now().await;
                Ok::<_, Burnt>("absorbed outside")
            });
            ready.wait().await;
            task.cancel();
            if absorb {
                assert_eq!(value(task.await), "absorbed outside");
            } else {
                cancelled(task.await);
            }
        }
    });
}

/// A token that is resumed in another task, where its scope no longer exists, cancels that one.
pub fn law_c9_a_token_resumed_elsewhere_cancels_there(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, carried) = (Gate::new(), Slot::new());
        let (gate, slot) = (ready.clone(), carried.clone());
        let task = spawn(async move {
            slot.put(catch_cancel(parked(gate)).await.expect_err("it is cancelled"));
            Ok::<_, Burnt>(())
        });
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
        let token: Cancelled = carried.take().expect("the first task left it here");
        let other = spawn(async move { token.resume().await });
        cancelled::<Never, Infallible>(other.await);
    });
}

/// A scope that completes although its handler still runs elsewhere in it hands the request back.
pub fn law_c9_a_scope_that_completes_first_hands_back(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling, go) = (Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (ready, handling, go) = (ready.clone(), handling.clone(), go.clone());
            async move {
                let scope = catch_cancel(async {
                    let slow = async {
                        let _token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                        drop(parked(handling).await);
                    };
                    or(slow, go.wait()).await;
                    "completed"
                });
                assert_eq!(scope.await.expect("the outer catch was not asked"), "completed");
                let token = catch_cancel(pending::<()>()).await.expect_err("the request is still there");
                token.uncancel();
                Ok::<_, Burnt>(())
            }
        });
        ready.wait().await;
        task.cancel();
        handling.wait().await;
        go.open();
        value(task.await);
    });
}

/// Two handlers that absorb in one scope leave nothing behind: the task runs to its end.
pub fn law_c9_an_absorbed_request_does_not_come_back(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let task = spawn(async move {
            let timed = timeout(ms(10_000), async {
                catch_cancel(parked(gate)).await.expect_err("it is cancelled").uncancel();
                yield_now().await;
            });
            timed.await.expect("in time");
            for _ in 0..5 {
                yield_now().await;
            }
            Ok::<_, Burnt>("through")
        });
        ready.wait().await;
        task.cancel();
        assert_eq!(value(task.await), "through");
    });
}

/// However a result and a request race, the value is delivered or dropped, once.
pub fn law_c17_created_is_delivered_plus_dropped(kitchen: &Kitchen) {
    let probe = Probe::new();
    let ledger = probe.clone();
    kitchen.run(async move {
        for round in 0..ROUNDS {
            let (go, item) = (Gate::new(), ledger.item());
            let maker = spawn({
                let go = go.clone();
                async move {
                    go.wait().await;
                    Ok::<_, Burnt>(item)
                }
            });
            let taker = spawn(async move {
                let item = maker.await.map_err(|_| Burnt("none"))?;
                item.deliver();
                Ok::<_, Burnt>(())
            });
            let remote = taker.to_ref();
            let canceller = spawn(async move {
                turns(round % 4).await;
                remote.cancel();
            });
            go.open();
            taker.finished().await;
            value(canceller.await);
            drop(taker.await);
        }
    });
    assert_eq!(probe.created(), ROUNDS);
    assert!(probe.is_balanced(), "{} delivered, {} dropped", probe.delivered(), probe.dropped());
}

/// The same with a deadline that comes when the value does.
pub fn law_c17_a_deadline_loses_no_value(kitchen: &Kitchen) {
    let probe = Probe::new();
    let ledger = probe.clone();
    let rounds = ROUNDS / 10;
    kitchen.run(async move {
        for _ in 0..rounds {
            let item = ledger.item();
            let acquire = async move {
                sleep(ms(2)).await;
                item
            };
            if let Ok(item) = timeout(ms(2), acquire).await {
                item.deliver();
            }
        }
    });
    assert_eq!(probe.created(), rounds);
    assert!(probe.is_balanced(), "{} delivered, {} dropped", probe.delivered(), probe.dropped());
}
