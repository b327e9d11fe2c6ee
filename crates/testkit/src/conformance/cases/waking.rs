//! Cases 45–72 and 101–104: scheduling, wakers, panics, looking at tasks.

use crate::conformance::prelude::*;

/// Case 46: a source that is always ready does not keep ten other tasks from running.
pub fn case_046_an_always_ready_source(kitchen: &Kitchen) {
    kitchen.run(async {
        let progress = Gate::new();
        let done = spawn(async {});
        done.finished().await;
        let others: Vec<_> = (0..10)
            .map(|_| {
                let progress = progress.clone();
                spawn(async move {
                    for _ in 0..5 {
                        yield_now().await;
                        progress.open();
                    }
                })
            })
            .collect();
        let mut items = 0_u64;
        while progress.count() < 50 {
            done.finished().await;
            items += 1;
            assert!(items < 10_000_000, "the others starve");
        }
        for other in others {
            value(other.await);
        }
        value(done.await);
    });
}

/// Case 47: finished handles in a foreign combinator that ignores the budget: no livelock.
pub fn case_047_finished_handles_in_a_foreign_join(kitchen: &Kitchen) {
    kitchen.run(async {
        let count = if cfg!(miri) { 20 } else { 1000 };
        let tasks: Vec<_> = (0..count).map(|n| spawn(async move { Ok::<_, Burnt>(n) })).collect();
        for task in &tasks {
            task.finished().await;
        }
        let mut joins: Vec<_> = tasks.into_iter().map(|task| Some(Box::pin(task.into_future()))).collect();
        let mut polls = 0;
        let sum = poll_fn(|cx| {
            let mut waiting = false;
            for slot in &mut joins {
                if let Some(join) = slot {
                    polls += 1;
                    match join.as_mut().poll(cx) {
                        Poll::Ready(outcome) => {
                            value(outcome);
                            *slot = None;
                        }
                        Poll::Pending => waiting = true,
                    }
                }
            }
            if waiting { Poll::Pending } else { Poll::Ready(()) }
        });
        sum.await;
        assert!(polls <= 10 * count, "{polls} polls of {count} handles");
    });
}

/// Case 61: each future of the library wakes the task that polled it last.
pub fn case_061_the_latest_waker_wins(kitchen: &Kitchen) {
    struct Bell(Gate);
    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.open();
        }
    }
    type Library = Pin<Box<dyn Future<Output = ()> + Send>>;
    kitchen.run(async {
        let held = |go: Gate| {
            spawn(async move {
                go.wait().await;
                Ok::<_, Burnt>(())
            })
        };
        let makers: [fn(Task<(), Burnt>) -> Library; 6] = [
            |task| Box::pin(async move { drop(task.await) }),
            |task| Box::pin(async move { task.finished().await }),
            |task| Box::pin(async move { drop(task.shared().await) }),
            |task| Box::pin(async move { drop(wait(vec![task]).await) }),
            |_| Box::pin(sleep(ms(20))),
            |_| Box::pin(async { drop(timeout(ms(20), pending::<()>()).await) }),
        ];
        for make in makers {
            let go = Gate::new();
            let mut future = make(held(go.clone()));
            let ((stale, first), (fresh, second)) = {
                let bell = || {
                    let gate = Gate::new();
                    (gate.clone(), Waker::from(Arc::new(Bell(gate))))
                };
                (bell(), bell())
            };
            assert!(future.as_mut().poll(&mut Context::from_waker(&first)).is_pending());
            assert!(future.as_mut().poll(&mut Context::from_waker(&second)).is_pending());
            go.open();
            fresh.wait().await;
            assert!(!stale.is_open(), "the old waker was woken");
        }
    });
}

