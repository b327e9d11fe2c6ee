//! C5, C6, A2, D4, T3: requests that meet in one task.

use crate::conformance::prelude::*;

/// An explicit request whose token is dropped inside another handler interrupts that handler, as it did before.
pub fn law_c5_a_dropped_token_keeps_its_level(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling, finished) = (Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (ready, handling, finished) = (ready.clone(), handling.clone(), finished.clone());
            async move {
                let _first = catch_cancel(parked(ready)).await.expect_err("the first request");
                drop(catch_cancel(parked(handling)).await.expect_err("the second request"));
                yield_now().await;
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

/// A request that is made inside a shield that never suspends is handed back as any other, and waits for the handler
/// around it.
pub fn law_c6_a_request_made_in_a_shield_waits_for_the_handler(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, finished) = (Gate::new(), Gate::new());
        let task = spawn({
            let (ready, finished) = (ready.clone(), finished.clone());
            async move {
                let first = catch_cancel(parked(ready)).await.expect_err("the first request");
                shield(async { current_task().expect("a task").cancel() }).await;
                yield_now().await;
                finished.open();
                first.uncancel();
                Ok::<_, Burnt>(())
            }
        });
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
        assert!(finished.is_open());
    });
}

/// An explicit request that interrupts a handler does not take along a scope's request that waits for it.
pub fn law_c6_an_explicit_request_does_not_take_along_those_that_wait(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling) = (Gate::new(), Gate::new());
        let mover = Arc::new(Mutex::new(None::<Timeout>));
        let task = spawn({
            let (ready, handling, mover) = (ready.clone(), handling.clone(), mover.clone());
            async move {
                let work = Timeout::scope(None, async |timeout: Timeout| {
                    *mover.lock().expect("nobody panics") = Some(timeout);
                    let first = catch_cancel(parked(ready)).await.expect_err("the first request");
                    let second = catch_cancel(parked(handling)).await.expect_err("the second request");
                    second.uncancel();
                    first.uncancel();
                    pending::<()>().await;
                });
                Ok::<_, Burnt>(work.await.is_err())
            }
        });
        ready.wait().await;
        task.cancel();
        handling.wait().await;
        let timeout = mover.lock().expect("nobody panics").clone().expect("the body has begun");
        timeout.reschedule(Instant::now()).expect("it has not expired");
        until(|| timeout.expired()).await;
        task.cancel();
        assert!(value(task.await), "the deadline's request was absorbed by the handler");
    });
}

/// A link is no handler: a deadline that comes later is passed on, too.
pub fn law_c6_a_deadline_does_not_wait_for_a_link(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, again) = (Gate::new(), Gate::new());
        let mover = Arc::new(Mutex::new(None::<Timeout>));
        let task = spawn({
            let (ready, again, mover) = (ready.clone(), again.clone(), mover.clone());
            async move {
                let work = Timeout::scope(None, async |timeout: Timeout| {
                    *mover.lock().expect("nobody panics") = Some(timeout);
                    let child = spawn(async move {
                        catch_cancel(parked(ready)).await.expect_err("the first request").uncancel();
                        parked(again).await
                    });
                    let _ = child.await;
                });
                let _ = work.await;
                Ok::<_, Burnt>(())
            }
        });
        ready.wait().await;
        task.cancel();
        again.wait().await;
        let timeout = mover.lock().expect("nobody panics").clone().expect("the body has begun");
        timeout.reschedule(Instant::now()).expect("it has not expired");
        cancelled(task.await);
    });
}

/// What is absorbed inside a handler does not count any more in the next line, although the handler runs.
pub fn law_t3_a_request_absorbed_in_a_handler_does_not_count(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling) = (Gate::new(), Gate::new());
        let task = spawn({
            let (ready, handling) = (ready.clone(), handling.clone());
            async move {
                let counted = catch_cancel(async move {
                    let first = catch_cancel(parked(ready)).await.expect_err("the first request");
                    catch_cancel(parked(handling)).await.expect_err("the second request").uncancel();
                    let counted = current_task().expect("a task").cancelling();
                    first.uncancel();
                    counted
                });
                Ok::<_, Burnt>(counted.await.expect("both were absorbed inside"))
            }
        });
        ready.wait().await;
        task.cancel();
        handling.wait().await;
        task.cancel();
        assert_eq!(value(task.await), 1);
    });
}

/// A group's own request and a deadline inside it that are due at one suspension point are delivered together.
pub fn law_d4_a_groups_request_unwinds_through_a_deadline(kitchen: &Kitchen) {
    kitchen.run(async {
        let outcome = TaskGroup::scope(async |group: TaskGroup<Burnt>| {
            let _ = timeout(ms(0), async {
                group.cancel();
                pending::<()>().await;
            })
            .await;
            Ok::<_, Burnt>("the deadline has kept the request")
        })
        .await;
        assert!(outcome.expect_err("the group was cancelled").is_cancelled());
    });
}

/// A deadline that is moved to the present hides those inside in the very same poll.
pub fn law_d4_a_deadline_that_is_moved_to_now_expires_outermost(kitchen: &Kitchen) {
    kitchen.run(async {
        let outcome = Timeout::scope(ms(60_000), async |outer: Timeout| {
            outer.reschedule(Instant::now()).expect("it has not expired");
            let _ = timeout(ms(0), pending::<()>()).await;
            "the inner one has expired"
        })
        .await;
        assert!(outcome.is_err());
    });
}

