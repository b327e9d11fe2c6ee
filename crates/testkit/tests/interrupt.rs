//! Every future of the library, and the corpus of programs, cancelled, aborted and made to panic at every await,
//! alone and in pairs (laws C9, C14, C16, C17, T10).
//!
//! `INTERRUPT=all` runs the whole corpus and many more pairs.

#[path = "interrupt/aggregates.rs"]
mod aggregates;
#[path = "interrupt/groups.rs"]
mod groups;
#[path = "interrupt/kit.rs"]
mod kit;
#[path = "interrupt/tasks.rs"]
mod tasks;

use std::panic::{AssertUnwindSafe, catch_unwind};

use brigade_core::yield_now;
use brigade_testkit::scenario::{Disturbed, Scenario, disturb_everywhere, given_corpus};
use brigade_testkit::{Guards, Interrupted, Probe, breakable, interrupt_everywhere};

/// Everything, or as much as fits into every run of the tests.
fn everything() -> bool {
    std::env::var("INTERRUPT").is_ok_and(|what| what == "all")
}

/// Interrupts the programs of a table, prints the figures, and fails if anything was found.
fn interrupt_all(table: &[kit::Program]) {
    let pairs = if everything() { 2_000 } else { 40 };
    let (mut total, mut findings) = (Interrupted::default(), Vec::new());
    for program in table {
        match kit::everywhere(program, pairs) {
            Ok(figures) => {
                let Interrupted { points, pairs, runs, met, panics, .. } = figures;
                eprintln!("{}: {points} points, {pairs} pairs, {runs} runs, {panics} panics", program.name);
                assert!(met > points, "{}: most interruptions meet a task", program.name);
                assert!(panics > 0, "{}: it is made to panic", program.name);
                total.points += points;
                total.pairs += pairs;
                total.runs += runs;
                total.panics += panics;
            }
            Err(finding) => findings.push(finding),
        }
    }
    let Interrupted { points, pairs, runs, panics, .. } = total;
    eprintln!(
        "{} programs, {points} points, {pairs} pairs, {runs} runs, {panics} panics, {} findings",
        table.len(),
        findings.len()
    );
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn futures_of_the_core() {
    interrupt_all(tasks::PROGRAMS);
}

#[test]
fn futures_of_groups() {
    interrupt_all(groups::PROGRAMS);
}

#[test]
fn futures_of_aggregates_and_timeouts() {
    interrupt_all(aggregates::PROGRAMS);
}

/// The text with which an exhaustive interruption of a wrong program fails.
fn finding(run: impl FnOnce() -> Interrupted) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("the mistake is found");
    let text = panic.downcast_ref::<String>().expect("a text").clone();
    assert!(text.contains("after step"), "{text}");
    text
}

/// The tool can fail: a program that loses an item when it is cancelled is found.
#[test]
fn a_leak_is_found() {
    let probe = Probe::new();
    let leaking = || {
        let item = probe.item();
        async move {
            let kept = std::mem::ManuallyDrop::new(item);
            yield_now().await;
            std::mem::ManuallyDrop::into_inner(kept).deliver();
        }
    };
    let after = || assert!(probe.is_balanced(), "an item was lost");
    assert!(finding(|| interrupt_everywhere(leaking, after)).contains("an item was lost"));
}

/// So is a wrong order of drops, which only a panic brings about.
#[test]
fn a_wrong_order_is_found() {
    let guards = Guards::new();
    let disorderly = || {
        let outer = guards.guard();
        async move {
            let inner = outer.below();
            // Dropped as declared: the outer one first, unless the end is reached.
            let pair = (outer, inner);
            breakable(yield_now()).await;
            let (outer, inner) = pair;
            drop(inner);
            drop(outer);
        }
    };
    let after = || assert_eq!(guards.finding(), None);
    assert!(finding(|| interrupt_everywhere(disorderly, after)).contains("out of order"));
}

/// Every program of the hand-written corpus, and a share of the random ones: interrupted at every await, sampled
/// pairs, a panic before every statement.
#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn the_corpus() {
    let (share, pairs) = if everything() { (1, 50) } else { (20, 10) };
    let (mut programs, mut total) = (0, Disturbed::default());
    for file in given_corpus() {
        let share = if file.ends_with("conformance.jsonl") { share.min(2) } else { share };
        let text = std::fs::read_to_string(file).expect("the corpus is part of the crate");
        for line in text.lines().step_by(share) {
            let scenario = Scenario::parse(line).expect("a line of the corpus is a scenario");
            let disturbed = disturb_everywhere(&scenario, pairs);
            programs += 1;
            total.points += disturbed.points;
            total.pairs += disturbed.pairs;
            total.statements += disturbed.statements;
            total.runs += disturbed.runs;
            total.findings.extend(disturbed.findings);
        }
    }
    let Disturbed { points, pairs, statements, runs, findings } = total;
    eprintln!(
        "{programs} programs, {points} points, {pairs} pairs, {statements} statements, {runs} runs, {} findings",
        findings.len()
    );
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
