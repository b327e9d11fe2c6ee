//! Runs corpora of the oracle on the simulation and compares the traces with those of CPython.
//!
//! `cargo run -p brigade-testkit --example oracle -- [FILE ..]` prints each difference and, at the end,
//! `equal N of M`. Without files it takes the corpus that is part of the crate.

#![allow(clippy::print_stdout, reason = "a command line tool talks on standard output")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

use brigade_testkit::Simulation;
use brigade_testkit::scenario::{Scenario, run_scenario};

fn main() -> ExitCode {
    let mut files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        files = given();
    }
    let (mut equal, mut all) = (0, 0);
    for file in &files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => return refuse(&format!("{}: {error}", file.display())),
        };
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            all += 1;
            match check(line) {
                Ok(()) => equal += 1,
                Err(difference) => println!("{}:{}: {difference}", file.display(), number + 1),
            }
        }
    }
    println!("equal {equal} of {all}");
    if equal == all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The corpus in the crate.
fn given() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("oracle/corpus/given");
    ["conformance.jsonl", "random-1.jsonl", "random-2.jsonl"].iter().map(|name| folder.join(name)).collect()
}

/// Runs one line and compares.
fn check(line: &str) -> Result<(), String> {
    let scenario = Scenario::parse(line).map_err(|error| format!("not a scenario: {error}"))?;
    let Some(expected) = scenario.expect.clone() else {
        return Err(format!("{}: the line has no `expect`", scenario.id));
    };
    let run = || run_scenario(&Simulation::new(), &scenario).compare(&expected);
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(difference)) => Err(difference.to_string()),
        Err(_) => Err(format!("{}: the run panicked", scenario.id)),
    }
}

fn refuse(message: &str) -> ExitCode {
    println!("oracle: {message}");
    ExitCode::FAILURE
}