/// A request that a gather inside a gather has met unwinds the outer one, although a shield has postponed it.
pub fn law_a2_a_gather_in_a_gather_around_a_shield_unwinds(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go_on, finished) = (Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (ready, go_on, finished) = (ready.clone(), go_on.clone(), finished.clone());
            async move {
                let guarded = shield(async move {
                    ready.open();
                    go_on.wait().await;
                });
                let inner = async move { gather((guarded,)).await.map(drop) };
                let _ = gather((async move { Ok::<_, Burnt>(inner.await.is_ok()) },)).await;
                finished.open();
                Ok::<_, Burnt>(())
            }
        });
        ready.wait().await;
        task.cancel();
        yield_now().await;
        go_on.open();
        cancelled(task.await);
        assert!(!finished.is_open());
    });
}

/// A deadline in a branch that one of the same instant outside has hidden does not fire as well when the outer one's
/// request is on its way.
pub fn law_d4_equal_deadlines_in_a_branch_expire_outermost(kitchen: &Kitchen) {
    kitchen.run(async {
        let finished = Gate::new();
        let branch = {
            let finished = finished.clone();
            async move {
                let _ = timeout(ms(0), pending::<()>()).await;
                finished.open();
                Ok::<_, Burnt>(())
            }
        };
        assert!(timeout(ms(0), gather((branch,))).await.is_err());
        assert!(!finished.is_open());
    });
}

/// The same around a catch, which gets one request.
pub fn law_d4_equal_deadlines_around_a_catch_expire_outermost(kitchen: &Kitchen) {
    kitchen.run(async {
        let expired = Arc::new(Mutex::new(None));
        let inner = Timeout::scope(ms(0), {
            let expired = expired.clone();
            async move |inner: Timeout| {
                let token = catch_cancel(pending::<()>()).await.expect_err("the outer deadline");
                *expired.lock().expect("nobody panics") = Some(inner.expired());
                token.resume().await
            }
        });
        assert!(timeout(ms(0), inner).await.is_err());
        assert_eq!(*expired.lock().expect("nobody panics"), Some(false));
    });
}

/// Of two deadlines that are moved to one instant in one poll the outer one expires, in whatever order they are moved.
pub fn law_d4_two_deadlines_that_are_moved_to_now_expire_outermost(kitchen: &Kitchen) {
    kitchen.run(async {
        let outcome = Timeout::scope(ms(60_000), async |outer: Timeout| {
            let work = Timeout::scope(ms(60_000), async |inner: Timeout| {
                let now = Instant::now();
                inner.reschedule(now).expect("it has not expired");
                outer.reschedule(now).expect("it has not expired");
                pending::<()>().await;
            });
            let _ = work.await;
            "the inner one has expired"
        })
        .await;
        assert!(outcome.is_err());
    });
}

/// A request that is absorbed inside a handler has gone: the catch around that handler gets only the one that is resumed.
pub fn law_c6_a_request_absorbed_in_a_handler_does_not_go_on(kitchen: &Kitchen) {
    kitchen.run(async {
        let task = spawn(async {
            let work = timeout(ms(0), async {
                let around = catch_cancel(async {
                    let token = catch_cancel(pending::<()>()).await.expect_err("the deadline");
                    current_task().expect("a task").cancel();
                    catch_cancel(pending::<()>()).await.expect_err("the explicit request").uncancel();
                    token.resume().await
                });
                let _ = around.await;
            });
            Ok::<_, Burnt>(work.await.is_ok())
        });
        assert!(value(task.await), "the handler gave its value before the deadline's request came back");
    });
}

/// A deadline that waits for a handler in a gather inside a gather has not been delivered: the results come first.
pub fn law_c6_a_request_that_waits_for_a_handler_in_gathers_has_met_nobody(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling, go_on, finished) = (Gate::new(), Gate::new(), Gate::new(), Gate::new());
        let mover = Arc::new(Mutex::new(None::<Timeout>));
        let task = spawn({
            let (ready, handling, go_on) = (ready.clone(), handling.clone(), go_on.clone());
            let (finished, mover) = (finished.clone(), mover.clone());
            async move {
                let branch = async move {
                    let token = catch_cancel(parked(ready)).await.expect_err("the first request");
                    handling.open();
                    go_on.wait().await;
                    token.uncancel();
                    Ok::<_, Burnt>(())
                };
                let work = Timeout::scope(None, async |timeout: Timeout| {
                    *mover.lock().expect("nobody panics") = Some(timeout);
                    let inner = async move { gather((branch,)).await.map(drop) };
                    let _ = gather((inner,)).await;
                    finished.open();
                });
                Ok::<_, Burnt>(work.await.is_ok())
            }
        });
        ready.wait().await;
        task.cancel();
        handling.wait().await;
        let timeout = mover.lock().expect("nobody panics").clone().expect("the body has begun");
        timeout.reschedule(Instant::now()).expect("it has not expired");
        until(|| timeout.expired()).await;
        go_on.open();
        assert!(value(task.await), "the gathers had their results before the deadline's request was due");
        assert!(finished.is_open());
    });
}
