//! `cargo xtask ci`: what must hold before a change is merged, each step with its time.
//!
//! The cheap steps come first, so that a slip is told within seconds. The first step that fails ends the run.

use std::process::Command;
use std::time::Instant;

use crate::shell::{self, cargo};
use crate::{Outcome, explore, icount, loom, test, tidy};

/// A step: its name, and what it does.
type Step = (&'static str, fn() -> Outcome);

const STEPS: &[Step] = &[
    ("fmt", fmt),
    ("tidy", || tidy::run(&[])),
    ("clippy", clippy),
    ("doc", doc),
    ("deny", deny),
    ("test", || test::run(&[])),
    ("loom", || loom::run(&[])),
    ("explore", || explore::run(&[])),
    ("tour", tour),
    ("tour, fast", tour_fast),
    ("icount", count),
    ("bench, quick", bench),
];

pub(crate) fn run(_: &[String]) -> Outcome {
    let begin = Instant::now();
    let mut times = Vec::new();
    for (name, step) in STEPS {
        println!("\n=== {name}");
        let begin = Instant::now();
        step().map_err(|error| format!("step `{name}`: {error}"))?;
        times.push((name, begin.elapsed()));
        println!("=== {name}: {:.1} s", begin.elapsed().as_secs_f64());
    }
    println!();
    for (name, time) in times {
        println!("{name:<14}{:>7.1} s", time.as_secs_f64());
    }
    println!("{:<14}{:>7.1} s, all passed", "ci", begin.elapsed().as_secs_f64());
    Ok(())
}

fn fmt() -> Outcome {
    shell::run(cargo(&["fmt", "--all", "--check"]))
}

fn clippy() -> Outcome {
    let words = ["clippy", "--workspace", "--all-targets", "--keep-going", "--quiet", "--", "-D", "warnings"];
    shell::run(cargo(&words))
}

/// Builds the documentation; then the tables of names can be checked against what was really built.
fn doc() -> Outcome {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    shell::run(command)?;
    tidy::check_built_links()
}

/// Licences, sources and duplicates of dependencies, where the checker is installed.
fn deny() -> Outcome {
    if !shell::succeeds(cargo(&["deny", "--version"])) {
        println!("skipped: cargo-deny is not installed");
        return Ok(());
    }
    shell::run(cargo(&["deny", "check", "licenses", "bans", "sources"]))
}

fn tour() -> Outcome {
    shell::run(tour_command())
}

fn tour_fast() -> Outcome {
    let mut command = tour_command();
    command.args(["--", "--fast"]);
    shell::run(command)
}

fn tour_command() -> Command {
    cargo(&["run", "--release", "--quiet", "--package", "brigade", "--example", "tour"])
}

/// Instructions per operation, where the counter is installed.
fn count() -> Outcome {
    if !icount::is_possible() {
        println!("skipped: valgrind is not installed");
        return Ok(());
    }
    icount::run(&[])
}

/// Shows that the workloads run. The ratios are printed, and judged by people: this machine may be busy.
fn bench() -> Outcome {
    crate::bench::run(&["--quick".to_owned()])
}
