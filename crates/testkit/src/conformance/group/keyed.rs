//! G9: children by key, replaced or deduplicated.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::conformance::prelude::*;

/// A child that writes down its beginning and its end, and cleans up when `go` is open.
async fn tends(name: &'static str, begun: Gate, go: Gate, log: Trace) -> Result<(), Burnt> {
    log.add(format!("{name} begins"));
    begun.open();
    let token = catch_cancel(pending::<()>()).await.expect_err("nothing ends it but a cancellation");
    log.add(format!("{name} asked"));
    begun.open();
    go.wait().await;
    log.add(format!("{name} over"));
    token.resume().await
}

/// The former child is cancelled and waited for, and only then the new one begins.
pub fn law_g9_a_replaced_child_ends_before_the_new_one_begins(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (log, begun, go) = (Trace::new(), Gate::new(), Gate::new());
            let tables = group.keyed();
            let former = tables.replace(7, tends("former", begun.clone(), go.clone(), log.clone()));
            begun.wait().await;
            let (words, before) = (log.clone(), former.to_ref());
            let new = tables.replace(7, async move {
                assert!(before.done());
                words.add("new begins");
                Ok("soup")
            });
            assert_eq!(tables.get(&7), Some(new.to_ref()), "it has the key at once");
            begun.reached(2).await;
            turns(5).await;
            assert_eq!(log.words(), ["former begins", "former asked"]);
            go.open();
            assert_eq!(value(new.await), "soup");
            assert_eq!(log.words()[2..], ["former over", "new begins"]);
            let reason = cancelled(former.await);
            assert_eq!(
                (reason.kind(), reason.text()),
                (CancelKind::Explicit, Some("another child has taken its key"))
            );
            Ok(())
        });
        group.await.expect("a replaced child is no failure");
    });
}

/// A caller that is cancelled after it has replaced a child changes nothing: nobody waits but the new child.
pub fn law_g9_a_cancelled_caller_does_not_stop_a_replacement(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (log, begun, go) = (Trace::new(), Gate::new(), Gate::new());
            let tables = group.keyed();
            tables.replace((), tends("former", begun.clone(), go.clone(), log.clone()));
            begun.wait().await;
            let (view, words) = (tables.clone(), log.clone());
            let caller = spawn(async move {
                let new = view.replace((), async move { words.add("new begins") });
                new.finished().await;
            });
            begun.reached(2).await;
            caller.cancel();
            cancelled(caller.await);
            go.open();
            until(|| tables.is_empty()).await;
            assert_eq!(log.words(), ["former begins", "former asked", "former over", "new begins"]);
            Ok(())
        });
        group.await.expect("nobody fails");
    });
}

/// Who is replaced or cancelled while it waits never begins; who comes after it still waits for the first.
pub fn law_g9_a_waiting_replacement_is_dropped_unpolled(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (log, begun, go, probe) = (Trace::new(), Gate::new(), Gate::new(), Probe::new());
            let tables = group.keyed();
            let first = tables.replace("window", tends("first", begun.clone(), go.clone(), log.clone()));
            begun.wait().await;
            let unpolled = |item: Item| async move {
                drop(item);
                pending::<()>().await;
            };
            let second = tables.replace("window", unpolled(probe.item()));
            let third = tables.replace("window", unpolled(probe.item()));
            cancelled(second.await);
            third.cancel();
            cancelled(third.await);
            assert_eq!((probe.created(), probe.dropped()), (2, 2));
            assert_eq!(tables.get(&"window"), Some(first.to_ref()), "it cleans up and has the key again");
            let words = log.clone();
            let fourth = tables.replace("window", async move { words.add("fourth begins") });
            begun.reached(2).await;
            turns(5).await;
            assert_eq!(tables.len(), 1);
            go.open();
            value(fourth.await);
            assert_eq!(log.words(), ["first begins", "first asked", "first over", "fourth begins"]);
            Ok(())
        });
        group.await.expect("nobody fails");
    });
}

