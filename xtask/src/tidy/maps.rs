//! A file that a document names exists, so that a map does not lead to a room that was moved.
//!
//! Looked at is every quoted path of a source or document: `core/src/task/state.rs`, with or without `crates/`, or
//! from the folder of the document that names it.

use super::finding::Finding;
use super::tree::{File, Tree};

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let documents =
        tree.files().iter().filter(|file| file.path.ends_with(".md") && !file.path.contains("/oracle/"));
    let own = documents.filter(|file| !file.path.contains("/cases/"));
    own.flat_map(|document| check_document(tree, document)).collect()
}

fn check_document(tree: &Tree, document: &File) -> Vec<Finding> {
    let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    for (number, line) in document.lines() {
        let gone = paths(line).filter(|path| !exists(tree, folder, path));
        findings
            .extend(gone.map(|path| Finding::new(&document.path, number, format!("there is no `{path}`"))));
    }
    findings
}

fn exists(tree: &Tree, folder: &str, path: &str) -> bool {
    let places = [path.to_owned(), format!("crates/{path}"), format!("{folder}/{path}")];
    places.iter().any(|place| tree.file(place).is_some())
}

/// Quoted words, and targets of links, that look like a path of the repository.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    let linked = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    quoted.chain(linked).filter(|word| {
        let file = word.ends_with(".rs") || word.ends_with(".md");
        let plain = word.chars().all(|c| c.is_alphanumeric() || "._-/".contains(c));
        file && plain && word.contains('/')
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    #[test]
    fn a_path_that_leads_nowhere_is_found() {
        let text =
            "See `core/src/a.rs`, `core/src/gone.rs`, [style](style/x.md), `loom_*/a.rs` and `a.rs`.\n";
        let tree =
            Tree::of(&[("docs/map.md", text), ("crates/core/src/a.rs", "//! x\n"), ("docs/style/x.md", "")]);
        assert_eq!(told(&check(&tree)), ["docs/map.md:1: there is no `core/src/gone.rs`"]);
    }
}
