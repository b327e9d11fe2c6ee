//! C13, C14, C15, C16: grace, abort, reasons, and futures that are dropped from outside.

use crate::conformance::prelude::*;

/// After the runtime's grace, what is left is aborted and named in a warning.
pub fn law_c13_the_runtimes_grace_ends_the_stubborn(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let probe = Probe::new();
    let item = probe.item();
    let options = RunOptions::new().grace(ms(30));
    let outcome = shift.outcome(options, async move {
        let ready = Gate::new();
        let gate = ready.clone();
        drop(Builder::new().name("stubborn").spawn(async move {
            let _item = item;
            shield(parked(gate)).await
        }));
        ready.wait().await;
    });
    value(outcome);
    assert_eq!(probe.dropped(), 1);
    let told = shift.warnings().iter().any(|warning| warning.contains("stubborn"));
    assert!(told, "nobody named it: {:?}", shift.warnings());
}

/// Within the grace, handlers have the time that they need.
pub fn law_c13_handlers_have_the_grace(kitchen: &Kitchen) {
    let cleaned = Gate::new();
    let after = cleaned.clone();
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        drop(spawn(parked(ready.clone()).finally(async move {
            sleep(ms(50)).await;
            log.add("cleaned");
            after.open();
        })));
        ready.wait().await;
    });
    assert!(cleaned.is_open());
    trace.expect(&[(50, "cleaned")]);
}

/// `abort()` drops the future where it is, without handlers, and the kind is `Aborted`.
pub fn law_c14_abort_runs_no_handler(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handled, probe) = (Gate::new(), Gate::new(), Probe::new());
        let (gate, flag, item) = (ready.clone(), handled.clone(), probe.item());
        let task = spawn(async move {
            let _item = item;
            let token = catch_cancel(parked(gate)).await.expect_err("never");
            flag.open();
            token.resume().await
        });
        ready.wait().await;
        task.abort();
        assert_eq!(cancelled::<Never, Infallible>(task.await).kind(), CancelKind::Aborted);
        assert!(!handled.is_open());
        assert_eq!(probe.dropped(), 1, "the drop is over before any waiter sees the outcome");
    });
}

/// Abort ends a shield and a running handler, which a request does not.
pub fn law_c14_abort_ends_shields_and_handlers(kitchen: &Kitchen) {
    kitchen.run(async {
        let (entered, ready) = (Gate::new(), Gate::new());
        let shielded = spawn(shield(parked(ready.clone())));
        let handling = spawn({
            let (entered, ready) = (entered.clone(), ready.clone());
            async move {
                let _token = catch_cancel(parked(entered)).await.expect_err("it is cancelled");
                shield(parked(ready)).await
            }
        });
        entered.wait().await;
        handling.cancel();
        ready.reached(2).await;
        shielded.abort();
        handling.abort();
        assert_eq!(cancelled(shielded.await).kind(), CancelKind::Aborted);
        cancelled(handling.await);
    });
}

/// Every waiter and callback sees an aborted task only after its future is gone.
pub fn law_c14_the_drop_is_over_before_anybody_sees_it(kitchen: &Kitchen) {
    kitchen.run(async {
        for _ in 0..ROUNDS / 10 {
            let (ready, probe) = (Gate::new(), Probe::new());
            let (gate, item) = (ready.clone(), probe.item());
            let task = spawn(async move {
                let _item = item;
                parked(gate).await
            });
            let ledger = probe.clone();
            let called = Gate::new();
            let count = called.clone();
            task.on_done(move |_| {
                assert_eq!(ledger.dropped(), 1);
                count.open();
            });
            ready.wait().await;
            task.abort();
            task.finished().await;
            assert_eq!(probe.dropped(), 1);
            called.wait().await;
        }
    });
}

/// A reason tells kind, text and the line of the call.
pub fn law_c15_reason_kind_text_and_location(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()));
        ready.wait().await;
        let line = line!() + 1;
        task.cancel_with("closing time");
        let reason = cancelled(task.await);
        assert_eq!((reason.kind(), reason.text()), (CancelKind::Explicit, Some("closing time")));
        assert_eq!((reason.location().file(), reason.location().line()), (file!(), line));
    });
}

/// The first reason is the one that is reported, also along a chain of links.
pub fn law_c15_the_first_reason_is_reported(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let ready = Gate::new();
        let task = spawn_local(parked(ready.clone()));
        ready.wait().await;
        task.cancel_with("first");
        task.cancel_with("second");
        assert_eq!(cancelled(task.await).text(), Some("first"));

        let (ready, waiting) = (Gate::new(), Gate::new());
        let child = spawn_local(parked(ready.clone()));
        let watch = child.to_ref();
        let seen = Slot::new();
        let slot = seen.clone();
        watch.on_done(move |child| slot.put(child.cancelled()));
        let waiter =
            spawn_local(counting(waiting.clone(), async move { child.await.map_err(|_| Burnt("no")) }));
        ready.wait().await;
        waiting.wait().await;
        waiter.cancel_with("from above");
        assert_eq!(cancelled(waiter.await).text(), Some("from above"));
        assert_eq!(seen.take(), Some(true));
    });
}

