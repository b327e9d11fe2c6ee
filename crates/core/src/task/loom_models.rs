//! Models of the task word, checked under every order that the memory model allows.
//!
//! Each was seen to fail with one ordering weakened to `Relaxed`: `request` and `transition_to_ending`
//! (the first model), `transition_to_done` and `ending` (the second), or with the look at `DONE` removed
//! from `transition_to_watched` (the third); the models of a slot with `end_look` weakened, and without the order between
//! filling a slot and looking at the phase; the model of the way back with `push` or `close` weakened.

use std::ptr::NonNull;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::cancel::account::Level;
use crate::task::returns::{Item, Returns};
use crate::task::slot::Slot;
use crate::task::state::{CancelOutcome, Ending, TaskWord};

/// Law C8: a request either precedes the end and is seen by it with its reason, or is told `Done`.
#[test]
fn loom_request_races_the_end() {
    loom::model(|| {
        let shared = Arc::new((TaskWord::new(), UnsafeCell::new(0)));
        let theirs = shared.clone();
        let requester = thread::spawn(move || {
            theirs.1.with_mut(|reason| {
                // SAFETY: INVARIANT W1, which the model checks: read only after the request was seen.
                unsafe { *reason = 7 }
            });
            theirs.0.request(Level::Hard)
        });
        let seen = shared.0.transition_to_ending();
        if seen {
            let reason = shared.1.with(|reason| {
                // SAFETY: INVARIANT W1: the request that was seen was made after the write.
                unsafe { *reason }
            });
            assert_eq!(reason, 7);
        }
        let told = requester.join().unwrap();
        assert_eq!(seen, told == CancelOutcome::Requested);
        assert_eq!(!seen, told == CancelOutcome::Done);
    });
}

/// INVARIANT W2: who reads `DONE` sees the outcome.
#[test]
fn loom_done_publishes_the_outcome() {
    loom::model(|| {
        let shared = Arc::new((TaskWord::new(), UnsafeCell::new(0)));
        let theirs = shared.clone();
        let worker = thread::spawn(move || {
            let _ = theirs.0.transition_to_ending();
            theirs.1.with_mut(|outcome| {
                // SAFETY: INVARIANT W2, which the model checks: nobody reads before `DONE`.
                unsafe { *outcome = 7 }
            });
            let _ = theirs.0.transition_to_done(Ending::Failed);
        });
        if let Some(ending) = shared.0.ending() {
            assert_eq!(ending, Ending::Failed);
            let outcome = shared.1.with(|outcome| {
                // SAFETY: INVARIANT W2: `DONE` was read.
                unsafe { *outcome }
            });
            assert_eq!(outcome, 7);
        }
        worker.join().unwrap();
    });
}

/// No wake-up is lost between a watcher that registers and the end.
#[test]
fn loom_a_watcher_is_told_or_woken() {
    loom::model(|| {
        let shared = Arc::new((TaskWord::new(), Mutex::new(false)));
        let theirs = shared.clone();
        let worker = thread::spawn(move || {
            let _ = theirs.0.transition_to_ending();
            let watched = theirs.0.transition_to_done(Ending::Value).watched;
            watched && std::mem::take(&mut *theirs.1.lock().unwrap())
        });
        let waits = {
            let mut registered = shared.1.lock().unwrap();
            *registered = true;
            shared.0.transition_to_watched()
        };
        let woken = worker.join().unwrap();
        assert!(woken || !waits, "the watcher waits and nobody wakes it");
    });
}

/// INVARIANT K1: the handle leaves a waker, leaves another one instead, and takes it back; it is told or
/// woken, and nobody touches the cell at the same time.
#[test]
fn loom_a_joiner_is_told_or_woken() {
    loom::model(|| {
        let shared = Arc::new((TaskWord::new(), UnsafeCell::new(0)));
        let theirs = shared.clone();
        let worker = thread::spawn(move || {
            let _ = theirs.0.transition_to_ending();
            let joined = theirs.0.transition_to_done(Ending::Value).joined;
            // SAFETY: INVARIANT K1, which the model checks: `DONE` met `JOINED`.
            if joined { theirs.1.with_mut(|waker| unsafe { std::mem::take(&mut *waker) }) } else { 0 }
        });
        let mut waits = 0;
        for waker in 1..=2 {
            if !shared.0.transition_to_unjoined() {
                break;
            }
            // SAFETY: INVARIANT K1: `JOINED` is clear, and `DONE` will not meet it.
            shared.1.with_mut(|cell| unsafe { *cell = waker });
            if !shared.0.transition_to_joined() {
                waits = 0;
                break;
            }
            waits = waker;
        }
        let woken = worker.join().unwrap();
        assert!(waits == 0 || woken != 0, "the handle waits and nobody wakes it");
        assert!(woken != 1 || waits == 1, "a waker that was replaced is woken instead of the last one");
    });
}

/// Two requests: one of them is the first.
#[test]
fn loom_two_requests_coalesce() {
    loom::model(|| {
        let word = Arc::new(TaskWord::new());
        let theirs = word.clone();
        let other = thread::spawn(move || theirs.request(Level::Soft));
        let mine = word.request(Level::Hard);
        let outcomes = [mine, other.join().unwrap()];
        assert!(outcomes.contains(&CancelOutcome::Requested));
        assert!(outcomes.contains(&CancelOutcome::AlreadyRequested));
        assert_eq!(word.take_requests(), Some(Level::Hard));
        assert_eq!(word.take_requests(), None);
    });
}

