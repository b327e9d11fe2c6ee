//! The corpus that is part of the crate, and the verdict on one of its lines.
//!
//! A line whose trace contradicts a law is *disputed*. It stands in [`DISPUTED`] with the reason, is run all the
//! same, and must differ: one that has become equal has no place in the list.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::program::Scenario;
use super::run_scenario;
use crate::Simulation;

/// A line of the given corpus whose trace the laws contradict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dispute {
    /// The scenario.
    pub id: &'static str,
    /// The law, and how the trace contradicts it.
    pub why: &'static str,
}

/// The lines of the given corpus that are disputed.
pub const DISPUTED: [Dispute; 1] = [Dispute {
    id: "r1.0176",
    why: "law C6: the request of the inner deadline meets a gather that has only a shielded branch left, and is \
          handed back in the moment in which the outer deadline's request goes on unwinding; it has to wait until \
          no handler inside its scope runs, but in the trace it interrupts the handler that follows",
}];

/// What a line of a corpus has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Brigade gives the trace of the line.
    Equal,
    /// It does not, and need not.
    Disputed(Dispute),
    /// It should, and does not; or the line is disputed without need.
    Different(String),
}

/// The files of the corpus that is part of the crate.
#[must_use]
pub fn given_corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/corpus/given");
    ["conformance.jsonl", "random-1.jsonl", "random-2.jsonl"].iter().map(|name| folder.join(name)).collect()
}

/// Runs a line of a corpus on the simulation, first in first out, and compares.
///
/// # Examples
///
/// ```
/// use brigade_testkit::scenario::{Verdict, judge_line};
///
/// let expect = r#"{"end":0,"events":[[0,"root","start",null]],"outcomes":{"root":[0,{"value":null}]},"reported":[]}"#;
/// assert_eq!(judge_line(&format!(r#"{{"id":"a","laws":[],"root":[],"expect":{expect}}}"#)), Verdict::Equal);
/// ```
#[must_use]
pub fn judge_line(line: &str) -> Verdict {
    let scenario = match Scenario::parse(line) {
        Ok(scenario) => scenario,
        Err(error) => return Verdict::Different(format!("not a scenario: {error}")),
    };
    judge(&scenario)
}

/// The same for a line of the given corpus, with what is disputed there.
#[must_use]
pub fn judge_given_line(line: &str) -> Verdict {
    let id = Scenario::parse(line).map(|scenario| scenario.id).unwrap_or_default();
    let dispute = DISPUTED.into_iter().find(|dispute| dispute.id == id);
    match (judge_line(line), dispute) {
        (Verdict::Equal, Some(_)) => Verdict::Different(format!("{id}: is equal, so it is not disputed")),
        (_, Some(dispute)) => Verdict::Disputed(dispute),
        (verdict, None) => verdict,
    }
}

fn judge(scenario: &Scenario) -> Verdict {
    let Some(expected) = &scenario.expect else {
        return Verdict::Different(format!("{}: the line has no `expect`", scenario.id));
    };
    let run = || run_scenario(&Simulation::new(), scenario).compare(expected);
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => Verdict::Equal,
        Ok(Err(difference)) => Verdict::Different(difference.to_string()),
        Err(_) => Verdict::Different(format!("{}: the run panicked", scenario.id)),
    }
}
