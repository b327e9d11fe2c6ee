//! G4, G7: spawning into a group, and what is left of its children.

use crate::conformance::prelude::*;

/// Children spawn siblings, also while the group waits at its end.
pub fn law_g4_children_spawn_while_the_group_waits(kitchen: &Kitchen) {
    kitchen.run(async {
        let ran = Gate::new();
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (handle, ran) = (group.clone(), ran.clone());
            group.spawn(async move {
                sleep(ms(5)).await;
                let deeper = handle.clone();
                let count = ran.clone();
                handle.spawn(async move {
                    deeper.spawn(async move { ran.open() });
                    count.open();
                });
            });
            Ok(())
        });
        group.await.expect("nobody fails");
        assert_eq!(ran.count(), 2);
    });
}

/// On a finished group `try_spawn` gives the future back, and `spawn` a task that is cancelled already.
pub fn law_g4_a_finished_group_refuses(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run(async {
        let handle = TaskGroup::<Burnt>::scope(async |group| Ok(group)).await.expect("nobody fails");
        let (probe, ran) = (Probe::new(), Gate::new());
        let (item, flag) = (probe.item(), ran.clone());
        let refused = handle.try_spawn(async move {
            let _item = item;
            flag.open();
        });
        assert!(refused.is_err());
        assert_eq!(probe.alive(), 1, "the future is in the error");
        drop(refused);
        let (item, flag) = (probe.item(), ran.clone());
        let task = handle.spawn(async move {
            let _item = item;
            flag.open();
        });
        assert!(task.done());
        assert_eq!(cancelled(task.await).kind(), CancelKind::GroupClosed);
        assert_eq!(probe.dropped(), 2);
        assert!(!ran.is_open());
    });
    assert!(!shift.warnings().is_empty(), "a refused spawn warns");
}

/// A cancelled group refuses as well, from inside its children's handlers.
pub fn law_g4_a_cancelled_group_refuses(kitchen: &Kitchen) {
    kitchen.run(async {
        let refused = Slot::new();
        let slot = refused.clone();
        let group = TaskGroup::<Burnt>::scope(async move |group| {
            let ready = Gate::new();
            let (handle, gate) = (group.clone(), ready.clone());
            group.spawn(async move {
                let token = catch_cancel(parked(gate)).await.expect_err("the body fails");
                slot.put(handle.try_spawn(async {}).is_err());
                token.resume().await
            });
            ready.wait().await;
            Err::<(), _>(Burnt("body"))
        });
        assert!(group.await.is_err());
        assert_eq!(refused.take(), Some(true));
    });
}

/// A child that was spawned and not yet started when the group is cancelled never runs.
pub fn law_g4_an_unstarted_child_never_runs(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let ran = Gate::new();
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let ran = ran.clone();
            let child = group.spawn_local(async move { ran.open() });
            group.cancel();
            cancelled(child.await);
            Ok(())
        });
        drop(group.await);
        assert!(!ran.is_open());
    });
}

/// Children that borrow nothing may be `!Send` with `spawn_local`.
pub fn law_g4_local_children(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let shared = std::rc::Rc::new(std::cell::Cell::new(0));
        let group = TaskGroup::<Burnt>::scope(async |group| {
            for n in 1..=3 {
                let shared = shared.clone();
                group.spawn_local(async move {
                    yield_now().await;
                    shared.set(shared.get() + n);
                });
            }
            Ok(())
        });
        group.await.expect("nobody fails");
        assert_eq!(shared.get(), 6);
    });
}

/// A finished child leaves nothing behind: its future, its value and its captures are gone at once.
pub fn law_g7_a_finished_child_leaves_nothing(kitchen: &Kitchen) {
    kitchen.run(async {
        let probe = Probe::new();
        let group = TaskGroup::<Burnt>::scope(async |group| {
            for _ in 0..ROUNDS {
                let (capture, output) = (probe.item(), probe.item());
                let child = group.spawn(async move {
                    let _capture = capture;
                    yield_now().await;
                    Ok(output)
                });
                let watch = child.to_ref();
                drop(child);
                watch.finished().await;
                drop(watch);
            }
            until(|| probe.alive() == 0).await;
            assert_eq!(all_tasks().len(), 1);
            Ok(())
        });
        group.await.expect("nobody fails");
        assert_eq!(probe.created(), 2 * ROUNDS);
    });
}

/// The group does not hold a finished child's value back while its handle is alive elsewhere.
pub fn law_g7_values_belong_to_the_handles(kitchen: &Kitchen) {
    kitchen.run(async {
        let probe = Probe::new();
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let item = probe.item();
            let child = group.spawn(async move { Ok(item) });
            child.finished().await;
            assert_eq!(probe.alive(), 1);
            value(child.await).deliver();
            assert_eq!(probe.alive(), 0);
            Ok(())
        });
        group.await.expect("nobody fails");
    });
}
