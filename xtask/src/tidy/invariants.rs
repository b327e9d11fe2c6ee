//! A `// SAFETY:` comment cites a numbered invariant, and an invariant that is cited is stated.
//!
//! Stated means: documentation in the same crate, mostly at a module's top, begins it as `INVARIANT T3: ..`.
//! "As above" cites what the comment before it cites.

use super::finding::Finding;
use super::source::is_word;
use super::tree::{File, Tree};

const MARK: &str = "INVARIANT ";

/// How a `SAFETY` comment may say that it cites something.
const CITATIONS: &[&str] = &["INVARIANT", "as above"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.library() {
        findings.extend(uncited(file));
        let stated_in_crate = tree.library().filter(|other| other.package() == file.package());
        let stated: Vec<&str> = stated_in_crate.flat_map(stated).collect();
        let dead = cited(file).filter(|(_, id)| !stated.contains(id));
        findings.extend(dead.map(|(line, id)| {
            Finding::new(&file.path, line, format!("INVARIANT {id} is stated nowhere in this crate"))
        }));
    }
    findings
}

/// `SAFETY` comments without a citation. A comment goes on over the `//` lines that follow.
fn uncited(file: &File) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let begins = (0..lines.len()).filter(|&index| lines[index].starts_with("// SAFETY:"));
    let block = |index: usize| lines[index..].iter().take_while(|line| line.starts_with("//"));
    let without =
        begins.filter(|&index| !block(index).any(|line| CITATIONS.iter().any(|it| line.contains(it))));
    without
        .map(|index| Finding::new(&file.path, index + 1, "SAFETY comment that cites no INVARIANT"))
        .collect()
}

fn stated(file: &File) -> impl Iterator<Item = &str> {
    let docs = file.lines().filter(|(_, line)| is_doc(line));
    docs.flat_map(|(_, line)| ids(line)).filter(|(_, rest)| rest.starts_with(':')).map(|(id, _)| id)
}

fn cited(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let comments = file.lines().filter(|(_, line)| line.contains("//"));
    comments.flat_map(|(number, line)| ids(line).map(move |(id, _)| (number, id)))
}

fn is_doc(line: &str) -> bool {
    line.starts_with("//!") || line.trim_start().starts_with("///")
}

/// The ids after the mark in a line, each with what follows it: `INVARIANT T3: so` gives `T3` and `: so`.
fn ids(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.match_indices(MARK).filter_map(|(at, _)| {
        let rest = &line[at + MARK.len()..];
        let (id, rest) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        id.ends_with(|c: char| c.is_ascii_digit()).then_some((id, rest))
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    #[test]
    fn a_citation_leads_somewhere() {
        let top = "//! Story.\n//!\n//! INVARIANT R1: one owner.\n";
        let code = "// SAFETY: by\n// INVARIANT R1.\n// SAFETY: INVARIANT R2.\n\n// SAFETY: trust me.\n";
        let text = format!("{top}{code}");
        let tree = Tree::of(&[("crates/core/src/a.rs", &text)]);
        assert_eq!(
            told(&check(&tree)),
            [
                "crates/core/src/a.rs:8: SAFETY comment that cites no INVARIANT",
                "crates/core/src/a.rs:6: INVARIANT R2 is stated nowhere in this crate",
            ]
        );
    }

    #[test]
    fn an_invariant_of_another_module_of_the_crate_may_be_cited() {
        let cites = ("crates/core/src/a.rs", "//! A.\n// SAFETY: INVARIANT R1.\n");
        let tree = Tree::of(&[cites, ("crates/core/src/b.rs", "//! INVARIANT R1: so.\n")]);
        assert_eq!(told(&check(&tree)), [""; 0]);
        let tree = Tree::of(&[cites, ("crates/executor/src/b.rs", "//! INVARIANT R1: so.\n")]);
        assert_eq!(check(&tree).len(), 1);
    }
}