/// Each maker of requests has its kind.
pub fn law_c15_every_maker_has_its_kind(kitchen: &Kitchen) {
    async fn kind_of<F: Future>(future: F) -> CancelKind {
        let token = catch_cancel(future).await.err().expect("it is cancelled");
        let kind = token.reason().kind();
        token.uncancel();
        kind
    }
    kitchen.run(async {
        let deadline = timeout(ms(1), kind_of(pending::<()>())).await;
        assert_eq!(deadline.expect("a value after the expiry"), CancelKind::Deadline);

        let (seen, ready) = (Slot::new(), Gate::new());
        let (slot, gate) = (seen.clone(), ready.clone());
        let group = TaskGroup::<Burnt>::scope(async move |group| {
            group.spawn({
                let gate = gate.clone();
                async move { slot.put(kind_of(parked(gate)).await) }
            });
            gate.wait().await;
            Err::<(), _>(Burnt("sibling"))
        });
        assert!(group.await.is_err());
        assert_eq!(seen.take(), Some(CancelKind::SiblingFailed));

        let (slot, ready) = (seen.clone(), Gate::new());
        let group = TaskGroup::<Burnt>::scope(async move |group| {
            group.spawn({
                let gate = ready.clone();
                async move { slot.put(kind_of(parked(gate)).await) }
            });
            ready.wait().await;
            group.cancel();
            Ok(())
        });
        drop(group.await);
        assert_eq!(seen.take(), Some(CancelKind::GroupCancelled));
    });
}

/// At the end of main the kind is `Shutdown`.
pub fn law_c15_the_shutdown_has_its_kind(kitchen: &Kitchen) {
    let seen = Slot::new();
    let slot = seen.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        drop(spawn({
            let ready = ready.clone();
            async move {
                let token = catch_cancel(parked(ready)).await.expect_err("main ends");
                slot.put(token.reason().kind());
                token.resume().await
            }
        }));
        ready.wait().await;
    });
    assert_eq!(seen.take(), Some(CancelKind::Shutdown));
}

/// The requester is named, if it is a task.
pub fn law_c15_the_requester_is_named(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()));
        let remote = task.to_ref();
        ready.wait().await;
        let maker = Builder::new().name("manager").spawn(async move {
            remote.cancel();
        });
        let id = maker.id();
        value(maker.await);
        let reason = cancelled(task.await);
        let (requester, name) = reason.requester().expect("a task asked");
        assert_eq!((requester, &*name), (id, "manager"));
    });
}

/// A linked await that is dropped from outside cancels its task, which the root adopts and waits for.
pub fn law_c16_a_dropped_link_cancels_and_is_waited_for(kitchen: &Kitchen) {
    let (gate, cleaned) = (Gate::new(), Gate::new());
    let (after, cleaning) = (cleaned.clone(), cleaned.clone());
    kitchen.run(async move {
        let child = spawn(parked(gate.clone()).finally(async move {
            sleep(ms(30)).await;
            after.open();
        }));
        let reference = child.to_ref();
        {
            let mut join = pin!(child.into_future());
            assert!(poll_once(join.as_mut()).await.is_pending());
            gate.wait().await;
        }
        // At once, and not only by the shutdown.
        assert_eq!(reference.state(), TaskState::Cancelling);
        assert!(!cleaning.is_open(), "nothing blocks in the drop");
    });
    assert!(cleaned.is_open(), "the run waits for what was adopted");
}

/// A group inside a future that a foreign `select` drops: its children are cancelled at once and waited for.
pub fn law_c16_children_of_a_dropped_group_are_adopted(kitchen: &Kitchen) {
    let (ready, cleaned) = (Gate::new(), Gate::new());
    let (gate, after) = (ready.clone(), cleaned.clone());
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let child_gate = gate.clone();
        let words = log.clone();
        let group = async move {
            let group = TaskGroup::<Burnt>::scope(async move |group| {
                group.spawn(parked(child_gate).finally(async move {
                    words.add("child cleans up");
                    sleep(ms(30)).await;
                    words.add("child is clean");
                    after.open();
                }));
                pending::<Result<(), Burnt>>().await
            });
            drop(group.await);
        };
        futures_lite::future::or(group, gate.wait()).await;
        until(|| !log.words().is_empty()).await;
    });
    assert!(cleaned.is_open());
    trace.expect(&[(0, "child cleans up"), (30, "child is clean")]);
}
