//! Brigade against CPython: every scenario of the given corpus must give the trace that asyncio gave.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use brigade_testkit::Simulation;
use brigade_testkit::scenario::{Scenario, run_scenario};

/// Lines whose trace the laws contradict. One that becomes equal must leave the list.
const DISPUTED: [&str; 1] = [
    // The request of the inner deadline meets a gather of which one branch is shielded, and is handed
    // back in the moment in which the outer deadline's request goes on unwinding. Law C6: it waits until
    // no handler inside its scope runs; in the trace it interrupts the handler that follows.
    "r1.0176",
];

fn check(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/corpus/given").join(file);
    let text = std::fs::read_to_string(&path).expect("the corpus is part of the crate");
    let only = std::env::var("SCENARIO").ok();
    let (mut equal, mut all, mut differences) = (0, 0, Vec::new());
    for line in text.lines() {
        let scenario = Scenario::parse(line).expect("a line of the corpus is a scenario");
        if only.as_ref().is_some_and(|only| *only != scenario.id) {
            continue;
        }
        all += 1;
        let expected = scenario.expect.clone().expect("a line of the corpus has a trace");
        let run = || run_scenario(&Simulation::new(), &scenario).compare(&expected);
        let disputed = DISPUTED.contains(&scenario.id.as_str());
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) if disputed => {
                differences.push(format!("{} is equal: take it off the list", scenario.id))
            }
            Ok(Err(_)) if disputed => equal += 1,
            Ok(Ok(())) => equal += 1,
            Ok(Err(difference)) => differences.push(difference.to_string()),
            Err(_) => differences.push(format!("{}: the run panicked", scenario.id)),
        }
    }
    assert!(differences.is_empty(), "equal {equal} of {all}\n{}", differences.join("\n"));
}

#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn the_hand_written_scenarios_are_equal() {
    check("conformance.jsonl");
}

#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn the_first_random_scenarios_are_equal() {
    check("random-1.jsonl");
}

#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn the_second_random_scenarios_are_equal() {
    check("random-2.jsonl");
}