/// INVARIANT B1: a task that leaves its slot is let go of once, and not before a look at it is over.
#[test]
fn loom_a_slot_is_left_once() {
    loom::model(|| {
        let alive = Box::leak(Box::new(UnsafeCell::new(1u32)));
        let (item, shared) = (NonNull::from(&*alive), Arc::new(Slot::new()));
        shared.fill(item);
        let (theirs, handed) = (shared.clone(), item.as_ptr() as usize);
        let ender = thread::spawn(move || {
            let item = NonNull::new(handed as *mut UnsafeCell<u32>).unwrap();
            theirs.leave(item).then(|| let_go(item)).is_some()
        });
        let mut let_go_here = false;
        for _ in 0..2 {
            let Some(item) = shared.begin_look() else { continue };
            // SAFETY: INVARIANT B1, which the model checks: nobody lets go of the item during a look.
            let seen = unsafe { item.as_ref() }.with(|alive| unsafe { *alive });
            assert_eq!(seen, 1);
            if shared.end_look(item) {
                let_go(item);
                let_go_here = true;
            }
        }
        assert_ne!(ender.join().unwrap(), let_go_here, "let go of twice, or not at all");
        assert!(shared.is_empty());
    });
}

fn let_go(item: NonNull<UnsafeCell<u32>>) {
    // SAFETY: INVARIANT B1: nobody else reads the item from now on.
    unsafe { item.as_ref() }.with_mut(|alive| unsafe { *alive -= 1 });
}

/// Laws R1 and R5: of a spawn and the begin of the shutdown, one sees the other; the same at a task's end.
#[test]
fn loom_a_spawn_meets_the_shutdown() {
    // SeqCst: stands for the phase of the runtime, which pairs with the slot.
    loom::model(|| {
        let shared = Arc::new((Slot::new(), AtomicU32::new(0)));
        let theirs = shared.clone();
        let item = NonNull::from(Box::leak(Box::new(0u32))).as_ptr() as usize;
        let spawner = thread::spawn(move || {
            let item = NonNull::new(item as *mut u32).unwrap();
            theirs.0.fill(item);
            let seen_at_spawn = theirs.1.load(Ordering::SeqCst) == 1;
            let _ = theirs.0.leave(item);
            (seen_at_spawn, theirs.1.load(Ordering::SeqCst) == 1)
        });
        shared.1.store(1, Ordering::SeqCst);
        let met = shared.0.begin_look().map(|item| shared.0.end_look(item)).is_some();
        let empty = shared.0.is_empty();
        let (seen_at_spawn, seen_at_end) = spawner.join().unwrap();
        assert!(empty || seen_at_end, "the shutdown waits for a task whose end it is not told of");
        assert!(met || empty || seen_at_spawn, "a task was neither asked to end nor knows of the shutdown");
    });
}

struct Cell {
    freed: UnsafeCell<u32>,
    next: UnsafeCell<*mut Cell>,
}

impl Item for Cell {
    unsafe fn set_next(item: NonNull<Cell>, next: *mut Cell) {
        // SAFETY: INVARIANT V1, which the model checks: the item is the caller's.
        unsafe { item.as_ref() }.next.with_mut(|place| unsafe { *place = next });
    }

    unsafe fn next(item: NonNull<Cell>) -> *mut Cell {
        // SAFETY: INVARIANT V1: the item is the caller's.
        unsafe { item.as_ref() }.next.with(|place| unsafe { *place })
    }
}

fn free(item: NonNull<Cell>) {
    // SAFETY: INVARIANT V1: the item is the caller's.
    unsafe { item.as_ref() }.freed.with_mut(|freed| unsafe { *freed += 1 });
}

/// INVARIANT V1: each item that is pushed is freed once, by the taker, or by its pusher if the taker is gone.
#[test]
fn loom_a_cell_is_returned_or_freed() {
    loom::model(|| {
        let stack = Arc::new(Returns::new());
        let cells: Vec<_> = (0..2)
            .map(|_| {
                Box::leak(Box::new(Cell {
                    freed: UnsafeCell::new(0),
                    next: UnsafeCell::new(std::ptr::null_mut()),
                }))
            })
            .map(|cell| NonNull::from(&*cell).as_ptr() as usize)
            .collect();
        let pushers: Vec<_> = cells
            .iter()
            .map(|&cell| (stack.clone(), cell))
            .map(|(stack, cell)| {
                thread::spawn(move || {
                    let item = NonNull::new(cell as *mut Cell).unwrap();
                    // SAFETY: INVARIANT V1: each item has one pusher. The model keeps the stack.
                    let pushed = unsafe { stack.push(item) };
                    if !pushed {
                        free(item);
                    }
                })
            })
            .collect();
        stack.take().for_each(free);
        stack.close().for_each(free);
        pushers.into_iter().for_each(|pusher| pusher.join().unwrap());
        for cell in cells {
            // SAFETY: INVARIANT V1: the pushers have ended.
            let freed = unsafe { &*(cell as *const Cell) }.freed.with(|freed| unsafe { *freed });
            assert_eq!(freed, 1);
        }
    });
}
