//! The project's own commands: `cargo xtask <command>`.
//!
//! One file per command, and no dependency: what checks the project must build before the project does.

#![allow(clippy::print_stdout, reason = "a command line tool talks on standard output")]

mod bench;
mod ci;
mod conformance;
mod explore;
mod icount;
mod laws;
mod libtest;
mod loom;
mod miri;
mod mutants;
mod oracle;
mod shell;
mod test;
mod tidy;

use std::process::ExitCode;

/// What a command ends with; the text says what went wrong and is printed once, by `main`.
type Outcome = Result<(), String>;

struct Command {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: &[Command] = &[
    Command { name: "ci", about: "everything that must hold before a change is merged", run: ci::run },
    Command { name: "test", about: "all tests, then the laws without a test", run: test::run },
    Command { name: "tidy", about: "the rules of docs/style.md that a program can check", run: tidy::run },
    Command { name: "bench", about: "workloads against rivals; --help lists its flags", run: bench::run },
    Command {
        name: "icount",
        about: "instructions per operation; --bless, --explain NAME",
        run: icount::run,
    },
    Command { name: "conformance", about: "the suite on every backend, as a table", run: conformance::run },
    Command { name: "oracle", about: "scenarios against CPython's traces; --file F", run: oracle::run },
    Command { name: "explore", about: "random programs; --programs N --seed S", run: explore::run },
    Command { name: "mutants", about: "--laws: each law's test fails with its fault", run: mutants::run },
    Command { name: "miri", about: "core and testkit under Miri (nightly)", run: miri::run },
    Command { name: "loom", about: "the models of the atomics, every interleaving", run: loom::run },
    Command { name: "help", about: "this list", run: help },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = match arguments.split_first() {
        Some((name, rest)) => (name.as_str(), rest),
        None => ("help", &[][..]),
    };
    match dispatch(name.trim_start_matches('-'), rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask {name}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(name: &str, rest: &[String]) -> Outcome {
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(rest),
        None => Err("no such command; `cargo xtask help` lists them".to_owned()),
    }
}

fn help(_: &[String]) -> Outcome {
    println!("cargo xtask <command>\n");
    for command in COMMANDS {
        println!("  {:<12} {}", command.name, command.about);
    }
    Ok(())
}
