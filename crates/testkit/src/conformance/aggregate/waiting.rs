//! A3, A4: `wait` and `as_completed`.

use crate::conformance::prelude::*;

/// A task that waits for its gate and then gives `value`.
fn held(gate: &Gate, value: u32) -> Task<u32, Burnt> {
    let gate = gate.clone();
    spawn(async move {
        gate.wait().await;
        Ok(value)
    })
}

/// `ALL_COMPLETED` is the default, and results stay with their tasks.
pub fn law_a3_all_completed(kitchen: &Kitchen) {
    kitchen.run(async {
        let gate = Gate::new();
        let tasks = vec![held(&gate, 1), spawn(async { Err(Burnt("two")) }), held(&gate, 3)];
        gate.open();
        let (done, pending) = wait(tasks).await;
        assert!(pending.is_empty());
        let mut done = done.into_iter();
        assert_eq!(value(done.next().expect("three").await), 1);
        assert_eq!(failed(done.next().expect("three").await), Burnt("two"));
        assert_eq!(value(done.next().expect("three").await), 3);
    });
}

/// `FIRST_COMPLETED` returns at the first end, both lists in argument order, and cancels nothing.
pub fn law_a3_first_completed(kitchen: &Kitchen) {
    kitchen.run(async {
        let (now, later) = (Gate::new(), Gate::new());
        let tasks = vec![held(&later, 1), held(&now, 2), held(&later, 3)];
        now.open();
        let (done, pending) = wait(tasks).first_completed().await;
        assert_eq!((done.len(), pending.len()), (1, 2));
        for task in done {
            assert_eq!(value(task.await), 2);
        }
        assert!(pending.iter().all(|task| !task.done() && task.cancelling() == 0));
        later.open();
        let mut rest = Vec::new();
        for task in pending {
            rest.push(value(task.await));
        }
        assert_eq!(rest, [1, 3]);
    });
}

/// `FIRST_EXCEPTION` returns at the first failure or panic; a cancelled task does not trigger it.
pub fn law_a3_first_exception(kitchen: &Kitchen) {
    kitchen.run(async {
        let (fail, never) = (Gate::new(), Gate::new());
        let stopped = held(&never, 1);
        stopped.cancel();
        let well = spawn(async { Ok(2) });
        let failing = spawn({
            let fail = fail.clone();
            async move {
                fail.wait().await;
                Err(Burnt("exception"))
            }
        });
        for ended in [&stopped, &well] {
            ended.finished().await;
        }
        let waiting = Gate::new();
        let tasks = vec![stopped, well, failing, held(&never, 4)];
        let waiter = spawn(counting(waiting.clone(), async move {
            let (done, pending) = wait(tasks).first_exception().await;
            Ok::<_, Burnt>((done, pending))
        }));
        waiting.wait().await;
        turns(5).await;
        assert!(!waiter.done(), "a cancellation or a value triggered it");
        fail.open();
        let (done, pending) = value(waiter.await);
        assert_eq!((done.len(), pending.len()), (3, 1));
        let error = done.into_iter().last().expect("the failing one").await;
        assert_eq!(failed(error), Burnt("exception"));
        drop(pending);
    });
}

/// Its own timeout ends the wait and touches no task.
pub fn law_a3_the_timeout_touches_no_task(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let gate = Gate::new();
        let (done, pending) = wait(vec![held(&gate, 1)]).timeout(ms(20)).await;
        clock.expect(20);
        assert!(done.is_empty());
        assert!(!pending[0].done() && pending[0].cancelling() == 0);
        gate.open();
        let (done, pending) = wait(pending).timeout(None::<Duration>).await;
        assert!(pending.is_empty());
        for task in done {
            assert_eq!(value(task.await), 1);
        }
    });
}

/// Nothing to wait for returns at once, both empty.
pub fn law_a3_empty_input(kitchen: &Kitchen) {
    kitchen.run(async {
        for first in [true, false] {
            let none: Vec<Task<u32, Burnt>> = Vec::new();
            let waiting = if first { wait(none).first_completed() } else { wait(none).all_completed() };
            let Poll::Ready((done, pending)) = poll_once(pin!(waiting)).await else { panic!("it suspended") };
            assert!(done.is_empty() && pending.is_empty());
        }
    });
}

/// What is done already is taken at once, in argument order.
pub fn law_a3_finished_tasks_do_not_suspend(kitchen: &Kitchen) {
    kitchen.run(async {
        let tasks: Vec<_> = (0..3).map(|n| spawn(async move { Ok::<_, Burnt>(n) })).collect();
        for task in &tasks {
            task.finished().await;
        }
        let Poll::Ready((done, pending)) = poll_once(pin!(wait(tasks))).await else { panic!("it suspended") };
        assert!(pending.is_empty());
        for (n, task) in done.into_iter().enumerate() {
            assert_eq!(value(task.await), n);
        }
    });
}

