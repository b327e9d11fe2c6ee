//! What a simulation says when the program can never go on.
//!
//! A hang is a panic with names: every live task with its state, the place that spawned it and the task that
//! it waits for. Tasks that wait for each other in a circle are named as what they are, a deadlock.

use std::fmt::Write;

use brigade_core::{Instant, TaskRef};

/// Looking for who waits for whom compares every pair of tasks; beyond this many only names are told.
const MOST_PAIRED: usize = 1000;

/// The message of the panic: nothing can run, no timer waits, no blocking job works.
pub(crate) fn stuck(now: Instant, timers: usize) -> String {
    let at = now.as_nanos() / 1_000_000;
    let mut text = match timers {
        0 => format!(
            "the program can never go on: at {at} ms nothing is ready, no timer waits and no blocking job runs"
        ),
        _ => format!(
            "the program cannot go on: at {at} ms nothing is ready and time, which is manual, stands still"
        ),
    };
    text.push_str(&live_tasks());
    text
}

/// One line for each task of the ambient runtime that is not done, and one for a deadlock.
pub(crate) fn live_tasks() -> String {
    let tasks = brigade_core::all_tasks();
    let mut text = String::new();
    for task in &tasks {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {} [{:?}] spawned at {}", task.name(), task.state(), task.location());
        for awaited in awaited_by(&tasks, task) {
            let _ = write!(text, ", waits for {}", awaited.name());
        }
    }
    if let Some(circle) = circle(&tasks) {
        let names: Vec<_> = circle.iter().map(|task| task.name().to_string()).collect();
        let _ = write!(text, "\n  deadlock: {} -> {}", names.join(" -> "), names[0]);
    }
    text
}

fn awaited_by<'a>(tasks: &'a [TaskRef], waiter: &'a TaskRef) -> impl Iterator<Item = &'a TaskRef> {
    let known = if tasks.len() <= MOST_PAIRED { tasks } else { &[] };
    known.iter().filter(|task| task.is_awaited_by(waiter))
}

/// Tasks of which each waits for the next and the last for the first.
fn circle(tasks: &[TaskRef]) -> Option<Vec<&TaskRef>> {
    tasks.iter().find_map(|start| {
        let mut path = vec![start];
        // Following one awaited task for each is enough: one that waits for several is in an aggregate, which
        // has wakers of its own and is not seen here.
        while let Some(next) = awaited_by(tasks, path[path.len() - 1]).next() {
            if next.id() == start.id() {
                return Some(path);
            }
            if path.iter().any(|task| task.id() == next.id()) {
                return None;
            }
            path.push(next);
        }
        None
    })
}
