//! C10: awaiting a task by value links the two.

use crate::conformance::prelude::*;

/// A child that waits for its cancellation and then does `handler`.
fn child<F, T>(ready: &Gate, handler: impl FnOnce(Cancelled) -> F + Send + 'static) -> Task<T, Burnt>
where
    F: Future<Output = Result<T, Burnt>> + Send + 'static,
    T: Send + 'static,
{
    let ready = ready.clone();
    spawn(async move {
        let token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
        handler(token).await
    })
}

/// A cancelled waiter cancels the task that it awaits, and waits until that one is done.
pub fn law_c10_the_waiter_waits_for_its_child(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let (ready, waiting) = (Gate::new(), Gate::new());
        let words = log.clone();
        let child = child::<_, ()>(&ready, |token| async move {
            words.add(format!("{:?}", token.reason().kind()));
            sleep(ms(20)).await;
            words.add("child cleaned up");
            token.resume().await
        });
        let words = log.clone();
        let waiter = spawn(counting(waiting.clone(), async move {
            let _guard = OnDrop(words, "waiter unwinds");
            child.await.map_err(|_| Burnt("no"))
        }));
        ready.wait().await;
        waiting.wait().await;
        waiter.cancel();
        cancelled(waiter.await);
    });
    trace.expect(&[(0, "ParentCancelled"), (20, "child cleaned up"), (20, "waiter unwinds")]);
}

/// If the child ends with a value, the waiter gets it, and its own request stays pending.
pub fn law_c10_the_childs_value_wins(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, waiting, passed, got) = (Gate::new(), Gate::new(), Gate::new(), Slot::new());
        let child = child(&ready, |token| async move {
            token.uncancel();
            Ok("finished all the same")
        });
        let (after, slot) = (passed.clone(), got.clone());
        let waiter = spawn(counting(waiting.clone(), async move {
            slot.put(value(child.await));
            yield_now().await;
            after.open();
            Ok::<_, Burnt>(())
        }));
        ready.wait().await;
        waiting.wait().await;
        waiter.cancel();
        cancelled(waiter.await);
        assert_eq!(got.take(), Some("finished all the same"), "the value was lost");
        assert!(!passed.is_open(), "the request was lost");
    });
}

/// An error of the child is delivered as well.
pub fn law_c10_the_childs_error_wins(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, waiting) = (Gate::new(), Gate::new());
        let child = child::<_, ()>(&ready, |_token| async move { Err(Burnt("cleanup")) });
        let waiter = spawn(counting(waiting.clone(), async move {
            match child.await {
                Err(TaskError::Failed(error)) => Err::<(), _>(error),
                _ => Ok(()),
            }
        }));
        ready.wait().await;
        waiting.wait().await;
        waiter.cancel();
        assert_eq!(failed(waiter.await), Burnt("cleanup"));
    });
}

/// A panic of the child is delivered as well.
pub fn law_c10_the_childs_panic_wins(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, waiting, got) = (Gate::new(), Gate::new(), Slot::new());
        let child = child::<_, ()>(&ready, |_token| async move { panic!("fire in the cleanup") });
        let slot = got.clone();
        let waiter = spawn(counting(waiting.clone(), async move {
            slot.put(panicked(child.await));
            pending::<Result<(), Burnt>>().await
        }));
        ready.wait().await;
        waiting.wait().await;
        waiter.cancel();
        cancelled(waiter.await);
        assert_eq!(got.take().expect("delivered").message(), "fire in the cleanup");
    });
}

/// A child that was done already gives its outcome; the request comes after.
pub fn law_c10_a_finished_child_gives_its_outcome(kitchen: &Kitchen) {
    kitchen.run(async {
        let got = Slot::new();
        let slot = got.clone();
        let waiter = spawn(async move {
            let child = spawn(async { Ok::<_, Burnt>(3) });
            child.finished().await;
            current_task().expect("inside a task").cancel();
            slot.put(value(child.await));
            yield_now().await;
            Ok::<_, Burnt>(())
        });
        cancelled(waiter.await);
        assert_eq!(got.take(), Some(3));
    });
}

