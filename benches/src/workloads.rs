//! All workloads, in the order in which they are measured. Each checks that all its work was really done.

mod cancelling;
mod fairness;
mod gathers;
mod groups;
mod latency;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod network;
mod remote;
mod scheduler;
mod timers;

use std::time::{Duration, Instant};

use crate::contest::{Contender, TIME, Workload};
use crate::runtimes::{Runtime, Runtimes};

/// The workloads on these runtimes.
pub(crate) fn all(runtimes: &Runtimes) -> Vec<Workload<'_>> {
    let mut all = scheduler::all(runtimes);
    all.extend(groups::all(runtimes));
    all.extend(gathers::all(runtimes));
    all.extend(cancelling::all(runtimes));
    all.extend(timers::all(runtimes));
    all.extend(remote::all(runtimes));
    all.extend(latency::all(runtimes));
    all.extend(fairness::all(runtimes));
    #[cfg(target_os = "linux")]
    {
        all.extend(network::all(runtimes));
        all.extend(memory::all(runtimes));
    }
    all
}

/// One workload, and one of those who take part in it.
pub(crate) fn find<'a>(
    all: &'a [Workload<'a>],
    workload: &str,
    runtime: &str,
) -> Result<(&'a Workload<'a>, &'a Contender<'a>), String> {
    let found = all.iter().find(|known| known.name == workload);
    let found = found.ok_or_else(|| format!("there is no workload {workload}"))?;
    let contender = found.contenders.iter().find(|contender| contender.name == runtime);
    let contender = contender.ok_or_else(|| {
        let names: Vec<&str> = found.contenders.iter().map(|contender| contender.name).collect();
        format!("{runtime} has no part in {workload}; {} have", names.join(", "))
    })?;
    Ok((found, contender))
}

/// A workload that is written once and runs on every runtime.
trait Everywhere {
    const NAME: &'static str;

    /// What the time of one run is divided by.
    const OPERATIONS: usize;

    /// Who takes part in a quick run.
    const QUICK: &'static [&'static str] = &["tokio", "smol"];

    /// Runs the workload once, and returns the part of the time that counts.
    fn run<R: Runtime>(runtime: &R) -> Duration;
}

fn everywhere<W: Everywhere>(runtimes: &Runtimes) -> Workload<'_> {
    let contenders = vec![
        on::<W, _>("brigade", &runtimes.brigade),
        on::<W, _>("tokio", &runtimes.tokio),
        on::<W, _>("smol", &runtimes.smol),
        on::<W, _>("brigade-ct", &runtimes.brigade_ct),
        on::<W, _>("tokio-ct", &runtimes.tokio_ct),
    ];
    Workload { name: W::NAME, metrics: TIME, contenders, quick: W::QUICK }
}

fn on<'a, W: Everywhere, R: Runtime>(name: &'static str, runtime: &'a R) -> Contender<'a> {
    Contender::reporting(name, W::OPERATIONS, || W::run(runtime))
}

/// The time of all of it.
fn timed(run: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    run();
    begin.elapsed()
}
