//! D2, D3, D4: what an expiry does, who wins, and who reports.

use crate::conformance::prelude::*;

/// The timeout returns only when handlers and awaited tasks inside have ended.
pub fn law_d2_the_timeout_waits_for_the_unwinding(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let words = log.clone();
        let timed = timeout(ms(10), async {
            let child_words = words.clone();
            let child = spawn(pending::<Result<(), Burnt>>().finally(async move {
                sleep(ms(20)).await;
                child_words.add("child");
            }));
            let token = catch_cancel(child.into_future()).await.expect_err("the deadline comes");
            assert_eq!(token.reason().kind(), CancelKind::Deadline);
            sleep(ms(20)).await;
            words.add("handler");
            token.resume().await
        });
        let outcome: Result<Never, TimedOut> = timed.await;
        assert!(outcome.is_err());
        log.add("timed out");
    });
    trace.expect(&[(30, "child"), (50, "handler"), (50, "timed out")]);
}

/// What is ready in the turn of the deadline wins.
pub fn law_d3_the_result_wins_a_tie(kitchen: &Kitchen) {
    if !kitchen.is_virtual() {
        return;
    }
    kitchen.run(async {
        let value = timeout(ms(10), async {
            sleep(ms(10)).await;
            "in the last moment"
        });
        assert_eq!(value.await.expect("the result wins"), "in the last moment");
        let inner = async {
            sleep(ms(10)).await;
            Err::<(), _>(Burnt("in the last moment"))
        };
        assert_eq!(timeout(ms(10), inner).await.expect("the error wins"), Err(Burnt("in the last moment")));
    });
}

/// If the inner future absorbs the expiry and ends with a value or an error, that is returned.
pub fn law_d3_what_absorbs_the_expiry_is_returned(kitchen: &Kitchen) {
    kitchen.run(async {
        let absorbs = timeout(ms(5), async {
            catch_cancel(pending::<()>()).await.expect_err("the deadline comes").uncancel();
            42
        });
        assert_eq!(absorbs.await.expect("a value"), 42);
        let replaces = timeout(ms(5), async {
            let _token = catch_cancel(pending::<()>()).await.expect_err("the deadline comes");
            Err::<(), _>(Burnt("handler"))
        });
        assert_eq!(replaces.await.expect("an error"), Err(Burnt("handler")));
        yield_now().await;
    });
}

/// After absorbing, the scope goes on without a deadline.
pub fn law_d3_an_absorbed_expiry_does_not_come_again(kitchen: &Kitchen) {
    kitchen.run(async {
        let timed = timeout(ms(5), async {
            catch_cancel(pending::<()>()).await.expect_err("the deadline comes").uncancel();
            sleep(ms(20)).await;
            "long after"
        });
        assert_eq!(timed.await.expect("absorbed"), "long after");
    });
}

/// While a token of this very expiry is alive in the value, the value is dropped: `TimedOut`.
pub fn law_d3_a_token_of_the_expiry_in_the_value(kitchen: &Kitchen) {
    kitchen.run(async {
        let timed = timeout(ms(5), catch_cancel(pending::<()>())).await;
        assert!(timed.is_err());
        for _ in 0..3 {
            yield_now().await;
        }
    });
}

/// An external request while the timeout unwinds makes it unwind further.
pub fn law_d4_external_request_while_the_expiry_unwinds(kitchen: &Kitchen) {
    kitchen.run(async {
        let (handling, go, seen) = (Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (handling, go, seen) = (handling.clone(), go.clone(), seen.clone());
            async move {
                let timed = timeout(
                    ms(5),
                    pending::<Result<(), Burnt>>().finally(async move {
                        handling.open();
                        go.wait().await;
                    }),
                );
                drop(timed.await);
                seen.open();
                Ok::<_, Burnt>(())
            }
        });
        handling.wait().await;
        task.cancel();
        turns(5).await;
        go.open();
        assert_eq!(cancelled(task.await).kind(), CancelKind::Explicit);
        assert!(!seen.is_open(), "the request was turned into TimedOut");
    });
}

