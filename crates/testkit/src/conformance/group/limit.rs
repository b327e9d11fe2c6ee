//! G8: how many children run at once, and what becomes of the others.

use crate::conformance::prelude::*;

/// What a test of the limit counts: how many run, and how many ran at once at most.
#[derive(Clone, Default)]
struct Stove(Arc<Mutex<(usize, usize)>>);

impl Stove {
    fn enter(&self) -> Flame {
        let mut counts = self.0.lock().expect("whole");
        counts.0 += 1;
        counts.1 = counts.1.max(counts.0);
        Flame(self.clone())
    }

    fn most(&self) -> usize {
        self.0.lock().expect("whole").1
    }
}

struct Flame(Stove);

impl Drop for Flame {
    fn drop(&mut self) {
        self.0.0.lock().expect("whole").0 -= 1;
    }
}

/// At most `n` children run at once, all of them run, and the body needs no slot.
pub fn law_g8_at_most_n_run_at_once(kitchen: &Kitchen) {
    kitchen.run(async {
        let (stove, done, go) = (Stove::default(), Gate::new(), Gate::new());
        let group = TaskGroup::<Burnt>::builder().limit(3).scope(async |group| {
            for _ in 0..20 {
                let (stove, done, go) = (stove.clone(), done.clone(), go.clone());
                group.spawn(async move {
                    let _flame = stove.enter();
                    go.wait().await;
                    turns(3).await;
                    done.open();
                });
            }
            assert_eq!(group.len(), 20, "children that wait are children");
            go.open();
            done.reached(20).await;
            Ok(())
        });
        group.await.expect("nobody fails");
        assert!(stove.most() <= 3, "{} ran at once", stove.most());
    });
}

/// Slots go to those who wait in the order in which they came.
pub fn law_g8_first_come_first_served(kitchen: &Kitchen) {
    kitchen.run(async {
        let order = Arc::new(Mutex::new(Vec::new()));
        let group = TaskGroup::<Burnt>::builder().limit(1).scope(async |group| {
            for n in 0..10 {
                let order = order.clone();
                group.spawn(async move {
                    order.lock().expect("whole").push(n);
                    yield_now().await;
                });
            }
            Ok(())
        });
        group.await.expect("nobody fails");
        assert_eq!(*order.lock().expect("whole"), (0..10).collect::<Vec<_>>());
    });
}

/// A child that waits for its slot and is cancelled ends at once, its future unpolled.
pub fn law_g8_a_queued_child_is_cancelled_unpolled(kitchen: &Kitchen) {
    kitchen.run(async {
        let (probe, ran, go) = (Probe::new(), Gate::new(), Gate::new());
        let group = TaskGroup::<Burnt>::builder().limit(1).scope(async |group| {
            let gate = go.clone();
            group.spawn(async move { gate.wait().await });
            let (item, flag) = (probe.item(), ran.clone());
            let queued = group.spawn(async move {
                let _item = item;
                flag.open();
            });
            turns(3).await;
            assert!(!queued.done());
            queued.cancel();
            assert_eq!(cancelled(queued.await).kind(), CancelKind::Explicit);
            assert_eq!(probe.dropped(), 1);
            let aborted = group.spawn(pending::<()>());
            turns(3).await;
            aborted.abort();
            assert_eq!(cancelled(aborted.await).kind(), CancelKind::Aborted);
            go.open();
            let next = group.spawn(async { Ok(5) });
            Ok(value(next.await))
        });
        assert_eq!(group.await.expect("nobody fails"), 5);
        assert!(!ran.is_open());
    });
}

/// A cancellation and a slot in one turn: the future does not begin.
pub fn law_g8_cancelled_in_the_turn_of_its_slot(kitchen: &Kitchen) {
    kitchen.run_local(async {
        let ran = Gate::new();
        let group = TaskGroup::<Burnt>::builder().limit(1).scope(async |group| {
            let go = Gate::new();
            let gate = go.clone();
            let first = group.spawn_local(async move { gate.wait().await });
            let flag = ran.clone();
            let queued = group.spawn_local(async move { flag.open() });
            let last = group.spawn_local(async { Ok(8) });
            turns(3).await;
            queued.cancel();
            first.abort();
            first.finished().await;
            cancelled(queued.await);
            Ok(value(last.await))
        });
        assert_eq!(group.await.expect("nobody fails"), 8);
        assert!(!ran.is_open());
    });
}

/// The end of the group drops all who wait, unpolled.
pub fn law_g8_the_groups_end_drops_the_queue(kitchen: &Kitchen) {
    kitchen.run(async {
        let (probe, ran, ready) = (Probe::new(), Gate::new(), Gate::new());
        let group = TaskGroup::<Burnt>::builder().limit(1).scope(async |group| {
            group.spawn(parked(ready.clone()));
            for _ in 0..10 {
                let (item, flag) = (probe.item(), ran.clone());
                group.spawn(async move {
                    let _item = item;
                    flag.open();
                });
            }
            ready.wait().await;
            Err::<(), _>(Burnt("body"))
        });
        assert_eq!(group.await.expect_err("the body failed").len(), 1);
        assert_eq!((probe.dropped(), ran.count()), (10, 0));
    });
}

