//! Workloads on Brigade and its rivals, interleaved in one process: `cargo xtask bench`.
//!
//! What is printed is a ratio: Brigade's time divided by the rival's, below 1 where Brigade is faster. The same
//! source runs on every runtime (`workloads`), with the same number of workers, allocator and optimisation;
//! blocks alternate as A B B A, and the ratio is the median over pairs, with a bootstrap interval (`measure`).
//! A control measures Brigade against itself, and says whether the machine was quiet enough to believe the rest.
//!
//! What the numbers are NOT:
//! - No statement about a program. Tasks here do nothing; a task that does a millisecond of work does not care.
//! - No statement about more cores than were used. On two cores the policy of waking decides; on sixteen, stealing.
//! - No latency, but where the metric says so: a median of throughput says nothing about the slowest thousandth.
//! - No absolute cost. Nanoseconds per operation are printed to give a size, and belong to this machine today.

#![allow(clippy::print_stdout, reason = "a command line tool talks on standard output")]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "sockets and memory are measured on Linux only")
)]

mod bell;
mod contest;
mod countdown;
mod counters;
mod machine;
mod measure;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod net;
mod options;
mod python;
mod report;
mod results;
mod runtimes;
mod serve;
mod stats;
mod workloads;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use measure::{Budget, Comparison};
use options::{Mode, Options};
use report::{markdown, plot, table};
use results::{Control, Results, Row};
use runtimes::Runtimes;

pub use counters::Allocations;

/// The program, with an allocator that counts if it was built with one.
pub fn main(allocations: Option<Allocations>) -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{}", options::HELP);
            return ExitCode::from(2);
        }
    };
    match run(&options, allocations) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options, allocations: Option<Allocations>) -> Result<(), String> {
    match &options.mode {
        Mode::Help => {
            println!("{}", options::HELP);
            Ok(())
        }
        Mode::Compare => compare(options),
        Mode::Render(files) => render(options, files),
        Mode::Profile { runtime, workload, seconds } => profile(options, runtime, workload, *seconds),
        Mode::Count => counters::run(options),
        Mode::Once { workload, contender, rounds } => match allocations {
            Some(allocations) => counters::measure(allocations, options, workload, contender, *rounds),
            None => Err("this program does not count".to_owned()),
        },
        #[cfg(target_os = "linux")]
        Mode::Client { server, connections, shape } => {
            net::serve_orders(*server, *connections, *shape).map_err(|error| format!("client: {error}"))
        }
        #[cfg(target_os = "linux")]
        Mode::Memory { runtime, held } => memory::measure(runtime, *held, options.usual_workers()),
    }
}

/// Measures Brigade against each rival on each workload that the filter lets through, with each number of workers.
fn compare(options: &Options) -> Result<(), String> {
    let budget = if options.quick { Budget::QUICK } else { Budget::FULL };
    println!("{}", machine::line());
    let (mut rows, mut controls) = (Vec::new(), Vec::new());
    for &workers in &options.workers {
        let runtimes = Runtimes::start(workers)?;
        table::heading(workers);
        let compared = compare_on(&runtimes, options, budget);
        if !compared.is_empty() {
            rows.extend(compared.iter().map(|comparison| Row::of(comparison, workers)));
            let control = Control::of(&control(&runtimes, budget));
            table::control(&control);
            controls.push(control);
        }
    }
    let control = Control::worst(controls).ok_or("the filter lets nothing through")?;
    show(options, &[Results::of(rows, control)])
}

/// The same with the workers of these runtimes. Those with one thread are measured once only.
fn compare_on(runtimes: &Runtimes, options: &Options, budget: Budget) -> Vec<Comparison> {
    let mut workloads = workloads::all(runtimes);
    if !options.quick || options.is_filtered() {
        python::join(&mut workloads);
    }
    let is_usual = runtimes.workers == options.usual_workers();
    let mut compared = Vec::new();
    for workload in &workloads {
        for (ours, rival) in workload.pairs() {
            if options.wants(workload, rival.name) && (is_usual || !rival.has_one_thread()) {
                let comparisons = measure::compare(workload, ours, rival, budget);
                comparisons.iter().for_each(table::row);
                compared.extend(comparisons);
            }
        }
    }
    compared
}

/// Writes what the flags ask for; the pictures and the file are of the first run.
fn show(options: &Options, runs: &[Results]) -> Result<(), String> {
    if let (Some(path), Mode::Compare) = (&options.json, &options.mode) {
        runs[0].write(path)?;
    }
    if let Some(folder) = &options.plot {
        plot::write(folder, &runs[0])?;
    }
    match &options.markdown {
        Some(path) => markdown::write(path, runs),
        None => Ok(()),
    }
}

/// Shows results that were written before.
fn render(options: &Options, files: &[PathBuf]) -> Result<(), String> {
    let runs: Vec<Results> = files.iter().map(|file| Results::read(file)).collect::<Result<_, _>>()?;
    show(options, &runs)
}

/// Brigade against itself: the ratio is 1, or the machine is not quiet.
fn control(runtimes: &Runtimes, budget: Budget) -> Comparison {
    let all = workloads::all(runtimes);
    let workload = all.iter().find(|workload| workload.name == "spawn_one").expect("the workload is listed");
    let (ours, _) = workload.pairs()[0];
    measure::compare(workload, ours, ours, budget).remove(0)
}

/// Runs one workload on one runtime over and over, for a profiler to look at.
fn profile(options: &Options, runtime: &str, workload: &str, seconds: u64) -> Result<(), String> {
    let runtimes = Runtimes::start(options.usual_workers())?;
    let all = workloads::all(&runtimes);
    let (workload, contender) = workloads::find(&all, workload, runtime)?;
    let (begin, mut rounds) = (Instant::now(), Vec::new());
    while rounds.is_empty() || begin.elapsed() < Duration::from_secs(seconds) {
        rounds.push(contender.run(1)[0]);
    }
    let fastest = rounds.iter().copied().fold(f64::INFINITY, f64::min);
    let (median, unit) = (stats::median(&mut rounds), workload.metrics[0].unit);
    println!(
        "{runtime} {}: {} rounds, {median:.1} {unit} per operation, {fastest:.1} in the fastest",
        workload.name,
        rounds.len()
    );
    Ok(())
}
