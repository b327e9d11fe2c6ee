//! Scheduler workloads on Brigade and its rivals, interleaved in one process: `cargo xtask bench`.
//!
//! What is printed is a ratio: Brigade's time divided by the rival's, below 1 where Brigade is faster. The same
//! source runs on every runtime (`workloads`), with the same number of workers, allocator and optimisation;
//! blocks alternate as A B B A, and the ratio is the median over pairs, with a bootstrap interval (`measure`).
//! A control measures Brigade against itself, and says whether the machine was quiet enough to believe the rest.
//!
//! What the numbers are NOT:
//! - No statement about a program. Tasks here do nothing; a task that does a millisecond of work does not care.
//! - No statement about more cores than were used. On two cores the policy of waking decides; on sixteen, stealing.
//! - No latency: a median of throughput says nothing about the slowest thousandth.
//! - No absolute cost. Nanoseconds per operation are printed to give a size, and belong to this machine today.
//! - No sockets and no timers. These are the scheduler alone.

#![allow(clippy::print_stdout, reason = "a command line tool talks on standard output")]

mod machine;
mod measure;
mod options;
mod report;
mod runtimes;
mod stats;
mod workloads;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use measure::{Budget, Comparison};
use options::{Mode, Options};
use runtimes::Subject;
use workloads::Workload;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{}", options::HELP);
            return ExitCode::from(2);
        }
    };
    let done = match &options.mode {
        Mode::Help => {
            println!("{}", options::HELP);
            Ok(())
        }
        Mode::Profile { runtime, workload, seconds } => profile(&options, runtime, *workload, *seconds),
        Mode::Compare => compare(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Measures Brigade against each rival on each workload that the filter lets through.
fn compare(options: &Options) -> Result<(), String> {
    let budget = if options.quick { Budget::QUICK } else { Budget::FULL };
    let brigade = runtimes::brigade(options.workers)?;
    let rivals = [runtimes::tokio(options.workers)?, runtimes::smol(options.workers)?];
    println!("{}, {} workers", machine::line(), options.workers);
    report::heading();
    let mut results = Vec::new();
    for workload in Workload::ALL {
        for rival in &rivals {
            if options.wants(workload, rival.name()) {
                let comparison = Comparison::measure(workload, &*brigade, &**rival, budget);
                report::row(&comparison);
                results.push(comparison);
            }
        }
    }
    let control = Comparison::measure(Workload::SpawnOne, &*brigade, &*brigade, budget);
    report::control(&control);
    match &options.json {
        Some(path) => report::write_json(path, options.workers, &results, &control),
        None => Ok(()),
    }
}

/// Runs one workload on one runtime over and over, for a profiler to look at.
fn profile(options: &Options, runtime: &str, workload: Workload, seconds: u64) -> Result<(), String> {
    let subject: Box<dyn Subject> = runtimes::by_name(runtime, options.workers)?;
    let (begin, mut rounds, mut fastest) = (Instant::now(), 0u64, Duration::MAX);
    while rounds == 0 || begin.elapsed() < Duration::from_secs(seconds) {
        let round = Instant::now();
        subject.run(workload);
        fastest = fastest.min(round.elapsed());
        rounds += 1;
    }
    let nanos =
        |time: Duration, rounds: u64| time.as_nanos() as f64 / (rounds * workload.operations()) as f64;
    let (mean, fastest) = (nanos(begin.elapsed(), rounds), nanos(fastest, 1));
    println!(
        "{runtime} {}: {rounds} rounds, {mean:.1} ns per operation, {fastest:.1} in the fastest",
        workload.name()
    );
    Ok(())
}
