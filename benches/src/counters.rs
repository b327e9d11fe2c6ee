//! What can be counted without noise, or with little: allocations, system calls, and how often workers went to sleep, woke
//! each other, and took each other's work. They explain the ratios.
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
use crate::report::table::workers_of;
use crate::runtimes::Runtimes;
use crate::workloads;

/// Asks the allocator how many allocations there were so far.
pub type Allocations = fn() -> usize;

/// What one operation costs.
struct Counts {
    /// In the order of [`COLUMNS`]; nothing where the runtime does not tell.
    numbers: [Option<f64>; COLUMNS.len()],
    /// System calls by name, most frequent first.
    calls: Vec<(String, f64)>,
}

/// Counts what the filter lets through, prints it, and puts it into the document if there is one.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let traced = has_strace();
    if !traced {
        println!("system calls are skipped: strace is not installed");
    }
    let tables = options.workers.iter().map(|&workers| table(options, workers, traced));
    let tables = tables.collect::<Result<Vec<_>, String>>()?;
    match &options.markdown {
        Some(path) => markdown::insert(path, "counters", &tables.join("\n")),
        None => Ok(()),
    }
}

/// Everything with that number of workers. Runtimes with one thread are counted once only.
fn table(options: &Options, workers: usize, traced: bool) -> Result<String, String> {
    let runtimes = Runtimes::start(workers)?;
    let is_usual = workers == options.usual_workers();
    let mut text = format!("With {}:\n\n{}", workers_of(workers), head());
    print!("{text}");
    for workload in workloads::all(&runtimes).iter().filter(|workload| workload.metrics == TIME) {
        let wanted = |contender: &&Contender<'_>| {
            options.wants(workload, contender.name) && (is_usual || !contender.has_one_thread())
        };
        for contender in workload.contenders.iter().filter(wanted) {
            let counts = Counts::of(workload, contender, workers, traced)?;
            let line = counts.line(workload.name, contender.name);
            print!("{line}");
            text += &line;
        }
    }
    Ok(text)
}

/// What the other process counts; `sleeps` are those of all threads, as the kernel sees them.
const COLUMNS: [&str; 5] = ["allocations", "sleeps", "parks", "wakes", "steals"];

fn head() -> String {
    let columns = COLUMNS.join(" | ");
    let rule = "---|".repeat(COLUMNS.len() + 4);
    format!("| per operation | runtime | {columns} | system calls | most of them |\n|{rule}\n")
}

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
        let numbers = once(Command::new(this_program()), ROUNDS)?;
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
        Ok(Counts { numbers: numbers.map(|number| number.map(per_round)), calls })
    }

    fn line(&self, workload: &str, contender: &str) -> String {
        let total = self.calls.iter().fold(0.0, |total, (_, count)| total + count);
        let most = self.calls.iter().take(3).filter(|(_, count)| *count >= 0.0005);
        let most: Vec<_> = most.map(|(name, count)| format!("{name} {count:.3}")).collect();
        let cell = |number: &Option<f64>| number.map_or("–".to_owned(), |number| format!("{number:.4}"));
        let numbers: Vec<_> = self.numbers.iter().map(cell).collect();
        let (numbers, most) = (numbers.join(" | "), most.join(", "));
        format!("| `{workload}` | {contender} | {numbers} | {total:.3} | {most} |\n")
    }
}

const ROUNDS: u32 = 2;

/// Runs this program, perhaps inside another one, and reads the numbers that it prints.
fn once(
    mut program: Command,
    workload: &str,
    contender: &str,
    workers: usize,
    rounds: u32,
) -> Result<[Option<f64>; COLUMNS.len()], String> {
    program.args(["--workers", &workers.to_string(), "--once", workload, contender, &rounds.to_string()]);
    let output =
        program.stderr(Stdio::inherit()).output().map_err(|error| format!("{program:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<Option<f64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    numbers.try_into().map_err(|_| format!("{workload} on {contender} ended with {}", output.status))
}

/// The other process's main: runs the workload, and prints what that took, a word for each of [`COLUMNS`].
pub(crate) fn measure(
    allocations: Allocations,
    options: &Options,
    workload: &str,
    contender: &str,
    rounds: u32,
) -> Result<(), String> {
    let runtimes = Runtimes::start(options.usual_workers())?;
    let all = workloads::all(&runtimes);
    let (_, contender) = workloads::find(&all, workload, contender)?;
    contender.run(1);
    let present = || {
        let counts = runtimes.counts(contender.name);
        let known = [allocations(), sleeps()].map(|count| Some(count as u64));
        [known[0], known[1], counts.parks, counts.wakes, counts.steals]
    };
    let before = present();
    contender.run(rounds);
    let after = present();
    println!("{}", after.iter().zip(&before).map(growth).collect::<Vec<_>>().join(" "));
    Ok(())
}

/// How much a count has grown, or a word that is no number.
fn growth((after, before): (&Option<u64>, &Option<u64>)) -> String {
    let growth = after.zip(*before).map(|(after, before)| after.saturating_sub(before));
    growth.map_or("unknown".to_owned(), |growth| growth.to_string())
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
    fn what_is_not_told_stays_out() {
        assert_eq!([growth((&Some(7), &Some(4))), growth((&None, &None))], ["3", "unknown"]);
        let counts = Counts { numbers: [Some(1.0), None, Some(0.25), None, None], calls: Vec::new() };
        let line = counts.line("spawn_one", "smol");
        assert_eq!(line, "| `spawn_one` | smol | 1.0000 | – | 0.2500 | – | – | 0.000 |  |\n");
        assert_eq!(line.matches('|').count(), head().lines().next().unwrap().matches('|').count());
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
