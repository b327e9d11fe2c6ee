//! A `// SAFETY:` comment cites a numbered invariant, and an invariant that is cited is stated.
//!
//! Stated means: the `//!` text of the same file, or of another file of the same crate, names it as
//! `INVARIANT T3`.

use super::finding::Finding;
use super::source::is_word;
use super::tree::{File, Tree};

const MARK: &str = "INVARIANT ";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.library() {
        findings.extend(uncited(file));
        let stated_in_crate = tree.library().filter(|other| other.package() == file.package());
        let stated: Vec<&str> = stated_in_crate.flat_map(stated).collect();
        let dead = cited(file).filter(|(_, id)| !stated.contains(id));
        findings.extend(dead.map(|(line, id)| {
            Finding::new(
                &file.path,
                line,
                format!("INVARIANT {id} is stated at the top of no module of this crate"),
            )
        }));
    }
    findings
}

/// `SAFETY` comments without a citation. A comment goes on over the `//` lines that follow.
fn uncited(file: &File) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let begins = (0..lines.len()).filter(|&index| lines[index].starts_with("// SAFETY:"));
    let block = |index: usize| lines[index..].iter().take_while(|line| line.starts_with("//"));
    let without = begins.filter(|&index| !block(index).any(|line| line.contains(MARK)));
    without
        .map(|index| Finding::new(&file.path, index + 1, "SAFETY comment that cites no INVARIANT"))
        .collect()
}

fn stated(file: &File) -> impl Iterator<Item = &str> {
    file.lines().filter(|(_, line)| line.starts_with("//!")).flat_map(|(_, line)| ids(line))
}

fn cited(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let comments = file.lines().filter(|(_, line)| line.contains("//") && !line.starts_with("//!"));
    comments.flat_map(|(number, line)| ids(line).map(move |id| (number, id)))
}

/// The ids after the mark in a line: `INVARIANT T3` gives `T3`.
fn ids(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices(MARK).filter_map(|(at, _)| {
        let rest = &line[at + MARK.len()..];
        let id = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        id.ends_with(|c: char| c.is_ascii_digit()).then_some(id)
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
                "crates/core/src/a.rs:6: INVARIANT R2 is stated at the top of no module of this crate",
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
