//! D1, D5: the forms of a timeout, and deadlines that are past.

use crate::conformance::prelude::*;

/// `timeout`, `timeout_at`, `wait_for` and `move_on_after` say the same in their own ways.
pub fn law_d1_the_forms_of_a_timeout(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        assert_eq!(timeout(ms(10), async { 1 }).await.expect("in time"), 1);
        assert!(timeout(ms(10), pending::<()>()).await.is_err());
        clock.expect(10);
        assert!(timeout_at(Instant::ZERO + ms(20), pending::<()>()).await.is_err());
        clock.expect(20);
        assert!(wait_for(pending::<()>(), ms(10)).await.is_err());
        clock.expect(30);
        assert_eq!(move_on_after(ms(10), pending::<()>()).await, None);
        clock.expect(40);
        assert_eq!(move_on_after(ms(10), async { 2 }).await, Some(2));
        clock.expect(40);
    });
}

/// `None` never expires.
pub fn law_d1_none_never_expires(kitchen: &Kitchen) {
    kitchen.run(async {
        let slow = || async {
            sleep(ms(30)).await;
            1
        };
        assert_eq!(timeout(None::<Duration>, slow()).await.expect("never"), 1);
        assert_eq!(timeout_at(None::<Instant>, slow()).await.expect("never"), 1);
        assert_eq!(wait_for(slow(), None::<Duration>).await.expect("never"), 1);
    });
}

/// Tasks can be given where futures can: by value they are linked.
pub fn law_d1_tasks_can_be_timed(kitchen: &Kitchen) {
    kitchen.run(async {
        let quick = spawn(async { Ok::<_, Burnt>(1) });
        assert_eq!(value(timeout(ms(10_000), quick).await.expect("in time")), 1);
        let ready = Gate::new();
        let slow = spawn(parked(ready.clone()));
        let watch = slow.to_ref();
        ready.wait().await;
        assert!(timeout(ms(10), slow).await.is_err());
        assert!(watch.cancelled(), "the task ended before the timeout returned");
    });
}

/// A scope can be rescheduled: later, earlier, never.
pub fn law_d1_a_scope_can_be_rescheduled(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let later = Timeout::scope(ms(10), async |t: Timeout| {
            assert!(!t.expired());
            t.reschedule(Instant::now() + ms(30)).expect("it has not expired");
            pending::<()>().await;
        });
        assert!(later.await.is_err());
        clock.expect(30);
        let earlier = Timeout::scope(ms(1000), async |t: Timeout| {
            let soon = Instant::now() + ms(10);
            t.reschedule(soon).expect("it has not expired");
            assert_eq!(t.when(), Some(soon));
            pending::<()>().await;
        });
        assert!(earlier.await.is_err());
        clock.expect(40);
        let never = Timeout::scope(ms(10), async |t: Timeout| {
            t.reschedule(None::<Instant>).expect("it has not expired");
            sleep(ms(30)).await;
            t.when()
        });
        assert_eq!(never.await.expect("disarmed"), None);
    });
}

/// Another task can reschedule a timeout while its body waits.
pub fn law_d1_rescheduled_from_elsewhere(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let timed = Timeout::scope(ms(60_000), async |t: Timeout| {
            let elsewhere = spawn(async move {
                t.reschedule(Instant::now() + ms(20)).expect("it has not expired");
            });
            value(elsewhere.await);
            pending::<()>().await;
        });
        assert!(timed.await.is_err());
        clock.expect(20);
    });
}

/// After the expiry, rescheduling is an error, and `expired()` tells.
pub fn law_d1_rescheduling_after_expiry_is_an_error(kitchen: &Kitchen) {
    kitchen.run(async {
        let timed = Timeout::scope(ms(5), async |t: Timeout| {
            let token = catch_cancel(pending::<()>()).await.expect_err("the deadline comes");
            assert!(t.expired());
            assert!(t.reschedule(Instant::now() + ms(1000)).is_err());
            token.resume().await
        });
        let outcome: Result<Never, TimedOut> = timed.await;
        assert!(outcome.is_err());
    });
}

/// A zero duration or a past instant expires at the first suspension point.
pub fn law_d5_a_past_deadline_expires_at_the_first_suspension(kitchen: &Kitchen) {
    kitchen.run(async {
        sleep(ms(5)).await;
        let reached = Gate::new();
        let timed = timeout(Duration::ZERO, async {
            reached.open();
            yield_now().await;
            reached.open();
        });
        assert!(timed.await.is_err());
        assert_eq!(reached.count(), 1);
        assert!(timeout_at(Instant::ZERO + ms(1), pending::<()>()).await.is_err());
        assert!(timeout(Duration::ZERO, sleep(Duration::ZERO)).await.is_err());
    });
}

/// A future that never suspends completes, however late it is.
pub fn law_d5_a_future_that_never_suspends_completes(kitchen: &Kitchen) {
    kitchen.run(async {
        sleep(ms(2)).await;
        assert_eq!(timeout(Duration::ZERO, async { 7 }).await.expect("it did not suspend"), 7);
        assert_eq!(timeout_at(Instant::ZERO, ready(8)).await.expect("it did not suspend"), 8);
    });
}

/// `wait_for(f, 0)` never starts `f`, but takes the outcome of a task that is done.
pub fn law_d5_wait_for_zero_never_starts(kitchen: &Kitchen) {
    kitchen.run(async {
        let started = Gate::new();
        let start = started.clone();
        let probe = Probe::new();
        let item = probe.item();
        let unstarted = async move {
            let _item = item;
            start.open();
        };
        assert!(wait_for(unstarted, Duration::ZERO).await.is_err());
        assert!(!started.is_open());
        assert_eq!(probe.dropped(), 1);
        let done = spawn(async { Ok::<_, Burnt>(7) });
        done.finished().await;
        assert_eq!(value(wait_for(done, Duration::ZERO).await.expect("it is done")), 7);
    });
}

/// Until the first suspension a zero deadline has not expired and can be moved.
pub fn law_d5_a_zero_deadline_can_be_moved_before_it_acts(kitchen: &Kitchen) {
    kitchen.run(async {
        let timed = Timeout::scope(Duration::ZERO, async |t: Timeout| {
            assert!(!t.expired());
            t.reschedule(None::<Instant>).expect("it has not expired");
            yield_now().await;
            "moved"
        });
        assert_eq!(timed.await.expect("disarmed"), "moved");
    });
}
