//! The reference model against the corpus, and Brigade against the model.
//!
//! A difference is printed with the program made small, as a line that the oracle and the tests take. Which side is
//! right the laws decide, and where they leave a choice, the readings of the oracle's README.
//!
//! No difference is known: 50,000 programs from each of the seeds 1 and 2 give none.

use brigade_testkit::scenario::{
    DISPUTED, ModelOptions, Scenario, check_random_programs, given_corpus, run_model,
};

/// The model gives the traces of the corpus, in order and in three random orders.
#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn the_model_gives_the_traces_of_the_corpus() {
    let (mut runs, mut findings) = (0, Vec::new());
    for file in given_corpus() {
        let text = std::fs::read_to_string(file).expect("the corpus is part of the crate");
        for line in text.lines() {
            let scenario = Scenario::parse(line).expect("a line of the corpus is a scenario");
            let expected = scenario.expect.clone().expect("a line of the corpus has a trace");
            let orders = if scenario.order.is_some() { 1 } else { 4 };
            for order in 0..orders {
                runs += 1;
                let options = ModelOptions { seed: (order > 0).then_some(order), ..ModelOptions::default() };
                let modelled = run_model(&scenario, options);
                if let Err(difference) = modelled.trace.compare(&expected) {
                    if DISPUTED.iter().all(|dispute| dispute.id != scenario.id) {
                        findings.push(format!("order {order}: {difference} {:?}", modelled.excluded));
                    }
                    break;
                }
            }
        }
    }
    println!("{runs} runs of the model, {} differences", findings.len());
    assert!(findings.is_empty(), "{} differ\n{}", findings.len(), findings.join("\n"));
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Programs made at random: Brigade gives the traces of the model, under several schedules (`PROGRAMS=50000
/// SEED=1` for more).
#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn random_programs_are_equal() {
    let (programs, seed) = (number("PROGRAMS").unwrap_or(1000), number("SEED").unwrap_or(1));
    let checked = check_random_programs(seed, programs, ModelOptions::default());
    println!("{checked}");
    assert_eq!(checked.programs, programs);
    assert!(checked.findings.is_empty(), "{checked}\n{}", checked.findings.join("\n"));
}

/// The comparison can fail: a model that loses requests that were handed back is found out.
#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn a_planted_fault_is_found() {
    let planted = ModelOptions { loses_requests: true, ..ModelOptions::default() };
    let checked = check_random_programs(1, 1000, planted);
    println!("{checked}");
    assert!(!checked.findings.is_empty(), "nobody noticed that requests are lost");
}
