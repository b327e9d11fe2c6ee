//! The tables for readers from elsewhere stay true: every row of `docs/asyncio.md` and `docs/tokio.md` links to
//! the documentation of an item that exists, or says `none` and why.
//!
//! A link is written as it is read on docs.rs: `https://docs.rs/brigade/latest/brigade/fn.gather.html`, with
//! `#method.cancel` for a method. `check` looks the item up in the sources; `check_built`, after `cargo doc`, the
//! page and the anchor on the disk.

use std::fs;
use std::path::Path;

use super::finding::Finding;
use super::tree::{File, Tree};

const TABLES: &[&str] = &["docs/asyncio.md", "docs/tokio.md"];
const SITE: &str = "https://docs.rs/brigade/latest/";
const SHORTEST_REASON: usize = 20;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in TABLES {
        match tree.file(path) {
            Some(file) => {
                findings.extend(rows(file).filter_map(|(line, row)| check_row(tree, path, line, row)))
            }
            None => findings.push(Finding::new(path, 1, "the table is missing")),
        }
    }
    findings
}

/// The links of all documents lead to a page, and to an anchor on it, below the folder that rustdoc wrote.
pub(crate) fn check_built(tree: &Tree, built: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| file.path.ends_with(".md")) {
        for (number, line) in file.lines() {
            let dead = targets(line).filter(|target| !is_built(built, target));
            findings.extend(
                dead.map(|target| Finding::new(&file.path, number, format!("nothing is at {target}"))),
            );
        }
    }
    findings
}

fn check_row(tree: &Tree, path: &str, line: usize, row: &str) -> Option<Finding> {
    let missing = targets(row).find(|target| !exists(tree, target));
    if let Some(target) = missing {
        return Some(Finding::new(path, line, format!("no public item for {target}")));
    }
    let linked = targets(row).next().is_some();
    let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
    let denied = cells.get(1).is_some_and(|cell| cell.starts_with("none"));
    let reason: usize = cells.iter().skip(1).map(|cell| cell.len()).sum();
    if linked || (denied && reason >= SHORTEST_REASON) {
        return None;
    }
    Some(Finding::new(path, line, "the row neither links to an item nor says `none` and why"))
}

/// The rows of all tables, without headings and rulers.
fn rows(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = file.text.lines().collect();
    let ruler = |line: &str| line.starts_with('|') && line.chars().all(|c| "|-: ".contains(c));
    let heading = (0..lines.len()).filter(|&index| lines.get(index + 1).is_some_and(|next| ruler(next)));
    let headings: Vec<usize> = heading.map(|index| index + 1).collect();
    let tables = file.lines().filter(move |(_, line)| line.starts_with('|') && !ruler(line));
    tables.filter(move |(number, _)| !headings.contains(number))
}

/// What the links of a line point at, below the site.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.filter_map(|link| link.strip_prefix(SITE))
}

/// Whether the sources declare the item of `brigade/struct.Task.html#method.cancel`.
fn exists(tree: &Tree, target: &str) -> bool {
    let (page, anchor) = target.split_once('#').unwrap_or((target, ""));
    let page = page.rsplit('/').next().unwrap_or(page).trim_end_matches(".html");
    let known = match page.split_once('.') {
        Some(("fn", name)) => has_function(tree, name),
        Some(("struct" | "enum" | "trait", name)) => has_type(tree, name),
        // Modules, macros, type aliases and constants are left to `check_built`.
        _ => true,
    };
    let method = anchor.split_once('.').filter(|(kind, _)| matches!(*kind, "method" | "tymethod"));
    known && method.is_none_or(|(_, name)| has_function(tree, name))
}

fn has_function(tree: &Tree, name: &str) -> bool {
    tree.library().flat_map(|file| &file.items.functions).any(|it| it.name == name)
}

fn has_type(tree: &Tree, name: &str) -> bool {
    tree.library().flat_map(|file| &file.items.types).any(|it| it.public && it.name == name)
}

fn is_built(built: &Path, target: &str) -> bool {
    let (page, anchor) = target.split_once('#').unwrap_or((target, ""));
    let Ok(text) = fs::read_to_string(built.join(page)) else {
        return false;
    };
    anchor.is_empty() || text.contains(&format!("id=\"{anchor}\""))
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    const CODE: &str =
        "//! x\npub fn gather() {}\npub struct Task;\nimpl Task {\n    pub fn cancel(&self) {}\n}\n";

    fn found(rows: &str) -> Vec<String> {
        let table = format!("| theirs | ours |\n|---|---|\n{rows}\n");
        let files = [("crates/a/src/a.rs", CODE), ("docs/asyncio.md", &table), ("docs/tokio.md", "")];
        told(&check(&Tree::of(&files)))
    }

    #[test]
    fn a_row_links_to_an_item_or_gives_a_reason() {
        assert_eq!(
            found("| `g` | [gather](https://docs.rs/brigade/latest/brigade/fn.gather.html) |"),
            [""; 0]
        );
        assert_eq!(
            found("| `c` | [c](https://docs.rs/brigade/latest/brigade/struct.Task.html#method.cancel) |"),
            [""; 0]
        );
        assert_eq!(found("| `x` | none | there is no global loop to get |"), [""; 0]);
        assert_eq!(found("| `x` | none | no |").len(), 1);
        assert_eq!(found("| `x` | `gather`, which does the same thing |").len(), 1);
    }

    #[test]
    fn a_link_to_a_missing_item_is_found() {
        let row = "| `g` | [g](https://docs.rs/brigade/latest/brigade/fn.gone.html) |";
        assert_eq!(found(row), ["docs/asyncio.md:3: no public item for brigade/fn.gone.html"]);
        let row = "| `g` | [g](https://docs.rs/brigade/latest/brigade/struct.Task.html#method.gone) |";
        assert_eq!(found(row).len(), 1);
    }

    #[test]
    fn a_page_that_was_not_built_is_found() {
        let text = "[g](https://docs.rs/brigade/latest/brigade/fn.gone.html)\n";
        let tree = Tree::of(&[("README.md", text)]);
        assert_eq!(
            told(&check_built(&tree, Path::new("/nowhere"))),
            ["README.md:1: nothing is at brigade/fn.gone.html"]
        );
    }
}
