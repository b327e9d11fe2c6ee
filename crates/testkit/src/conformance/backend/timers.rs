//! B4: the timers of a backend, asked directly.

use crate::conformance::prelude::*;
use brigade_core::backend::Backend;

/// A waker that opens a gate.
struct Bell(Gate);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.open();
    }
}

fn bell() -> (Gate, Waker) {
    let gate = Gate::new();
    (gate.clone(), Waker::from(Arc::new(Bell(gate))))
}

/// Runs a test with the backend at hand; main is local, so timers are set on one worker.
fn with_backend<F: Future<Output = ()> + 'static>(
    kitchen: &Kitchen,
    test: impl FnOnce(Arc<dyn Backend>) -> F,
) {
    let shift = kitchen.open();
    let backend = shift.handle.backend().clone();
    shift.run_local(test(backend));
}

/// A timer fires once, not before its time, and its key is dead then.
pub fn law_b4_a_timer_fires_once_and_not_early(kitchen: &Kitchen) {
    with_backend(kitchen, |backend| async move {
        let (rang, waker) = bell();
        let at = backend.now() + ms(10);
        let key = backend.insert_timer(at, waker);
        assert!(!rang.is_open());
        rang.wait().await;
        assert!(backend.now() >= at);
        sleep(ms(20)).await;
        assert_eq!(rang.count(), 1);
        assert!(!backend.reset_timer(key, at + ms(50)), "it has fired");
        assert!(!backend.update_timer(key, Waker::noop()), "it has fired");
        backend.remove_timer(key);
    });
}

/// A removed timer does not fire, and removing it again does nothing.
pub fn law_b4_a_removed_timer_does_not_fire(kitchen: &Kitchen) {
    with_backend(kitchen, |backend| async move {
        let (rang, waker) = bell();
        let key = backend.insert_timer(backend.now() + ms(10), waker);
        backend.remove_timer(key);
        backend.remove_timer(key);
        assert!(!backend.reset_timer(key, backend.now()), "it was removed");
        sleep(ms(30)).await;
        assert!(!rang.is_open());
    });
}

/// A timer can be moved: later, earlier, into the past.
pub fn law_b4_a_timer_can_be_moved(kitchen: &Kitchen) {
    with_backend(kitchen, |backend| async move {
        let start = backend.now();
        let (late, waker) = bell();
        let key = backend.insert_timer(start + ms(10), waker);
        assert!(backend.reset_timer(key, start + ms(40)));
        late.wait().await;
        assert!(backend.now() >= start + ms(40));
        let (early, waker) = bell();
        let key = backend.insert_timer(start + ms(1_000_000), waker);
        assert!(backend.reset_timer(key, backend.now() + ms(10)));
        early.wait().await;
        let (past, waker) = bell();
        let key = backend.insert_timer(start + ms(1_000_000), waker);
        assert!(backend.reset_timer(key, start));
        past.wait().await;
        assert!(backend.now() < start + ms(1_000_000));
    });
}

/// The waker of a timer can be replaced; only the last one is woken.
pub fn law_b4_the_last_waker_is_woken(kitchen: &Kitchen) {
    with_backend(kitchen, |backend| async move {
        let ((first, first_waker), (second, second_waker)) = (bell(), bell());
        let key = backend.insert_timer(backend.now() + ms(10), first_waker);
        assert!(backend.update_timer(key, &second_waker));
        second.wait().await;
        assert!(!first.is_open());
    });
}

/// The key of a dead timer does not reach the one that took its place.
pub fn law_b4_dead_keys_stay_dead(kitchen: &Kitchen) {
    with_backend(kitchen, |backend| async move {
        let (_, waker) = bell();
        let dead = backend.insert_timer(backend.now() + ms(10), waker);
        backend.remove_timer(dead);
        let (rang, waker) = bell();
        let at = backend.now() + ms(20);
        let live = backend.insert_timer(at, waker);
        assert_ne!(dead, live);
        backend.remove_timer(dead);
        assert!(!backend.reset_timer(dead, backend.now() + ms(500)));
        rang.wait().await;
        assert!(backend.now() >= at);
    });
}

/// Timers fire in the order of their deadlines; equal ones in insertion order.
pub fn law_b4_order_of_deadlines_then_insertion(kitchen: &Kitchen) {
    struct Note(Arc<Mutex<Vec<usize>>>, usize, Gate);
    impl Wake for Note {
        fn wake(self: Arc<Self>) {
            self.0.lock().expect("whole").push(self.1);
            self.2.open();
        }
    }
    with_backend(kitchen, |backend| async move {
        let (fired, all) = (Arc::new(Mutex::new(Vec::new())), Gate::new());
        let start = backend.now();
        let millis = [30, 10, 20, 10, 30, 20, 10];
        for (n, millis) in millis.into_iter().enumerate() {
            let note = Arc::new(Note(fired.clone(), n, all.clone()));
            backend.insert_timer(start + ms(millis), Waker::from(note));
        }
        all.reached(millis.len()).await;
        assert_eq!(*fired.lock().expect("whole"), [1, 3, 6, 2, 5, 0, 4]);
    });
}

/// A timer in the far future never fires and is in nobody's way.
pub fn law_b4_far_future_never_fires(kitchen: &Kitchen) {
    with_backend(kitchen, |backend| async move {
        let (rang, waker) = bell();
        let key = backend.insert_timer(Instant::FAR_FUTURE, waker);
        sleep(ms(10)).await;
        assert!(!rang.is_open());
        assert!(backend.reset_timer(key, backend.now() + ms(5)), "it can still be moved");
        rang.wait().await;
    });
}

/// Many timers that are set and removed leave nothing behind, and those in between fire.
pub fn law_b4_many_timers_come_and_go(kitchen: &Kitchen) {
    with_backend(kitchen, |backend| async move {
        let rounds = if cfg!(miri) { 100 } else { 20_000 };
        let at = backend.now() + ms(20);
        let (rang, waker) = bell();
        for n in 0..rounds {
            let far = backend.insert_timer(at + ms(3_600_000), Waker::noop().clone());
            if n % (rounds / 10) == 0 {
                backend.insert_timer(at, waker.clone());
            }
            backend.remove_timer(far);
        }
        rang.reached(10).await;
        assert!(backend.now() >= at);
        assert_eq!(rang.count(), 10);
    });
}

/// Moves at random against a model: every timer fires not before its last deadline, removed ones never.
pub fn law_b4_random_moves_against_a_model(kitchen: &Kitchen) {
    with_backend(kitchen, |backend| async move {
        let (start, mut dice) = (backend.now(), 12345_u64);
        let mut roll = move |sides: u64| {
            dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (dice >> 33) % sides
        };
        let mut timers = Vec::new();
        for _ in 0..100 {
            let (rang, waker) = bell();
            let at = start + ms(5 + roll(40));
            timers.push((backend.insert_timer(at, waker), Some(at), rang));
        }
        for _ in 0..1000 {
            let (key, at, rang) = &mut timers[roll(100) as usize];
            let next = start + ms(5 + roll(40));
            if roll(20) == 0 {
                backend.remove_timer(*key);
                if !rang.is_open() {
                    *at = None;
                }
            } else if backend.reset_timer(*key, next) {
                *at = Some(next);
            }
        }
        sleep_until(start + ms(60)).await;
        for (_, at, rang) in &timers {
            assert_eq!(rang.count(), usize::from(at.is_some()), "due at {at:?}");
        }
    });
}
