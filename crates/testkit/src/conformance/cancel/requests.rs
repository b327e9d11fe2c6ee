//! C1, C2, C7, C8: asking for a cancellation, and when it counts.

use crate::conformance::prelude::*;

/// The three answers: requested, requested already, done.
pub fn law_c1_the_three_answers(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let (ready, go) = (Gate::new(), Gate::new());
        let task = spawn_local({
            let (ready, go) = (ready.clone(), go.clone());
            async move {
                let token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                go.wait().await;
                token.resume().await
            }
        });
        ready.wait().await;
        assert_eq!(task.cancel(), CancelOutcome::Requested);
        assert_eq!(task.cancel(), CancelOutcome::AlreadyRequested);
        go.open();
        task.finished().await;
        assert_eq!(task.cancel(), CancelOutcome::Done);
        cancelled(task.await);
    });
}

/// On a done task a request changes nothing, however often it is made.
pub fn law_c1_a_done_task_is_left_alone(kitchen: &Kitchen) {
    kitchen.run(async {
        let task = spawn(async { Ok::<_, Burnt>(7) });
        task.finished().await;
        for _ in 0..1000 {
            assert_eq!(task.cancel(), CancelOutcome::Done);
        }
        assert_eq!(task.cancelling(), 0);
        assert_eq!(task.state(), TaskState::Done(Ending::Value));
        assert_eq!(value(task.await), 7);
    });
}

/// No user code runs inside `cancel()`.
pub fn law_c1_no_user_code_runs_inside_the_call(kitchen: &Kitchen) {
    thread_local! {
        static CANCELLING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    }
    struct Witness(Slot<bool>);
    impl Drop for Witness {
        fn drop(&mut self) {
            self.0.put(CANCELLING.get());
        }
    }
    kitchen.run(async {
        for _ in 0..20 {
            let (inside, ready) = (Slot::new(), Gate::new());
            let (witness, gate) = (Witness(inside.clone()), ready.clone());
            let task = spawn(async move {
                let _witness = witness;
                parked(gate).await
            });
            ready.wait().await;
            CANCELLING.set(true);
            task.cancel();
            CANCELLING.set(false);
            cancelled(task.await);
            assert_eq!(inside.take(), Some(false), "the future was dropped inside cancel()");
        }
    });
}

/// A request may come from any thread.
pub fn law_c1_from_another_thread(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()));
        ready.wait().await;
        let remote = task.to_ref();
        let answer = spawn_blocking(move || Ok::<_, Burnt>(remote.cancel()));
        assert_eq!(value(answer.await), CancelOutcome::Requested);
        assert_eq!(cancelled(task.await).kind(), CancelKind::Explicit);
    });
}

/// `cancel_with` adds a text to the reason.
pub fn law_c1_cancel_with_a_text(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()));
        ready.wait().await;
        task.cancel_with("the guest has left");
        assert_eq!(cancelled(task.await).text(), Some("the guest has left"));
    });
}

/// A request ends the wait in which the task is suspended, and its drops run.
pub fn law_c2_delivered_where_the_task_waits(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let (gate, words) = (ready.clone(), log.clone());
        let task = spawn(async move {
            let _outer = OnDrop(words.clone(), "outer");
            let _inner = OnDrop(words.clone(), "inner");
            let outcome = parked(gate).await;
            words.add("not reached");
            outcome
        });
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
        log.add("done");
    });
    assert_eq!(trace.words(), ["inner", "outer", "done"]);
}

/// A running task goes on to its next suspension point.
pub fn law_c2_a_running_task_reaches_its_next_suspension(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let words = log.clone();
        let task = spawn(async move {
            current_task().expect("inside a task").cancel();
            words.add("still running");
            ready(()).await;
            words.add("an await that is ready is no suspension");
            yield_now().await;
            words.add("not reached");
            Ok::<_, Burnt>(())
        });
        cancelled(task.await);
    });
    assert_eq!(trace.words(), ["still running", "an await that is ready is no suspension"]);
}

/// A request never pre-empts a result: the scope polls once more and acts only on `Pending`.
pub fn law_c2_a_ready_result_is_not_preempted(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let (got, ready) = (Slot::new(), Gate::new());
        let task = spawn_local({
            let (got, ready) = (got.clone(), ready.clone());
            async move {
                ready.open();
                got.put(ready_when_polled_again("the soup").await);
                pending::<Result<(), Burnt>>().await
            }
        });
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
        assert_eq!(got.take(), Some("the soup"), "the result was lost");
    });
}

