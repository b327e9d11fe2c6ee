//! D6, D7, D8: moments, timers, budgets.

use crate::conformance::prelude::*;

/// Timers never fire early.
pub fn law_d6_timers_never_fire_early(kitchen: &Kitchen) {
    kitchen.run(async {
        for millis in [1, 2, 3, 5, 8] {
            let at = Instant::now() + ms(millis);
            sleep_until(at).await;
            assert!(Instant::now() >= at);
        }
        for micros in [50, 400, 700] {
            let at = Instant::now() + Duration::from_micros(micros);
            sleep(Duration::from_micros(micros)).await;
            assert!(Instant::now() >= at);
        }
    });
}

/// Timers fire by their deadlines, not by the order in which they were set.
pub fn law_d6_timers_fire_by_deadline(kitchen: &Kitchen) {
    let fired = Arc::new(Mutex::new(Vec::new()));
    let list = fired.clone();
    kitchen.run_local(async move {
        let tasks: Vec<_> = [60_u64, 20, 40]
            .into_iter()
            .map(|millis| {
                let list = list.clone();
                spawn_local(async move {
                    sleep(ms(millis)).await;
                    list.lock().expect("whole").push(millis);
                })
            })
            .collect();
        for task in tasks {
            value(task.await);
        }
    });
    assert_eq!(*fired.lock().expect("whole"), [20, 40, 60]);
}

/// Equal deadlines that are set on one worker fire in insertion order.
pub fn law_d6_equal_deadlines_fire_in_insertion_order(kitchen: &Kitchen) {
    if !kitchen.is_fifo() {
        return;
    }
    let fired = Arc::new(Mutex::new(Vec::new()));
    let list = fired.clone();
    kitchen.run_local(async move {
        let at = Instant::now() + ms(10);
        let tasks: Vec<_> = (0..50)
            .map(|number| {
                let list = list.clone();
                spawn_local(async move {
                    sleep_until(at).await;
                    list.lock().expect("whole").push(number);
                })
            })
            .collect();
        for task in tasks {
            value(task.await);
        }
    });
    assert_eq!(*fired.lock().expect("whole"), (0..50).collect::<Vec<_>>());
}

/// Absurd durations mean "never": nothing overflows, and cancelling works.
pub fn law_d6_absurd_durations_mean_never(kitchen: &Kitchen) {
    kitchen.run(async {
        assert_eq!(Instant::now() + Duration::MAX, Instant::FAR_FUTURE);
        assert_eq!(timeout(Duration::MAX, async { 1 }).await.expect("never"), 1);
        assert!(timeout(ms(5), sleep(Duration::MAX)).await.is_err());
        assert!(timeout(ms(5), sleep_until(Instant::FAR_FUTURE)).await.is_err());
        let task = spawn(async {
            sleep(Duration::MAX).await;
            Ok::<_, Burnt>(())
        });
        turns(3).await;
        task.cancel();
        cancelled(task.await);
        let later = timeout(Duration::MAX, async {
            yield_now().await;
            2
        });
        assert_eq!(later.await.expect("never"), 2);
    });
}

/// A sleep can be reset: later, earlier, into the past.
pub fn law_d6_a_sleep_can_be_reset(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let mut nap = pin!(sleep(ms(10)));
        assert!(poll_once(nap.as_mut()).await.is_pending());
        nap.as_mut().reset(Instant::ZERO + ms(30));
        assert_eq!(nap.deadline(), Some(Instant::ZERO + ms(30)));
        nap.as_mut().await;
        clock.expect(30);
        nap.as_mut().reset(Instant::now() + ms(10_000));
        assert!(poll_once(nap.as_mut()).await.is_pending());
        nap.as_mut().reset(Instant::now() + ms(10));
        nap.as_mut().await;
        clock.expect(40);
        nap.as_mut().reset(Instant::now() + ms(10_000));
        assert!(poll_once(nap.as_mut()).await.is_pending());
        nap.as_mut().reset(Instant::ZERO);
        nap.as_mut().await;
        assert!(Instant::now() < Instant::ZERO + ms(10_000));
    });
}

/// `effective_deadline()` reads the tightest enclosing deadline.
pub fn law_d6_effective_deadline(kitchen: &Kitchen) {
    kitchen.run(async {
        assert_eq!(effective_deadline(), None);
        let (near, far) = (Instant::now() + ms(5_000), Instant::now() + ms(9_000));
        let inside = timeout_at(far, timeout_at(near, async { effective_deadline() }));
        assert_eq!(inside.await.expect("in time").expect("in time"), Some(near));
        let outside = timeout_at(near, timeout_at(far, async { effective_deadline() }));
        assert_eq!(outside.await.expect("in time").expect("in time"), Some(near));
        assert_eq!(effective_deadline(), None);
    });
}

