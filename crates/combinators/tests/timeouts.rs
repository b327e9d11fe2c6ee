//! Timeouts: expiry, the value that wins, nesting, and requests from outside (laws D1–D5).

#[path = "kit/ms.rs"]
mod ms;

use brigade_combinators::{Timeout, move_on_after, timeout, timeout_at, wait_for};
use brigade_core::{
    BoxError, CancelKind, Instant, TaskError, catch_cancel, current_task, shield, sleep, spawn, yield_now,
};
use brigade_testkit::{Probe, simulate};
use ms::{ms, now};

#[test]
fn law_d1_every_form_expires_and_says_who_did() {
    simulate(async {
        let line = line!() + 1;
        let expired = timeout(ms(10), sleep(ms(1000))).await.unwrap_err();
        assert_eq!((expired.duration(), expired.location().line()), (Some(ms(10)), line));
        assert_eq!(expired.to_string().split(" (").next(), Some("timed out after 10ms"));
        let expired = timeout_at(Instant::ZERO + ms(20), sleep(ms(1000))).await.unwrap_err();
        assert_eq!((expired.deadline(), expired.duration()), (Instant::ZERO + ms(20), None));
        assert_eq!(expired.to_string().split(" (").next(), Some("timed out at 20ms"));
        assert!(wait_for(sleep(ms(1000)), ms(10)).await.is_err());
        assert_eq!(move_on_after(ms(10), sleep(ms(1000))).await, None);
        assert_eq!(now(), 40);
        assert_eq!(timeout(None, async { sleep(ms(5)).await }).await, Ok(()));
        assert_eq!(timeout_at(None, async { 7 }).await, Ok(7));
        assert_eq!(move_on_after(Some(ms(1)), async { 7 }).await, Some(7));
    })
    .unwrap();
}

#[test]
fn law_d1_the_time_begins_at_the_first_poll() {
    simulate(async {
        let lazy = timeout(ms(10), sleep(ms(8)));
        sleep(ms(50)).await;
        assert_eq!(lazy.await, Ok(()));
    })
    .unwrap();
}

#[test]
fn law_d1_reschedule_moves_disarms_and_fails_after_expiry() {
    simulate(async {
        let moved = Timeout::scope(ms(10), async |timeout: Timeout| {
            assert_eq!(timeout.when(), Some(Instant::ZERO + ms(10)));
            timeout.reschedule(Instant::now() + ms(20)).unwrap();
            let caught = catch_cancel(sleep(ms(1000))).await;
            assert!(timeout.expired() && now() == 20);
            assert!(timeout.reschedule(None).unwrap_err().is_expired());
            drop(caught);
            yield_now().await;
        });
        let expired = moved.await.unwrap_err();
        assert_eq!((expired.deadline(), expired.duration(), now()), (Instant::ZERO + ms(20), None, 20));

        let mut kept = None;
        let disarmed = Timeout::scope(ms(10), async |timeout: Timeout| {
            timeout.reschedule(None).unwrap();
            assert_eq!(timeout.when(), None);
            kept = Some(timeout);
            sleep(ms(100)).await;
        });
        disarmed.await.unwrap();
        let error = kept.unwrap().reschedule(None).unwrap_err();
        assert!(!error.is_expired());
        assert_eq!(now(), 120);
    })
    .unwrap();
}

#[test]
fn law_d1_another_task_can_reschedule() {
    simulate(async {
        let scope = Timeout::scope(None, async |timeout: Timeout| {
            spawn(async move {
                sleep(ms(10)).await;
                timeout.reschedule(Instant::now() + ms(5)).unwrap();
            });
            sleep(ms(1000)).await;
        });
        assert!(scope.await.is_err());
        assert_eq!(now(), 15);
    })
    .unwrap();
}

#[test]
fn law_d2_expiry_waits_for_handlers_and_awaited_tasks() {
    simulate(async {
        let inside = async {
            let task = spawn(async {
                let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
                assert_eq!(cancelled.reason().kind(), CancelKind::ParentCancelled);
                sleep(ms(20)).await;
                cancelled.resume().await
            });
            let outcome: Result<(), TaskError<BoxError>> = task.await;
            outcome
        };
        assert!(timeout(ms(10), inside).await.is_err());
        assert_eq!(now(), 30);
    })
    .unwrap();
}

#[test]
fn law_d3_a_result_of_the_same_turn_wins_and_whatever_comes_after_is_returned() {
    simulate(async {
        assert_eq!(timeout(ms(10), sleep(ms(10))).await, Ok(()));
        let absorbed = timeout(ms(10), async {
            let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return 0 };
            cancelled.uncancel();
            sleep(ms(5)).await;
            1
        });
        assert_eq!(absorbed.await, Ok(1));
        let replaced = timeout(ms(10), async {
            let Err(_dropped_on_return) = catch_cancel(sleep(ms(1000))).await else { return 0 };
            2
        });
        assert_eq!(replaced.await, Ok(2));
    })
    .unwrap();
}

