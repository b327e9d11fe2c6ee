//! Law R2 with real signals, shown on the example `graceful_shutdown` in a process of its own.
#![cfg(unix)]

#[path = "../examples/graceful_shutdown.rs"]
#[allow(dead_code, reason = "the example's own main is not called from here")]
pub mod graceful_shutdown;

#[path = "../examples/support/process.rs"]
pub mod process;

#[path = "../examples/support/script.rs"]
#[allow(dead_code, reason = "the scripts of the other programs")]
pub mod script;

use process::{Ended, run_with_signals};
use rustix::process::Signal;
use std::process::{Command, Termination};
use std::time::Duration;

const TICK: Duration = Duration::from_millis(100);
const PROCESS: &str = "BRIGADE_EXAMPLE_PROCESS";

/// The program itself, when this file is started by one of the tests below; else nothing.
#[test]
fn process_of_the_program() {
    if std::env::var_os(PROCESS).is_some() {
        graceful_shutdown::run(TICK).report().exit_process();
    }
}

fn stopped_by(signals: &[(Duration, Signal)]) -> Ended {
    let mut command = Command::new(std::env::current_exe().expect("this test has a file"));
    command.args(["--exact", "process_of_the_program", "--nocapture"]).env(PROCESS, "1");
    run_with_signals(&mut command, "bob connected", signals).expect("the test starts itself")
}

fn words(ended: &Ended) -> Vec<&str> {
    ended.lines.iter().map(|line| line.1.as_str()).collect()
}

#[test]
fn law_r2_a_signal_ends_the_program_within_the_grace() {
    let ended = stopped_by(&[(5 * TICK, Signal::TERM)]);
    assert_eq!(ended.status.code(), Some(143), "{:?}", ended.lines);
    script::compare_loosely(&ended.lines, script::GRACEFUL_SHUTDOWN, 1, Duration::from_secs(5))
        .expect("all lines");
    let position =
        |word: &str| words(&ended).iter().position(|line| line.contains(word)).expect("compared above");
    let order =
        ["bob connected", "stop accepting", "alice: goodbye", "alice: closed", "all connections", "dropped"];
    assert!(order.is_sorted_by_key(|word| position(word)), "{:?}", ended.lines);
    assert!(position("bob: closed") < position("all connections"), "{:?}", ended.lines);
}

#[test]
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
