//! A1, A2: `gather`.

use crate::conformance::prelude::*;

/// Results stand in argument order, whatever ends first: tuple, array, `Vec` and iterator.
pub fn law_a1_results_in_argument_order(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        async fn after<T>(millis: u64, value: T) -> Result<T, Burnt> {
            sleep(ms(millis)).await;
            Ok(value)
        }
        let (number, text) = gather((after(20, 1), after(10, "two"))).await.expect("nobody fails");
        assert_eq!((number, text), (1, "two"));
        assert_eq!(gather([after(20, 1), after(10, 2)]).await, Ok([1, 2]));
        assert_eq!(gather(vec![after(20, 1), after(10, 2)]).await, Ok(vec![1, 2]));
        assert_eq!(gather_all((0..3).map(|n| after(10 * (3 - n), n))).await, Ok(vec![0, 1, 2]));
        clock.expect(90);
    });
}

/// Tasks are linked, plain futures join them by `.as_branch()`.
pub fn law_a1_tasks_and_futures_together(kitchen: &Kitchen) {
    kitchen.run(async {
        let task = spawn(async { Ok::<_, Burnt>(1) });
        let (first, second) = gather((task, async { Ok::<_, Burnt>(2) }.as_branch())).await.expect("values");
        assert_eq!((first, second), (1, 2));
        let task = spawn(async { Ok::<_, Burnt>(1) });
        let failing = async { Err::<(), _>(Burnt("branch")) }.as_branch();
        let error = gather((task, failing)).await.map(drop);
        assert_eq!(failed(error), Burnt("branch"));
    });
}

/// Futures are polled in place, so they may borrow.
pub fn law_a1_futures_may_borrow(kitchen: &Kitchen) {
    kitchen.run(async {
        let words = [String::from("fish"), String::from("rice")];
        let lengths = words.iter().map(async |word| {
            yield_now().await;
            Ok::<_, Burnt>(word.len())
        });
        assert_eq!(gather_all(lengths).await, Ok(vec![4, 4]));
    });
}

/// Nothing to gather: `Ok` at once.
pub fn law_a1_empty_input(kitchen: &Kitchen) {
    kitchen.run(async {
        let none: Vec<Task<u8, Burnt>> = Vec::new();
        let Poll::Ready(result) = poll_once(pin!(gather(none))).await else { panic!("it suspended") };
        assert_eq!(value(result), Vec::<u8>::new());
        let nothing = std::iter::empty::<std::future::Ready<Result<u8, Burnt>>>();
        assert_eq!(gather_all(nothing).await, Ok(Vec::new()));
    });
}

/// The first error cancels the other branches, waits until they have ended, and is returned.
pub fn law_a2_the_first_error_cancels_and_waits(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let slow_words = log.clone();
        let slow = pending::<Result<(), Burnt>>().finally(async move {
            sleep(ms(20)).await;
            slow_words.add("slow branch ends");
        });
        let task_words = log.clone();
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()).finally(async move {
            sleep(ms(30)).await;
            task_words.add("task ends");
        }));
        ready.wait().await;
        let failing = async {
            yield_now().await;
            Err::<(), _>(Burnt("first"))
        };
        let outcome = gather((slow.as_branch(), task, failing.as_branch())).await;
        assert_eq!(failed(outcome), Burnt("first"));
        log.add("returned");
    });
    trace.expect(&[(20, "slow branch ends"), (30, "task ends"), (30, "returned")]);
}

/// Errors of branches that fail while being cancelled are reported, not lost.
pub fn law_a2_errors_of_cancelled_branches_are_reported(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run_reporting(async {
        let stubborn = async {
            let _token = catch_cancel(pending::<()>()).await.expect_err("a sibling fails");
            Err::<(), _>(Burnt("while being cancelled"))
        };
        let failing = async {
            yield_now().await;
            Err::<(), _>(Burnt("first"))
        };
        assert_eq!(gather((stubborn, failing)).await.map(drop), Err(Burnt("first")));
    });
    let reports = shift.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].message.contains("while being cancelled"), "{reports:?}");
}

/// `.return_errors()` runs all to the end and gives all results in order.
pub fn law_a2_return_errors(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let branches = [(20, true), (10, false), (5, true)].map(|(millis, well)| async move {
            sleep(ms(millis)).await;
            if well { Ok(millis) } else { Err(Burnt("middle")) }
        });
        let results = gather_all(branches).return_errors().await;
        assert_eq!(results, [Ok(20), Err(Burnt("middle")), Ok(5)]);
        clock.expect(20);
    });
}

/// `.return_errors()` of tasks tells cancelled and panicked ones apart from failures.
pub fn law_a2_return_errors_of_tasks(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let stopped = spawn(parked(ready.clone()));
        let panicking = spawn(async {
            if true {
                panic!("fire");
            }
            Ok::<(), Burnt>(())
        });
        ready.wait().await;
        stopped.cancel();
        let well = spawn(async { Ok::<(), Burnt>(()) });
        let mut results = gather(vec![stopped, panicking, well]).return_errors().await.into_iter();
        cancelled(results.next().expect("three"));
        panicked(results.next().expect("three"));
        value(results.next().expect("three"));
    });
}

