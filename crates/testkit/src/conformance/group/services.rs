//! G9: services, and children that say when they are ready.

use crate::conformance::prelude::*;

/// A service that writes down when it is cancelled and when it has ended.
async fn serve(name: &'static str, ready: Gate, log: Arc<Mutex<Vec<String>>>) -> Result<(), Burnt> {
    let token = catch_cancel(parked(ready)).await.expect_err("services are cancelled");
    log.lock().expect("whole").push(format!("{name} asked"));
    turns(5).await;
    log.lock().expect("whole").push(format!("{name} over"));
    token.resume().await
}

const IN_REVERSE: [&str; 6] =
    ["third asked", "third over", "second asked", "second over", "first asked", "first over"];

/// Services do not hold the group open; they end in reverse order, each waited for.
pub fn law_g9_services_end_in_reverse_order(kitchen: &Kitchen) {
    kitchen.run(async {
        let log = Arc::new(Mutex::new(Vec::new()));
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let ready = Gate::new();
            for name in ["first", "second", "third"] {
                group.spawn_service(serve(name, ready.clone(), log.clone()));
            }
            ready.reached(3).await;
            Ok("value")
        });
        assert_eq!(group.await.expect("nobody fails"), "value");
        assert_eq!(*log.lock().expect("whole"), IN_REVERSE);
    });
}

/// They end after the body and the ordinary children, which may use them to the last.
pub fn law_g9_services_outlive_ordinary_children(kitchen: &Kitchen) {
    kitchen.run(async {
        let log = Arc::new(Mutex::new(Vec::new()));
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (ready, words, handle) = (Gate::new(), log.clone(), group.clone());
            group.spawn_service(serve("service", ready.clone(), log.clone()));
            ready.wait().await;
            group.spawn(async move {
                turns(5).await;
                words.lock().expect("whole").push("child over".to_owned());
                handle.spawn(async move {
                    turns(5).await;
                    words.lock().expect("whole").push("grandchild over".to_owned());
                });
            });
            Ok(())
        });
        group.await.expect("nobody fails");
        let expected = ["child over", "grandchild over", "service asked", "service over"];
        assert_eq!(*log.lock().expect("whole"), expected);
    });
}

/// Also when the group fails the services end last, and in order.
pub fn law_g9_services_end_last_when_the_group_fails(kitchen: &Kitchen) {
    kitchen.run(async {
        let log = Arc::new(Mutex::new(Vec::new()));
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let ready = Gate::new();
            group.spawn_service(serve("a", ready.clone(), log.clone()));
            group.spawn_service(serve("b", ready.clone(), log.clone()));
            group.spawn(serve("child", ready.clone(), log.clone()));
            ready.reached(3).await;
            Err::<(), _>(Burnt("body"))
        });
        assert_eq!(group.await.expect_err("the body failed").len(), 1);
        let expected = ["child asked", "child over", "b asked", "b over", "a asked", "a over"];
        assert_eq!(*log.lock().expect("whole"), expected);
    });
}

/// A request from outside unwinds through body, children and services, and is not lost.
pub fn law_g9_a_request_from_outside_ends_services_in_order(kitchen: &Kitchen) {
    kitchen.run(async {
        let (log, ready) = (Arc::new(Mutex::new(Vec::new())), Gate::new());
        let (words, gate) = (log.clone(), ready.clone());
        let task = spawn(async move {
            let group = TaskGroup::<Burnt>::scope(async move |group| {
                for name in ["first", "second", "third"] {
                    group.spawn_service(serve(name, gate.clone(), words.clone()));
                }
                parked(gate).await
            });
            group.await.map_err(|_| Burnt("group"))
        });
        ready.reached(4).await;
        task.cancel();
        cancelled(task.await);
        assert_eq!(*log.lock().expect("whole"), IN_REVERSE);
    });
}

/// A group that is dropped half-way is adopted; its services still end in order.
pub fn law_g9_a_dropped_group_ends_its_services_in_order(kitchen: &Kitchen) {
    kitchen.run(async {
        let (log, ready, last) = (Arc::new(Mutex::new(Vec::new())), Gate::new(), Slot::new());
        let mut group = Box::pin(TaskGroup::<Burnt>::scope(async |group| {
            for name in ["first", "second", "third"] {
                let service = group.spawn_service(serve(name, ready.clone(), log.clone()));
                last.put(last.take().unwrap_or_else(|| service.to_ref()));
            }
            pending::<Result<(), Burnt>>().await
        }));
        assert!(poll_once(group.as_mut()).await.is_pending());
        ready.reached(3).await;
        drop(group);
        last.take().expect("they were spawned").finished().await;
        assert_eq!(*log.lock().expect("whole"), IN_REVERSE);
    });
}

/// A service that fails is a failure of the group; one that ends is forgotten.
pub fn law_g9_a_service_that_fails_fails_the_group(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            group.spawn_service(async {}).finished().await;
            until(|| group.is_empty()).await;
            assert!(group.is_open());
            group.spawn_service(async { Err::<(), _>(Burnt("service")) });
            pending::<Result<(), Burnt>>().await
        });
        assert_eq!(first_failure(group.await.expect_err("a service failed")), Burnt("service"));
    });
}

/// `start` gives the value with which the child says that it is ready; the child goes on.
pub fn law_g9_start_returns_the_value_of_readiness(kitchen: &Kitchen) {
    kitchen.run(async {
        let (over, go) = (Gate::new(), Gate::new());
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (flag, gate) = (over.clone(), go.clone());
            let port = group.start(async move |ready: Ready<u16>| {
                yield_now().await;
                ready.ready(8080);
                gate.wait().await;
                flag.open();
            });
            assert_eq!(port.await.expect("it gets ready"), 8080);
            assert_eq!((group.len(), over.count()), (1, 0));
            go.open();
            Ok(())
        });
        group.await.expect("nobody fails");
        assert!(over.is_open());
    });
}

/// A child that ends before it is ready: `start` says how, and the error is in the group once.
pub fn law_g9_start_of_a_child_that_ends_first(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<BoxError>::scope(async |group| {
            let start = group.start(async |_ready: Ready<()>| Err::<(), BoxError>(Burnt("start").into()));
            start.await?;
            Ok(())
        });
        let errors = group.await.expect_err("the child failed");
        assert!(errors.len() == 1 && !first(&errors).is_body(), "{errors:?}");
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let silent = group.start(async |_ready: Ready<()>| {}).await;
            assert!(matches!(silent, Err(StartError::NeverReady(_))), "{silent:?}");
            Ok(())
        });
        group.await.expect("it is no failure of the group");
    });
}

/// A `start` that is given up cancels its child, unless that was ready.
pub fn law_g9_start_that_is_cancelled_cancels_the_child(kitchen: &Kitchen) {
    kitchen.run(async {
        let (probe, running) = (Probe::new(), Gate::new());
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (item, flag) = (probe.item(), running.clone());
            let mut start = Box::pin(group.start(async move |_ready: Ready<()>| {
                let _item = item;
                parked(flag).await
            }));
            assert!(poll_once(start.as_mut()).await.is_pending());
            running.wait().await;
            drop(start);
            until(|| group.is_empty()).await;
            assert!(group.is_open());
            Ok(())
        });
        group.await.expect("a cancelled child is no failure");
        assert_eq!(probe.dropped(), 1);
    });
}
