//! B1, B2, B3, B5: what a backend owes.

use crate::conformance::prelude::*;
use std::thread::{self, ThreadId};

thread_local! {
    static WAKING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// A task that counts its polls and keeps its waker, until the gate is open.
fn wakeable(polls: &Gate, kept: &Slot<Waker>, go: &Gate) -> Task<bool, Burnt> {
    let (polls, kept, go) = (polls.clone(), kept.clone(), go.clone());
    let mut inline = false;
    spawn(poll_fn(move |cx| {
        inline |= WAKING.get();
        kept.put(cx.waker().clone());
        polls.open();
        if go.is_open() { Poll::Ready(Ok(inline)) } else { Poll::Pending }
    }))
}

/// `schedule` never runs the task inline, not even from a waker or under a user's lock.
pub fn law_b1_schedule_never_runs_inline(kitchen: &Kitchen) {
    kitchen.run(async {
        let (polls, kept, go) = (Gate::new(), Slot::new(), Gate::new());
        let task = wakeable(&polls, &kept, &go);
        let lock = Mutex::new(());
        for round in 1..=50 {
            polls.reached(round).await;
            if round == 50 {
                go.open();
            }
            let waker = kept.take().expect("it was polled");
            let guard = lock.lock().expect("whole");
            WAKING.set(true);
            waker.wake();
            WAKING.set(false);
            drop(guard);
        }
        assert!(!value(task.await), "a wake-up ran the task inline");
    });
}

/// Wake-ups come from any thread, and none is lost.
pub fn law_b1_wake_ups_from_any_thread(kitchen: &Kitchen) {
    kitchen.run(async {
        let (polls, kept, go) = (Gate::new(), Slot::new(), Gate::new());
        let task = wakeable(&polls, &kept, &go);
        for round in 1..=20 {
            polls.reached(round).await;
            if round == 20 {
                go.open();
            }
            let waker = kept.take().expect("it was polled");
            value(
                spawn_blocking(move || {
                    waker.wake();
                    Ok::<_, Burnt>(())
                })
                .await,
            );
        }
        value(task.await);
    });
}

/// Wake-ups come from the destructors of thread-locals, too.
pub fn law_b1_wake_ups_from_thread_local_destructors(kitchen: &Kitchen) {
    struct WakeOnExit(Option<(Waker, TaskRef)>);
    impl Drop for WakeOnExit {
        fn drop(&mut self) {
            if let Some((waker, task)) = self.0.take() {
                waker.wake();
                drop((task.state(), task.cancelling(), current_task(), all_tasks()));
            }
        }
    }
    thread_local! {
        static LAST: std::cell::RefCell<WakeOnExit> = const { std::cell::RefCell::new(WakeOnExit(None)) };
    }
    kitchen.run(async {
        let (polls, kept, go) = (Gate::new(), Slot::new(), Gate::new());
        let task = wakeable(&polls, &kept, &go);
        polls.wait().await;
        let waker = kept.take().expect("it was polled");
        let watch = task.to_ref();
        go.open();
        let thread = thread::spawn(move || LAST.with(|last| last.borrow_mut().0 = Some((waker, watch))));
        thread.join().expect("its destructors do not panic");
        value(task.await);
    });
}

/// A burst of wake-ups is one poll, or at least not many.
pub fn law_b1_wake_ups_before_a_poll_are_one(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let (polls, kept, go) = (Gate::new(), Slot::<Waker>::new(), Gate::new());
        let (count, slot, open) = (polls.clone(), kept.clone(), go.clone());
        let task = spawn_local(poll_fn(move |cx| {
            slot.put(cx.waker().clone());
            count.open();
            if open.is_open() { Poll::Ready(Ok::<_, Burnt>(())) } else { Poll::Pending }
        }));
        polls.wait().await;
        let waker = kept.take().expect("it was polled");
        for _ in 0..100 {
            waker.wake_by_ref();
        }
        polls.reached(2).await;
        turns(5).await;
        assert_eq!(polls.count(), 2);
        go.open();
        waker.wake();
        value(task.await);
    });
}

