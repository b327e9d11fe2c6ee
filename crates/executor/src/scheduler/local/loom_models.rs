//! Models of the queue, run by loom: `cargo xtask loom`. The ring has four places there, so the corners are near.
//!
//! Each model was seen to fail with one ordering or one condition taken away; which one, is said at the model.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::{CAPACITY, Owner, queue};

/// Counts how often each item came out.
fn tally(items: impl IntoIterator<Item = usize>, counts: &[AtomicUsize]) {
    for item in items {
        // Relaxed, here and below: joining the threads orders it.
        counts[item].fetch_add(1, Ordering::Relaxed);
    }
}

fn drain(owner: &Owner<usize>) -> Vec<usize> {
    std::iter::from_fn(|| owner.pop()).collect()
}

fn assert_each_once(counts: &[AtomicUsize]) {
    for (item, count) in counts.iter().enumerate() {
        // Relaxed: see `tally`.
        assert_eq!(count.load(Ordering::Relaxed), 1, "item {item}");
    }
}

fn counts(items: usize) -> Arc<Vec<AtomicUsize>> {
    Arc::new((0..items).map(|_| AtomicUsize::new(0)).collect())
}

/// Fails if `push` looks at `real` instead of `steal`, so that it overwrites what is being stolen.
#[test]
fn loom_a_thief_and_the_owner_share_every_item() {
    loom::model(|| {
        let items = CAPACITY as usize + 1;
        let counts = counts(items);
        let (owner, stealer) = queue();
        (0..3).for_each(|item| drop(owner.push(item)));
        let thief = {
            let counts = counts.clone();
            thread::spawn(move || {
                let (mine, _) = queue();
                let stolen = stealer.steal(&mine, 1);
                tally(stolen.into_iter().chain(drain(&mine)), &counts);
            })
        };
        let mut refused = Vec::new();
        for item in 3..items {
            refused.extend(owner.push(item).err());
            tally(owner.pop(), &counts);
        }
        tally(refused.into_iter().chain(drain(&owner)), &counts);
        thief.join().expect("the thief ends");
        assert_each_once(&counts);
    });
}

/// Fails if `claim` stores the new head instead of exchanging it.
#[test]
fn loom_two_thieves_share_every_item() {
    loom::model(|| {
        let counts = counts(7);
        let (owner, stealer) = queue();
        (0..4).for_each(|item| drop(owner.push(item)));
        let stealer = Arc::new(stealer);
        let thieves = [0, 1].map(|_| {
            let (counts, stealer) = (counts.clone(), stealer.clone());
            thread::spawn(move || {
                let (mine, _) = queue();
                let stolen = stealer.steal(&mine, 1);
                tally(stolen.into_iter().chain(drain(&mine)), &counts);
            })
        });
        // Into places that a thief must have left.
        let refused = (4..7).filter_map(|item| owner.push(item).err()).collect::<Vec<_>>();
        for thief in thieves {
            thief.join().expect("a thief ends");
        }
        tally(refused.into_iter().chain(drain(&owner)), &counts);
        assert_each_once(&counts);
    });
}

/// Fails if `spill` moves `real` by a store instead of a compare-exchange.
#[test]
fn loom_spilling_and_stealing_share_every_item() {
    loom::model(|| {
        let items = CAPACITY as usize;
        let counts = counts(items);
        let (owner, stealer) = queue();
        (0..items).for_each(|item| drop(owner.push(item)));
        let thief = {
            let counts = counts.clone();
            thread::spawn(move || {
                let (mine, _) = queue();
                let stolen = stealer.steal(&mine, 2);
                tally(stolen.into_iter().chain(drain(&mine)), &counts);
            })
        };
        owner.spill(|item| tally([item], &counts));
        tally(drain(&owner), &counts);
        thief.join().expect("the thief ends");
        assert_each_once(&counts);
    });
}

/// Fails if `push_front` stores the new head instead of exchanging it, or does not ask whether a thief is at work.
#[test]
fn loom_items_at_the_front_are_shared_as_the_others_are() {
    loom::model(|| {
        let counts = counts(5);
        let (owner, stealer) = queue();
        (0..2).for_each(|item| drop(owner.push(item)));
        let thief = {
            let counts = counts.clone();
            thread::spawn(move || {
                let (mine, _) = queue();
                let stolen = stealer.steal(&mine, 1);
                tally(stolen.into_iter().chain(drain(&mine)), &counts);
            })
        };
        // What it leaves free may be filled from both sides, and what was claimed before may be there again.
        tally(owner.pop(), &counts);
        let mut items = vec![2, 3];
        owner.push_front(&mut items);
        tally(items.into_iter().chain(owner.push(4).err()).chain(drain(&owner)), &counts);
        thief.join().expect("the thief ends");
        assert_each_once(&counts);
    });
}

/// Fails if the store of `EMPTY` in `steal_lifo`, or its load in `put_lifo`, is relaxed.
#[test]
fn loom_the_lifo_slot_gives_each_item_once() {
    loom::model(|| {
        let counts = counts(3);
        let (owner, stealer) = queue();
        assert!(owner.put_lifo(0).is_ok_and(|previous| previous.is_none()));
        let thief = {
            let counts = counts.clone();
            thread::spawn(move || tally(stealer.steal_lifo(), &counts))
        };
        for item in 1..3 {
            match owner.put_lifo(item) {
                Ok(previous) => tally(previous, &counts),
                Err(refused) => tally([refused], &counts),
            }
        }
        tally(owner.take_lifo(), &counts);
        thief.join().expect("the thief ends");
        assert_each_once(&counts);
    });
}
