//! T4, T5: how a task starts, and who keeps it alive.

use crate::conformance::prelude::*;

/// A task never runs inside `spawn` itself.
pub fn law_t4_spawn_never_runs_the_task_inline(kitchen: &Kitchen) {
    thread_local! {
        static SPAWNING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    }
    kitchen.run(async {
        let mut tasks = Vec::new();
        for _ in 0..50 {
            SPAWNING.set(true);
            tasks.push(spawn(async { Ok::<_, Burnt>(SPAWNING.get()) }));
            SPAWNING.set(false);
        }
        for task in tasks {
            assert!(!value(task.await), "the task ran inside spawn");
        }
    });
}

/// On a FIFO backend tasks start in spawn order.
pub fn law_t4_tasks_start_in_spawn_order(kitchen: &Kitchen) {
    if !kitchen.is_fifo() {
        return;
    }
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let start = |word: &'static str, log: Trace| spawn(async move { log.add(word) });
        let tasks = ["a", "b", "c", "d"].map(|word| start(word, log.clone()));
        log.add("spawned");
        for task in tasks {
            value(task.await);
        }
    });
    assert_eq!(trace.words(), ["spawned", "a", "b", "c", "d"]);
}

/// Without a runtime, `spawn` panics with a sentence that says what to call.
pub fn law_t4_spawn_without_a_runtime_says_what_to_call(_: &Kitchen) {
    let panic = catch_unwind(|| spawn(async {})).expect_err("there is no runtime here");
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
    let text = text.expect("the payload is a text");
    assert!(text.contains("runtime") && text.contains("run"), "{text}");
}

/// After the end `spawn` gives a task that is already cancelled, and its future is dropped unpolled.
pub fn law_t4_spawn_on_a_closed_runtime_is_cancelled(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run(async {});
    let probe = Probe::new();
    let item = probe.item();
    let task = shift.handle.spawn(async move {
        item.deliver();
        Ok::<_, Burnt>(())
    });
    assert!(task.done() && task.cancelled());
    assert!(matches!(task.error(), Some(TaskError::Cancelled(r)) if r.kind() == CancelKind::Shutdown));
    assert_eq!((probe.delivered(), probe.dropped()), (0, 1));
}

/// After the end `try_spawn` gives an error that holds the future.
pub fn law_t4_try_spawn_on_a_closed_runtime_keeps_the_future(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run(async {});
    let probe = Probe::new();
    let item = probe.item();
    let refused = shift.handle.try_spawn(async move {
        item.deliver();
        Ok::<_, Burnt>(())
    });
    let error = refused.map(drop).expect_err("the runtime is closed");
    assert_eq!(probe.alive(), 1, "the future is in the error");
    drop(error);
    assert_eq!((probe.delivered(), probe.dropped()), (0, 1));
}

/// Methods of handles and wakers never panic, not even on other threads and after the end.
pub fn law_t4_handles_never_panic(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let task = shift.run(async {
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()));
        ready.wait().await;
        Ok::<_, Burnt>(task)
    });
    let use_everything = move || {
        task.cancel();
        task.abort();
        task.set_name("late");
        let known = (task.id(), task.name(), task.state(), task.cancelling(), task.parent(), task.location());
        let callback = task.on_done(|_| {});
        task.remove_callback(callback);
        drop(task.to_ref().finished());
        drop((known, task));
    };
    std::thread::spawn(use_everything).join().expect("no method panics");
}

/// Dropping the handle neither cancels nor loses the task.
pub fn law_t5_dropping_the_handle_lets_the_task_live(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go, done) = (Gate::new(), Gate::new(), Gate::new());
        drop(spawn({
            let (ready, go, done) = (ready.clone(), go.clone(), done.clone());
            async move {
                ready.open();
                go.wait().await;
                done.open();
            }
        }));
        ready.wait().await;
        go.open();
        done.wait().await;
    });
}

/// The runtime holds a task of which neither a handle nor a waker exists.
pub fn law_t5_the_runtime_holds_every_unfinished_task(kitchen: &Kitchen) {
    let probe = Probe::new();
    let item = probe.item();
    let count = probe.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let task = spawn({
            let ready = ready.clone();
            async move {
                let _item = item;
                parked(ready).await
            }
        });
        let id = task.id();
        ready.wait().await;
        drop(task);
        turns(10).await;
        assert_eq!(count.alive(), 1);
        assert!(all_tasks().iter().any(|task| task.id() == id));
    });
    assert_eq!(probe.dropped(), 1, "the shutdown ends it");
}

/// `cancel_on_drop()` makes a handle that cancels when it is dropped, and can still be awaited.
pub fn law_t5_cancel_on_drop(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()));
        let watch = task.to_ref();
        let guard = task.cancel_on_drop();
        ready.wait().await;
        assert!(!watch.done());
        drop(guard);
        watch.finished().await;
        assert!(watch.cancelled());
        let well = spawn(async { Ok::<_, Burnt>(3) }).cancel_on_drop();
        assert_eq!(value(well.await), 3);
    });
}
