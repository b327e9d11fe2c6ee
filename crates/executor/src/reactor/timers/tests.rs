//! What the wheels of a runtime announce and fire, with wakers that count.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use brigade_core::Instant;

use super::{FEW, MANY, Timers};

/// Counts how often it was woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        // Relaxed: one thread.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn count() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count::default());
    (count.clone(), count.into())
}

fn woken(count: &Count) -> usize {
    // Relaxed: one thread.
    count.0.load(Ordering::Relaxed)
}

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// The deadlines are rounded up to a tick of 65.5 µs.
fn announces(timers: &Timers, expected: Instant) {
    let next = timers.next_deadline();
    assert!(
        expected <= next && next.as_nanos() < expected.as_nanos() + (1 << 16),
        "{next:?}, not {expected:?}"
    );
}

#[test]
fn the_earliest_deadline_of_all_wheels_is_announced_at_any_time() {
    let timers = Timers::new(2);
    let (_, waker) = count();
    let first = timers.insert(0, at(10), waker.clone());
    let second = timers.insert(1, at(20), waker.clone());
    announces(&timers, at(10));
    assert!(timers.reset(second, at(5)));
    announces(&timers, at(5));
    assert!(timers.renew(second, at(30), &waker));
    announces(&timers, at(10));
    timers.remove(first);
    announces(&timers, at(30));
    timers.remove(second);
    assert_eq!(timers.next_deadline(), Instant::FAR_FUTURE, "nobody wakes up for what was removed");
}

#[test]
fn renewing_a_timer_moves_it_and_replaces_its_waker() {
    let timers = Timers::new(1);
    let ((former, waker), (latter, another)) = (count(), count());
    let key = timers.insert(0, at(1), waker);
    assert!(timers.renew(key, at(2), &another));
    assert_eq!(timers.fire(at(1)), 0);
    assert_eq!(timers.fire(at(3)), 1);
    assert_eq!((woken(&former), woken(&latter)), (0, 1));
    assert!(!timers.renew(key, at(9), &another), "it has fired");
    assert!(!timers.update(key, &another));
    assert_eq!(timers.next_deadline(), Instant::FAR_FUTURE);
}

#[test]
fn a_crowd_fires_bit_by_bit_the_latest_wheel_first() {
    let timers = Timers::new(2);
    let ((late, waker), (early, another)) = (count(), count());
    for _ in 0..2 * MANY {
        timers.insert(0, at(2), waker.clone());
    }
    timers.insert(1, at(1), another);
    assert_eq!(timers.fire_some(at(3)), FEW);
    assert_eq!((woken(&late), woken(&early)), (FEW - 1, 1));
    announces(&timers, at(2));
    assert_eq!(timers.fire(at(3)), MANY);
    assert_eq!(timers.fire(at(3)), MANY - FEW + 1);
    assert_eq!(timers.fire(at(3)), 0);
    assert_eq!(woken(&late), 2 * MANY);
}

#[test]
fn a_closed_runtime_has_no_timers() {
    let timers = Timers::new(1);
    let (woke, waker) = count();
    let key = timers.insert(0, at(1), waker.clone());
    timers.close();
    let refused = timers.insert(0, at(1), waker.clone());
    assert_eq!(timers.fire(at(5)), 0);
    assert!(!timers.reset(key, at(2)) && !timers.update(refused, &waker));
    timers.remove(refused);
    assert_eq!((woken(&woke), timers.next_deadline()), (0, Instant::FAR_FUTURE));
    drop(waker);
    assert_eq!(Arc::strong_count(&woke), 1, "no waker is kept");
}
