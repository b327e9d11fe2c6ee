//! Some names may be used in one place only, so that the place can be swapped or checked as a whole.

use super::finding::Finding;
use super::source::{is_word, line_of, words_at};
use super::tree::{File, Tree};

/// A name, whether a file may use it, and what to tell if not.
struct Ban {
    names: &'static [&'static str],
    allowed: fn(&str) -> bool,
    message: &'static str,
}

const BANS: &[Ban] = &[
    Ban {
        names: &["polling"],
        allowed: |path| path.starts_with("crates/executor/src/reactor"),
        message: "`polling` is known to executor/src/reactor alone",
    },
    Ban {
        names: &["std::thread", "std::time::Instant", "std::time::SystemTime"],
        allowed: |path| !in_any(path, &["crates/core/src/", "crates/combinators/src/"]),
        message: "core and combinators have no thread and no clock: ask the backend",
    },
    Ban {
        names: &["thread::sleep"],
        allowed: |path| !path.starts_with("crates/") || path.contains("/examples/"),
        message: "order is forced by gates and virtual time, never by sleeping",
    },
];

/// Changes of an atomic that depend on what it held.
const CHANGES: &[&str] =
    &["compare_exchange", "compare_exchange_weak", "fetch_or", "fetch_and", "fetch_update"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust().flat_map(|file| banned(file).into_iter().chain(task_word(file))).collect()
}

fn banned(file: &File) -> Vec<Finding> {
    let paths = paths(&file.code);
    let mut findings = Vec::new();
    for ban in BANS.iter().filter(|ban| !(ban.allowed)(&file.path)) {
        let hits = paths.iter().filter(|(_, path)| ban.names.iter().any(|name| names(path, name)));
        findings.extend(
            hits.map(|(line, path)| Finding::new(&file.path, *line, format!("`{path}`: {}", ban.message))),
        );
    }
    findings
}

/// The task word changes by the verbs of its owner file alone.
fn task_word(file: &File) -> Vec<Finding> {
    let tasks = file.path.starts_with("crates/core/src/task");
    if !tasks || ["/state.rs", "/slot.rs", "/returns.rs"].iter().any(|owner| file.path.ends_with(owner)) {
        return Vec::new();
    }
    let hits = CHANGES.iter().flat_map(|change| words_at(&file.code, change).map(move |at| (at, change)));
    let found = hits.map(|(at, change)| {
        let message = format!(
            "`{change}`: the task word changes in task/state.rs only, the registry's places in task/slot.rs and returns.rs"
        );
        Finding::new(&file.path, line_of(&file.code, at), message)
    });
    found.collect()
}

fn in_any(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Whether the path is or goes through the name: `std::thread::spawn` goes through `std::thread`, and
/// `std::thread::sleep` through `thread::sleep`. Asking whether this thread panics makes no thread.
fn names(path: &str, name: &str) -> bool {
    let innocent = path.ends_with("thread::panicking") || path.ends_with("thread::ThreadId");
    let whole = |at: usize| {
        let before = path[..at].is_empty() || path[..at].ends_with("::");
        let after = &path[at + name.len()..];
        before && (after.is_empty() || after.starts_with("::"))
    };
    // A crate's name begins the path; `self::polling` is a module of ours.
    let begins = name.contains("::") || path.starts_with(name);
    !innocent && begins && path.match_indices(name).any(|(at, _)| whole(at))
}

/// Every path of two or more segments with its line; the braces of a `use` are multiplied out.
fn paths(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = code[at..].find(is_word).map(|word| at + word) {
        at = start + path_from(&code[start..], "", line_of(code, start), &mut found);
    }
    found
}

/// Reads one path, records it under `prefix`, and returns its length.
fn path_from(code: &str, prefix: &str, line: usize, found: &mut Vec<(usize, String)>) -> usize {
    let end = code.find(|c| !is_word(c) && c != ':').unwrap_or(code.len());
    let path = format!("{prefix}{}", code[..end].trim_end_matches(':'));
    if !code[..end].ends_with("::") || !code[end..].starts_with('{') {
        if path.contains("::") {
            found.push((line, path));
        }
        return end;
    }
    let prefix = format!("{path}::");
    let mut at = end + 1;
    while at < code.len() && !code[at..].starts_with('}') {
        let first = code[at..].chars().next().unwrap_or('}');
        let line = line + code[..at].matches('\n').count();
        at += if is_word(first) { path_from(&code[at..], &prefix, line, found) } else { first.len_utf8() };
    }
    (at + 1).min(code.len())
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    fn found(path: &str, code: &str) -> Vec<String> {
        told(&check(&Tree::of(&[(path, code)])))
    }

    #[test]
    fn grouped_imports_are_multiplied_out() {
        let paths = paths("use std::{\n    fmt, thread::{self, JoinHandle},\n};\nx: a::B<C>");
        let paths: Vec<_> = paths.iter().map(|(line, path)| format!("{line} {path}")).collect();
        assert_eq!(paths, ["2 std::fmt", "2 std::thread::self", "2 std::thread::JoinHandle", "4 a::B"]);
    }

    #[test]
    fn core_has_no_thread_and_no_clock() {
        assert_eq!(found("crates/core/src/a.rs", "use std::{thread, time::Instant};\n").len(), 2);
        assert_eq!(
            found("crates/core/src/a.rs", "use crate::time::Instant;\nstd::thread::panicking();\n"),
            [""; 0]
        );
        assert_eq!(found("crates/executor/src/a.rs", "use std::thread;\n"), [""; 0]);
    }

    #[test]
    fn the_poller_stays_in_the_reactor() {
        assert_eq!(found("crates/executor/src/net.rs", "use polling::Poller;\n").len(), 1);
        assert_eq!(found("crates/executor/src/reactor/driver.rs", "use polling::Poller;\n"), [""; 0]);
    }

    #[test]
    fn nothing_sleeps_to_order_things() {
        assert_eq!(found("crates/core/tests/a.rs", "std::thread::sleep(d);\nthread::sleep(d);\n").len(), 2);
        assert_eq!(found("crates/brigade/examples/a.rs", "std::thread::sleep(d);\n"), [""; 0]);
    }

    #[test]
    fn the_task_word_has_one_owner() {
        let code = "a.compare_exchange_weak(b);\n";
        assert_eq!(found("crates/core/src/task/spawn.rs", code).len(), 1);
        assert_eq!(found("crates/core/src/task/state.rs", code), [""; 0]);
    }
}
