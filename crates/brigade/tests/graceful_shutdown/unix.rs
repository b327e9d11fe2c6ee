//! The tests: they start their own program once more, send it signals, and read what it prints.
#![allow(clippy::print_stdout, reason = "the tests report as libtest does")]

#[path = "../../examples/graceful_shutdown.rs"]
#[allow(dead_code, reason = "the example's own main is not called from here")]
mod graceful_shutdown;

#[path = "../../examples/support/process.rs"]
mod process;

#[path = "../../examples/support/script.rs"]
#[allow(dead_code, reason = "the scripts of the other programs")]
mod script;

use process::{Ended, run_with_signals};
use rustix::process::Signal;
use std::process::{Command, ExitCode};
use std::time::Duration;

const TESTS: &[(&str, fn())] = &[
    ("law_r2_a_signal_ends_the_program_within_the_grace", law_r2_a_signal_ends_the_program_within_the_grace),
    ("law_r2_a_second_signal_ends_the_grace", law_r2_a_second_signal_ends_the_grace),
];

/// The program, if it was started by one of the tests; else the tests whose names contain the arguments.
pub(crate) fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == [PROGRAM] {
        return graceful_shutdown::run(TICK);
    }
    let wanted = |name: &str| arguments.iter().all(|it| it.starts_with('-') || name.contains(it));
    for (name, test) in TESTS.iter().filter(|(name, _)| wanted(name)) {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn stopped_by(signals: &[(Duration, Signal)]) -> Ended {
    let this = std::env::current_exe().expect("this test has a file");
    run_with_signals(Command::new(this).arg(PROGRAM), "bob connected", signals)
        .expect("the test starts itself")
}

fn words(ended: &Ended) -> Vec<&str> {
    ended.lines.iter().map(|line| line.1.as_str()).collect()
}

fn law_r2_a_signal_ends_the_program_within_the_grace() {
    let ended = stopped_by(&[(5 * TICK, Signal::TERM)]);
    assert_eq!(ended.status.code(), Some(143), "{:?}", ended.lines);
    assert!(ended.span >= 17 * TICK - SLACK, "the grace was not waited for: {:?}", ended.lines);
    script::compare_loosely(&ended.lines, script::GRACEFUL_SHUTDOWN, 1, Duration::from_secs(5))
        .expect("all lines");
    let position =
        |word: &str| words(&ended).iter().position(|line| line.contains(word)).expect("compared above");
    let order =
        ["bob connected", "stop accepting", "alice: goodbye", "alice: closed", "all connections", "dropped"];
    assert!(order.is_sorted_by_key(|word| position(word)), "{:?}", ended.lines);
    assert!(position("bob: closed") < position("all connections"), "{:?}", ended.lines);
}

fn law_r2_a_second_signal_ends_the_grace() {
    // The second comes one tick into the grace of ten, which starts when main has ended, after two.
    let ended = stopped_by(&[(TICK, Signal::INT), (3 * TICK, Signal::INT)]);
    assert_eq!(ended.status.code(), Some(130), "{:?}", ended.lines);
    let (dropped_at, _) =
        ended.lines.iter().find(|line| line.1 == "indexer: dropped").expect("it was aborted");
    let (stopped_at, _) = ended.lines.iter().find(|line| line.1 == "stop accepting").expect("it was stopped");
    let rest = dropped_at.saturating_sub(*stopped_at);
    assert!((3 * TICK..10 * TICK).contains(&rest), "the grace was not cut short: {:?}", ended.lines);
}

const TICK: Duration = Duration::from_millis(100);
/// The parent reads the first line a little later than the child wrote it.
const SLACK: Duration = Duration::from_millis(50);
const PROGRAM: &str = "--program";
