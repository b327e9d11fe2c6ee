//! Races of the outcome's way, many times: run on an idle machine, since a busy one hides them.

#[path = "kit/pool.rs"]
mod pool;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use brigade_core::{BoxError, CancelOutcome, TaskError, spawn, yield_now};

/// Rounds of each stress; `BRIGADE_STRESS` multiplies them.
fn rounds(usual: usize) -> usize {
    let factor = std::env::var("BRIGADE_STRESS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    if cfg!(miri) { 20 } else { usual * factor }
}

/// Counts how many were made and how many dropped (law C17).
#[derive(Clone, Default)]
struct Counter(Arc<AtomicUsize>, Arc<AtomicUsize>);

struct Counted(Counter);

impl Counter {
    fn make(&self) -> Counted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self.clone())
    }
    fn check(&self) {
        assert_eq!(self.0.load(Ordering::SeqCst), self.1.load(Ordering::SeqCst), "made and dropped");
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn law_c17_cancel_races_the_end() {
    let counter = Counter::default();
    let count = counter.clone();
    pool::run(async move {
        for round in 0..rounds(5_000) {
            let count = count.clone();
            let task = spawn(async move {
                for _ in 0..round % 3 {
                    yield_now().await;
                }
                Ok::<_, BoxError>(count.make())
            });
            let reference = task.to_ref();
            let canceller = spawn(async move {
                for _ in 0..round % 2 {
                    yield_now().await;
                }
                Ok::<_, BoxError>(reference.cancel())
            });
            let outcome = task.await;
            match (outcome, canceller.await.unwrap()) {
                (Ok(value), CancelOutcome::Done) => drop(value),
                (Err(TaskError::Cancelled(_)), CancelOutcome::Requested) => {}
                (Ok(_), told) => panic!("a value after {told:?}"),
                (Err(error), told) => panic!("{error:?} after {told:?}"),
            }
        }
    })
    .unwrap();
    counter.check();
}

#[test]
fn law_t5_dropping_the_handle_races_the_end() {
    let counter = Counter::default();
    let count = counter.clone();
    pool::run(async move {
        for round in 0..rounds(10_000) {
            let value = count.make();
            let task = spawn(async move {
                for _ in 0..round % 3 {
                    yield_now().await;
                }
                Ok::<_, BoxError>(value)
            });
            let reference = task.to_ref();
            if round % 2 == 0 {
                yield_now().await;
            }
            drop(task);
            reference.finished().await;
            assert!(reference.done());
        }
    })
    .unwrap();
    counter.check();
}

#[test]
fn law_t3_done_means_that_the_result_is_readable() {
    pool::run(async {
        for round in 0..rounds(5_000) {
            let task = spawn(async move {
                for _ in 0..round % 3 {
                    yield_now().await;
                }
                Ok::<_, BoxError>(round)
            });
            while !task.done() {
                yield_now().await;
            }
            assert_eq!(*task.result().unwrap().unwrap(), round);
            assert_eq!(task.await.unwrap(), round);
        }
    })
    .unwrap();
}

#[test]
fn law_c14_abort_races_everything() {
    let counter = Counter::default();
    let count = counter.clone();
    pool::run(async move {
        for round in 0..rounds(5_000) {
            let value = count.make();
            let task = spawn(async move {
                yield_now().await;
                drop(value);
                std::future::pending::<()>().await;
            });
            for _ in 0..round % 4 {
                yield_now().await;
            }
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
    })
    .unwrap();
    counter.check();
}

#[test]
fn law_t13_references_outlive_the_runtime() {
    let (task, reference) = pool::run(async {
        let task = spawn(async { Ok::<_, BoxError>("kept".to_owned()) });
        let reference = task.to_ref();
        reference.finished().await;
        Ok::<_, BoxError>((task, reference))
    })
    .unwrap();
    assert_eq!(task.result().unwrap().unwrap(), "kept");
    drop(task);
    assert_eq!(reference.cancel(), CancelOutcome::Done);
    assert!(reference.done());
}

#[test]
fn law_r4_wakers_outlive_the_runtime() {
    let waker = pool::run(async {
        let waker = std::future::poll_fn(|cx| std::task::Poll::Ready(cx.waker().clone())).await;
        Ok::<_, BoxError>(waker)
    })
    .unwrap();
    waker.wake_by_ref();
    waker.wake_by_ref();
}
