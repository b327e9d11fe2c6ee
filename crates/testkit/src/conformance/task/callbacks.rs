//! T9: done-callbacks.

use crate::conformance::prelude::*;

/// Callbacks run once each, in registration order, when the outcome is readable.
pub fn law_t9_once_each_in_order_after_the_outcome(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let (go, called) = (Gate::new(), Gate::new());
        let task = spawn({
            let go = go.clone();
            async move { go.wait().await }
        });
        for word in ["first", "second", "third"] {
            let (log, called) = (log.clone(), called.clone());
            task.on_done(move |task| {
                assert!(task.done() && !task.cancelled());
                log.add(word);
                called.open();
            });
        }
        go.open();
        called.reached(3).await;
        value(task.await);
        turns(5).await;
    });
    assert_eq!(trace.words(), ["first", "second", "third"]);
}

/// Callbacks run for every ending.
pub fn law_t9_for_every_ending(kitchen: &Kitchen) {
    kitchen.run(async {
        let called = Gate::new();
        let count = |task: &TaskRef| {
            let called = called.clone();
            task.on_done(move |_| called.open());
        };
        let failing = spawn(async { Err::<(), _>(Burnt("leek")) });
        let panicking = spawn(async { panic!("fire") });
        let stopped = spawn(parked(Gate::new()));
        let aborted = spawn(parked(Gate::new()));
        [failing.to_ref(), panicking.to_ref(), stopped.to_ref(), aborted.to_ref()].iter().for_each(count);
        stopped.cancel();
        aborted.abort();
        called.reached(4).await;
        failed(failing.await);
        panicked(panicking.await.map(drop));
    });
}

/// A removed callback does not run, and removing tells whether it was there.
pub fn law_t9_removed_callbacks_do_not_run(kitchen: &Kitchen) {
    kitchen.run(async {
        let (kept, removed, go) = (Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let go = go.clone();
            async move { go.wait().await }
        });
        let id = task.on_done({
            let removed = removed.clone();
            move |_| removed.open()
        });
        task.on_done({
            let kept = kept.clone();
            move |_| kept.open()
        });
        assert!(task.remove_callback(id));
        assert!(!task.remove_callback(id));
        go.open();
        kept.wait().await;
        turns(5).await;
        assert!(!removed.is_open());
        value(task.await);
    });
}

/// A callback that comes late is scheduled: neither lost nor run inline.
pub fn law_t9_late_callbacks_are_scheduled(kitchen: &Kitchen) {
    let fifo = kitchen.is_fifo();
    kitchen.run(async move {
        let task = spawn(async {});
        until(|| task.done()).await;
        let called = Gate::new();
        task.on_done({
            let called = called.clone();
            move |_| called.open()
        });
        assert!(!fifo || !called.is_open(), "the callback ran inline");
        called.wait().await;
        value(task.await);
    });
}

/// Late ones run one after the other, in the order in which they were added, whatever the scheduler does.
pub fn law_t9_late_callbacks_run_in_registration_order(kitchen: &Kitchen) {
    kitchen.run(async {
        let task = spawn(async {});
        until(|| task.done()).await;
        let (called, last) = (Arc::new(Mutex::new(Vec::new())), Gate::new());
        for number in 0..10 {
            let (called, last) = (called.clone(), last.clone());
            task.on_done(move |_| {
                called.lock().expect("nobody panics").push(number);
                if number == 9 {
                    last.open();
                }
            });
        }
        last.wait().await;
        assert_eq!(*called.lock().expect("nobody panics"), (0..10).collect::<Vec<_>>());
        value(task.await);
    });
}

/// Callbacks run under no lock: they may use their task and the runtime as anybody.
pub fn law_t9_callbacks_run_under_no_lock(kitchen: &Kitchen) {
    kitchen.run(async {
        let (first, second) = (Gate::new(), Gate::new());
        let task = spawn(async {});
        task.on_done({
            let (first, second) = (first.clone(), second.clone());
            move |task| {
                assert_eq!(task.cancel(), CancelOutcome::Done);
                assert!(task.state() == TaskState::Done(Ending::Value));
                drop(all_tasks());
                task.on_done(move |_| second.open());
                drop(spawn(async {}));
                first.open();
            }
        });
        first.wait().await;
        second.wait().await;
        value(task.await);
    });
}

/// A panicking callback is reported and disturbs neither the others nor the outcome.
pub fn law_t9_a_panicking_callback_disturbs_nothing(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let (called, go) = (Gate::new(), Gate::new());
        let task = spawn({
            let go = go.clone();
            async move {
                go.wait().await;
                Ok::<_, Burnt>(7)
            }
        });
        let count = called.clone();
        task.on_done(move |_| count.open());
        task.on_done(|_| panic!("the callback burns"));
        let count = called.clone();
        task.on_done(move |_| count.open());
        go.open();
        called.reached(2).await;
        assert_eq!(value(task.await), 7);
    });
    let told = shift.reports().iter().any(|report| report.message.contains("the callback burns"));
    assert!(told || shift.warnings().iter().any(|text| text.contains("the callback burns")));
}

/// A callback that is never called, because the runtime ends, is dropped.
pub fn law_t9_callbacks_run_for_tasks_that_the_shutdown_ends(kitchen: &Kitchen) {
    let called = Gate::new();
    let count = called.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()));
        task.on_done(move |task| {
            assert!(task.cancelled());
            count.open();
        });
        ready.wait().await;
    });
    assert_eq!(called.count(), 1);
}