/// `Err(Cancelled)` means that the awaited task was cancelled by someone else, never that I was.
pub fn law_c10_cancelled_is_about_the_other(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, waiting) = (Gate::new(), Gate::new());
        let child = spawn(parked(ready.clone()));
        let remote = child.to_ref();
        let waiter = spawn(counting(waiting.clone(), async move {
            let reason = cancelled(child.await);
            yield_now().await;
            assert_eq!(current_task().expect("inside a task").cancelling(), 0);
            Ok::<_, Burnt>(reason.kind())
        }));
        ready.wait().await;
        waiting.wait().await;
        remote.cancel();
        assert_eq!(value(waiter.await), CancelKind::Explicit);
    });
}

/// Both cancelled at once: the child is over when the waiter is, and the waiter is cancelled.
pub fn law_c10_both_are_cancelled(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, waiting) = (Gate::new(), Gate::new());
        let child = spawn(parked(ready.clone()));
        let watch = child.to_ref();
        let waiter = spawn(counting(waiting.clone(), async move { child.await.map_err(|_| Burnt("seen")) }));
        ready.wait().await;
        waiting.wait().await;
        watch.cancel();
        waiter.cancel();
        let outcome = waiter.await;
        assert!(watch.cancelled());
        // Who was told first decides whether the waiter still saw its child as a value.
        assert!(matches!(outcome, Err(TaskError::Cancelled(_) | TaskError::Failed(_))), "{outcome:?}");
    });
}

/// `(&mut task).await` and `finished()` watch without a link.
pub fn law_c10_watching_is_no_link(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go, waiting) = (Gate::new(), Gate::new(), Gate::new());
        let mut task = spawn({
            let (ready, go) = (ready.clone(), go.clone());
            async move {
                ready.open();
                go.wait().await;
                Ok::<_, Burnt>("not touched")
            }
        });
        let watch = task.to_ref();
        let watcher = spawn(counting(waiting.clone(), async move {
            watch.finished().await;
            Ok::<_, Burnt>(())
        }));
        ready.wait().await;
        waiting.wait().await;
        watcher.cancel();
        cancelled(watcher.await);
        assert!(timeout(ms(1), &mut task).await.is_err(), "it waits for the gate");
        assert_eq!(task.cancelling(), 0);
        go.open();
        assert_eq!(value((&mut task).await), "not touched");
    });
}

/// The link exists from the first poll: a join that was never polled is like a handle that is dropped.
pub fn law_c10_linked_from_the_first_poll(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go) = (Gate::new(), Gate::new());
        let never_polled = spawn({
            let (ready, go) = (ready.clone(), go.clone());
            async move {
                ready.open();
                go.wait().await;
                Ok::<_, Burnt>(())
            }
        });
        let watch = never_polled.to_ref();
        ready.wait().await;
        drop(never_polled.into_future());
        turns(5).await;
        go.open();
        watch.finished().await;
        assert!(!watch.cancelled());

        let polled = spawn(parked(Gate::new()));
        let watch = polled.to_ref();
        {
            let mut join = pin!(polled.into_future());
            assert!(poll_once(join.as_mut()).await.is_pending());
        }
        watch.finished().await;
        assert!(watch.cancelled());
    });
}

/// A chain of links: each waits for the next, and they end from the inside out.
pub fn law_c10_links_end_from_the_inside_out(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let bottom = Gate::new();
        let (gate, words) = (bottom.clone(), log.clone());
        let top = spawn(async move {
            let _guard = OnDrop(words.clone(), "top");
            let middle = spawn(async move {
                let _guard = OnDrop(words.clone(), "middle");
                let inner = spawn(async move {
                    let _guard = OnDrop(words, "inner");
                    parked(gate).await
                });
                inner.await.map_err(|_| Burnt("no"))
            });
            middle.await.map_err(|_| Burnt("no"))
        });
        bottom.wait().await;
        turns(5).await;
        top.cancel();
        cancelled(top.await);
    });
    assert_eq!(trace.words(), ["inner", "middle", "top"]);
}
