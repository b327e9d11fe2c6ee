//! The corpus in every order: its traces do not depend on which ready task runs next, so each must come out
//! under every schedule.
//!
//! `ORDERS=n` runs n schedules of each program instead of three.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use brigade_testkit::scenario::{Scenario, run_scenario};
use brigade_testkit::{Policy, Simulation};

/// See `tests/oracle.rs`.
const DISPUTED: [&str; 1] = ["r1.0176"];

#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn traces_do_not_depend_on_the_order() {
    let orders = std::env::var("ORDERS").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/corpus/given");
    let (mut programs, mut runs, mut findings) = (0, 0, Vec::new());
    for file in ["conformance.jsonl", "random-1.jsonl", "random-2.jsonl"] {
        let text = std::fs::read_to_string(folder.join(file)).expect("the corpus is part of the crate");
        for line in text.lines() {
            let scenario = Scenario::parse(line).expect("a line of the corpus is a scenario");
            if scenario.order.is_some() || DISPUTED.contains(&scenario.id.as_str()) {
                continue;
            }
            programs += 1;
            for number in 0..orders {
                runs += 1;
                findings.extend(difference(&scenario, policy(number, programs)));
            }
        }
    }
    println!("{programs} programs, {runs} runs, {} differences", findings.len());
    assert!(findings.is_empty(), "{} of {runs} differ\n{}", findings.len(), findings.join("\n"));
}

/// Last first, then random orders and priorities in turn.
fn policy(number: u64, program: u64) -> Policy {
    let seed = program * 1000 + number;
    match number {
        0 => Policy::Lifo,
        _ if number % 2 == 1 => Policy::Random { seed },
        _ => Policy::Pct { seed, changes: 2, steps: 40 },
    }
}

fn difference(scenario: &Scenario, policy: Policy) -> Option<String> {
    let expected = scenario.expect.clone().expect("a line of the corpus has a trace");
    let name = policy.to_string();
    let run = || run_scenario(&Simulation::with_policy(policy), scenario).compare(&expected);
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => None,
        Ok(Err(difference)) => Some(format!("{name}: {difference}")),
        Err(_) => Some(format!("{name}: {}: the run panicked", scenario.id)),
    }
}
