//! What can be counted without noise, or with little: allocations, system calls, and how often a thread went to sleep. They
//! explain the ratios.
//!
//! Each workload runs on each contender in a process of its own: once by itself, with an allocator that counts, and
//! twice under strace, for few and for more rounds, so that the start and the end of the process cancel out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{self, Command, Stdio};

use crate::contest::{Contender, TIME, Workload};
use crate::options::Options;
use crate::report::markdown;
use crate::runtimes::Runtimes;
use crate::workloads;

/// Asks the allocator how many allocations there were so far.
pub type Allocations = fn() -> usize;

/// What one operation costs.
struct Counts {
    allocations: f64,
    sleeps: f64,
    /// System calls by name, most frequent first.
    calls: Vec<(String, f64)>,
}

/// Counts what the filter lets through, prints it, and puts it into the document if there is one.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let runtimes = Runtimes::start(options.workers)?;
    let traced = has_strace();
    if !traced {
        println!("system calls are skipped: strace is not installed");
    }
    let mut lines = vec![HEAD.to_owned()];
    println!("{HEAD}");
    for workload in workloads::all(&runtimes).iter().filter(|workload| workload.metrics == TIME) {
        let wanted = |contender: &&Contender<'_>| options.wants(workload, contender.name);
        for contender in workload.contenders.iter().filter(wanted) {
            let counts = Counts::of(workload, contender, options.workers, traced)?;
            let line = counts.line(workload.name, contender.name);
            println!("{line}");
            lines.push(line);
        }
    }
    match &options.markdown {
        Some(path) => markdown::insert(path, "counters", &(lines.join("\n") + "\n")),
        None => Ok(()),
    }
}

const HEAD: &str = "| per operation | runtime | allocations | sleeps | system calls | most of them |\n|---|---|---|---|---|---|";

impl Counts {
    fn of(
        workload: &Workload<'_>,
        contender: &Contender<'_>,
        workers: usize,
        traced: bool,
    ) -> Result<Counts, String> {
        let once =
            |program: Command, rounds: u32| once(program, workload.name, contender.name, workers, rounds);
        let operations = contender.operations as f64;
        let [allocations, sleeps] = once(Command::new(this_program()), ROUNDS)?;
        let per_round = |count: f64| count / f64::from(ROUNDS) / operations;
        let mut calls = Vec::new();
        if traced {
            let [few, many] = [1, 1 + ROUNDS].map(|rounds| {
                let file = std::env::temp_dir().join(format!("brigade-counters-{}-{rounds}", process::id()));
                let mut strace = Command::new("strace");
                strace.args(["-f", "-c", "-o"]).arg(&file).arg(this_program());
                once(strace, rounds).and_then(|_| calls_in(&file))
            });
            calls = difference(&few?, &many?, per_round);
        }
        Ok(Counts { allocations: per_round(allocations), sleeps: per_round(sleeps), calls })
    }

    fn line(&self, workload: &str, contender: &str) -> String {
        let total: f64 = self.calls.iter().map(|(_, count)| count).sum();
        let most = self.calls.iter().take(3).filter(|(_, count)| *count >= 0.0005);
        let most: Vec<_> = most.map(|(name, count)| format!("{name} {count:.3}")).collect();
        format!(
            "| `{workload}` | {contender} | {:.2} | {:.4} | {total:.3} | {} |",
            self.allocations,
            self.sleeps,
            most.join(", ")
        )
    }
}

const ROUNDS: u32 = 2;

/// Runs this program, perhaps inside another one, and reads the two numbers that it prints.
fn once(
    mut program: Command,
    workload: &str,
    contender: &str,
    workers: usize,
    rounds: u32,
) -> Result<[f64; 2], String> {
    program.args(["--workers", &workers.to_string(), "--once", workload, contender, &rounds.to_string()]);
    let output =
        program.stderr(Stdio::inherit()).output().map_err(|error| format!("{program:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().map_err(|_| format!("{workload} on {contender} ended with {}", output.status))
}

/// The other process's main: runs the workload, and prints how many allocations and sleeps that took.
pub(crate) fn measure(
    allocations: Allocations,
    options: &Options,
    workload: &str,
    contender: &str,
    rounds: u32,
) -> Result<(), String> {
    let runtimes = Runtimes::start(options.workers)?;
    let all = workloads::all(&runtimes);
    let (_, contender) = workloads::find(&all, workload, contender)?;
    contender.run(1);
    let before = [allocations(), sleeps()];
    contender.run(rounds);
    println!("{} {}", allocations() - before[0], sleeps().saturating_sub(before[1]));
    Ok(())
}

/// How often threads of this process, as far as they still live, have given up their core to wait.
fn sleeps() -> usize {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return 0 };
    let of = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("status")).ok()?;
        text.lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?
            .trim()
            .parse::<usize>()
            .ok()
    };
    threads.flatten().filter_map(of).sum()
}

fn this_program() -> std::path::PathBuf {
    std::env::current_exe().expect("this program has a path")
}

fn has_strace() -> bool {
    let mut command = Command::new("strace");
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn calls_in(file: &Path) -> Result<BTreeMap<String, f64>, String> {
    let failed = |error| format!("{}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(failed)?;
    fs::remove_file(file).map_err(failed)?;
    Ok(parse(&text))
}

/// Reads strace's table: share, seconds, microseconds per call, calls, perhaps errors, name.
fn parse(table: &str) -> BTreeMap<String, f64> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = words.get(4..)?.last().filter(|name| **name != "total")?;
        Some(((*name).to_owned(), words[3].parse().ok()?))
    };
    table.lines().filter_map(row).collect()
}

/// What the longer run had more, most frequent first.
fn difference(
    few: &BTreeMap<String, f64>,
    many: &BTreeMap<String, f64>,
    per_round: impl Fn(f64) -> f64,
) -> Vec<(String, f64)> {
    let more = |(name, count): (&String, &f64)| {
        (name.clone(), per_round((count - few.get(name).unwrap_or(&0.0)).max(0.0)))
    };
    let mut calls: Vec<(String, f64)> = many.iter().map(more).collect();
    calls.sort_by(|a, b| b.1.total_cmp(&a.1));
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_strace_is_read() {
        let table = "% time     seconds  usecs/call     calls    errors syscall\n\
                     ------ ----------- ----------- --------- --------- ----------------\n\
                      70.00    0.000700           7       100        20 futex\n\
                      30.00    0.000300          30        10           write\n\
                     ------ ----------- ----------- --------- --------- ----------------\n\
                     100.00    0.001000           9       110        20 total\n";
        let calls: Vec<_> = parse(table).into_iter().collect();
        assert_eq!(calls, [("futex".to_owned(), 100.0), ("write".to_owned(), 10.0)]);
    }

    #[test]
    fn the_difference_leaves_the_start_out() {
        let few = BTreeMap::from([("futex".to_owned(), 10.0), ("mmap".to_owned(), 40.0)]);
        let many = BTreeMap::from([
            ("futex".to_owned(), 20.0),
            ("mmap".to_owned(), 39.0),
            ("write".to_owned(), 30.0),
        ]);
        let calls = difference(&few, &many, |count| count / 10.0);
        assert_eq!(calls[0], ("write".to_owned(), 3.0));
        assert_eq!((calls[1].1, calls[2].1), (1.0, 0.0));
    }
}