/// Case 62: polling again and again with fresh wakers piles nothing up.
pub fn case_062_repolling_keeps_one_waker(kitchen: &Kitchen) {
    struct Counted(#[allow(dead_code, reason = "it is there to be dropped")] Item);
    impl Wake for Counted {
        fn wake(self: Arc<Self>) {}
    }
    kitchen.run(async {
        let probe = Probe::new();
        let ready = Gate::new();
        let task = spawn(parked(ready.clone()));
        ready.wait().await;
        let mut finished = pin!(task.finished());
        let mut nap = pin!(sleep(ms(1_000_000)));
        for _ in 0..ROUNDS {
            let waker = Waker::from(Arc::new(Counted(probe.item())));
            let mut cx = Context::from_waker(&waker);
            assert!(finished.as_mut().poll(&mut cx).is_pending());
            assert!(nap.as_mut().poll(&mut cx).is_pending());
        }
        assert!(probe.alive() <= 2, "{} wakers are kept", probe.alive());
        task.cancel();
        task.finished().await;
    });
}

/// Case 63: waking under a lock that the woken task needs, from a destructor.
pub fn case_063_waking_under_a_lock(kitchen: &Kitchen) {
    struct WakesInDrop(Arc<Mutex<Option<Waker>>>);
    impl Drop for WakesInDrop {
        fn drop(&mut self) {
            if let Some(waker) = self.0.lock().expect("whole").take() {
                waker.wake();
            }
        }
    }
    kitchen.run(async {
        let (shared, polled, go) = (Arc::new(Mutex::new(None)), Gate::new(), Gate::new());
        let (place, count, open) = (shared.clone(), polled.clone(), go.clone());
        let task = spawn(poll_fn(move |cx| {
            *place.lock().expect("whole") = Some(cx.waker().clone());
            count.open();
            if open.is_open() { Poll::Ready(()) } else { Poll::Pending }
        }));
        polled.wait().await;
        go.open();
        let guard = shared.lock().expect("whole").clone();
        drop(WakesInDrop(shared));
        drop(guard);
        value(task.await);
    });
}

/// Case 67: two tasks that hold each other's handle, polled once, end without a leak.
pub fn case_067_two_tasks_hold_each_other(kitchen: &Kitchen) {
    let probe = Probe::new();
    let ledger = probe.clone();
    kitchen.run(async move {
        let (slots, go) = ([Slot::<Task<Item, Burnt>>::new(), Slot::new()], Gate::new());
        let polled = Gate::new();
        let spawn_one = |mine: usize| {
            let (slots, go, item, polled) = (slots.clone(), go.clone(), ledger.item(), polled.clone());
            spawn(async move {
                go.wait().await;
                let mut other = slots[1 - mine].take().expect("main put it there");
                {
                    let mut watch = pin!((&mut other).into_future());
                    let _ = poll_once(watch.as_mut()).await;
                }
                polled.open();
                polled.reached(2).await;
                drop(other);
                Ok(item)
            })
        };
        let (first, second) = (spawn_one(0), spawn_one(1));
        let watches = [first.to_ref(), second.to_ref()];
        slots[0].put(first);
        slots[1].put(second);
        go.open();
        for watch in watches {
            watch.finished().await;
        }
        until(|| ledger.is_balanced()).await;
    });
    assert_eq!((probe.created(), probe.dropped()), (2, 2));
}

/// Case 72: several tasks await one that panics; every one is woken and sees it.
pub fn case_072_a_shared_task_panics(kitchen: &Kitchen) {
    kitchen.run(async {
        let (go, waiting) = (Gate::new(), Gate::new());
        let open = go.clone();
        let shared = spawn(async move {
            open.wait().await;
            if true {
                panic!("for all to see");
            }
            Ok::<(), Burnt>(())
        })
        .shared();
        let waiters: Vec<_> = (0..5)
            .map(|_| {
                let (shared, waiting) = (shared.clone(), waiting.clone());
                spawn(counting(waiting, async move {
                    let error = shared.await.expect_err("it panics");
                    Ok::<_, Burnt>(
                        matches!(&*error, TaskError::Panicked(p) if p.message() == "for all to see"),
                    )
                }))
            })
            .collect();
        waiting.reached(5).await;
        go.open();
        for waiter in waiters {
            assert!(value(waiter.await));
        }
        drop(shared);
    });
}

/// Case 101: what is printed of a task is short and does not recurse, from anywhere.
pub fn case_101_debug_output_is_bounded(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let tasks: Vec<_> = (0..100).map(|_| spawn(parked(ready.clone()))).collect();
        ready.reached(100).await;
        for task in &tasks {
            assert!(format!("{task:?}").len() < 500 && format!("{:?}", task.to_ref()).len() < 500);
        }
        let (printed, called) = (Slot::new(), Gate::new());
        let (slot, count) = (printed.clone(), called.clone());
        tasks[0].on_done(move |task| {
            slot.put(format!("{task:?}"));
            count.open();
        });
        for task in &tasks {
            task.cancel();
        }
        called.wait().await;
        assert!(printed.take().is_some_and(|text| text.len() < 500));
    });
}

/// Case 104: `current_task()` in odd places is the owner or nobody, never somebody else.
pub fn case_104_current_task_in_odd_places(kitchen: &Kitchen) {
    kitchen.run(async {
        let main = current_task().expect("main is a task").id();
        let group = TaskGroup::<Burnt>::scope(async |_| Ok(current_task().map(|task| task.id())));
        assert_eq!(group.await.expect("nobody fails"), Some(main));
        let gathered = gather((async { Ok::<_, Burnt>(current_task().map(|task| task.id())) },)).await;
        assert_eq!(gathered, Ok((Some(main),)));
        let job = spawn_blocking(|| Ok::<_, Burnt>(current_task().map(|task| task.id())));
        let job_id = job.id();
        let seen = value(job.await);
        assert!(seen.is_none() || seen == Some(job_id), "{seen:?}");
    });
}
