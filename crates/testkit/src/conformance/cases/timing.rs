//! Cases 13–22 and 52–58: timeouts and timers.

use crate::conformance::prelude::*;

/// Case 13: the inner future completes and the caller is cancelled in one turn: nothing is lost.
pub fn case_013_completion_and_request_in_one_turn(kitchen: &Kitchen) {
    kitchen.run_local(async {
        for request_first in [true, false] {
            let (ready, go, bad) = (Gate::new(), Gate::new(), Gate::new());
            let (gate, open, flag) = (ready.clone(), go.clone(), bad.clone());
            let task = spawn_local(async move {
                let inner = async {
                    gate.open();
                    open.wait().await;
                };
                drop(wait_for(inner, Duration::from_secs(10)).await);
                yield_now().await;
                flag.open();
                Ok::<_, Burnt>(())
            });
            ready.wait().await;
            if request_first {
                task.cancel();
                go.open();
            } else {
                go.open();
                task.cancel();
            }
            cancelled(task.await);
            assert!(!bad.is_open(), "the request vanished");
        }
    });
}

/// Case 14: `wait_for` of a finished task with a request pending does not forget the request.
pub fn case_014_wait_for_a_finished_task_keeps_the_request(kitchen: &Kitchen) {
    kitchen.run(async {
        let bad = Gate::new();
        let flag = bad.clone();
        let task = spawn(async move {
            let done = spawn(async { Ok::<_, Burnt>(1) });
            done.finished().await;
            current_task().expect("inside a task").cancel();
            drop(wait_for(done, Duration::from_secs(10)).await);
            sleep(ms(1)).await;
            flag.open();
            Ok::<_, Burnt>(())
        });
        cancelled(task.await);
        assert!(!bad.is_open());
    });
}

/// Case 15: `wait_for` returns only after the cleanup of the task inside it.
pub fn case_015_wait_for_waits_for_the_cleanup(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, locked) = (Gate::new(), Arc::new(Mutex::new(true)));
        let lock = locked.clone();
        let task = spawn(parked(ready.clone()).finally(async move {
            turns(3).await;
            *lock.lock().expect("whole") = false;
        }));
        ready.wait().await;
        assert!(wait_for(task, ms(5)).await.is_err());
        assert!(!*locked.lock().expect("whole"), "the cleanup was still running");
    });
}

/// Case 19: a deadline and a child's error at the same time: the error's shape does not depend on the race.
pub fn case_019_deadline_and_error_in_one_turn(kitchen: &Kitchen) {
    kitchen.run(async {
        let outcome = timeout(
            ms(10),
            TaskGroup::<Burnt>::scope(async |group| {
                group.spawn(async {
                    sleep(ms(10)).await;
                    Err::<(), _>(Burnt("child"))
                });
                pending::<Result<(), Burnt>>().await
            }),
        );
        match outcome.await {
            Ok(result) => assert_eq!(result.expect_err("a child failed").iter().count(), 1),
            Err(timed_out) => assert!(!timed_out.to_string().is_empty()),
        }
    });
}

/// Case 20: a body that handles everything inside a short timeout has one fixed outcome.
pub fn case_020_a_body_that_catches_everything(kitchen: &Kitchen) {
    kitchen.run(async {
        for _ in 0..10 {
            let timed = timeout(ms(1), async {
                if let Err(token) = catch_cancel(sleep(ms(200))).await {
                    token.uncancel();
                }
                "done"
            });
            assert_eq!(timed.await.expect("absorbed"), "done");
        }
    });
}

/// Case 22: a sleep into the past does not panic, and a loop of them lets others run.
pub fn case_022_sleeping_into_the_past(kitchen: &Kitchen) {
    kitchen.run_local(async {
        sleep(ms(5)).await;
        let stop = Gate::new();
        let other = spawn_local({
            let stop = stop.clone();
            async move { stop.open() }
        });
        let mut naps = 0;
        while !stop.is_open() {
            sleep_until(Instant::ZERO).await;
            naps += 1;
            assert!(naps < 1_000_000, "the other task starves");
        }
        value(other.await);
    });
}

/// Case 53: intervals with absurd periods.
pub fn case_053_absurd_intervals(kitchen: &Kitchen) {
    kitchen.run(async {
        let mut pace = interval(Duration::MAX);
        let first = timeout(ms(5), pace.tick()).await;
        let second = timeout(ms(5), pace.tick()).await;
        assert!(first.is_err() || second.is_err(), "the second tick never comes");
    });
}

/// Case 54: missed ticks, in the three modes.
pub fn case_054_missed_ticks(kitchen: &Kitchen) {
    if !kitchen.is_virtual() {
        return;
    }
    async fn ticks(mode: MissedTicks) -> Vec<u128> {
        let start = Instant::now();
        let mut pace = interval_at(start, Duration::from_secs(1)).missed(mode);
        pace.tick().await;
        sleep(ms(10_400)).await;
        let mut times = Vec::new();
        for _ in 0..12 {
            pace.tick().await;
            times.push((Instant::now() - start).as_millis());
        }
        times
    }
    kitchen.run(async {
        let burst = ticks(MissedTicks::Burst).await;
        assert_eq!(burst[..10], [10_400; 10]);
        assert_eq!(burst[10..], [11_000, 12_000]);
        let skip = ticks(MissedTicks::Skip).await;
        assert_eq!(skip[..3], [10_400, 11_000, 12_000]);
        let delay = ticks(MissedTicks::Delay).await;
        assert_eq!(delay[..3], [10_400, 11_400, 12_400]);
    });
}

/// Case 56: very many timeouts around what is ready cost nothing afterwards.
pub fn case_056_timeouts_of_ready_futures_are_free(kitchen: &Kitchen) {
    kitchen.run(async {
        for n in 0..DEEP {
            let hour = Duration::from_secs(3600);
            assert_eq!(timeout(hour, ready(n)).await.expect("it is ready"), n);
        }
        assert!(Instant::now() < Instant::ZERO + Duration::from_secs(3600));
    });
}

/// Case 58: ten thousand equal deadlines, some of them cancelled; and a clock that passes many days.
pub fn case_058_many_equal_deadlines(kitchen: &Kitchen) {
    let is_virtual = kitchen.is_virtual();
    kitchen.run(async move {
        let count = DEEP / 10;
        let at = Instant::now() + ms(50);
        let fired = Gate::new();
        let tasks: Vec<_> = (0..count)
            .map(|_| {
                let fired = fired.clone();
                spawn(async move {
                    sleep_until(at).await;
                    fired.open();
                    Ok::<_, Burnt>(())
                })
            })
            .collect();
        for task in tasks.iter().step_by(2) {
            task.cancel();
        }
        for task in tasks {
            drop(task.await);
        }
        assert!(fired.count() <= count && fired.count() >= count / 2, "{} of {count}", fired.count());
        if is_virtual {
            for days in [12, 50, 400, 30_000] {
                let before = Instant::now();
                let nap = Duration::from_secs(days * 86_400) + ms(3);
                sleep(nap).await;
                assert_eq!(Instant::now() - before, nap);
            }
        }
    });
}
