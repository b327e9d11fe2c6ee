//! `unsafe` stands only in the files listed here, so that a reviewer knows where to look.

use super::finding::Finding;
use super::source::{line_of, words_at};
use super::tree::Tree;

/// The files that may hold `unsafe`, each with what it is needed for.
const LISTED: &[(&str, &str)] = &[
    ("crates/core/src/context/task_poll.rs", "the task that is being polled, in a thread-local"),
    ("crates/core/src/context/frame.rs", "the scope that is being polled, in a thread-local"),
    ("crates/core/src/task/loom_models.rs", "cells in which a model looks for races"),
    ("crates/core/src/task/joiner.rs", "the waker of the one handle, in a cell without a lock"),
    ("crates/core/src/task/job.rs", "the task whose last poll is being ended, in a thread-local"),
    ("crates/core/src/task/prepare.rs", "spawning a future that is not Send on its own thread"),
    ("crates/core/src/task/root.rs", "pinning the task's future in its own allocation"),
    ("crates/core/src/task/reference.rs", "a weak reference that a waker keeps alive"),
    ("crates/core/src/task/hold.rs", "what a task holds until it ends, in cells without a lock"),
    ("crates/core/src/task/returns.rs", "ended tasks on their way back to the thread that allocated them"),
    ("crates/core/src/task/registry.rs", "pointers to all live tasks, and what keeps them alive"),
    ("crates/combinators/src/slots.rs", "pinning the elements of a pinned slice"),
    ("crates/executor/src/scheduler/local.rs", "the slots of the local queue"),
    ("crates/executor/src/reactor/driver.rs", "registering a descriptor that its owner keeps open"),
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let listed = LISTED.iter().any(|(path, _)| *path == file.path);
        let mut uses = words_at(&file.code, "unsafe").map(|at| line_of(&file.code, at));
        match (listed, uses.next()) {
            (false, Some(line)) => {
                findings.push(Finding::new(&file.path, line, "`unsafe` outside the listed files"))
            }
            (true, None) => findings.push(Finding::new(&file.path, 1, "listed for `unsafe`, and holds none")),
            _ => {}
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    #[test]
    fn unsafe_in_another_file_is_found() {
        let tree = Tree::of(&[
            ("crates/core/src/lib.rs", "//! unsafe in words\nfn f() { unsafe { g() } }\n"),
            ("crates/core/src/task/root.rs", "//! x\nunsafe fn g() {}\n"),
        ]);
        assert_eq!(told(&check(&tree)), ["crates/core/src/lib.rs:2: `unsafe` outside the listed files"]);
    }

    #[test]
    fn a_stale_entry_is_found() {
        let tree = Tree::of(&[("crates/core/src/task/root.rs", "//! x\n")]);
        assert_eq!(check(&tree).len(), 1);
    }
}
