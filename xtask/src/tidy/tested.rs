//! Every law of `docs/semantics.md` is named by a test, and a test that names a law names one that exists.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::source::{identifiers, is_word, line_of};
use super::tree::{File, Tree};
use crate::laws::{Law, stated};

const SEMANTICS: &str = "docs/semantics.md";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(semantics) = tree.file(SEMANTICS) else {
        return vec![Finding::new(SEMANTICS, 1, "the laws are missing")];
    };
    let laws = stated(&semantics.text);
    let tests: Vec<(&File, usize, &str)> = tree.rust().flat_map(tests_of_laws).collect();
    let shown: BTreeSet<Law> = tests.iter().filter_map(|(.., name)| Law::of_test(name)).collect();
    let mut findings = Vec::new();
    for (line, law) in laws.iter().filter(|(_, law)| !shown.contains(law)) {
        findings.push(Finding::new(SEMANTICS, *line, format!("no test is named after law {law}")));
    }
    for (file, line, name) in &tests {
        if !Law::of_test(name).is_some_and(|law| laws.iter().any(|(_, it)| *it == law)) {
            findings.push(Finding::new(&file.path, *line, format!("`{name}` names no law of {SEMANTICS}")));
        }
    }
    let names: BTreeSet<&str> = tests.iter().map(|(.., name)| *name).collect();
    findings.extend(dead_names(semantics, &names));
    findings
}

/// Identifiers, not only functions: a suite that is a macro lists its tests by name.
fn tests_of_laws(file: &File) -> impl Iterator<Item = (&File, usize, &str)> {
    // This program's own fixtures are strings, and blanked; `tests_of_laws` and `law_test` are its verbs.
    let named = identifiers(&file.code).filter(|(_, word)| word.starts_with("law_"));
    named
        .filter(|_| !file.path.starts_with("xtask/"))
        .map(move |(at, word)| (file, line_of(&file.code, at), word))
}

/// Tests that the page names and nobody wrote.
fn dead_names(semantics: &File, tests: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in semantics.lines() {
        let quoted = line.split('`').skip(1).step_by(2);
        let names = quoted.filter(|word| word.starts_with("law_") && word.chars().all(is_word));
        let dead = names.filter(|name| !tests.contains(name));
        findings
            .extend(dead.map(|name| Finding::new(SEMANTICS, number, format!("there is no test `{name}`"))));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    #[test]
    fn laws_and_tests_match_both_ways() {
        let tree = Tree::of(&[
            (SEMANTICS, "- **T1** x `law_t1_a`\n- **T2** y `law_t2_gone`\n"),
            ("crates/testkit/src/a.rs", "//! x\nfn law_t1_a() {}\nfn law_t9_b() {}\n"),
        ]);
        assert_eq!(
            told(&check(&tree)),
            [
                "docs/semantics.md:2: no test is named after law T2",
                "crates/testkit/src/a.rs:3: `law_t9_b` names no law of docs/semantics.md",
                "docs/semantics.md:2: there is no test `law_t2_gone`",
            ]
        );
    }
}
