//! One file tells one story of at most 600 lines, a function one thought of at most 60, the README one screen.

use super::finding::Finding;
use super::tree::{File, Tree};

const FILE: usize = 600;
const FUNCTION: usize = 60;
const README: usize = 120;

/// Files that are better long, each with the reason.
const LONG: &[(&str, &str)] = &[];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = tree.rust().flat_map(check_file).collect();
    findings.extend(tree.file("README.md").and_then(|file| too_long(file, README)));
    findings
}

fn check_file(file: &File) -> Vec<Finding> {
    let excused = LONG.iter().any(|(path, _)| *path == file.path);
    let long_file = if excused { None } else { too_long(file, FILE) };
    let long_functions = file.items.functions.iter().filter(|it| it.lines() > FUNCTION).map(|it| {
        let message = format!("`{}` has {} lines, {FUNCTION} is the wall", it.name, it.lines());
        Finding::new(&file.path, it.first_line, message)
    });
    long_file.into_iter().chain(long_functions).collect()
}

fn too_long(file: &File, wall: usize) -> Option<Finding> {
    let lines = file.text.lines().count();
    (lines > wall).then(|| Finding::new(&file.path, 1, format!("{lines} lines, {wall} is the wall")))
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    #[test]
    fn long_files_functions_and_readmes_are_found() {
        let function = format!("//! x\nfn long() {{\n{}}}\n", "    f();\n".repeat(59));
        let tree = Tree::of(&[
            ("README.md", &"x\n".repeat(121)),
            ("crates/a/src/a.rs", &"//! x\n".repeat(601)),
            ("crates/a/src/b.rs", &function),
        ]);
        assert_eq!(
            told(&check(&tree)),
            [
                "crates/a/src/a.rs:1: 601 lines, 600 is the wall",
                "crates/a/src/b.rs:2: `long` has 61 lines, 60 is the wall",
                "README.md:1: 121 lines, 120 is the wall",
            ]
        );
    }
}
