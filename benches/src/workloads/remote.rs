//! Spawning from threads that are no workers: the way into a runtime.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::{Everywhere, everywhere, timed};
use crate::contest::Workload;
use crate::countdown::Countdown;
use crate::runtimes::{Runtime, Runtimes};

pub(super) fn all(runtimes: &Runtimes) -> Vec<Workload<'_>> {
    vec![
        everywhere::<Remote<1>>(runtimes),
        everywhere::<Remote<2>>(runtimes),
        everywhere::<Remote<4>>(runtimes),
        everywhere::<Remote<8>>(runtimes),
    ]
}

/// So many threads spawn detached tasks at the same time.
struct Remote<const THREADS: usize>;

impl<const THREADS: usize> Everywhere for Remote<THREADS> {
    const NAME: &'static str = match THREADS {
        1 => "remote_spawn_1",
        2 => "remote_spawn_2",
        4 => "remote_spawn_4",
        8 => "remote_spawn_8",
        _ => panic!("a number of threads without a name"),
    };
    const OPERATIONS: usize = 64_000;
    const QUICK: &'static [&'static str] = &[];

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let (last, all_ran) = Countdown::new(Self::OPERATIONS);
        let produce = || {
            for _ in 0..Self::OPERATIONS / THREADS {
                let last = Arc::clone(&last);
                runtime.spawn_from_outside(async move { last.arrive() });
            }
        };
        let run = || {
            thread::scope(|scope| {
                (0..THREADS).for_each(|_| drop(scope.spawn(produce)));
                runtime.block_on(async { all_ran.await.expect("the last task says so") });
            });
        };
        timed(run)
    }
}