/// A cancellation in the turn in which the former one ends: the future never begins (C7).
pub fn law_g9_a_replacement_cancelled_in_the_turn_of_its_beginning(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (begun, go, polled, slot) = (Gate::new(), Gate::new(), Gate::new(), Slot::new());
            let tables = group.keyed();
            let (ready, open, waiting) = (begun.clone(), go.clone(), slot.clone());
            tables.replace(0, async move {
                let token = catch_cancel(parked(ready)).await.expect_err("it is replaced");
                open.wait().await;
                waiting.take().map(|new: TaskRef| new.cancel());
                token.resume().await
            });
            begun.wait().await;
            let flag = polled.clone();
            let new = tables.replace(0, async move { flag.open() });
            slot.put(new.to_ref());
            go.open();
            cancelled(new.await);
            assert!(!polled.is_open());
            Ok(())
        });
        group.await.expect("nobody fails");
    });
}

/// While a child with the key has not ended, another future is dropped unpolled, and that child is named.
pub fn law_g9_a_second_child_with_a_key_is_dropped_unpolled(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (begun, go, probe) = (Gate::new(), Gate::new(), Probe::new());
            let menus = group.keyed();
            let first = menus.get_or_spawn("menu", tends("first", begun.clone(), go.clone(), Trace::new()));
            let again = |item: Item| async move {
                drop(item);
                Ok::<u8, Burnt>(2)
            };
            let second = menus.get_or_spawn("menu", again(probe.item()));
            assert_eq!((second.to_ref(), probe.dropped()), (first.to_ref(), 1));
            assert!(second.into_new().is_none());
            // Also while it cleans up.
            begun.wait().await;
            first.to_ref().cancel();
            begun.reached(2).await;
            assert!(menus.get_or_spawn("menu", again(probe.item())).into_new().is_none());
            let other = menus.get_or_spawn("card", again(probe.item())).into_new();
            assert_eq!(value(other.expect("another key is free").await), 2);
            go.open();
            first.to_ref().finished().await;
            let next = menus.get_or_spawn("menu", again(probe.item())).into_new();
            assert_eq!(value(next.expect("the key is free").await), 2);
            assert_eq!((probe.created(), probe.dropped()), (4, 4));
            Ok(())
        });
        group.await.expect("nobody fails");
    });
}

/// However a child ends its key is free then, and nothing is left behind (G7).
pub fn law_g7_a_key_is_forgotten_with_its_child(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::builder().supervise().scope(async |group| {
            let (keys, probe) = (group.keyed(), Probe::new());
            let key = |item| Arc::new((item, probe.item()));
            keys.replace(Key(key(1)), async {});
            keys.replace(Key(key(2)), async { Err::<(), _>(Burnt("2")) });
            keys.replace(Key(key(3)), async { panic!("3") });
            keys.replace(Key(key(4)), pending::<()>()).cancel();
            keys.replace(Key(key(5)), pending::<()>()).abort();
            keys.get_or_spawn(Key(key(6)), async {});
            until(|| keys.is_empty()).await;
            until(|| probe.alive() == 0).await;
            for round in 0..ROUNDS {
                value(keys.replace(Key(key(round)), async {}).await);
            }
            until(|| keys.is_empty() && probe.alive() == 0).await;
            Ok(())
        });
        assert_eq!(group.await.expect_err("two have failed").len(), 2);
    });
}

/// A key that is counted.
struct Key(Arc<(usize, Item)>);

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.0.0 == other.0.0
    }
}

impl Eq for Key {}

impl std::hash::Hash for Key {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.0.hash(state);
    }
}

/// The error of a former child that fails while it is replaced is an error of the group.
pub fn law_g9_a_replaced_child_that_fails_fails_the_group(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (ready, tables) = (Gate::new(), group.keyed());
            let gate = ready.clone();
            tables.replace(0, async move {
                let token = catch_cancel(parked(gate)).await.expect_err("it is replaced");
                token.uncancel();
                Err::<(), _>(Burnt("former"))
            });
            ready.wait().await;
            tables.replace(0, pending::<()>());
            pending::<Result<(), Burnt>>().await
        });
        assert_eq!(first_failure(group.await.expect_err("the former child failed")), Burnt("former"));
    });
}

