//! T3: the states of a task and what can be read of them.

use crate::conformance::prelude::*;

/// `Pending → Running ⇄ Suspended → Done`, seen from inside and outside.
pub fn law_t3_states_of_a_life(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let gate = Gate::new();
        let task = spawn_local({
            let gate = gate.clone();
            async move {
                let me = current_task().expect("inside a task");
                assert_eq!(me.state(), TaskState::Running);
                gate.wait().await;
                assert_eq!(me.state(), TaskState::Running);
                Ok::<_, Burnt>(())
            }
        });
        assert_eq!(task.state(), TaskState::Pending);
        until(|| task.state() == TaskState::Suspended).await;
        assert!(!task.done() && !task.cancelled());
        gate.open();
        until(|| task.done()).await;
        assert_eq!(task.state(), TaskState::Done(Ending::Value));
        value(task.await);
    });
}

/// While a handler runs after a request, the state is `Cancelling`.
pub fn law_t3_cancelling_is_a_state(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handling, go) = (Gate::new(), Gate::new(), Gate::new());
        let task = spawn({
            let (ready, handling, go) = (ready.clone(), handling.clone(), go.clone());
            async move {
                let token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                handling.open();
                go.wait().await;
                token.resume().await
            }
        });
        ready.wait().await;
        task.cancel();
        handling.wait().await;
        until(|| task.state() == TaskState::Cancelling).await;
        assert!(!task.cancelled(), "cancelled() tells of the outcome");
        go.open();
        until(|| task.done()).await;
        assert_eq!(task.state(), TaskState::Done(Ending::Cancelled));
        assert!(task.cancelled());
    });
}

/// Each ending has its own terminal state, and nothing changes it any more.
pub fn law_t3_terminal_states_never_change(kitchen: &Kitchen) {
    kitchen.run(async {
        let value_task = spawn(async { Ok::<_, Burnt>(1) });
        let failing = spawn(async { Err::<(), _>(Burnt("rice")) });
        let panicking = spawn(async { panic!("fire") });
        until(|| value_task.done() && failing.done() && panicking.done()).await;
        for _ in 0..2 {
            assert_eq!(value_task.state(), TaskState::Done(Ending::Value));
            assert_eq!(failing.state(), TaskState::Done(Ending::Failed));
            assert_eq!(panicking.state(), TaskState::Done(Ending::Panicked));
            value_task.cancel();
            failing.abort();
            panicking.cancel();
            turns(3).await;
        }
        assert!(!value_task.cancelled());
        assert_eq!(value(value_task.await), 1);
        assert_eq!(failed(failing.await), Burnt("rice"));
        assert_eq!(panicked(panicking.await.map(drop)).message(), "fire");
    });
}

/// `cancelling()` counts explicit requests that were not absorbed, also those that came before delivery.
pub fn law_t3_cancelling_counts_explicit_requests(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let (ready, absorbed) = (Gate::new(), Gate::new());
        let task = spawn_local({
            let (ready, absorbed) = (ready.clone(), absorbed.clone());
            async move {
                let me = current_task().expect("inside a task");
                let token = catch_cancel(parked(ready)).await.expect_err("it is cancelled");
                assert_eq!(me.cancelling(), 2);
                token.uncancel();
                assert_eq!(me.cancelling(), 0);
                absorbed.open();
                pending::<Result<(), Burnt>>().await
            }
        });
        ready.wait().await;
        task.cancel();
        task.cancel();
        assert_eq!(task.cancelling(), 2);
        absorbed.wait().await;
        assert_eq!(task.cancelling(), 0);
        task.cancel();
        assert_eq!(task.cancelling(), 1);
        cancelled(task.await);
    });
}

/// Requests of time-outs and groups do not count.
pub fn law_t3_requests_of_scopes_do_not_count(kitchen: &Kitchen) {
    kitchen.run(async {
        let me = current_task().expect("main is a task");
        let count = me.clone();
        let timed = timeout(ms(5), async move {
            let token = catch_cancel(pending::<()>()).await.expect_err("the deadline comes");
            assert_eq!(count.cancelling(), 0);
            token.resume().await
        });
        let timed: Result<Never, TimedOut> = timed.await;
        assert!(timed.is_err());
        let group: Result<(), GroupError<Burnt>> = TaskGroup::scope(async |group| {
            let child = group.spawn(async { Err::<(), _>(Burnt("egg")) });
            child.finished().await;
            pending::<Result<(), Burnt>>().await
        })
        .await;
        assert!(group.is_err());
        assert_eq!(me.cancelling(), 0);
    });
}

/// The state can be read from any thread, while the task runs and after its end.
pub fn law_t3_readable_from_any_thread(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, go) = (Gate::new(), Gate::new());
        let task = spawn({
            let (ready, go) = (ready.clone(), go.clone());
            async move {
                ready.open();
                go.wait().await;
                Ok::<_, Burnt>(())
            }
        });
        ready.wait().await;
        let look = task.to_ref();
        let seen = spawn_blocking(move || Ok::<_, Burnt>((look.done(), look.cancelling(), look.cancelled())));
        assert_eq!(value(seen.await), (false, 0, false));
        go.open();
        until(|| task.done()).await;
        let look = task.to_ref();
        let seen = spawn_blocking(move || Ok::<_, Burnt>(look.state()));
        assert_eq!(value(seen.await), TaskState::Done(Ending::Value));
    });
}

/// Once done, `result()` and `error()` read by reference, again and again, and consume nothing.
pub fn law_t3_reading_does_not_consume(kitchen: &Kitchen) {
    kitchen.run(async {
        let well = spawn(async { Ok::<_, Burnt>(String::from("soup")) });
        let badly = spawn(async { Err::<(), _>(Burnt("roast")) });
        until(|| well.done() && badly.done()).await;
        for _ in 0..2 {
            assert_eq!(well.result().expect("done").expect("a value"), "soup");
            assert!(well.error().is_none());
            assert!(matches!(badly.error(), Some(TaskError::Failed(Burnt("roast")))));
            assert!(badly.result().expect("done").is_err());
        }
        assert_eq!(value(well.await), "soup");
        assert_eq!(failed(badly.await), Burnt("roast"));
    });
}

/// Before the end there is no result to read.
pub fn law_t3_no_result_before_the_end(kitchen: &Kitchen) {
    kitchen.run(async {
        let gate = Gate::new();
        let task = spawn(parked(gate.clone()));
        gate.wait().await;
        assert!(task.result().is_none() && task.error().is_none());
        task.cancel();
        cancelled(task.await);
    });
}
