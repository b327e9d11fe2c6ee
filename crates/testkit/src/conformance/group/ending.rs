//! G1, G2: what a group returns, and when.

use crate::conformance::prelude::*;

/// The body's value, after every child has ended.
pub fn law_g1_the_bodys_value_after_all_children(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let words = log.clone();
        let group = TaskGroup::<Burnt>::scope(async |group| {
            for (millis, word) in [(20, "second"), (10, "first")] {
                let words = words.clone();
                group.spawn(async move {
                    sleep(ms(millis)).await;
                    words.add(word);
                });
            }
            words.add("body");
            Ok("value")
        });
        assert_eq!(group.await.expect("nobody fails"), "value");
        log.add("group");
    });
    trace.expect(&[(0, "body"), (10, "first"), (20, "second"), (20, "group")]);
}

/// The body borrows the caller's locals, and the group's handle can be cloned into children.
pub fn law_g1_the_body_borrows_and_children_get_clones(kitchen: &Kitchen) {
    kitchen.run(async {
        let mut plates = vec![1];
        let group = TaskGroup::<Burnt>::scope(async |group| {
            plates.push(2);
            let deeper = group.clone();
            let child = group.spawn(async move {
                let grandchild = deeper.spawn(async { Ok(3) });
                grandchild.await.map_err(|_| Burnt("grandchild"))
            });
            plates.push(child.await.expect("nobody fails"));
            Ok(())
        });
        group.await.expect("nobody fails");
        assert_eq!(plates, [1, 2, 3]);
    });
}

/// A child's handle gives its value; of an error it only tells that the group has it.
pub fn law_g1_the_error_belongs_to_the_group(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let well = group.spawn(async { Ok(1) });
            assert_eq!(value(well.await), 1);
            let badly = group.spawn(async { Err::<(), _>(Burnt("child")) });
            badly.finished().await;
            assert!(matches!(badly.error(), Some(TaskError::Failed(_))));
            Ok(())
        });
        let errors = group.await.expect_err("a child failed");
        let found: Vec<_> = errors.iter().map(|child| child.error().to_string()).collect();
        assert_eq!(found.len(), 1, "{errors:?}");
        assert!(found[0].contains("burnt child"), "{found:?}");
    });
}

/// A body that fails with the error of its child's handle adds no second entry, bare or boxed.
pub fn law_g1_passing_on_a_childs_failure_adds_nothing(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<BoxError>::scope(async |group| {
            let child = group.spawn(async { Err::<(), BoxError>(Box::new(Burnt("only once"))) });
            child.await?;
            Ok(())
        });
        let errors = group.await.expect_err("a child failed");
        assert_eq!(errors.iter().count(), 1, "{errors:?}");
        assert!(!first(&errors).is_body());
    });
}

/// A group without children is its body.
pub fn law_g1_an_empty_group_is_its_body(kitchen: &Kitchen) {
    kitchen.run(async {
        let well = TaskGroup::<Burnt>::scope(async |_| Ok(1)).await;
        assert_eq!(well.expect("a value"), 1);
        let badly = TaskGroup::<Burnt>::scope(async |_| Err::<(), _>(Burnt("body"))).await;
        let errors = badly.expect_err("the body failed");
        assert_eq!(errors.iter().count(), 1);
        assert!(first(&errors).is_body());
    });
}

/// A builder names the group's children no differently, and the group works the same.
pub fn law_g1_the_builder_opens_the_same_group(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::builder().name("station").scope(async |group| {
            let child = group.spawn(async { Ok(2) });
            Ok(value(child.await))
        });
        assert_eq!(group.await.expect("nobody fails"), 2);
    });
}

/// The first failure cancels the other children and the body, once.
pub fn law_g2_the_first_failure_cancels_the_rest(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, kinds, body_kind) = (Gate::new(), Arc::new(Mutex::new(Vec::new())), Slot::new());
        let group = TaskGroup::<Burnt>::scope(async |group| {
            for _ in 0..3 {
                let (ready, kinds) = (ready.clone(), kinds.clone());
                group.spawn(async move {
                    let token = catch_cancel(parked(ready)).await.expect_err("a sibling fails");
                    kinds.lock().expect("whole").push(token.reason().kind());
                    token.resume().await
                });
            }
            ready.reached(3).await;
            group.spawn(async { Err::<(), _>(Burnt("one")) });
            let token = catch_cancel(pending::<()>()).await.expect_err("a child fails");
            body_kind.put(token.reason().kind());
            token.resume().await
        });
        let outcome: Result<Never, _> = group.await;
        assert_eq!(outcome.expect_err("a child failed").iter().count(), 1);
        assert_eq!(*kinds.lock().expect("whole"), [CancelKind::SiblingFailed; 3]);
        assert_eq!(body_kind.take(), Some(CancelKind::SiblingFailed));
    });
}

/// A panic of a child counts as a failure.
pub fn law_g2_a_panic_is_a_failure(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            group.spawn(async { panic!("fire") });
            pending::<Result<(), Burnt>>().await
        });
        let errors = group.await.expect_err("a child panicked");
        assert_eq!(errors.iter().count(), 1);
        assert!(matches!(first(&errors).error(), TaskError::Panicked(panic) if panic.message() == "fire"));
    });
}

/// A child that ends `Cancelled` on its own is not a failure.
pub fn law_g2_a_cancelled_child_is_no_failure(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let ready = Gate::new();
            let stopped = group.spawn(parked(ready.clone()));
            ready.wait().await;
            stopped.cancel();
            cancelled(stopped.await);
            let after = group.spawn(async { Ok(11) });
            Ok(value(after.await))
        });
        assert_eq!(group.await.expect("no failure"), 11);
    });
}

/// The failure of a child whose body has ended long ago cancels the siblings as well.
pub fn law_g2_a_late_failure_cancels_siblings(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            group.spawn(pending::<Result<(), Burnt>>());
            group.spawn(async {
                sleep(ms(20)).await;
                Err::<(), _>(Burnt("late"))
            });
            Ok(())
        });
        assert_eq!(group.await.expect_err("a child failed").iter().count(), 1);
        clock.expect(20);
    });
}

/// The body's failure cancels the children, also those that have not started.
pub fn law_g2_the_bodys_failure_cancels_the_children(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let started = Gate::new();
        let group = TaskGroup::<Burnt>::scope(async |group| {
            for _ in 0..3 {
                let started = started.clone();
                group.spawn_local(async move { started.open() });
            }
            Err::<(), _>(Burnt("body"))
        });
        let errors = group.await.expect_err("the body failed");
        assert_eq!(errors.iter().count(), 1);
        assert!(!started.is_open());
    });
}

/// Siblings are waited for: their cleanups are over when the group returns.
pub fn law_g2_the_group_waits_for_cleanups(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let words = log.clone();
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let ready = Gate::new();
            group.spawn(parked(ready.clone()).finally(async move {
                sleep(ms(20)).await;
                words.add("clean");
            }));
            ready.wait().await;
            Err::<(), _>(Burnt("body"))
        });
        assert!(group.await.is_err());
        log.add("returned");
    });
    trace.expect(&[(20, "clean"), (20, "returned")]);
}
