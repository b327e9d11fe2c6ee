//! Deadlines that do not come, and sleeps that end.

use std::future::{Future, poll_fn, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use super::{Everywhere, everywhere, timed};
use crate::contest::Workload;
use crate::countdown::Countdown;
use crate::runtimes::{Runtime, Runtimes};
use crate::stats::Random;

pub(super) fn all(runtimes: &Runtimes) -> Vec<Workload<'_>> {
    vec![
        everywhere::<TimeoutReady>(runtimes),
        everywhere::<TimeoutPending>(runtimes),
        everywhere::<Rearm>(runtimes),
        everywhere::<Sleeps>(runtimes),
        everywhere::<Storm>(runtimes),
    ]
}

/// A timeout around what is ready: no timer is needed.
struct TimeoutReady;

impl Everywhere for TimeoutReady {
    const NAME: &'static str = "timeout_ready";
    const OPERATIONS: usize = 200_000;

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let main = async {
            for index in 0..Self::OPERATIONS {
                assert_eq!(R::timeout(FAR, ready(index)).await, Some(index));
            }
        };
        timed(|| runtime.block_on(main))
    }
}

/// A timeout around what suspends once: a timer that is inserted and removed.
struct TimeoutPending;

impl Everywhere for TimeoutPending {
    const NAME: &'static str = "timeout_pending";
    const OPERATIONS: usize = 50_000;

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let main = async {
            for _ in 0..Self::OPERATIONS {
                assert!(R::timeout(FAR, R::yield_now()).await.is_some(), "the deadline is far away");
            }
        };
        timed(|| runtime.block_on(main))
    }
}

/// One timer whose deadline moves with every message, as that of an idle connection does.
struct Rearm;

impl Everywhere for Rearm {
    const NAME: &'static str = "timer_rearm";
    const OPERATIONS: usize = 100_000;
    const QUICK: &'static [&'static str] = &[];

    fn run<R: Runtime>(runtime: &R) -> Duration {
        timed(|| runtime.block_on(R::rearm(Self::OPERATIONS)))
    }
}

/// A million tasks, each of which sleeps up to half a second. What counts is the time beyond the longest sleep.
struct Sleeps;

impl Everywhere for Sleeps {
    const NAME: &'static str = "sleep_1m";
    const OPERATIONS: usize = 1_000_000;
    const QUICK: &'static [&'static str] = &["tokio"];

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let longest = Duration::from_millis(500);
        let whole = runtime.block_on(async move {
            let begin = Instant::now();
            let (last, all_slept) = Countdown::new(Self::OPERATIONS);
            let mut random = Random::new(1);
            for _ in 0..Self::OPERATIONS {
                let last = Arc::clone(&last);
                let duration = longest.mul_f64(random.below(1000) as f64 / 1000.0);
                R::spawn_detached(async move {
                    R::sleep(duration).await;
                    last.arrive();
                });
            }
            // Nobody can be done before the one that sleeps longest.
            R::sleep(longest).await;
            all_slept.await.expect("the last one says so");
            begin.elapsed()
        });
        whole.saturating_sub(longest)
    }
}

/// Timers of which one in a hundred fires and the others are removed, most of them soon: connections with timeouts.
struct Storm;

impl Everywhere for Storm {
    const NAME: &'static str = "timer_storm";
    const OPERATIONS: usize = STORMING * 25_000;

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let main = async {
            let tasks: Vec<_> = (1..=STORMING as u64)
                .map(|seed| R::spawn(storm::<R>(Random::new(seed), Self::OPERATIONS / STORMING)))
                .collect();
            for task in tasks {
                R::join(task).await;
            }
        };
        timed(|| runtime.block_on(main))
    }
}

const STORMING: usize = 8;

async fn storm<R: Runtime>(mut random: Random, timers: usize) {
    let mut firing = Vec::new();
    let mut alive: Vec<Option<Pin<Box<_>>>> = (0..100).map(|_| None).collect();
    for index in 0..timers {
        if index % 100 == 0 {
            firing.push(R::spawn(R::sleep(Duration::from_millis(1))));
            continue;
        }
        let mut timer = Box::pin(R::sleep(Duration::from_millis(1000 + random.below(1000) as u64)));
        poll_fn(|cx| Poll::Ready(timer.as_mut().poll(cx).is_pending())).await;
        // The timer that had the place is removed.
        alive[index % 100] = Some(timer);
    }
    for task in firing {
        R::join(task).await;
    }
}

const FAR: Duration = Duration::from_secs(3600);
