//! Memory per task that waits: a process of its own for each measurement, since an allocator keeps what it has had.
//!
//! What is counted is the growth of the resident set while a million tasks are made, divided by their number.

use std::convert::Infallible;
use std::fs;
use std::future::pending;
use std::process::{self, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use brigade::TaskGroup;
use tokio::task::JoinSet;

use crate::countdown::Countdown;
use crate::runtimes::{Brigade, Runtime, Smol, Tokio};

/// What is a million times in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// A detached task that sleeps.
    Sleeping,
    /// A child of a group that waits for nothing.
    Child,
}

impl Held {
    fn name(self) -> &'static str {
        match self {
            Held::Sleeping => "sleeping",
            Held::Child => "child",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Held> {
        [Held::Sleeping, Held::Child].into_iter().find(|held| held.name() == name)
    }
}

/// Bytes per task, measured by another process.
pub(crate) fn bytes_elsewhere(runtime: &str, held: Held, workers: usize) -> f64 {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args(["--workers", &workers.to_string(), "--memory", runtime, held.name()]);
    let output = command.stderr(Stdio::inherit()).output().expect("this program can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().expect("the other process prints a number")
}

/// The other process's main: prints the bytes per task, and ends the process with all of them in memory.
pub(crate) fn measure(runtime: &str, held: Held, workers: usize) -> Result<(), String> {
    match (runtime, held) {
        ("brigade", Held::Sleeping) => Brigade::new(workers)?.block_on(sleeping::<Brigade>()),
        ("tokio", Held::Sleeping) => Tokio::new(workers)?.block_on(sleeping::<Tokio>()),
        ("smol", Held::Sleeping) => Smol::new(workers)?.block_on(sleeping::<Smol>()),
        ("brigade", Held::Child) => Brigade::new(workers)?.block_on(children_of_group()),
        ("tokio", Held::Child) => Tokio::new(workers)?.block_on(children_of_set()),
        _ => Err(format!("{runtime} has no part in {}", held.name())),
    }
}

const TASKS: usize = 1_000_000;

async fn sleeping<R: Runtime>() -> Result<(), String> {
    let before = resident();
    let (last, all_run) = Countdown::new(TASKS);
    for _ in 0..TASKS {
        let last = Arc::clone(&last);
        R::spawn_detached(async move {
            last.arrive();
            R::sleep(Duration::from_secs(3600)).await;
        });
    }
    all_run.await.expect("the last task says so");
    tell(before)
}

async fn children_of_group() -> Result<(), String> {
    let before = resident();
    let (last, all_run) = Countdown::new(TASKS);
    let group = TaskGroup::<Infallible>::scope(async |group| {
        for _ in 0..TASKS {
            drop(group.spawn(wait(Arc::clone(&last))));
        }
        all_run.await.expect("the last task says so");
        tell(before).expect("the process ends here");
    });
    group.await.map_err(|error| error.to_string())
}

async fn children_of_set() -> Result<(), String> {
    let before = resident();
    let (last, all_run) = Countdown::new(TASKS);
    let mut set = JoinSet::new();
    for _ in 0..TASKS {
        set.spawn(wait(Arc::clone(&last)));
    }
    all_run.await.expect("the last task says so");
    tell(before)
}

async fn wait(last: Arc<Countdown>) {
    last.arrive();
    pending::<()>().await;
}

/// Prints the growth, and ends the process: a million tasks need not be freed one by one.
fn tell(before: f64) -> Result<(), String> {
    println!("{:.1}", (resident() - before) / TASKS as f64);
    process::exit(0)
}

/// The resident set of this process in bytes.
fn resident() -> f64 {
    let text = fs::read_to_string("/proc/self/status").expect("Linux tells about processes");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it tells the resident set");
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("it tells it in KiB");
    kib * 1024.0
}
