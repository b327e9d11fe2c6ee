//! What each program must print and when, and the comparison with what it did print.
//!
//! A `*` in an expected line stands for any text: port numbers, source lines, the words of the operating
//! system.

use std::time::Duration;

/// The lines of a program with their times in milliseconds, in order.
pub(crate) type Script = &'static [(u64, &'static str)];

/// Compares every line and its time: for virtual time, in which nothing is late.
///
/// # Errors
///
/// The first difference, in words.
pub(crate) fn compare_exactly(printed: &[(Duration, String)], script: Script) -> Result<(), String> {
    for (index, (millis, pattern)) in script.iter().enumerate() {
        let (at, text) = printed.get(index).ok_or_else(|| format!("`{pattern}` is missing"))?;
        if *at != Duration::from_millis(*millis) || !matches(pattern, text) {
            return Err(format!("expected `{pattern}` at {millis} ms, got `{text}` at {at:?}"));
        }
    }
    match printed.get(script.len()) {
        Some((at, text)) => Err(format!("`{text}` at {at:?} was not expected")),
        None => Ok(()),
    }
}

/// Compares in real time, in which a line may be late by `slack` and lines of one moment may swap; the times
/// of the script are divided by `speed`.
///
/// # Errors
///
/// The first difference, in words.
pub(crate) fn compare_loosely(
    printed: &[(Duration, String)],
    script: Script,
    speed: u32,
    slack: Duration,
) -> Result<(), String> {
    let mut rest: Vec<_> = printed.iter().collect();
    for (millis, pattern) in script {
        let due = Duration::from_millis(*millis) / speed;
        let found = rest.iter().position(|(at, text)| {
            matches(pattern, text) && *at + Duration::from_millis(1) >= due && *at <= due + slack
        });
        rest.remove(found.ok_or_else(|| format!("no `{pattern}` at about {due:?}"))?);
    }
    match rest.first() {
        Some((at, text)) => Err(format!("`{text}` at {at:?} was not expected")),
        None => Ok(()),
    }
}

/// Whether `text` is `pattern` with each `*` replaced by something.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut open = false;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = if part.is_empty() { "" } else { &rest[at + part.len()..] };
        open = part.is_empty();
    }
    rest.is_empty() || open
}

pub(crate) const SAY_HELLO: Script = &[(0, "created"), (0, "Greeting in one second..."), (1000, "Hello")];

pub(crate) const BACKGROUND_WORK: Script = &[
    (0, "Task created. Main continues to run."),
    (0, "Starting background work..."),
    (1000, "Main did some other work."),
    (2000, "Background work finished."),
    (2000, "Task completed with result: Success"),
];

pub(crate) const WEB_REQUESTS: Script = &[
    (0, "one after the other:"),
    (500, "200 http://127.0.0.1:*/"),
    (1000, "200 http://127.0.0.1:*/"),
    (1000, "error http://127.0.0.1:*/: *refused*"),
    (1500, "404 http://127.0.0.1:*/"),
    (2000, "503 http://127.0.0.1:*/"),
    (2000, "together:"),
    (2500, "200 http://127.0.0.1:*/"),
    (2500, "200 http://127.0.0.1:*/"),
    (2500, "error http://127.0.0.1:*/: *refused*"),
    (2500, "404 http://127.0.0.1:*/"),
    (2500, "503 http://127.0.0.1:*/"),
    (2500, "done"),
];

pub(crate) const TASK_GROUP: Script = &[
    (1000, "Worker 1 finished"),
    (2000, "Worker 2 fails"),
    (2000, "Worker 3 was cancelled"),
    (2000, "worker-2 failed: the oven is cold"),
    (2000, "other errors: 0"),
    (2000, "Main goes on"),
];

pub(crate) const GATHER_RESULTS: Script = &[
    (0, "Fetching users..."),
    (0, "Fetching posts..."),
    (0, "Fetching comments..."),
    (1000, "Fetched comments"),
    (2000, "Fetched users"),
    (3000, "Fetched posts"),
    (3000, "Results: 7 users, posts [\"soup\", \"bread\"], comment \"salty\""),
];

