//! One small workload per run, for a tool that counts instructions: `icount NAME COUNT`. `cargo xtask icount` runs each
//! with two counts and divides the difference, so that the start and the end of the program cost nothing.
//!
//! Everything runs on one thread, and nothing depends on the clock: deadlines are far away. What is counted are
//! instructions of the program alone, none of the kernel.

#![allow(clippy::print_stdout, reason = "a command line tool talks on standard output")]

mod bare;
mod brigade;
mod host;
mod scopes;
mod tokio;

use std::process::ExitCode;

use bare::Bare;
use brigade::Brigade;
use host::{spawn_detached, spawn_join, wake, yields};
use tokio::Tokio;

/// A workload, called with the number of operations.
type Workload = (&'static str, fn(usize));

/// The names without a prefix are Brigade's; `bare.` is async-task alone on the same kind of scheduler.
const WORKLOADS: &[Workload] = &[
    ("spawn_join", spawn_join::<Brigade>),
    ("spawn_detached", spawn_detached::<Brigade>),
    ("yield", yields::<Brigade>),
    ("wake", wake::<Brigade>),
    ("watch", scopes::watch),
    ("cancel_join", scopes::cancel_join),
    ("catch_ready", scopes::catch_ready),
    ("catch_pending", scopes::catch_pending),
    ("poll_in_catch", scopes::poll_in_catch),
    ("poll_in_timeout", scopes::poll_in_timeout),
    ("poll_in_both", scopes::poll_in_both),
    ("timeout_ready", scopes::timeout_ready),
    ("timeout_pending", scopes::timeout_pending),
    ("timer", scopes::timer),
    ("group_child", scopes::group_child),
    ("group_empty", scopes::group_empty),
    ("gather_ready", scopes::gather_ready),
    ("gather_pending", scopes::gather_pending),
    ("bare.spawn_join", spawn_join::<Bare>),
    ("bare.spawn_detached", spawn_detached::<Bare>),
    ("bare.yield", yields::<Bare>),
    ("bare.wake", wake::<Bare>),
    ("tokio.spawn_join", spawn_join::<Tokio>),
    ("tokio.spawn_detached", spawn_detached::<Tokio>),
    ("tokio.yield", yields::<Tokio>),
    ("tokio.wake", wake::<Tokio>),
    ("tokio.timeout_ready", tokio::timeout_ready),
    ("tokio.timeout_pending", tokio::timeout_pending),
    ("tokio.timer", tokio::timer),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = |name: &str| WORKLOADS.iter().find(|(known, _)| *known == name);
    match words[..] {
        ["--list"] => WORKLOADS.iter().for_each(|(name, _)| println!("{name}")),
        [name, count] => match (found(name), count.parse()) {
            (Some((_, run)), Ok(count)) => run(count),
            _ => return usage(),
        },
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("icount --list, or icount NAME COUNT");
    ExitCode::from(2)
}