/// An interval keeps its pace, however long its user takes in between.
pub fn law_d6_intervals_keep_their_pace(kitchen: &Kitchen) {
    if !kitchen.is_virtual() {
        return;
    }
    kitchen.run(async {
        let start = Instant::now();
        let mut pace = interval(ms(100));
        let first = pace.tick().await;
        for n in 1..=20 {
            sleep(ms(30)).await;
            assert_eq!(pace.tick().await, first + ms(100) * n);
        }
        assert!(first - start <= ms(100));
    });
}

/// `yield_now()` and `sleep(0)` suspend once.
pub fn law_d7_yielding_suspends_once(kitchen: &Kitchen) {
    kitchen.run(async {
        let mut yielding = pin!(yield_now());
        assert!(poll_once(yielding.as_mut()).await.is_pending());
        assert!(poll_once(yielding.as_mut()).await.is_ready());
        let mut nap = pin!(sleep(Duration::ZERO));
        assert!(poll_once(nap.as_mut()).await.is_pending());
        nap.await;
    });
}

/// A loop over operations of the library that are always ready does not starve others.
pub fn law_d7_a_loop_over_ready_operations_starves_nobody(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let stop = Gate::new();
        let other = spawn_local({
            let stop = stop.clone();
            async move { stop.open() }
        });
        let done = spawn_local(async {});
        done.finished().await;
        let mut rounds = 0_u64;
        while !stop.is_open() {
            done.finished().await;
            rounds += 1;
            assert!(rounds < 1_000_000, "the other task starves");
        }
        value(other.await);
        value(done.await);
    });
}

/// Such a loop can be cancelled, and timed out.
pub fn law_d7_a_loop_over_ready_operations_can_be_ended(kitchen: &Kitchen) {
    let real = !kitchen.is_virtual();
    kitchen.run(async move {
        let done = spawn(async {});
        done.finished().await;
        let busy = done.to_ref();
        let deadline = if real { ms(20) } else { Duration::ZERO };
        let endless = async {
            loop {
                busy.finished().await;
            }
        };
        let outcome: Result<Never, TimedOut> = timeout(deadline, endless).await;
        assert!(outcome.is_err());
        let started = Gate::new();
        let (start, busy) = (started.clone(), done.to_ref());
        let task = spawn(async move {
            start.open();
            loop {
                busy.finished().await;
            }
        });
        started.wait().await;
        task.cancel();
        cancelled::<Never, Infallible>(task.await);
        value(done.await);
    });
}

/// Time is the backend's clock, and it never runs backwards.
pub fn law_d8_time_is_the_backends(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let backend = shift.handle.backend().clone();
    shift.run(async move {
        for _ in 0..5 {
            let (before, now, after) = (backend.now(), Instant::now(), backend.now());
            assert!(before <= now && now <= after);
            sleep(ms(1)).await;
            assert!(Instant::now() >= after + ms(1));
        }
    });
}

/// Virtual time stands still while anything can run, and jumps when everything is blocked.
pub fn law_d8_virtual_time_jumps(kitchen: &Kitchen) {
    if !kitchen.is_virtual() {
        return;
    }
    let clock = kitchen.clock();
    let real = std::time::Instant::now();
    kitchen.run(async move {
        turns(1000).await;
        clock.expect(0);
        let long = spawn(async { sleep(ms(7_200_000)).await });
        sleep(ms(3_600_000)).await;
        clock.expect(3_600_000);
        value(long.await);
        clock.expect(7_200_000);
    });
    assert!(real.elapsed() < Duration::from_secs(60), "two hours took real time");
}

/// A real blocking job holds virtual time.
pub fn law_d8_a_blocking_job_holds_virtual_time(kitchen: &Kitchen) {
    if !kitchen.is_virtual() {
        return;
    }
    let clock = kitchen.clock();
    kitchen.run(async move {
        let (inside, outside) = std::sync::mpsc::channel();
        let job = spawn_blocking(move || {
            let go: Result<(), _> = outside.recv();
            Ok::<_, Burnt>(go.is_ok())
        });
        let timer = spawn(async { sleep(ms(100)).await });
        turns(50).await;
        assert!(!timer.done());
        inside.send(()).expect("the job listens");
        assert!(value(job.await));
        clock.expect(0);
        value(timer.await);
        clock.expect(100);
    });
}
