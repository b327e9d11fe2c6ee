//! `cargo xtask conformance`: the suite of `brigade-testkit` on every backend, as a table: laws, tests, passed.

use std::collections::{BTreeMap, BTreeSet};

use crate::laws::Law;
use crate::libtest::{TestLine, Verdict};
use crate::{Outcome, shell, test};

/// Where the suite is instantiated: package and test target.
const SUITES: &[(&str, &str)] =
    &[("brigade-testkit", "simulation"), ("brigade-testkit", "explore"), ("brigade-executor", "conformance")];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut table = Table::default();
    let mut outcome = Ok(());
    for (package, target) in SUITES {
        let mut command = shell::cargo(&["test", "--quiet", "--package", package, "--test", target, "--"]);
        // One line per test, in a form that can be read.
        command.arg("--format=pretty").args(arguments);
        outcome = outcome.and(shell::run_seen(command, |line| table.line(line)));
    }
    table.print();
    let laws = test::report_missing(&table.shown);
    outcome.and(laws)
}

/// What each backend showed.
#[derive(Default)]
struct Table {
    rows: BTreeMap<String, Row>,
    shown: BTreeSet<Law>,
}

#[derive(Default)]
struct Row {
    laws: BTreeSet<Law>,
    tests: usize,
    passed: usize,
}

impl Table {
    /// Takes a line of libtest's output. The backend is the first module of the test's path.
    fn line(&mut self, line: &str) {
        let Some(test) = TestLine::parse(line) else { return };
        let Some((backend, name)) = test.path.split_once("::") else { return };
        let row = self.rows.entry(backend.to_owned()).or_default();
        row.tests += 1;
        if test.verdict != Verdict::Passed {
            return;
        }
        row.passed += 1;
        if let Some(law) = name.rsplit("::").next().and_then(Law::of_test) {
            row.laws.insert(law.clone());
            self.shown.insert(law);
        }
    }

    fn print(&self) {
        println!("\n{:<16}{:>6}{:>8}{:>8}", "backend", "laws", "tests", "passed");
        for (backend, row) in &self.rows {
            println!("{backend:<16}{:>6}{:>8}{:>8}", row.laws.len(), row.tests, row.passed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_are_counted_apart() {
        let mut table = Table::default();
        let lines = [
            "test simulation::law_t1_a ... ok",
            "test simulation::law_t1_b ... FAILED",
            "test multi_thread::law_c2_a ... ok",
            "test alone ... ok",
        ];
        lines.iter().for_each(|line| table.line(line));
        let row = &table.rows["simulation"];
        assert_eq!((row.laws.len(), row.tests, row.passed), (1, 2, 1));
        assert_eq!((table.rows.len(), table.shown.len()), (2, 2));
    }
}
