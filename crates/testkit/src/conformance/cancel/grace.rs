//! C13: the grace of timeouts, groups and catches.

use crate::conformance::prelude::*;

/// A timeout with a grace returns at its end, whatever still runs inside.
pub fn law_c13_a_timeout_ends_with_its_grace(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let probe = Probe::new();
        let item = probe.item();
        let stubborn = shield(async move {
            let _item = item;
            pending::<()>().await;
        });
        assert!(timeout(ms(10), stubborn).grace(ms(20)).await.is_err());
        clock.expect(30);
        assert_eq!(probe.dropped(), 1);
    });
}

/// What ends within the grace is not disturbed.
pub fn law_c13_what_ends_within_the_grace_is_left_alone(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let words = log.clone();
        let cleans = pending::<Result<(), Burnt>>().finally(async move {
            sleep(ms(10)).await;
            words.add("clean");
        });
        assert!(timeout(ms(10), cleans).grace(ms(60_000)).await.is_err());
        log.add("timed out");
    });
    trace.expect(&[(20, "clean"), (20, "timed out")]);
}

/// A group with a grace aborts the children that are left, and names them.
pub fn law_c13_a_group_ends_with_its_grace(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let clock = kitchen.clock();
    let kind = Slot::new();
    let slot = kind.clone();
    shift.run(async move {
        let group = TaskGroup::<Burnt>::builder().grace(ms(20)).scope(async |group| {
            let ready = Gate::new();
            let stubborn = group.spawn(shield(parked(ready.clone())));
            stubborn.set_name("stubborn child");
            ready.wait().await;
            drop(spawn(async move { slot.put(cancelled(stubborn.await).kind()) }));
            yield_now().await;
            Err::<(), _>(Burnt("body"))
        });
        assert_eq!(group.await.expect_err("the body failed").iter().count(), 1);
        clock.expect(20);
        until(|| kind.take().is_some_and(|kind| kind == CancelKind::Aborted)).await;
    });
    let told = shift.warnings().iter().any(|warning| warning.contains("stubborn child"));
    assert!(told, "nobody named it: {:?}", shift.warnings());
}

/// A task that is awaited inside is aborted with the grace of the scope around, and named.
pub fn law_c13_awaited_tasks_are_aborted_and_named(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run(async {
        let ready = Gate::new();
        let stubborn = Builder::new().name("stubborn task").spawn(shield(parked(ready.clone())));
        let watch = stubborn.to_ref();
        ready.wait().await;
        assert!(timeout(ms(5), stubborn).grace(ms(10)).await.is_err());
        watch.finished().await;
        assert!(watch.cancelled());
    });
    let told = shift.warnings().iter().any(|warning| warning.contains("stubborn task"));
    assert!(told, "nobody named it: {:?}", shift.warnings());
}

/// A catch with a grace gives its token at the end of it.
pub fn law_c13_a_catch_ends_with_its_grace(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let (gate, words) = (ready.clone(), log.clone());
        let task = spawn(async move {
            let caught = catch_cancel(shield(parked(gate))).grace(ms(20)).await;
            words.add("token");
            caught.expect_err("it is cancelled").uncancel();
            yield_now().await;
            Ok::<_, Burnt>("goes on")
        });
        ready.wait().await;
        task.cancel();
        assert_eq!(value(task.await), "goes on");
    });
    trace.expect(&[(20, "token")]);
}

/// A request that was absorbed gives the next one a grace of its own.
pub fn law_c13_each_request_has_its_own_grace(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let (first, second) = (Gate::new(), Gate::new());
        let (gates, passed) = ((first.clone(), second.clone()), Gate::new());
        let after = passed.clone();
        let task = spawn(async move {
            let body = async move {
                catch_cancel(parked(gates.0)).await.expect_err("the first request").uncancel();
                sleep(ms(30)).await;
                after.open();
                shield(parked(gates.1)).await
            };
            timeout(None::<Duration>, body).grace(ms(20)).await.map_err(|_| Burnt("never"))?
        });
        first.wait().await;
        task.cancel();
        second.wait().await;
        assert!(passed.is_open(), "the first grace ended the second wait");
        clock.expect(30);
        task.cancel();
        cancelled(task.await);
        clock.expect(50);
    });
}
