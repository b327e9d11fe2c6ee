//! The seven workloads of the scheduler alone: spawning, joining, yielding, waking.

use std::sync::Arc;
use std::time::Duration;

use futures_channel::oneshot;

use super::{Everywhere, everywhere, timed};
use crate::contest::Workload;
use crate::countdown::Countdown;
use crate::runtimes::{Runtime, Runtimes};

pub(super) fn all(runtimes: &Runtimes) -> Vec<Workload<'_>> {
    vec![
        everywhere::<SpawnJoin>(runtimes),
        everywhere::<SpawnOne>(runtimes),
        everywhere::<SpawnDetached>(runtimes),
        everywhere::<YieldMany>(runtimes),
        everywhere::<PingPong>(runtimes),
        everywhere::<ChainedSpawn>(runtimes),
        everywhere::<Skynet>(runtimes),
    ]
}

/// Spawns many tasks, then joins all: the life of a task, with many alive.
struct SpawnJoin;

impl Everywhere for SpawnJoin {
    const NAME: &'static str = "spawn_join";
    const OPERATIONS: usize = 100_000;

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let main = async {
            let tasks: Vec<_> =
                (0..Self::OPERATIONS as u64).map(|index| R::spawn(async move { index })).collect();
            let mut total = 0;
            for task in tasks {
                total += R::join(task).await;
            }
            assert_eq!(total, sum(Self::OPERATIONS as u64));
        };
        timed(|| runtime.block_on(main))
    }
}

/// Spawns and joins one task at a time: the round trip of one.
struct SpawnOne;

impl Everywhere for SpawnOne {
    const NAME: &'static str = "spawn_one";
    const OPERATIONS: usize = 50_000;

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let main = async {
            let mut total = 0;
            for index in 0..Self::OPERATIONS as u64 {
                total += R::join(R::spawn(async move { index })).await;
            }
            assert_eq!(total, sum(Self::OPERATIONS as u64));
        };
        timed(|| runtime.block_on(main))
    }
}

/// Spawns many tasks whose handles are dropped.
struct SpawnDetached;

impl Everywhere for SpawnDetached {
    const NAME: &'static str = "spawn_detached";
    const OPERATIONS: usize = 100_000;

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let main = async {
            let (last, all_ran) = Countdown::new(Self::OPERATIONS);
            for _ in 0..Self::OPERATIONS {
                let last = Arc::clone(&last);
                R::spawn_detached(async move { last.arrive() });
            }
            all_ran.await.expect("the last task says so");
        };
        timed(|| runtime.block_on(main))
    }
}

/// Few tasks that yield often: the queue and the poll alone.
struct YieldMany;

impl Everywhere for YieldMany {
    const NAME: &'static str = "yield_many";
    const OPERATIONS: usize = YIELDING * 1_000;

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let body = || async {
            for _ in 0..Self::OPERATIONS / YIELDING {
                R::yield_now().await;
            }
        };
        let main = async move {
            let tasks: Vec<_> = (0..YIELDING).map(|_| R::spawn(body())).collect();
            for task in tasks {
                R::join(task).await;
            }
        };
        timed(|| runtime.block_on(main))
    }
}

const YIELDING: usize = 200;

/// Pairs of tasks that answer each other once: waking.
struct PingPong;

impl Everywhere for PingPong {
    const NAME: &'static str = "ping_pong";
    const OPERATIONS: usize = 20_000;

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let main = async {
            let (last, all_ran) = Countdown::new(Self::OPERATIONS);
            for _ in 0..Self::OPERATIONS {
                R::spawn_detached(pair::<R>(Arc::clone(&last)));
            }
            all_ran.await.expect("the last pair says so");
        };
        timed(|| runtime.block_on(main))
    }
}

async fn pair<R: Runtime>(last: Arc<Countdown>) {
    let (ping, pinged) = oneshot::channel::<()>();
    let (pong, ponged) = oneshot::channel::<()>();
    R::spawn_detached(async move {
        pinged.await.expect("the other side pings");
        pong.send(()).expect("the other side waits");
    });
    ping.send(()).expect("the other side waits");
    ponged.await.expect("the other side answers");
    last.arrive();
}

/// Each task spawns the next: waking with nobody else to run.
struct ChainedSpawn;

impl Everywhere for ChainedSpawn {
    const NAME: &'static str = "chained_spawn";
    const OPERATIONS: usize = 50_000;

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let main = async {
            let (done, ended) = oneshot::channel();
            chain::<R>(Self::OPERATIONS, done);
            ended.await.expect("the last link says so");
        };
        timed(|| runtime.block_on(main))
    }
}

fn chain<R: Runtime>(links: usize, done: oneshot::Sender<()>) {
    R::spawn_detached(async move {
        if links == 0 {
            done.send(()).expect("the workload waits");
        } else {
            chain::<R>(links - 1, done);
        }
    });
}

/// A tree of tasks, ten below each, that sums its leaves: fork and join in parallel.
struct Skynet;

impl Everywhere for Skynet {
    const NAME: &'static str = "skynet";
    const OPERATIONS: usize = 100_000;

    fn run<R: Runtime>(runtime: &R) -> Duration {
        let leaves = Self::OPERATIONS as u64;
        let main = async move { assert_eq!(R::join(tree::<R>(0, leaves)).await, sum(leaves)) };
        timed(|| runtime.block_on(main))
    }
}

fn tree<R: Runtime>(first: u64, leaves: u64) -> R::Task<u64> {
    R::spawn(async move {
        if leaves == 1 {
            return first;
        }
        let step = leaves / 10;
        let children: Vec<_> = (0..10).map(|index| tree::<R>(first + index * step, step)).collect();
        let mut total = 0;
        for child in children {
            total += R::join(child).await;
        }
        total
    })
}

/// `0 + 1 + .. + (count - 1)`.
fn sum(count: u64) -> u64 {
    count * (count - 1) / 2
}