/// `try_spawn` refuses when all slots are taken and gives the future back; a closed group says so.
pub fn law_g8_try_spawn_refuses_when_full(kitchen: &Kitchen) {
    kitchen.run(async {
        let (probe, go) = (Probe::new(), Gate::new());
        let handle = TaskGroup::<Burnt>::builder().limit(1).scope(async |group| {
            let gate = go.clone();
            let first = group.try_spawn(async move { gate.wait().await }).expect("there is a slot");
            let item = probe.item();
            let future = async move {
                item.deliver();
                Ok(9)
            };
            let full = group.try_spawn(future).expect_err("the slot is taken");
            assert!(full.is_full());
            go.open();
            value(first.await);
            until(|| group.is_empty()).await;
            let second = group.try_spawn(full.into_future()).expect("there is a slot again");
            assert_eq!(value(second.await), 9);
            Ok(group)
        });
        let handle = handle.await.expect("nobody fails");
        assert!(!handle.try_spawn(async {}).expect_err("the group has ended").is_full());
        assert!(probe.is_balanced());
    });
}

/// `spawn_ready` suspends until there is a slot; a producer is no faster than its children.
pub fn law_g8_spawn_ready_waits_for_a_slot(kitchen: &Kitchen) {
    kitchen.run(async {
        let (started, go) = (Gate::new(), Gate::new());
        let group = TaskGroup::<Burnt>::builder().limit(2).scope(async |group| {
            for _ in 0..2 {
                let (started, go) = (started.clone(), go.clone());
                let child = async move {
                    started.open();
                    go.wait().await;
                };
                group.spawn_ready(child).await.expect("open");
            }
            let flag = started.clone();
            let mut third = pin!(group.spawn_ready(async move { flag.open() }));
            assert!(poll_once(third.as_mut()).await.is_pending());
            started.reached(2).await;
            assert!(poll_once(third.as_mut()).await.is_pending());
            assert_eq!(group.len(), 2);
            go.open();
            value(third.await.expect("open").await);
            assert_eq!(started.count(), 3);
            Ok(())
        });
        group.await.expect("nobody fails");
    });
}

/// `spawn_ready` is cancellable: the future is dropped unpolled, and the slot goes to the next.
pub fn law_g8_spawn_ready_is_cancellable(kitchen: &Kitchen) {
    kitchen.run(async {
        let (probe, ran, go) = (Probe::new(), Gate::new(), Gate::new());
        let group = TaskGroup::<Burnt>::builder().limit(1).scope(async |group| {
            let gate = go.clone();
            let first = group.spawn(async move { gate.wait().await });
            let (handle, item, flag, asked) = (group.clone(), probe.item(), ran.clone(), Gate::new());
            let waiting = asked.clone();
            let waiter = spawn(async move {
                let child = async move {
                    let _item = item;
                    flag.open();
                };
                let mut waits = pin!(handle.spawn_ready(child));
                assert!(poll_once(waits.as_mut()).await.is_pending());
                waiting.open();
                waits.await.map(drop).map_err(|_| Burnt("closed"))
            });
            asked.wait().await;
            let last = group.spawn(async { Ok(4) });
            waiter.cancel();
            cancelled(waiter.await);
            assert_eq!(probe.dropped(), 1);
            go.open();
            value(first.await);
            Ok(value(last.await))
        });
        assert_eq!(group.await.expect("nobody fails"), 4);
        assert!(!ran.is_open());
    });
}

/// A slot that was given to a `spawn_ready` which is then dropped is not lost.
pub fn law_g8_a_slot_that_is_not_taken_goes_on(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::builder().limit(1).scope(async |group| {
            let go = Gate::new();
            let gate = go.clone();
            group.spawn(async move { gate.wait().await });
            let mut waits = Box::pin(group.spawn_ready(async {}));
            assert!(poll_once(waits.as_mut()).await.is_pending());
            let next = group.spawn(async { Ok(6) });
            go.open();
            until(|| group.len() == 1).await;
            turns(3).await;
            assert!(!next.done(), "the slot is offered to whoever came first");
            drop(waits);
            Ok(value(next.await))
        });
        assert_eq!(group.await.expect("nobody fails"), 6);
    });
}

/// A group that ends gives those who wait in `spawn_ready` their future back.
pub fn law_g8_spawn_ready_on_a_group_that_ends(kitchen: &Kitchen) {
    kitchen.run(async {
        let (probe, asked) = (Probe::new(), Gate::new());
        let waiter = Slot::new();
        let group = TaskGroup::<Burnt>::builder().limit(1).scope(async |group| {
            group.spawn(pending::<()>());
            let (handle, item, flag) = (group.clone(), probe.item(), asked.clone());
            waiter.put(spawn(async move {
                let child = async move { drop(item) };
                let mut waits = pin!(handle.spawn_ready(child));
                assert!(poll_once(waits.as_mut()).await.is_pending());
                flag.open();
                match waits.await {
                    Ok(_) => Err(Burnt("spawned")),
                    Err(closed) => Ok(closed.is_full()),
                }
            }));
            asked.wait().await;
            assert_eq!(probe.dropped(), 0);
            Err::<(), _>(Burnt("body"))
        });
        assert!(group.await.is_err());
        assert!(!value(waiter.take().expect("it was spawned").await));
        assert_eq!(probe.dropped(), 1);
    });
}
