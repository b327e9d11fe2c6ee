//! C12: cleanups that await.

use crate::conformance::prelude::*;

/// `finally` runs after a value, an error and a cancellation.
pub fn law_c12_finally_after_value_error_and_cancellation(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let cleanup = |word: &'static str| {
            let words = log.clone();
            async move {
                sleep(ms(10)).await;
                words.add(word);
            }
        };
        let value_outcome = async { Ok::<_, Burnt>(1) }.finally(cleanup("after a value")).await;
        assert_eq!(value_outcome, Ok(1));
        let error = async { Err::<(), _>(Burnt("pan")) }.finally(cleanup("after an error")).await;
        assert_eq!(error, Err(Burnt("pan")));
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()).finally(cleanup("after a cancellation")));
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
        log.add("done");
    });
    trace.expect(&[
        (10, "after a value"),
        (20, "after an error"),
        (30, "after a cancellation"),
        (30, "done"),
    ]);
}

/// `finally` does not run after a panic or an abort.
pub fn law_c12_finally_not_after_panic_or_abort(kitchen: &Kitchen) {
    kitchen.run(async {
        let (cleaned, ready) = (Gate::new(), Gate::new());
        let cleanup = |cleaned: Gate| async move { cleaned.open() };
        let burning = async { panic!("fire") }.finally(cleanup(cleaned.clone()));
        let panicking = spawn(async move {
            let _never: Never = burning.await;
        });
        panicked(panicking.await);
        let aborted = spawn(parked(ready.clone()).finally(cleanup(cleaned.clone())));
        ready.wait().await;
        aborted.abort();
        cancelled(aborted.await);
        assert!(!cleaned.is_open());
    });
}

/// `on_cancel` runs only after a cancellation, and resumes by itself.
pub fn law_c12_on_cancel_only_after_a_cancellation(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, cleaned) = (Gate::new(), Gate::new());
        let cleanup = |cleaned: Gate| async move { cleaned.open() };
        assert_eq!(async { Ok::<_, Burnt>(1) }.on_cancel(cleanup(cleaned.clone())).await, Ok(1));
        assert!(!cleaned.is_open());
        let task = spawn(parked(ready.clone()).on_cancel(cleanup(cleaned.clone())));
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
        assert!(cleaned.is_open());
    });
}

/// `bracket` uses one resource for work and cleanup.
pub fn law_c12_bracket(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let (gate, words) = (ready.clone(), log.clone());
        let task = spawn(bracket(
            words.clone(),
            async move |words: &mut Trace| {
                words.add("works");
                parked(gate).await
            },
            async move |words: Trace| {
                sleep(ms(20)).await;
                words.add("released");
            },
        ));
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
        let well = bracket(5, async |n: &mut i32| Ok::<_, Burnt>(*n + 1), async |_| {}).await;
        assert_eq!(well, Ok(6));
    });
    trace.expect(&[(0, "works"), (20, "released")]);
}

/// A second request does not interrupt a cleanup; it is delivered after it.
pub fn law_c12_cleanups_are_shielded(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, cleaning, go, cleaned) = (Gate::new(), Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (cleaning, go, cleaned) = (cleaning.clone(), go.clone(), cleaned.clone());
            parked(ready.clone()).finally(async move {
                cleaning.open();
                go.wait().await;
                cleaned.open();
            })
        });
        ready.wait().await;
        task.cancel();
        cleaning.wait().await;
        task.cancel();
        turns(5).await;
        assert!(!task.done());
        go.open();
        cancelled(task.await);
        assert!(cleaned.is_open());
    });
}

/// The outcome that a cleanup holds is not lost by a request that comes meanwhile; that acts after it.
pub fn law_c12_the_held_outcome_is_not_lost(kitchen: &Kitchen) {
    kitchen.run(async {
        let (cleaning, go, got, passed) = (Gate::new(), Gate::new(), Slot::new(), Gate::new());
        let task = spawn({
            let (cleaning, go, got, passed) = (cleaning.clone(), go.clone(), got.clone(), passed.clone());
            async move {
                let work = async { Ok::<_, Burnt>("the dish") }.finally(async move {
                    cleaning.open();
                    go.wait().await;
                });
                got.put(work.await);
                yield_now().await;
                passed.open();
                Ok::<_, Burnt>(())
            }
        });
        cleaning.wait().await;
        task.cancel();
        turns(3).await;
        go.open();
        cancelled(task.await);
        assert_eq!(got.take(), Some(Ok("the dish")));
        assert!(!passed.is_open());
    });
}

/// The error of a cleanup becomes the outcome if there was no other, also instead of a cancellation.
pub fn law_c12_a_cleanups_error_becomes_the_outcome(kitchen: &Kitchen) {
    kitchen.run(async {
        let cleanup = || async { Err::<(), _>(Burnt("cleanup")) };
        assert_eq!(async { Ok::<_, Burnt>(1) }.finally(cleanup()).await, Err(Burnt("cleanup")));
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()).finally(cleanup()));
        ready.wait().await;
        task.cancel();
        assert_eq!(failed(task.await), Burnt("cleanup"));
    });
}

/// After an error, the cleanup's own is reported.
pub fn law_c12_a_cleanups_second_error_is_reported(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let work = async { Err::<(), _>(Burnt("first")) }.finally(async { Err::<(), _>(Burnt("second")) });
        assert_eq!(work.await, Err(Burnt("first")));
    });
    let reports = shift.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(
        reports[0].message.contains("burnt second") || reports[0].message.contains("second"),
        "{reports:?}"
    );
}

/// A timeout returns only after the cleanup inside it.
pub fn law_c12_a_timeout_waits_for_the_cleanup(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let words = log.clone();
        let slow = pending::<Result<(), Burnt>>().finally(async move {
            sleep(ms(20)).await;
            words.add("cleaned");
        });
        assert!(timeout(ms(10), slow).await.is_err());
        log.add("timed out");
    });
    trace.expect(&[(30, "cleaned"), (30, "timed out")]);
}
