//! Trying again: how long the pauses are, when it gives up, and what a cancellation does.

#[path = "kit/ms.rs"]
mod ms;

use std::cell::Cell;
use std::time::Duration;

use brigade_combinators::{Backoff, retry, retry_if, timeout};
use brigade_core::Instant;
use brigade_testkit::simulate;
use ms::{ms, now};

fn pauses(backoff: &Backoff, count: usize) -> Vec<Duration> {
    let mut pauses = backoff.begin(Instant::ZERO);
    (0..count).map_while(|_| pauses.next_after(Instant::ZERO)).collect()
}

#[test]
fn pauses_grow_up_to_their_bound() {
    let backoff = Backoff::new(ms(10)).factor(3).max(ms(100));
    assert_eq!(pauses(&backoff, 5), [10, 30, 90, 100, 100].map(ms));
    assert_eq!(pauses(&Backoff::new(Duration::MAX), 2), [Duration::MAX; 2], "nothing overflows");
}

#[test]
fn jitter_shortens_and_is_the_same_for_the_same_seed() {
    let plan = Backoff::new(ms(100)).factor(1).jitter(0.5);
    let waits = pauses(&plan.clone().seed(7), 50);
    assert!(waits.iter().all(|wait| (ms(50)..=ms(100)).contains(wait)), "{waits:?}");
    assert_eq!(waits, pauses(&plan.clone().seed(7), 50));
    assert_ne!(waits, pauses(&plan.clone().seed(8), 50));
    assert!(waits.iter().any(|wait| *wait < ms(70)) && waits.iter().any(|wait| *wait > ms(80)));
}

#[test]
fn it_gives_up_after_its_attempts_with_the_last_error() {
    simulate(async {
        let calls = Cell::new(0);
        let outcome = retry(Backoff::new(ms(10)).attempts(3), || {
            calls.set(calls.get() + 1);
            let error = calls.get();
            async move { Err::<(), _>(error) }
        });
        assert_eq!(outcome.await, Err(3));
        assert_eq!(now(), 30);
    })
    .unwrap();
}

#[test]
fn it_gives_up_when_the_next_attempt_would_be_outside_the_window() {
    simulate(async {
        let outcome = retry(Backoff::new(ms(10)).within(ms(75)), || async { Err::<(), _>(now()) });
        assert_eq!(outcome.await, Err(70), "10 + 20 + 40; 80 more would be too late");
    })
    .unwrap();
}

#[test]
fn an_error_that_is_not_worth_it_ends_it_at_once() {
    simulate(async {
        let calls = Cell::new(0);
        let operation = || {
            calls.set(calls.get() + 1);
            let error = calls.get();
            async move { Err::<(), _>(error) }
        };
        assert_eq!(retry_if(Backoff::new(ms(10)), operation, |&error| error < 2).await, Err(2));
        assert_eq!(now(), 10);
    })
    .unwrap();
}

#[test]
fn a_cancellation_ends_the_pause_and_makes_no_further_attempt() {
    simulate(async {
        let calls = Cell::new(0);
        let outcome = timeout(
            ms(25),
            retry(Backoff::new(ms(10)), || {
                calls.set(calls.get() + 1);
                async { Err::<(), _>("busy") }
            }),
        );
        assert!(outcome.await.is_err());
        assert_eq!((calls.get(), now()), (2, 25));
    })
    .unwrap();
}
