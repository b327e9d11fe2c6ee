//! C4, C5: the token that stands for a delivered request.

use crate::conformance::prelude::*;

/// Spawns a task that is parked in a catch, cancels it there, and runs `handler` on the token.
async fn caught<F, T>(handler: impl FnOnce(Cancelled) -> F + Send + 'static) -> Result<T, TaskError<Burnt>>
where
    F: Future<Output = Result<T, Burnt>> + Send + 'static,
    T: Send + 'static,
{
    let ready = Gate::new();
    let gate = ready.clone();
    let task = spawn(async move {
        let token = catch_cancel(parked(gate)).await.expect_err("it is cancelled");
        handler(token).await
    });
    ready.wait().await;
    task.cancel();
    task.await
}

/// `uncancel()` absorbs the request; the task goes on as if nothing had been.
pub fn law_c4_uncancel_absorbs(kitchen: &Kitchen) {
    kitchen.run(async {
        let outcome = caught(|token| async move {
            assert_eq!(token.reason().kind(), CancelKind::Explicit);
            token.uncancel();
            yield_now().await;
            Ok("went on")
        });
        assert_eq!(value(outcome.await), "went on");
    });
}

/// `resume()` never returns.
pub fn law_c4_resume_never_returns(kitchen: &Kitchen) {
    kitchen.run(async {
        let dropped = Probe::new();
        let item = dropped.item();
        let outcome = caught::<_, ()>(|token| async move {
            let _item = item;
            token.resume().await
        });
        cancelled(outcome.await);
        assert_eq!(dropped.dropped(), 1, "the handler was dropped where it resumed");
    });
}

/// Dropping the token resumes: `let _ = ..` swallows nothing.
pub fn law_c4_dropping_the_token_resumes(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let task = spawn(async move {
            let _ = catch_cancel(parked(gate)).await;
            yield_now().await;
            Ok::<_, Burnt>("swallowed")
        });
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
    });
}

/// A catch-all arm for errors swallows nothing: the token is dropped with it.
pub fn law_c4_a_catch_all_arm_swallows_nothing(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let task = spawn(async move {
            for _ in 0..3 {
                match catch_cancel(parked(gate.clone())).await {
                    Ok(outcome) => return outcome,
                    Err(_) => continue,
                }
            }
            yield_now().await;
            Ok::<_, Burnt>(())
        });
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
    });
}

/// An error that leaves the handler is the outcome; the token settles on the way.
pub fn law_c4_an_error_out_of_the_handler_is_the_outcome(kitchen: &Kitchen) {
    kitchen.run(async {
        let outcome = caught::<_, ()>(|_token| async move { Err(Burnt("handler")) });
        assert_eq!(failed(outcome.await), Burnt("handler"));
    });
}

/// A token that is forgotten is not absorbed: the request decides at the end.
pub fn law_c4_a_forgotten_token_is_not_absorbed(kitchen: &Kitchen) {
    kitchen.run(async {
        let outcome = caught(|token| async move {
            std::mem::forget(token);
            Ok("forgotten")
        });
        cancelled(outcome.await);
    });
}

/// `catch_cancel` of something that ends by itself is transparent.
pub fn law_c4_a_catch_without_a_request_is_transparent(kitchen: &Kitchen) {
    kitchen.run(async {
        assert_eq!(catch_cancel(async { 1 }).await.expect("no request"), 1);
        let slow = catch_cancel(async {
            yield_now().await;
            2
        });
        assert_eq!(slow.await.expect("no request"), 2);
    });
}

/// While the token is unsettled the handler's awaits work.
pub fn law_c5_a_handler_may_await(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let outcome = caught::<_, ()>(move |token| async move {
            sleep(ms(10)).await;
            let helper = spawn(async { Ok::<_, Burnt>(5) });
            assert_eq!(value(helper.await), 5);
            sleep(ms(10)).await;
            clock.expect(20);
            token.resume().await
        });
        cancelled(outcome.await);
        clock.expect(20);
    });
}

/// After `resume` the next enclosing catch receives it, level by level.
pub fn law_c5_the_next_enclosing_catch_receives(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let (gate, words) = (ready.clone(), log.clone());
        let task = spawn(async move {
            let outer = catch_cancel(async {
                let middle = catch_cancel(async {
                    let inner = catch_cancel(parked(gate)).await.expect_err("it is cancelled");
                    words.add("inner");
                    sleep(ms(10)).await;
                    inner.resume().await
                });
                let token: Cancelled = middle.await.map(|never: Never| never).expect_err("passed on");
                words.add("middle");
                sleep(ms(10)).await;
                token.resume().await
            });
            let token = outer.await.map(|never: Never| never).expect_err("passed on");
            words.add("outer");
            token.resume().await
        });
        ready.wait().await;
        task.cancel();
        cancelled::<Never, Infallible>(task.await);
        log.add("done");
    });
    trace.expect(&[(0, "inner"), (10, "middle"), (20, "outer"), (20, "done")]);
}

/// After a dropped token the code runs on to its next suspension point.
pub fn law_c5_a_dropped_token_acts_at_the_next_suspension(kitchen: &Kitchen) {
    kitchen.run(async {
        let (reached, passed) = (Gate::new(), Gate::new());
        let (before, after) = (reached.clone(), passed.clone());
        let outcome = caught(move |token| async move {
            drop(token);
            before.open();
            yield_now().await;
            after.open();
            Ok(())
        });
        cancelled(outcome.await);
        assert!(reached.is_open() && !passed.is_open());
    });
}

/// A dropped token goes to a catch that is entered later inside the scope, if that is where the code waits.
pub fn law_c5_a_dropped_token_can_be_caught_again(kitchen: &Kitchen) {
    kitchen.run(async {
        let outcome = caught(|token| async move {
            drop(token);
            let again = catch_cancel(pending::<()>()).await.expect_err("delivered again");
            again.uncancel();
            yield_now().await;
            Ok("absorbed at the second try")
        });
        assert_eq!(value(outcome.await), "absorbed at the second try");
    });
}

/// One request interrupts one wait: what comes after absorbing is not touched.
pub fn law_c5_one_request_interrupts_one_wait(kitchen: &Kitchen) {
    kitchen.run(async {
        let outcome = caught(|token| async move {
            token.uncancel();
            for _ in 0..3 {
                assert!(catch_cancel(sleep(ms(1))).await.is_ok());
            }
            Ok(())
        });
        value(outcome.await);
    });
}