#[test]
fn law_d3_a_token_of_this_expiry_in_the_value_makes_it_timed_out() {
    simulate(async {
        let probe = Probe::new();
        let item = probe.item();
        let carried = timeout(ms(10), async {
            let caught = catch_cancel(sleep(ms(1000))).await;
            (caught.unwrap_err(), item)
        });
        assert!(carried.await.is_err());
        assert_eq!(probe.dropped(), 1);
        sleep(ms(5)).await;
        assert_eq!(current_task().unwrap().cancelling(), 0);
    })
    .unwrap();
}

#[test]
fn law_d4_an_external_request_is_never_turned_into_timed_out() {
    simulate(async {
        for cancel_at in [5, 15] {
            let start = now();
            let task = spawn(async {
                let inside = async {
                    let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return };
                    shield(sleep(ms(20))).await;
                    cancelled.resume().await
                };
                timeout(ms(10), inside).await
            });
            sleep(ms(cancel_at)).await;
            task.cancel();
            assert!(task.await.unwrap_err().is_cancelled(), "cancelled at {cancel_at}");
            assert_eq!(now() - start, cancel_at.min(10) + 20);
        }
    })
    .unwrap();
}

#[test]
fn law_d4_only_the_scope_that_expired_reports_and_of_equal_deadlines_the_outermost() {
    simulate(async {
        let inner = timeout(ms(20), timeout(ms(10), sleep(ms(1000)))).await;
        assert_eq!(inner.unwrap().unwrap_err().duration(), Some(ms(10)));
        let outer = timeout(ms(10), timeout(ms(20), sleep(ms(1000)))).await;
        assert_eq!(outer.unwrap_err().duration(), Some(ms(10)));
        let equal = timeout(ms(10), timeout(ms(10), sleep(ms(1000)))).await;
        assert!(equal.is_err(), "the outermost");
        assert_eq!(now(), 30);
    })
    .unwrap();
}

#[test]
fn law_d4_an_inner_deadline_counts_again_when_the_outer_one_is_moved() {
    simulate(async {
        let outer = Timeout::scope(ms(10), async |outer: Timeout| {
            let inner = timeout(ms(20), async {
                sleep(ms(5)).await;
                outer.reschedule(None).unwrap();
                sleep(ms(1000)).await;
            });
            inner.await.is_err()
        });
        assert_eq!((outer.await, now()), (Ok(true), 20));
    })
    .unwrap();
}

#[test]
fn law_d4_an_inner_deadline_counts_again_when_the_outer_one_has_fired() {
    simulate(async {
        let task = spawn(timeout(ms(20), async {
            let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return };
            assert!(timeout(ms(25), sleep(ms(1000))).await.is_err());
            assert_eq!(now(), 35, "the handler of an explicit request outlives the outer deadline");
            cancelled.resume().await
        }));
        sleep(ms(10)).await;
        task.cancel();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(now(), 35);
    })
    .unwrap();
}

#[test]
fn law_d4_a_handler_between_two_deadlines_that_have_fired_can_have_its_own() {
    simulate(async {
        let outer = timeout(ms(20), async {
            let middle = timeout(ms(10), async {
                let Err(_cancelled) = catch_cancel(sleep(ms(1000))).await else { return };
                assert!(timeout(ms(15), sleep(ms(1000))).await.is_err());
                assert_eq!(now(), 25);
            });
            middle.await
        });
        assert_eq!(outer.await, Ok(Ok(())));
    })
    .unwrap();
}

#[test]
fn law_d5_no_time_at_all() {
    simulate(async {
        assert_eq!(timeout(ms(0), async { 7 }).await, Ok(7), "it never suspends");
        assert!(timeout(ms(0), yield_now()).await.is_err());
        assert!(timeout_at(Instant::ZERO, sleep(ms(1))).await.is_err());
        let probe = Probe::new();
        let item = probe.item();
        assert!(wait_for(async move { item.deliver() }, ms(0)).await.is_err());
        assert_eq!((probe.delivered(), probe.dropped()), (0, 1), "it is never started");
        let rescued = Timeout::scope(ms(0), async |timeout: Timeout| {
            timeout.reschedule(Instant::now() + ms(10)).unwrap();
            sleep(ms(5)).await;
        });
        rescued.await.unwrap();
    })
    .unwrap();
}

#[test]
fn law_d5_wait_for_no_time_cancels_a_task_and_waits_for_it() {
    simulate(async {
        let task = spawn(async {
            let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return };
            sleep(ms(20)).await;
            cancelled.resume().await
        });
        let watch = task.to_ref();
        yield_now().await;
        assert!(wait_for(task, ms(0)).await.is_err());
        assert!(watch.cancelled() && now() == 20);

        let mut other = spawn(sleep(ms(100)));
        assert!(wait_for(&mut other, ms(0)).await.is_err());
        assert!(!other.done(), "borrowed, it is only watched");
        other.await.unwrap();
    })
    .unwrap();
}
