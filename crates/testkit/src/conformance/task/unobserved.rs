//! T6: a failure that nobody looked at is reported exactly once.

use crate::conformance::prelude::*;

fn failing(name: &'static str) -> Task<(), Burnt> {
    Builder::new().name(name).spawn(async move { Err(Burnt(name)) })
}

/// A failure whose handle is gone is reported once, with its name, its message and its place.
pub fn law_t6_unobserved_failure_is_reported_once(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let task = failing("stew");
        let watch = task.to_ref();
        drop(task);
        watch.finished().await;
        turns(5).await;
    });
    let reports = shift.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert_eq!(reports[0].task, "stew");
    assert!(reports[0].message.contains("stew"), "{reports:?}");
    assert!(reports[0].place.contains("unobserved.rs"), "{reports:?}");
}

/// A panic is reported as a failure is.
pub fn law_t6_unobserved_panic_is_reported_once(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let task = Builder::new().name("fryer").spawn(async { panic!("oil everywhere") });
        let watch = task.to_ref();
        drop(task);
        watch.finished().await;
    });
    let reports = shift.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].message.contains("oil everywhere"), "{reports:?}");
}

/// The report comes in the moment of certainty: when the last handle of the finished task goes.
pub fn law_t6_reported_when_the_last_handle_goes(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let reports = shift.reporter();
    shift.run_reporting(async move {
        let task = failing("pie");
        until(|| task.done()).await;
        turns(3).await;
        assert!(reports().is_empty(), "the handle could still be read");
        drop(task);
        assert_eq!(reports().len(), 1);
    });
    assert_eq!(shift.reports().len(), 1, "and never again");
}

/// A taken outcome is observed, and so is an error that was read by reference.
pub fn law_t6_observed_failures_are_not_reported(kitchen: &Kitchen) {
    kitchen.run(async {
        failed(failing("awaited").await);
        let mut watched = failing("watched");
        failed((&mut watched).await);
        drop(watched);
        let mut taken = failing("taken");
        until(|| taken.done()).await;
        failed(taken.try_take().expect("it is done"));
        let read = failing("read");
        let result = failing("result");
        until(|| read.done() && result.done()).await;
        assert!(read.error().is_some());
        assert!(result.result().is_some());
    });
}

/// `state()`, `finished()` and a callback do not look at the error.
pub fn law_t6_watching_is_not_observing(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let task = failing("jam");
        task.on_done(|task| assert!(task.done()));
        task.finished().await;
        assert_eq!(task.state(), TaskState::Done(Ending::Failed));
    });
    assert_eq!(shift.reports().len(), 1, "{:?}", shift.reports());
}

/// A cancellation is never reported, nor is a value.
pub fn law_t6_never_for_cancelled(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()));
        let aborted = spawn(parked(Gate::new()));
        let watch = [task.to_ref(), aborted.to_ref()];
        ready.wait().await;
        task.cancel();
        aborted.abort();
        drop((task, aborted, spawn(async { Ok::<_, Burnt>(1) })));
        for task in watch {
            task.finished().await;
        }
    });
}

/// A handle that outlives the runtime reports when it is dropped.
pub fn law_t6_a_handle_that_outlives_the_runtime_reports(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let task = shift.run(async {
        let task = failing("late");
        task.finished().await;
        Ok::<_, Burnt>(task)
    });
    assert!(shift.reports().is_empty());
    drop(task);
    assert_eq!(shift.reports().len(), 1);
}

/// An error that is thrown away with its handle inside another task's value is reported too, once.
pub fn law_t6_a_handle_inside_a_dropped_value_reports(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let outer = spawn(async {
            let inner = failing("inner");
            inner.finished().await;
            Ok::<_, Burnt>(inner)
        });
        drop(value(outer.await));
    });
    assert_eq!(shift.reports().len(), 1, "{:?}", shift.reports());
}

/// Many unobserved failures are as many reports.
pub fn law_t6_every_failure_has_its_own_report(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let tasks: Vec<_> = (0..20).map(|_| failing("twenty")).collect();
        let watches: Vec<_> = tasks.iter().map(Task::to_ref).collect();
        drop(tasks);
        for watch in watches {
            watch.finished().await;
        }
    });
    assert_eq!(shift.reports().len(), 20);
}
