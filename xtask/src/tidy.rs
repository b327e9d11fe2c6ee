//! `cargo xtask tidy`: the rules of `docs/style.md` that a program can check.
//!
//! One file per rule under `tidy/`, each with a test that plants a violation. The rules read text, not syntax
//! trees: `source` blanks out comments and literals, `items` finds functions and types, and that is enough.
//! A finding is printed as `path:line: message (rule)`. The whole check also runs as a test.

mod finding;
mod format;
mod headers;
mod invariants;
mod items;
mod layering;
mod links;
mod maps;
mod orderings;
mod placement;
mod sections;
mod size;
mod source;
mod tested;
mod tree;
mod unsafety;

use crate::{Outcome, shell};
use finding::Finding;
use tree::Tree;

/// One rule: its name in reports, and the check.
type Rule = (&'static str, fn(&Tree) -> Vec<Finding>);

const RULES: &[Rule] = &[
    ("layering", layering::check),
    ("unsafe-list", unsafety::check),
    ("invariants", invariants::check),
    ("orderings", orderings::check),
    ("placement", placement::check),
    ("headers", headers::check),
    ("size", size::check),
    ("laws", tested::check),
    ("sections", sections::check),
    ("links", links::check),
    ("maps", maps::check),
    ("format", format::check),
];

pub(crate) fn run(_: &[String]) -> Outcome {
    let tree = read_tree()?;
    let findings = check_all(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!("tidy: {} files, {} rules, nothing found", tree.files().len(), RULES.len());
        Ok(())
    } else {
        Err(format!("{} findings", findings.len()))
    }
}

/// The links of the name tables lead to pages and anchors that rustdoc wrote. Needs `cargo doc` before.
pub(crate) fn check_built_links() -> Outcome {
    let findings = links::check_built(&read_tree()?, &shell::target().join("doc"));
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() { Ok(()) } else { Err(format!("{} dead links", findings.len())) }
}

fn check_all(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, check) in RULES {
        findings.extend(check(tree).into_iter().map(|finding| finding.under(name)));
    }
    findings.sort();
    findings
}

fn read_tree() -> Result<Tree, String> {
    Tree::read(&shell::root()).map_err(|error| format!("cannot read the sources: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let findings = check_all(&read_tree().unwrap());
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
    }
}