/// One request is delivered once: no polling, no retrying while something refuses to end.
pub fn law_c2_delivery_does_not_spin(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go, polls) = (Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (ready, go, polls) = (ready.clone(), go.clone(), polls.clone());
            async move {
                shield(counting(polls, async move {
                    ready.open();
                    go.wait().await;
                }))
                .await;
                pending::<Result<(), Burnt>>().await
            }
        });
        ready.wait().await;
        task.cancel();
        until(|| polls.count() >= 2).await;
        turns(5).await;
        let delivered = polls.count();
        assert!(delivered <= 3, "polled {delivered} times");
        turns(100).await;
        assert_eq!(polls.count(), delivered, "it is polled again and again");
        go.open();
        cancelled(task.await);
    });
}

/// Requests that come before delivery are delivered together.
pub fn law_c2_early_requests_are_delivered_together(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let (ready, absorbed, go) = (Gate::new(), Gate::new(), Gate::new());
        let task = spawn_local({
            let (ready, absorbed, go) = (ready.clone(), absorbed.clone(), go.clone());
            async move {
                let token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                token.uncancel();
                absorbed.open();
                go.wait().await;
                Ok::<_, Burnt>("alive")
            }
        });
        ready.wait().await;
        for _ in 0..1000 {
            task.cancel();
        }
        absorbed.wait().await;
        go.open();
        assert_eq!(value(task.await), "alive");
    });
}

/// Cancelled before its first poll: the body never runs, captures are dropped once, callbacks and waiters run.
pub fn law_c7_cancelled_before_the_first_poll(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let (probe, called) = (Probe::new(), Gate::new());
        let item = probe.item();
        let task = spawn_local(async move {
            item.deliver();
            Ok::<_, Burnt>(())
        });
        task.on_done({
            let called = called.clone();
            move |_| called.open()
        });
        task.cancel();
        let id = task.id();
        assert_eq!(cancelled(task.await).kind(), CancelKind::Explicit);
        assert_eq!((probe.delivered(), probe.dropped()), (0, 1));
        called.wait().await;
        assert!(!all_tasks().iter().any(|task| task.id() == id));
    });
}

/// A request that nothing delivered before the task returned decides: cancelled, the value dropped once.
pub fn law_c8_an_undelivered_request_beats_a_value(kitchen: &Kitchen) {
    kitchen.run(async {
        let probe = Probe::new();
        let item = probe.item();
        let task = spawn(async move {
            current_task().expect("inside a task").cancel();
            Ok::<_, Burnt>(item)
        });
        cancelled(task.await.map(drop));
        assert_eq!((probe.created(), probe.dropped()), (1, 1));
    });
}

/// A body that returns an error keeps it.
pub fn law_c8_an_error_is_kept(kitchen: &Kitchen) {
    kitchen.run(async {
        let task = spawn(async {
            current_task().expect("inside a task").cancel();
            Err::<(), _>(Burnt("cake"))
        });
        assert_eq!(failed(task.await), Burnt("cake"));
    });
}

/// A token that was dropped without a suspension after it decides as well.
pub fn law_c8_a_resumed_request_beats_a_value(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let task = spawn(async move {
            let caught = catch_cancel(parked(gate)).await;
            drop(caught);
            Ok::<_, Burnt>("swallowed?")
        });
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
    });
}

/// Either `cancel()` says that it came too late, or the task ends cancelled: there is nothing between.
pub fn law_c8_decided_atomically_against_cancel(kitchen: &Kitchen) {
    kitchen.run(async {
        for round in 0..ROUNDS {
            let go = Gate::new();
            let task = spawn({
                let go = go.clone();
                async move {
                    go.wait().await;
                    Ok::<_, Burnt>(())
                }
            });
            let remote = task.to_ref();
            let canceller = spawn(async move {
                turns(round % 3).await;
                Ok::<_, Burnt>(remote.cancel())
            });
            go.open();
            let outcome = task.await;
            match value(canceller.await) {
                CancelOutcome::Done => value(outcome),
                _ => drop(cancelled(outcome)),
            }
        }
    });
}
