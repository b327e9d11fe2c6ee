//! What a simulation says when the program can never go on.
//!
//! A hang is a panic with names: every live task with its state and the place that spawned it.

use std::fmt::Write;

use brigade_core::Instant;

/// The message of the panic: nothing can run, no timer waits, no blocking job works.
pub(crate) fn stuck(now: Instant) -> String {
    let mut text = format!(
        "the program can never go on: at {} ms nothing is ready, no timer waits and no blocking job runs",
        now.as_nanos() / 1_000_000
    );
    text.push_str(&live_tasks());
    text
}

/// One line for each task of the ambient runtime that is not done.
pub(crate) fn live_tasks() -> String {
    let mut text = String::new();
    for task in brigade_core::all_tasks() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {} [{:?}] spawned at {}", task.name(), task.state(), task.location());
    }
    text
}
