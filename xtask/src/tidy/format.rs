//! What no text file of the project holds: trailing space, open ends without an issue, traces of one machine.

use super::finding::Finding;
use super::tree::{File, Tree};

/// Texts that others wrote, kept byte by byte.
const GIVEN: &[&str] = &["Cargo.lock", "LICENSE-APACHE", "crates/testkit/oracle/", "crates/testkit/cases/"];

/// Folders that exist on the machine of whoever wrote them. Written in halves, or this file would be found.
const MACHINE: &[&str] =
    &[concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// Words that mark something unfinished.
const OPEN_ENDS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| !GIVEN.iter().any(|given| file.path.starts_with(given))) {
        findings.extend(file.lines().flat_map(|(number, line)| check_line(file, number, line)));
        let ends = file.text.is_empty() || (file.text.ends_with('\n') && !file.text.ends_with("\n\n"));
        if !ends && is_source(file) {
            findings.push(Finding::new(
                &file.path,
                file.text.lines().count(),
                "does not end with one newline",
            ));
        }
    }
    findings.extend(tree.file("Cargo.lock").into_iter().flat_map(foreign_sources));
    findings
}

fn check_line(file: &File, number: usize, line: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut tell = |message: String| findings.push(Finding::new(&file.path, number, message));
    if is_source(file) && line.ends_with([' ', '\t']) {
        tell("trailing space".to_owned());
    }
    if let Some(word) = OPEN_ENDS.iter().find(|word| line.contains(**word)).filter(|_| !line.contains('#')) {
        tell(format!("`{word}` without the number of an issue"));
    }
    if let Some(folder) = MACHINE.iter().find(|folder| begins_path(line, folder)) {
        tell(format!("`{folder}` is a folder of one machine"));
    }
    findings
}

/// Whether the folder begins a path, rather than being a part of a longer one or of an address.
fn begins_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-./}".contains(c))
    })
}

/// Text that people write, as opposed to recorded data.
fn is_source(file: &File) -> bool {
    let ends = [".rs", ".toml", ".md", ".yml", ".py", ".ci/run"];
    ends.iter().any(|end| file.path.ends_with(end))
}

/// Every dependency comes from the public registry, by its usual name.
fn foreign_sources(lock: &File) -> Vec<Finding> {
    let usual = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    let foreign = lock.lines().filter(|(_, line)| line.starts_with("source = ") && *line != usual);
    foreign.map(|(number, line)| Finding::new(&lock.path, number, format!("a foreign {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    #[test]
    fn unfinished_and_untidy_lines_are_found() {
        let text = format!("//! x \n// {} later\n// {} (#12)\n\n\n", OPEN_ENDS[0], OPEN_ENDS[1]);
        let found = told(&check(&Tree::of(&[("a.rs", &text)])));
        assert_eq!(found.len(), 3, "{found:?}");
    }

    #[test]
    fn machine_paths_are_found_and_addresses_are_not() {
        let text = format!("see {}me/x\nsee https://a.b{}x\n", MACHINE[0], MACHINE[0]);
        assert_eq!(told(&check(&Tree::of(&[("README.md", &text)]))).len(), 1);
    }

    #[test]
    fn a_foreign_registry_is_found() {
        let tree = Tree::of(&[("Cargo.lock", "source = \"registry+https://example.org/index\"\n")]);
        assert_eq!(check(&tree).len(), 1);
    }
}
