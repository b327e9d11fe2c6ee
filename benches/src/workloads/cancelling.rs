//! Cancelling many tasks that wait for something that never comes.

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Everywhere, everywhere};
use crate::contest::Workload;
use crate::countdown::Countdown;
use crate::runtimes::{Runtime, Runtimes};

pub(super) fn all(runtimes: &Runtimes) -> Vec<Workload<'_>> {
    vec![everywhere::<Cancel>(runtimes)]
}

/// Cancels parked tasks and waits until all have ended. Spawning and parking them does not count.
struct Cancel;

impl Everywhere for Cancel {
    const NAME: &'static str = "cancel_100k";
    const OPERATIONS: usize = 100_000;

    fn run<R: Runtime>(runtime: &R) -> Duration {
        runtime.block_on(async {
            let (last, all_wait) = Countdown::new(Self::OPERATIONS);
            let park = |_| {
                let last = Arc::clone(&last);
                R::spawn(async move {
                    last.arrive();
                    pending::<()>().await;
                })
            };
            let tasks: Vec<_> = (0..Self::OPERATIONS).map(park).collect();
            all_wait.await.expect("the last task says so");
            let begin = Instant::now();
            R::cancel_all(tasks).await;
            begin.elapsed()
        })
    }
}
