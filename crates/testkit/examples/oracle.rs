//! Runs corpora of the oracle on the simulation and compares the traces with those of CPython.
//!
//! `cargo run -p brigade-testkit --example oracle -- [FILE ..]` prints each difference and, at the end,
//! `equal N of M`. Without files it takes the corpus that is part of the crate, whose disputed lines are named
//! and do not count.

#![allow(clippy::print_stdout, reason = "a command line tool talks on standard output")]

use std::path::PathBuf;
use std::process::ExitCode;

use brigade_testkit::scenario::{Verdict, given_corpus, judge_given_line, judge_line};

fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (files, judge): (_, fn(&str) -> Verdict) =
        if files.is_empty() { (given_corpus(), judge_given_line) } else { (files, judge_line) };
    let (mut equal, mut all, mut disputed) = (0, 0, 0);
    for file in &files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => return refuse(&format!("{}: {error}", file.display())),
        };
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            all += 1;
            match judge(line) {
                Verdict::Equal => equal += 1,
                Verdict::Disputed(dispute) => {
                    disputed += 1;
                    println!("disputed: {} ({})", dispute.id, dispute.why);
                }
                Verdict::Different(why) => println!("{}:{}: {why}", file.display(), number + 1),
            }
        }
    }
    let judged = all - disputed;
    let note = if disputed > 0 { format!(", {disputed} disputed") } else { String::new() };
    println!("equal {equal} of {judged}{note}");
    if equal == judged { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn refuse(message: &str) -> ExitCode {
    println!("oracle: {message}");
    ExitCode::FAILURE
}
