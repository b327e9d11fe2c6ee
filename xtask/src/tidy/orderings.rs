//! A memory ordering is justified where it stands: a comment in the same function, above it, says why it is enough.

use super::finding::Finding;
use super::source::{line_of, words_at};
use super::tree::{File, Tree};

/// Also written without the path, where they are imported. `SeqCst` needs its reason most of all.
const ORDERINGS: &[&str] = &["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.library().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().collect();
    let functions = file.items.functions.iter().filter(|it| !it.in_tests);
    let mut findings = Vec::new();
    for function in functions {
        let body = function.first_line..=function.last_line;
        let mut uses = orderings(file).filter(|(line, _)| body.contains(line));
        // The documentation of the function counts: a function of one line has no room inside.
        let explained = |last: usize| {
            let inside = lines[function.first_line - 1..last].iter().any(|line| explains(line));
            inside || function.docs.lines().any(explains)
        };
        if let Some((line, ordering)) = uses.find(|(line, _)| !explained(*line)) {
            findings.push(Finding::new(
                &file.path,
                line,
                format!("`{ordering}` without a comment that says why"),
            ));
        }
    }
    findings
}

/// Lines on which an ordering stands in the code.
fn orderings(file: &File) -> impl Iterator<Item = (usize, &'static str)> {
    let all = ORDERINGS.iter().flat_map(|name| words_at(&file.code, name).map(move |at| (at, *name)));
    let used = all.filter(|(at, _)| file.code[..*at].ends_with("Ordering::"));
    used.map(|(at, name)| (line_of(&file.code, at), name))
}

fn explains(line: &str) -> bool {
    let comment = line.split_once("//").map_or("", |(_, comment)| comment).to_lowercase();
    ORDERINGS.iter().any(|name| comment.contains(&name.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    #[test]
    fn a_bare_ordering_is_found() {
        let good = "fn a() {\n    // Relaxed: only a counter.\n    n.load(Ordering::Relaxed);\n}\n";
        let bad =
            "fn b() {\n    // Loads.\n    n.load(Ordering::Acquire);\n    std::cmp::Ordering::Less;\n}\n";
        let tree = Tree::of(&[("crates/a/src/a.rs", &format!("//! x\n{good}{bad}"))]);
        assert_eq!(told(&check(&tree)), ["crates/a/src/a.rs:8: `Acquire` without a comment that says why"]);
    }
}