/// The deadline that fires while an external request unwinds changes nothing.
pub fn law_d4_expiry_while_an_external_request_unwinds(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, seen) = (Gate::new(), Gate::new());
        let task = spawn({
            let (ready, seen) = (ready.clone(), seen.clone());
            async move {
                drop(timeout(ms(10), parked(ready).finally(sleep(ms(30)))).await);
                seen.open();
                Ok::<_, Burnt>(())
            }
        });
        ready.wait().await;
        task.cancel();
        assert_eq!(cancelled(task.await).kind(), CancelKind::Explicit);
        assert!(!seen.is_open());
    });
}

/// Only with the deadline it is `TimedOut`, only with the request it is a cancellation.
pub fn law_d4_each_alone_stays_what_it_is(kitchen: &Kitchen) {
    kitchen.run(async {
        assert!(timeout(ms(5), pending::<()>()).await.is_err());
        let ready = Gate::new();
        let task = spawn({
            let ready = ready.clone();
            async move { timeout(ms(60_000), parked(ready)).await.map_err(|_| Burnt("timed out"))? }
        });
        ready.wait().await;
        task.cancel();
        assert_eq!(cancelled(task.await).kind(), CancelKind::Explicit);
    });
}

/// An external request that was absorbed earlier does not stain a later expiry.
pub fn law_d4_an_absorbed_request_does_not_count(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let task = spawn(async move {
            catch_cancel(parked(gate)).await.expect_err("it is cancelled").uncancel();
            let timed = timeout(ms(5), pending::<()>()).await;
            Ok::<_, Burnt>(timed.is_err())
        });
        ready.wait().await;
        task.cancel();
        assert!(value(task.await), "TimedOut and nothing else");
    });
}

/// Of nested timeouts only the one that expired reports.
pub fn law_d4_only_the_one_that_expired_reports(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let inner_first = timeout(ms(1000), timeout(ms(10), pending::<()>())).await;
        assert!(inner_first.expect("the outer one has time").is_err());
        clock.expect(10);
        let outer_first = timeout(ms(10), timeout(ms(1000), pending::<()>())).await;
        assert!(outer_first.is_err());
        clock.expect(20);
    });
}

/// Of equal deadlines the outermost expires; the inner one does not even arm.
pub fn law_d4_equal_deadlines_expire_outermost(kitchen: &Kitchen) {
    kitchen.run(async {
        let at = Instant::now() + ms(10);
        let reported = Gate::new();
        let nested = timeout_at(at, async {
            let inner = timeout_at(at, pending::<()>()).await;
            reported.open();
            inner
        });
        assert!(nested.await.is_err());
        assert!(!reported.is_open(), "the inner one reported");
    });
}

/// When the outer deadline is moved away, an inner one that is still to come counts again.
pub fn law_d4_an_inner_deadline_counts_when_the_outer_moves(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let outer = Timeout::scope(ms(10), async |outer: Timeout| {
            let mover = outer.clone();
            let inner = timeout(ms(20), async move {
                yield_now().await;
                mover.reschedule(None::<Instant>).expect("it has not expired");
                pending::<()>().await;
            });
            inner.await
        });
        assert!(outer.await.expect("disarmed").is_err());
        clock.expect(20);
    });
}

/// A timeout around a group and a child that fails: the group's error has one shape whatever comes first.
pub fn law_d4_a_group_inside_keeps_its_error(kitchen: &Kitchen) {
    kitchen.run(async {
        let outcome = timeout(
            ms(30),
            TaskGroup::<Burnt>::scope(async |group| {
                group.spawn(async { Err::<(), _>(Burnt("child")) });
                pending::<Result<(), Burnt>>().await
            }),
        );
        let errors = outcome.await.expect("the error came first").expect_err("a child failed");
        assert_eq!(errors.iter().count(), 1);
    });
}