/// `.leave_running()` returns the first error and lets the other tasks run on.
pub fn law_a2_leave_running(kitchen: &Kitchen) {
    kitchen.run(async {
        let (go, done) = (Gate::new(), Gate::new());
        let (open, flag) = (go.clone(), done.clone());
        let slow = spawn(async move {
            open.wait().await;
            flag.open();
            Ok::<_, Burnt>(())
        });
        let watch = slow.to_ref();
        let failing = spawn(async { Err::<(), _>(Burnt("first")) });
        assert_eq!(failed(gather(vec![slow, failing]).leave_running().await), Burnt("first"));
        assert!(!watch.done() && watch.cancelling() == 0);
        go.open();
        done.wait().await;
        watch.finished().await;
        assert!(!watch.cancelled());
    });
}

/// An external request reaches every branch; when all have ended it goes on unwinding.
pub fn law_a2_an_external_request_reaches_every_branch(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let ready = Gate::new();
        let (gate, words) = (ready.clone(), log.clone());
        let task = spawn(async move {
            let handler = |millis, word: &'static str| {
                let (gate, words) = (gate.clone(), words.clone());
                async move {
                    let token = catch_cancel(parked(gate)).await.expect_err("it is cancelled");
                    sleep(ms(millis)).await;
                    words.add(word);
                    token.resume().await
                }
            };
            let plain = async {
                let _guard = OnDrop(words.clone(), "a branch without a handler");
                pending::<Never>().await
            };
            let _never = gather((handler(20, "b"), plain, handler(10, "a"))).await;
        });
        ready.reached(2).await;
        task.cancel();
        cancelled(task.await);
        log.add("cancelled");
    });
    trace.expect(&[(0, "a branch without a handler"), (10, "a"), (20, "b"), (20, "cancelled")]);
}

/// If every branch absorbs it, nothing unwinds.
pub fn law_a2_absorbed_if_every_branch_absorbs(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let task = spawn(async move {
            let branch = |n: u8| {
                let gate = gate.clone();
                async move {
                    catch_cancel(parked(gate)).await.expect_err("it is cancelled").uncancel();
                    yield_now().await;
                    Ok::<_, Burnt>(n)
                }
            };
            let both = gather((branch(1), branch(2))).await?;
            yield_now().await;
            Ok::<_, Burnt>(both)
        });
        ready.reached(2).await;
        task.cancel();
        assert_eq!(value(task.await), (1, 2));
    });
}

/// If an error was already being returned, it is returned and the request handed back.
pub fn law_a2_an_error_on_its_way_is_returned(kitchen: &Kitchen) {
    kitchen.run(async {
        let (cleaning, go, got, passed) = (Gate::new(), Gate::new(), Slot::new(), Gate::new());
        let task = spawn({
            let (cleaning, go, got, passed) = (cleaning.clone(), go.clone(), got.clone(), passed.clone());
            async move {
                let slow = pending::<Result<(), Burnt>>().finally(async move {
                    cleaning.open();
                    go.wait().await;
                });
                let failing = async {
                    yield_now().await;
                    Err::<(), _>(Burnt("first"))
                };
                got.put(gather((slow, failing)).await.map(drop));
                yield_now().await;
                passed.open();
                Ok::<_, Burnt>(())
            }
        });
        cleaning.wait().await;
        task.cancel();
        go.open();
        cancelled(task.await);
        assert_eq!(got.take(), Some(Err(Burnt("first"))));
        assert!(!passed.is_open());
    });
}

/// The caller of a collecting gather is cancelled: it ends cancelled, and so do its tasks.
pub fn law_a2_a_cancelled_caller_gets_no_list(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, got_a_list, waiting) = (Gate::new(), Gate::new(), Gate::new());
        let tasks: Vec<_> = (0..3).map(|_| spawn(parked(ready.clone()))).collect();
        let watches: Vec<_> = tasks.iter().map(Task::to_ref).collect();
        ready.reached(3).await;
        let flag = got_a_list.clone();
        let caller = spawn(counting(waiting.clone(), async move {
            let list = gather(tasks).return_errors().await;
            flag.open();
            Ok::<_, Burnt>(list.len())
        }));
        waiting.wait().await;
        caller.cancel();
        cancelled(caller.await);
        assert!(watches.iter().all(TaskRef::cancelled));
        assert!(!got_a_list.is_open());
    });
}

/// A gather that is dropped half-way drops its futures and cancels its tasks.
pub fn law_a2_a_dropped_gather_leaves_nothing(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, probe) = (Gate::new(), Probe::new());
        let item = probe.item();
        let task = spawn(parked(ready.clone()));
        let watch = task.to_ref();
        ready.wait().await;
        {
            let borrowed = async {
                let _item = item;
                pending::<Result<(), Burnt>>().await
            };
            let mut both = pin!(gather((task, borrowed.as_branch())));
            assert!(poll_once(both.as_mut()).await.is_pending());
        }
        assert_eq!(probe.dropped(), 1);
        watch.finished().await;
        assert!(watch.cancelled());
    });
}