/// The borrowing form survives being dropped half-way: the handles are still there.
pub fn law_a3_the_borrowing_form_survives_being_dropped(kitchen: &Kitchen) {
    kitchen.run(async {
        let gate = Gate::new();
        let mut tasks = vec![held(&gate, 1), held(&gate, 2)];
        assert!(timeout(ms(5), wait(&mut tasks[..])).await.is_err());
        assert!(tasks.iter().all(|task| !task.done() && task.cancelling() == 0));
        gate.open();
        {
            let (done, pending) = wait(&mut tasks[..]).await;
            assert_eq!((done.len(), pending.len()), (2, 0));
        }
        let mut values = Vec::new();
        for task in tasks {
            values.push(value(task.await));
        }
        assert_eq!(values, [1, 2]);
    });
}

/// A cancelled waiter cancels nothing that it only watches.
pub fn law_a3_a_cancelled_waiter_leaves_the_tasks(kitchen: &Kitchen) {
    kitchen.run(async {
        let (gate, waiting) = (Gate::new(), Gate::new());
        let task = held(&gate, 1);
        let watch = task.to_ref();
        let waiter = spawn(counting(waiting.clone(), async move {
            drop(wait(vec![task]).await);
            Ok::<_, Burnt>(())
        }));
        waiting.wait().await;
        waiter.cancel();
        cancelled(waiter.await);
        assert_eq!(watch.cancelling(), 0);
        gate.open();
        watch.finished().await;
        assert!(!watch.cancelled());
    });
}

/// `as_completed` yields finished tasks in completion order.
pub fn law_a4_completion_order(kitchen: &Kitchen) {
    kitchen.run(async {
        let gates: Vec<_> = (0..4).map(|_| Gate::new()).collect();
        let tasks: Vec<_> = gates.iter().zip(0..).map(|(gate, n)| held(gate, n)).collect();
        let mut stream = as_completed(tasks);
        for n in [2, 0, 3, 1] {
            gates[n].open();
            let task = stream.next().await.expect("one more");
            assert!(task.done());
            assert_eq!(value(task.await), n as u32);
        }
        assert!(stream.next().await.is_none());
    });
}

/// Breaking off and going on later gives the rest, each task once.
pub fn law_a4_break_off_and_go_on(kitchen: &Kitchen) {
    kitchen.run(async {
        let tasks: Vec<_> = (0..4).map(|n| spawn(async move { Ok::<_, Burnt>(n) })).collect();
        let mut stream = as_completed(tasks);
        let mut seen = Vec::new();
        for _ in 0..2 {
            seen.push(value(stream.next().await.expect("four").await));
        }
        turns(3).await;
        while let Some(task) = stream.next().await {
            seen.push(value(task.await));
        }
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3]);
    });
}

/// Dropping the stream cancels nothing; the borrowing form leaves the handles with the caller.
pub fn law_a4_dropping_the_stream_cancels_nothing(kitchen: &Kitchen) {
    kitchen.run(async {
        let gate = Gate::new();
        let mut tasks = vec![held(&gate, 1), spawn(async { Ok(2) })];
        {
            let mut stream = as_completed(&mut tasks[..]);
            assert!(stream.next().await.is_some());
        }
        assert_eq!(tasks[0].cancelling(), 0);
        gate.open();
        for (task, n) in tasks.into_iter().zip(1..) {
            assert_eq!(value(task.await), n);
        }
        let (open, owned) = (Gate::new(), Gate::new());
        let task = held(&open, 3);
        let watch = task.to_ref();
        drop(as_completed(vec![task]));
        turns(5).await;
        assert_eq!(watch.cancelling(), 0);
        open.open();
        watch.finished().await;
        assert!(!watch.cancelled());
        drop(owned);
    });
}

/// A deadline around the stream touches no task.
pub fn law_a4_a_deadline_touches_no_task(kitchen: &Kitchen) {
    kitchen.run(async {
        let gate = Gate::new();
        let mut stream = as_completed(vec![held(&gate, 1)]);
        assert!(timeout(ms(5), stream.next()).await.is_err());
        gate.open();
        assert_eq!(value(stream.next().await.expect("one").await), 1);
    });
}

/// An empty stream ends at once.
pub fn law_a4_empty_input(kitchen: &Kitchen) {
    kitchen.run(async {
        assert!(as_completed(Vec::<Task<u32, Burnt>>::new()).next().await.is_none());
    });
}
