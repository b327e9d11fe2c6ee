//! G3: the error of a group.

use crate::conformance::prelude::*;

/// Errors stand in completion order, the body's last, each with name, id and place.
pub fn law_g3_completion_order_and_the_body_last(kitchen: &Kitchen) {
    kitchen.run(async {
        let ids = Arc::new(Mutex::new(Vec::new()));
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (ready, first_done) = (Gate::new(), Gate::new());
            let second = {
                let (ready, first_done) = (ready.clone(), first_done.clone());
                group.spawn(async move {
                    let _token = catch_cancel(parked(ready)).await.expect_err("a sibling fails");
                    first_done.wait().await;
                    Err::<(), _>(Burnt("second"))
                })
            };
            second.set_name("slow cook");
            ready.wait().await;
            let first = group.spawn(async { Err::<(), _>(Burnt("first")) });
            first.set_name("quick cook");
            let known = [first.id(), second.id()];
            ids.lock().expect("whole").extend(known);
            let _token = catch_cancel(pending::<()>()).await.expect_err("a child fails");
            first.finished().await;
            first_done.open();
            second.finished().await;
            Err::<(), _>(Burnt("body"))
        });
        let errors = group.await.expect_err("three failed");
        let texts: Vec<_> = errors.iter().map(|child| child.error().to_string()).collect();
        assert_eq!(texts, ["burnt first", "burnt second", "burnt body"]);
        let places: Vec<_> = errors.iter().map(|child| child.location().file()).collect();
        assert!(places.iter().all(|file| *file == file!()), "{places:?}");
        let children: Vec<_> = errors.iter().filter(|child| !child.is_body()).collect();
        assert_eq!(
            children.iter().map(|child| child.name().to_string()).collect::<Vec<_>>(),
            ["quick cook", "slow cook"]
        );
        assert_eq!(
            children.iter().filter_map(|child| child.id()).collect::<Vec<_>>(),
            *ids.lock().expect("whole")
        );
        assert_eq!(first(&errors).error().to_string(), "burnt first");
        assert_eq!(first_failure(errors), Burnt("first"));
    });
}

/// Panics are entries with their payload, also the body's, and children are waited for all the same.
pub fn law_g3_panics_are_entries(kitchen: &Kitchen) {
    kitchen.run(async {
        let probe = Probe::new();
        let item = probe.item();
        let ready = Gate::new();
        let gate = ready.clone();
        let group = TaskGroup::<Burnt>::scope(async move |group| {
            group.spawn(async move {
                let _item = item;
                parked(gate).await
            });
            ready.wait().await;
            if true {
                std::panic::panic_any(5_u8);
            }
            Ok(())
        });
        let errors = group.await.expect_err("the body panicked");
        assert_eq!(probe.dropped(), 1, "the child was not waited for");
        assert!(first(&errors).is_body());
        let TaskError::Panicked(panic) = first(&errors).error() else { panic!("no panic: {errors:?}") };
        let payload = panic.take_payload().expect("nobody took it");
        assert_eq!(payload.downcast_ref::<u8>(), Some(&5));
    });
}

/// Cancelled siblings are not entries.
pub fn law_g3_cancelled_siblings_are_no_entries(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            for _ in 0..10 {
                group.spawn(pending::<Result<(), Burnt>>());
            }
            Err::<(), _>(Burnt("body"))
        });
        assert_eq!(group.await.expect_err("the body failed").iter().count(), 1);
    });
}

/// Many failures at once, and more in cleanups: each once, none reported as unobserved.
pub fn law_g3_every_failure_once(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (ready, go) = (Gate::new(), Gate::new());
            for _ in 0..100 {
                let (ready, go) = (ready.clone(), go.clone());
                group.spawn(shield(async move {
                    ready.open();
                    go.wait().await;
                    Err::<(), _>(Burnt("together"))
                }));
            }
            for _ in 0..10 {
                let ready = ready.clone();
                group.spawn(async move {
                    let _token = catch_cancel(parked(ready)).await.expect_err("siblings fail");
                    yield_now().await;
                    Err::<(), _>(Burnt("in its cleanup"))
                });
            }
            ready.reached(110).await;
            go.open();
            Ok(())
        });
        let errors = group.await.expect_err("all failed");
        let texts: Vec<_> = errors.iter().map(|child| child.error().to_string()).collect();
        assert_eq!(texts.iter().filter(|text| *text == "burnt together").count(), 100);
        assert_eq!(texts.iter().filter(|text| *text == "burnt in its cleanup").count(), 10);
        assert_eq!(texts.len(), 110);
    });
}

/// Nested groups nest: the error of the inner one is an entry of the outer one.
pub fn law_g3_nested_groups_nest(kitchen: &Kitchen) {
    kitchen.run(async {
        let outer = TaskGroup::<BoxError>::scope(async |outer| {
            outer.spawn(pending::<Result<(), BoxError>>());
            let inner = TaskGroup::<BoxError>::scope(async |inner| {
                inner.spawn(async { Err::<(), BoxError>(Box::new(Burnt("deep"))) });
                Ok(())
            });
            inner.await?;
            Ok(())
        });
        let errors = outer.await.expect_err("the inner group failed");
        assert_eq!(errors.iter().count(), 1);
        assert!(first(&errors).is_body());
        assert!(errors.to_string().contains("burnt deep"), "{errors}");
    });
}

/// `split` and `subgroup` sort by type and by predicate, also inside boxes, and lose nothing.
pub fn law_g3_split_and_subgroup(kitchen: &Kitchen) {
    #[derive(Debug)]
    struct Spilled;
    impl std::fmt::Display for Spilled {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("spilled")
        }
    }
    impl std::error::Error for Spilled {}
    async fn mixed() -> GroupError<BoxError> {
        let group = TaskGroup::<BoxError>::scope(async |group| {
            let go = Gate::new();
            for burnt in [true, false, true] {
                let go = go.clone();
                group.spawn(shield(async move {
                    go.wait().await;
                    let error: BoxError = if burnt { Box::new(Burnt("dish")) } else { Box::new(Spilled) };
                    Err::<(), _>(error)
                }));
            }
            go.open();
            // On a backend with many workers a failure could cancel a sibling before it started.
            pending::<Result<(), BoxError>>().await
        });
        group.await.expect_err("all failed")
    }
    kitchen.run(async {
        let all = mixed().await;
        let total = all.iter().count();
        let (burnt, rest) = all.split::<Burnt>();
        assert!(burnt.iter().all(|child| child.downcast_ref::<Burnt>().is_some()));
        assert!(rest.iter().all(|child| child.downcast_ref::<Burnt>().is_none()));
        assert_eq!(burnt.len() + rest.len(), total);
        let spilled = mixed().await.subgroup(|child| child.error().to_string() == "spilled");
        assert!(spilled.iter().all(|child| child.downcast_ref::<Spilled>().is_some()));
    });
}

/// Printing shows every entry with its name.
pub fn law_g3_printing_shows_names(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let child = group.spawn(async { Err::<(), _>(Burnt("soup")) });
            child.set_name("soup cook");
            child.finished().await;
            Ok(())
        });
        let errors = group.await.expect_err("a child failed");
        for text in [errors.to_string(), format!("{errors:?}")] {
            assert!(text.contains("soup cook") && text.matches("soup").count() >= 2, "{text}");
        }
    });
}