/// A group that has ended refuses as it always does, and remembers no key.
pub fn law_g4_a_closed_group_takes_no_keys(kitchen: &Kitchen) {
    kitchen.run(async {
        let (probe, slot) = (Probe::new(), Slot::new());
        let group = TaskGroup::<Burnt>::scope(async |group| {
            slot.put(group.keyed());
            Ok(())
        });
        group.await.expect("nobody fails");
        let keys: Keyed<u8, Burnt> = slot.take().expect("the body has run");
        let late = |item: Item| async move { drop(item) };
        assert_eq!(cancelled(keys.replace(1, late(probe.item())).await).kind(), CancelKind::GroupClosed);
        let child = keys.get_or_spawn(1, late(probe.item())).into_new().expect("it is not running");
        assert_eq!(cancelled(child.await).kind(), CancelKind::GroupClosed);
        assert_eq!((probe.dropped(), keys.len(), keys.get(&1)), (2, 0, None));
    });
}

/// The end of the group ends who has a key and who waits for it.
pub fn law_g9_the_groups_end_ends_a_replacement(kitchen: &Kitchen) {
    kitchen.run(async {
        let (log, begun, go, probe) = (Trace::new(), Gate::new(), Gate::new(), Probe::new());
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let tables = group.keyed();
            tables.replace(0, tends("former", begun.clone(), go.clone(), log.clone()));
            begun.wait().await;
            let item = probe.item();
            tables.replace(0, async move { drop(item) });
            begun.reached(2).await;
            go.open();
            Err::<(), _>(Burnt("body"))
        });
        assert_eq!(first_failure(group.await.expect_err("the body failed")), Burnt("body"));
        assert_eq!(probe.dropped(), 1);
    });
}

/// A child may replace itself: it ends, and then the other begins.
pub fn law_g9_a_child_replaces_itself(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (tables, done) = (group.keyed(), Gate::new());
            let (view, flag) = (tables.clone(), done.clone());
            let former = tables.replace("self", async move {
                view.replace("self", async move { flag.open() });
                pending::<()>().await;
            });
            done.wait().await;
            cancelled(former.await);
            Ok(())
        });
        group.await.expect("nobody fails");
    });
}

/// The limit of the group holds for children with keys: the new one gets the slot of the former one.
pub fn law_g8_a_replacement_takes_the_slot_of_the_former(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::builder().limit(1).scope(async |group| {
            let (ready, tables) = (Gate::new(), group.keyed());
            tables.replace(0, parked(ready.clone()));
            ready.wait().await;
            value(tables.replace(0, async {}).await);
            Ok(())
        });
        group.await.expect("nobody fails");
    });
}

/// Of one key never two run at once, also if many are replaced at the same time.
pub fn law_g9_of_one_key_never_two_run(kitchen: &Kitchen) {
    kitchen.run(async {
        let running = Arc::new(AtomicUsize::new(0));
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let tables = group.keyed();
            for _ in 0..4 {
                let (tables, running) = (tables.clone(), running.clone());
                group.spawn(async move {
                    for _ in 0..ROUNDS / 10 {
                        let busy = running.clone();
                        tables.replace("one", async move {
                            // Relaxed: only the number matters.
                            assert_eq!(busy.fetch_add(1, Ordering::Relaxed), 0, "two run at once");
                            let leaving = Leaving(busy);
                            turns(3).await;
                            drop(leaving);
                        });
                        yield_now().await;
                    }
                });
            }
            Ok(())
        });
        group.await.expect("nobody fails");
    });
}

/// Counts itself out.
struct Leaving(Arc<AtomicUsize>);

impl Drop for Leaving {
    fn drop(&mut self) {
        // Relaxed: only the number matters; the next child is started after the end of this one.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Children are named by their keys if the view says how (T7).
pub fn law_t7_children_are_named_by_their_keys(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let tables = group.keyed().named(|number: &u8| format!("table {number}"));
            let child = tables.replace(7, async {});
            assert_eq!(&*child.name(), "table 7");
            assert!(child.location().file().ends_with("keyed.rs"));
            Ok(())
        });
        group.await.expect("nobody fails");
    });
}
