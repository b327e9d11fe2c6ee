//! Every source file tells its story in its first line, and a folder's name is never `mod.rs`.

use super::finding::Finding;
use super::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        if file.path.ends_with("/mod.rs") {
            findings.push(Finding::new(&file.path, 1, "`foo.rs` beside `foo/`, not `foo/mod.rs`"));
        }
        if !tells_story(&file.text) {
            findings.push(Finding::new(
                &file.path,
                1,
                "does not begin with `//!` and what the file is about",
            ));
        }
    }
    findings
}

/// The story may also be an essay of its own, included in the documentation.
fn tells_story(text: &str) -> bool {
    let first = text.lines().next().unwrap_or("");
    first.starts_with("#![doc = include_str!")
        || first.strip_prefix("//!").is_some_and(|rest| !rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    #[test]
    fn a_file_without_a_story_is_found() {
        let tree = Tree::of(&[
            ("crates/a/src/good.rs", "//! A story.\n"),
            ("crates/a/src/silent.rs", "//!\nfn f() {}\n"),
            ("crates/a/src/x/mod.rs", "//! A story.\n"),
        ]);
        assert_eq!(
            told(&check(&tree)),
            [
                "crates/a/src/silent.rs:1: does not begin with `//!` and what the file is about",
                "crates/a/src/x/mod.rs:1: `foo.rs` beside `foo/`, not `foo/mod.rs`",
            ]
        );
    }
}
