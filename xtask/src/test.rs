//! `cargo xtask test`: every test of the workspace, then which laws they showed.
//!
//! Runs unit, integration and documentation tests. A backend is recognised by its name among the modules of a
//! test (`multi_thread::law_t2_..`), as `conformance!` lays them out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::laws::{self, Law};
use crate::libtest::{TestLine, Verdict};
use crate::{Outcome, shell};

/// The backends that must run the conformance suite.
const BACKENDS: &[&str] = &["simulation", "current_thread", "multi_thread"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut seen = Seen::default();
    let mut words = vec!["test", "--workspace", "--no-fail-fast"];
    words.extend(arguments.iter().map(String::as_str));
    let tests = shell::run_seen(shell::cargo(&words), |line| seen.line(line));
    let laws = seen.report();
    // The failed tests first: a law without a passing test is only their consequence.
    tests.and(laws)
}

/// What the output of the test programs told.
#[derive(Default)]
struct Seen {
    laws: BTreeSet<Law>,
    tests_of_backend: BTreeMap<&'static str, usize>,
    passed: usize,
    failed: Vec<String>,
}

impl Seen {
    fn line(&mut self, line: &str) {
        let Some(test) = TestLine::parse(line) else { return };
        match test.verdict {
            Verdict::Failed => self.failed.push(test.path.to_owned()),
            Verdict::Passed => {
                self.passed += 1;
                self.note_law(test.path);
            }
            Verdict::Open => {}
        }
    }

    fn note_law(&mut self, path: &str) {
        let segments: Vec<&str> = path.split("::").collect();
        let Some(law) = segments.last().and_then(|name| Law::of_test(name)) else {
            return;
        };
        self.laws.insert(law);
        for backend in BACKENDS.iter().filter(|backend| segments.contains(backend)) {
            *self.tests_of_backend.entry(backend).or_default() += 1;
        }
    }

    /// Prints the summary; the last line is the one that the project watches.
    fn report(&self) -> Outcome {
        println!("\n{} tests passed, {} failed", self.passed, self.failed.len());
        for name in &self.failed {
            println!("  failed: {name}");
        }
        for backend in BACKENDS {
            println!("law tests on {backend}: {}", self.tests_of_backend.get(backend).unwrap_or(&0));
        }
        report_missing(&self.laws).and(self.every_backend_ran())
    }

    fn every_backend_ran(&self) -> Outcome {
        match BACKENDS.iter().find(|backend| !self.tests_of_backend.contains_key(*backend)) {
            Some(backend) => Err(format!("no law test ran on {backend}")),
            None => Ok(()),
        }
    }
}

/// Prints `laws without test: N` with their numbers; there must be none.
pub(crate) fn report_missing(shown: &BTreeSet<Law>) -> Outcome {
    let path = shell::root().join("docs/semantics.md");
    let text = fs::read_to_string(path).map_err(|error| format!("docs/semantics.md: {error}"))?;
    let missing = missing(&text, shown);
    println!("laws without test: {}{}", missing.len(), numbers(&missing));
    verdict(&missing)
}

fn missing(semantics: &str, shown: &BTreeSet<Law>) -> Vec<Law> {
    let stated: BTreeSet<Law> = laws::stated(semantics).into_iter().map(|(_, law)| law).collect();
    stated.difference(shown).cloned().collect()
}

fn verdict(missing: &[Law]) -> Outcome {
    if missing.is_empty() { Ok(()) } else { Err(format!("no passing test shows {}", laws::list(missing))) }
}

fn numbers(missing: &[Law]) -> String {
    if missing.is_empty() { String::new() } else { format!(" ({})", laws::list(missing)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEMANTICS: &str = "- **T1** x\n- **T2** y\n";

    fn seen(lines: &[&str]) -> Seen {
        let mut seen = Seen::default();
        lines.iter().for_each(|line| seen.line(line));
        seen
    }

    #[test]
    fn laws_and_backends_are_counted() {
        let seen = seen(&[
            "running 4 tests",
            "test simulation::task::law_t1_spawns ... ok",
            "test multi_thread::law_t1_spawns - should panic ... ok",
            "test crates/core/src/lib.rs - spawn (line 3) ... ok",
            "test current_thread::law_t2_awaits ... ignored",
        ]);
        assert_eq!(seen.passed, 3);
        assert_eq!(seen.tests_of_backend.get("simulation"), Some(&1));
        assert_eq!(seen.tests_of_backend.get("current_thread"), None);
        assert_eq!(laws::list(&missing(SEMANTICS, &seen.laws)), "T2");
    }

    #[test]
    fn a_failed_test_shows_no_law() {
        let seen = seen(&["test simulation::law_t1_spawns ... FAILED"]);
        assert_eq!(seen.failed, ["simulation::law_t1_spawns"]);
        assert_eq!(laws::list(&missing(SEMANTICS, &seen.laws)), "T1, T2");
    }

    #[test]
    fn a_missing_law_or_a_silent_backend_fails_the_run() {
        let mut all = seen(&["test simulation::law_t1_a ... ok", "test current_thread::law_t2_a ... ok"]);
        assert_eq!(verdict(&missing(SEMANTICS, &all.laws)), Ok(()));
        assert_eq!(all.every_backend_ran(), Err("no law test ran on multi_thread".to_owned()));
        all.line("test multi_thread::law_t1_a ... ok");
        assert_eq!(all.every_backend_ran(), Ok(()));
        assert_eq!(verdict(&[Law::parse("T2").unwrap()]), Err("no passing test shows T2".to_owned()));
    }
}
