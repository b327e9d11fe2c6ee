//! C3: who gets a request.

use crate::conformance::prelude::*;
use futures_lite::future::zip;

/// The innermost `catch_cancel` gets it, as an exception starts where the code is.
pub fn law_c3_the_innermost_catch_first(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let (gate, words) = (ready.clone(), log.clone());
        let task = spawn(async move {
            let outer = catch_cancel(async {
                let token = catch_cancel(parked(gate)).await.expect_err("it is cancelled");
                words.add("inner");
                token.uncancel();
                "absorbed inside"
            });
            let result = outer.await.expect("nothing is left for the outer one");
            Ok::<_, Burnt>(result)
        });
        ready.wait().await;
        task.cancel();
        assert_eq!(value(task.await), "absorbed inside");
    });
    assert_eq!(trace.words(), ["inner"]);
}

/// Without a receiver the scope is dropped: only its destructors run.
pub fn law_c3_without_a_receiver_the_scope_is_dropped(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let (gate, words) = (ready.clone(), log.clone());
        let task = spawn(async move {
            let _outside = OnDrop(words.clone(), "the task's own guard");
            let caught = catch_cancel(async {
                let _inside = OnDrop(words.clone(), "the scope's guard");
                parked(gate).await
            });
            let token = caught.await.expect_err("it is cancelled");
            words.add("handler");
            token.resume().await
        });
        ready.wait().await;
        task.cancel();
        cancelled::<Never, Infallible>(task.await);
    });
    assert_eq!(trace.words(), ["the scope's guard", "handler", "the task's own guard"]);
}

/// A group leaves its children alone while a handler in its body may still absorb the request.
pub fn law_c3_children_wait_for_the_bodys_handler(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go) = (Gate::new(), Gate::new());
        let (gate, open) = (ready.clone(), go.clone());
        let task = spawn(async move {
            let outcome = TaskGroup::<Burnt>::scope(async |group| {
                let child = group.spawn(async move {
                    open.wait().await;
                    Ok("the child lives")
                });
                let token = catch_cancel(parked(gate)).await.expect_err("it is cancelled");
                turns(5).await;
                assert!(!child.done() && child.state() != TaskState::Cancelling);
                token.uncancel();
                go.open();
                Ok(child.await.expect("nobody cancelled it"))
            });
            outcome.await.map_err(|_| Burnt("group"))
        });
        ready.wait().await;
        task.cancel();
        assert_eq!(value(task.await), "the child lives");
    });
}

/// A receiver that was polled once and then left aside delays nothing.
pub fn law_c3_a_receiver_left_aside_delays_nothing(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let task = spawn(async move {
            let mut aside = pin!(catch_cancel(pending::<()>()));
            assert!(poll_once(aside.as_mut()).await.is_pending());
            parked(gate).await
        });
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
    });
}

/// A join that was left aside delays nothing either, and its task is cancelled with the waiter.
pub fn law_c3_a_join_left_aside_delays_nothing(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, busy) = (Gate::new(), Gate::new());
        let child = spawn(parked(busy.clone()));
        let watch = child.to_ref();
        busy.wait().await;
        let gate = ready.clone();
        let task = spawn(async move {
            let mut aside = pin!(child.into_future());
            assert!(poll_once(aside.as_mut()).await.is_pending());
            parked(gate).await
        });
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
        watch.finished().await;
        assert!(watch.cancelled());
    });
}

/// Two receivers side by side: absorbed when both absorb.
pub fn law_c3_absorbed_when_all_receivers_absorb(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let branch = |ready: Gate| async move {
            catch_cancel(parked(ready)).await.expect_err("it is cancelled").uncancel();
        };
        let branches = zip(branch(ready.clone()), branch(ready.clone()));
        let task = spawn(async move {
            branches.await;
            yield_now().await;
            Ok::<_, Burnt>("both absorbed")
        });
        ready.reached(2).await;
        task.cancel();
        assert_eq!(value(task.await), "both absorbed");
    });
}

/// It goes on as soon as all are settled and one resumed, not before.
pub fn law_c3_goes_on_when_all_are_settled_and_one_resumed(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let (ready, go) = (Gate::new(), Gate::new());
        let (first, second, open, words) = (ready.clone(), ready.clone(), go.clone(), log.clone());
        let task = spawn(async move {
            let resumes = async {
                let token = catch_cancel(parked(first)).await.expect_err("it is cancelled");
                words.add("resumes");
                token.resume().await;
            };
            let absorbs = async {
                let token = catch_cancel(parked(second)).await.expect_err("it is cancelled");
                open.wait().await;
                words.add("absorbs");
                token.uncancel();
                pending::<()>().await;
            };
            zip(resumes, absorbs).await;
            Ok::<_, Burnt>(())
        });
        let watch = task.to_ref();
        ready.reached(2).await;
        task.cancel();
        turns(10).await;
        assert!(!watch.done(), "the second receiver is not settled");
        go.open();
        cancelled(task.await);
    });
    assert_eq!(trace.words(), ["resumes", "absorbs"]);
}

/// A waiting construct is a receiver: the request reaches the handler inside a gather.
pub fn law_c3_a_request_reaches_handlers_inside_constructs(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let task = spawn(async move {
            let branch = async {
                catch_cancel(parked(gate)).await.expect_err("it is cancelled").uncancel();
                Ok::<_, Burnt>("handled inside")
            };
            let (first, _) = gather((branch, async { Ok::<_, Burnt>(0) })).await?;
            Ok::<_, Burnt>(first)
        });
        ready.wait().await;
        task.cancel();
        assert_eq!(value(task.await), "handled inside");
    });
}