/// A local task is polled and dropped on its own thread, whoever wakes and cancels it.
pub fn law_b2_local_tasks_stay_at_home(kitchen: &Kitchen) {
    struct Home(Arc<Mutex<Vec<ThreadId>>>);
    impl Drop for Home {
        fn drop(&mut self) {
            self.0.lock().expect("whole").push(thread::current().id());
        }
    }
    kitchen.run_local(async {
        let home = thread::current().id();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (kept, ready) = (Slot::<Waker>::new(), Gate::new());
        let (list, slot, gate) = (Home(seen.clone()), kept.clone(), ready.clone());
        let task = spawn_local(async move {
            let not_send = std::rc::Rc::new(list);
            poll_fn::<(), _>(|cx| {
                not_send.0.lock().expect("whole").push(thread::current().id());
                slot.put(cx.waker().clone());
                gate.open();
                Poll::Pending
            })
            .await;
            Ok::<_, Burnt>(())
        });
        ready.wait().await;
        let waker = kept.take().expect("it was polled");
        let waking = spawn_blocking(move || {
            waker.wake();
            Ok::<_, Burnt>(())
        });
        value(waking.await);
        ready.reached(2).await;
        let remote = task.to_ref();
        let cancelling = spawn_blocking(move || {
            remote.cancel();
            Ok::<_, Burnt>(())
        });
        value(cancelling.await);
        cancelled(task.await);
        let seen = seen.lock().expect("whole");
        assert!(seen.len() >= 3 && seen.iter().all(|thread| *thread == home), "{seen:?}, home {home:?}");
    });
}

/// The last waker of a local task may die on another thread, during the run and after it.
pub fn law_b2_wakers_of_local_tasks_may_die_anywhere(kitchen: &Kitchen) {
    let kept = Slot::<Waker>::new();
    let slot = kept.clone();
    let probe = Probe::new();
    let item = probe.item();
    kitchen.run_local(async move {
        let ready = Gate::new();
        let gate = ready.clone();
        drop(spawn_local(async move {
            let _item = std::rc::Rc::new(item);
            poll_fn::<(), _>(|cx| {
                slot.put(cx.waker().clone());
                gate.open();
                Poll::Pending
            })
            .await;
        }));
        ready.wait().await;
    });
    assert_eq!(probe.dropped(), 1);
    let waker = kept.take().expect("the task left it here");
    thread::spawn(move || waker.wake()).join().expect("waking never panics");
}

/// On a FIFO backend tasks run in the order of their wake-ups.
pub fn law_b3_tasks_run_in_wake_order(kitchen: &Kitchen) {
    if !kitchen.is_fifo() {
        return;
    }
    let order = Arc::new(Mutex::new(Vec::new()));
    let list = order.clone();
    kitchen.run_local(async move {
        let gates: Vec<_> = (0..10).map(|_| Gate::new()).collect();
        let tasks: Vec<_> = gates
            .iter()
            .enumerate()
            .map(|(n, gate)| {
                let (gate, list) = (gate.clone(), list.clone());
                spawn_local(async move {
                    gate.wait().await;
                    list.lock().expect("whole").push(n);
                })
            })
            .collect();
        turns(3).await;
        for n in [7, 3, 9, 0, 1, 8, 2, 6, 4, 5] {
            gates[n].open();
        }
        for task in tasks {
            value(task.await);
        }
    });
    assert_eq!(*order.lock().expect("whole"), [7, 3, 9, 0, 1, 8, 2, 6, 4, 5]);
}

/// Two tasks that wake each other for ever do not starve a third.
pub fn law_b3_ping_pong_starves_nobody(kitchen: &Kitchen) {
    kitchen.run(async {
        let stop = Gate::new();
        let wakers = [Slot::<Waker>::new(), Slot::<Waker>::new()];
        let player = |me: usize| {
            let (wakers, stop) = (wakers.clone(), stop.clone());
            spawn(poll_fn(move |cx| {
                wakers[me].put(cx.waker().clone());
                if let Some(other) = wakers[1 - me].take() {
                    other.wake();
                }
                if stop.is_open() { Poll::Ready(()) } else { Poll::Pending }
            }))
        };
        let players = [player(0), player(1)];
        let third = spawn({
            let stop = stop.clone();
            async move {
                turns(20).await;
                stop.open();
            }
        });
        value(third.await);
        for player in &players {
            player.cancel();
        }
        for player in players {
            player.finished().await;
        }
    });
}

/// `drive` polls what it waits for at once, and again when it was woken, on the calling thread.
pub fn law_b5_drive_runs_until_told(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let _watchdog = shift.watch();
    let home = thread::current().id();
    let mut polls = 0;
    let mut until = pin!(poll_fn(|cx| {
        polls += 1;
        assert_eq!(thread::current().id(), home);
        cx.waker().wake_by_ref();
        if polls == 3 { Poll::Ready(()) } else { Poll::Pending }
    }));
    shift.drive.drive(until.as_mut());
    assert_eq!(polls, 3);
    shift.drive.drive(pin!(ready(())));
    shift.drive.close();
    shift.drive.close();
}

/// `is_virtual` tells the truth: virtual time jumps, real time does not.
pub fn law_b5_is_virtual_tells_the_truth(kitchen: &Kitchen) {
    let real = std::time::Instant::now();
    let nap = if kitchen.is_virtual() { Duration::from_secs(100_000) } else { ms(20) };
    kitchen.run(async move { sleep(nap).await });
    if kitchen.is_virtual() {
        assert!(real.elapsed() < Duration::from_secs(60));
    } else {
        assert!(real.elapsed() >= nap);
    }
}