pub(crate) const GATHER_ERRORS: Script = &[
    (2000, "value: soup after 2000 ms"),
    (2000, "error: the fish is off"),
    (2000, "value: salad after 1000 ms"),
    (3000, "soup cancelled"),
    (3000, "salad cancelled"),
    (3000, "gather failed: the fish is off"),
];

pub(crate) const FIRST_MIRROR: Script = &[
    (500, "berlin: file of the mirror that takes 500 ms"),
    (500, "2 pending"),
    (500, "tokyo: cancelled, another mirror was faster"),
    (500, "paris: cancelled, another mirror was faster"),
    (500, "cleanup complete"),
];

pub(crate) const CANCEL_WITH_CLEANUP: Script = &[
    (0, "step 0"),
    (1000, "step 1"),
    (2000, "step 2"),
    (2500, "cancelled, cleaning up"),
    (2700, "released after 2 dishes"),
    (2700, "main confirms: cancelled (Explicit)"),
];

pub(crate) const TIMEOUTS: Script = &[
    (1000, "timeout: dropped"),
    (1000, "timeout: timed out"),
    (2000, "wait_for: dropped"),
    (2000, "wait_for: timed out"),
    (4000, "rescheduled: dropped"),
    (4000, "rescheduled: timed out after two seconds"),
    (5000, "nested: dropped"),
    (5000, "nested: the inner one timed out"),
    (6000, "child of a group: dropped"),
    (6000, "group: timed out, its child is gone"),
];

pub(crate) const TASK_STATES: Script = &[
    (0, "before"),
    (0, "value     | done false | cancelled false | * | result - | error -"),
    (0, "failed    | done false | cancelled false | * | result - | error -"),
    (0, "cancelled | done false | cancelled false | * | result - | error -"),
    (0, "panicked  | done false | cancelled false | * | result - | error -"),
    (100, "after"),
    (100, "value     | done true  | cancelled false | Done(Value) | result 42 | error -"),
    (100, "failed    | done true  | cancelled false | Done(Failed) | result error | error burnt"),
    (100, "cancelled | done true  | cancelled true  | Done(Cancelled) | result error | error *cancelled*"),
    (
        100,
        "panicked  | done true  | cancelled false | Done(Panicked) | result error | error *the pan is on fire*",
    ),
    (100, "await value: value 42"),
    (100, "await failed: error burnt"),
    (100, "await cancelled: cancelled, Explicit"),
    (100, "await panicked: panic, the pan is on fire"),
];

pub(crate) const NAMES_AND_CALLBACKS: Script = &[
    (0, "chef opens the kitchen"),
    (500, "4 tasks"),
    (500, "main (Running, line *)"),
    (500, "  chef (Suspended, line *)"),
    (500, "    grill (Suspended, line *)"),
    (500, "    salad (Suspended, line *)"),
    (1000, "callback: chef is done: Done(Value)"),
    (1100, "1 task is left"),
    (1100, "result: dinner is served"),
];

pub(crate) const FORGOTTEN_TASK: Script = &[
    (100, "reported: eggs (spawned in line *): no eggs today"),
    (500, "main ends"),
    (500, "soup: cancelled, turning the stove off"),
    (600, "soup: the stove is off"),
];

pub(crate) const GRACEFUL_SHUTDOWN: Script = &[
    (0, "alice connected"),
    (0, "bob connected"),
    (500, "stop accepting"),
    (500, "alice: goodbye"),
    (500, "bob: goodbye"),
    (700, "alice: closed"),
    (700, "bob: closed"),
    (700, "all connections are closed"),
    (1700, "indexer: dropped"),
    (1700, "warning: *indexer*"),
];

pub(crate) const GROUP_GATHER_WAIT: Script = &[
    (1000, "group is ready"),
    (2000, "gather is ready"),
    (3000, "wait is ready"),
    (3000, "group      | gather     | wait      "),
    (3000, "wash done  | wash done  | wash done "),
    (3000, "cut done   | cut done   | cut done  "),
    (3000, "cook done  | cook done  | cook done "),
];
