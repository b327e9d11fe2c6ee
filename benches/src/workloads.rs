//! The seven workloads, written once for every runtime. Each checks that all its tasks really ran.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_channel::oneshot;

use crate::runtimes::Runtime;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workload {
    /// Spawns many tasks, then joins all: the life of a task, with many alive.
    SpawnJoin,
    /// Spawns and joins one task at a time: the round trip of one.
    SpawnOne,
    /// Spawns many tasks whose handles are dropped.
    SpawnDetached,
    /// Few tasks that yield often: the queue and the poll alone.
    YieldMany,
    /// Pairs of tasks that answer each other once: waking.
    PingPong,
    /// Each task spawns the next: waking with nobody else to run.
    ChainedSpawn,
    /// A tree of tasks, ten below each, that sums its leaves: fork and join in parallel.
    Skynet,
}

use Workload::{ChainedSpawn, PingPong, Skynet, SpawnDetached, SpawnJoin, SpawnOne, YieldMany};

const SPAWNED: usize = 100_000;
const ONE_BY_ONE: usize = 50_000;
const YIELDING: usize = 200;
const YIELDS: usize = 1_000;
const PAIRS: usize = 20_000;
const CHAIN: usize = 50_000;
const LEAVES: u64 = 100_000;

impl Workload {
    pub(crate) const ALL: [Workload; 7] =
        [SpawnJoin, SpawnOne, SpawnDetached, YieldMany, PingPong, ChainedSpawn, Skynet];

    pub(crate) fn name(self) -> &'static str {
        match self {
            SpawnJoin => "spawn_join",
            SpawnOne => "spawn_one",
            SpawnDetached => "spawn_detached",
            YieldMany => "yield_many",
            PingPong => "ping_pong",
            ChainedSpawn => "chained_spawn",
            Skynet => "skynet",
        }
    }

    pub(crate) fn parse(name: &str) -> Result<Workload, String> {
        let found = Workload::ALL.into_iter().find(|workload| workload.name() == name);
        found.ok_or_else(|| format!("there is no workload {name}"))
    }

    /// What the time of one run is divided by, to print nanoseconds per operation.
    pub(crate) fn operations(self) -> u64 {
        let operations = match self {
            SpawnJoin | SpawnDetached => SPAWNED,
            SpawnOne => ONE_BY_ONE,
            YieldMany => YIELDING * YIELDS,
            PingPong => PAIRS,
            ChainedSpawn => CHAIN,
            Skynet => LEAVES as usize,
        };
        operations as u64
    }
}

/// Runs the workload once on the runtime.
pub(crate) fn run<R: Runtime>(runtime: &R, workload: Workload) {
    match workload {
        SpawnJoin => runtime.block_on(spawn_join::<R>()),
        SpawnOne => runtime.block_on(spawn_one::<R>()),
        SpawnDetached => runtime.block_on(spawn_detached::<R>()),
        YieldMany => runtime.block_on(yield_many::<R>()),
        PingPong => runtime.block_on(ping_pong::<R>()),
        ChainedSpawn => runtime.block_on(chained_spawn::<R>()),
        Skynet => runtime.block_on(async { assert_eq!(R::join(skynet::<R>(0, LEAVES)).await, sum(LEAVES)) }),
    }
}

async fn spawn_join<R: Runtime>() {
    let tasks: Vec<_> = (0..SPAWNED as u64).map(|index| R::spawn(async move { index })).collect();
    let mut total = 0;
    for task in tasks {
        total += R::join(task).await;
    }
    assert_eq!(total, sum(SPAWNED as u64));
}

async fn spawn_one<R: Runtime>() {
    let mut total = 0;
    for index in 0..ONE_BY_ONE as u64 {
        total += R::join(R::spawn(async move { index })).await;
    }
    assert_eq!(total, sum(ONE_BY_ONE as u64));
}

async fn spawn_detached<R: Runtime>() {
    let (last, all_ran) = Countdown::new(SPAWNED);
    for _ in 0..SPAWNED {
        let last = Arc::clone(&last);
        R::spawn_detached(async move { last.arrive() });
    }
    all_ran.await.expect("the last task says so");
}

async fn yield_many<R: Runtime>() {
    let body = || async {
        for _ in 0..YIELDS {
            R::yield_now().await;
        }
    };
    let tasks: Vec<_> = (0..YIELDING).map(|_| R::spawn(body())).collect();
    for task in tasks {
        R::join(task).await;
    }
}

async fn ping_pong<R: Runtime>() {
    let (last, all_ran) = Countdown::new(PAIRS);
    for _ in 0..PAIRS {
        let last = Arc::clone(&last);
        R::spawn_detached(async move {
            let (ping, pinged) = oneshot::channel::<()>();
            let (pong, ponged) = oneshot::channel::<()>();
            R::spawn_detached(async move {
                pinged.await.expect("the other side pings");
                pong.send(()).expect("the other side waits");
            });
            ping.send(()).expect("the other side waits");
            ponged.await.expect("the other side answers");
            last.arrive();
        });
    }
    all_ran.await.expect("the last pair says so");
}

async fn chained_spawn<R: Runtime>() {
    let (done, ended) = oneshot::channel();
    chain::<R>(CHAIN, done);
    ended.await.expect("the last link says so");
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

fn skynet<R: Runtime>(first: u64, leaves: u64) -> R::Task<u64> {
    R::spawn(async move {
        if leaves == 1 {
            return first;
        }
        let step = leaves / 10;
        let children: Vec<_> = (0..10).map(|index| skynet::<R>(first + index * step, step)).collect();
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

/// Tells when the last of many tasks has arrived.
struct Countdown {
    left: AtomicUsize,
    done: std::sync::Mutex<Option<oneshot::Sender<()>>>,
}

impl Countdown {
    fn new(count: usize) -> (Arc<Countdown>, oneshot::Receiver<()>) {
        let (done, ended) = oneshot::channel();
        let countdown = Countdown { left: AtomicUsize::new(count), done: Some(done).into() };
        (Arc::new(countdown), ended)
    }

    fn arrive(&self) {
        // AcqRel: pairs with itself in the tasks that came before, whose work the last one answers for.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let done = self.done.lock().expect("nobody panics with the lock").take();
            done.expect("only one is the last").send(()).expect("the workload waits");
        }
    }
}
