//! `cargo xtask icount`: instructions and allocations per operation, against the table in `benches/icount.txt`.
//!
//! Each workload of `benches/src/bin/icount` runs under callgrind with N and with 2 N operations; the difference divided by N
//! is what one operation costs. No clock is involved, so the numbers can be compared on a busy machine. They are
//! instructions, not time: a read-modify-write counts as one, a cache miss as nothing.
//!
//! `--bless` writes the table, `--filter TEXT` looks at some workloads only, `--explain NAME` shows the functions in which
//! the instructions of one workload are spent.

mod callgrind;
mod semantics;
mod table;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use self::callgrind::Count;
use self::table::Table;
use crate::{Outcome, shell};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    if !is_possible() {
        return Err("valgrind is not installed: `apt-get install valgrind`, or your system's way".to_owned());
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => check("", false),
        ["--bless"] => check("", true),
        ["--filter", text] => check(text, false),
        ["--explain", name] => explain(name),
        _ => Err("usage: cargo xtask icount [--bless | --filter TEXT | --explain NAME]".to_owned()),
    }
}

/// Whether the counter is installed.
pub(crate) fn is_possible() -> bool {
    shell::succeeds(shell::program("valgrind", &["--version"]))
}

/// Counts the workloads that the filter lets through, and compares them with the table or writes it.
fn check(filter: &str, bless: bool) -> Outcome {
    build()?;
    let names: Vec<String> = names()?.into_iter().filter(|name| name.contains(filter)).collect();
    if names.is_empty() {
        return Err(format!("no workload's name contains `{filter}`"));
    }
    let counts = count_all(&names)?;
    let now = Table { compiler: compiler()?, rows: names.into_iter().zip(counts).collect() };
    let before = if bless { None } else { Some(Table::read()?) };
    let worse = now.print(before.as_ref());
    semantics::print(&now);
    match before {
        None => now.write(),
        Some(before) if worse.is_empty() => {
            println!("\nnothing costs {} % more than in {}", table::PERCENT, table::FILE);
            before.complain_of_missing(&now, filter)
        }
        Some(before) if before.compiler != now.compiler => {
            println!("\nnot judged: the table is of `{}`, this is `{}`", before.compiler, now.compiler);
            Ok(())
        }
        Some(_) => Err(format!(
            "{} cost over {} % more than in {}; make them cheaper, or say why and `--bless`",
            worse.join(", "),
            table::PERCENT,
            table::FILE
        )),
    }
}

/// Prints the functions that spend the instructions of one operation.
fn explain(name: &str) -> Outcome {
    build()?;
    let functions = callgrind::functions(name)?;
    let total: f64 = functions.iter().map(|(_, instructions)| instructions).sum();
    println!("{total:>10.1}  {name}, one operation; what is inlined counts for its caller");
    for (function, instructions) in functions.iter().filter(|(_, instructions)| *instructions >= 0.1) {
        println!("{instructions:>10.1}  {function}");
    }
    Ok(())
}

fn build() -> Outcome {
    let package = ["--release", "--quiet", "--package", "brigade-benches", "--bin", "icount"];
    shell::run(shell::cargo(&[&["build"][..], &package].concat()))
}

fn names() -> Result<Vec<String>, String> {
    let mut command = Command::new(callgrind::program());
    Ok(output(command.arg("--list"))?.lines().map(str::to_owned).collect())
}

/// The compiler decides about the counts as much as the source does.
fn compiler() -> Result<String, String> {
    let version = output(&mut shell::program("rustc", &["--version"]))?;
    // Without the commit, which says nothing to people.
    let version = version.split(" (").next().unwrap_or_default().trim();
    Ok(format!("{version}, {}", std::env::consts::ARCH))
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    String::from_utf8(output.stdout).map_err(|_| format!("{command:?} prints what is no text"))
}

/// Counts the workloads, as many at a time as there are cores.
fn count_all(names: &[String]) -> Result<Vec<Count>, String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut counted = Vec::new();
        loop {
            // Relaxed: only who takes which name is decided, and the scope's end hands over the rest.
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = names.get(index) else { return Ok(counted) };
            counted.push((index, callgrind::count(name)?));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let counted: Result<Vec<_>, String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).collect()
    });
    let mut counted: Vec<(usize, Count)> = counted?.concat();
    counted.sort_by_key(|(index, _)| *index);
    Ok(counted.into_iter().map(|(_, count)| count).collect())
}
