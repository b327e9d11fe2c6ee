//! Runs a program in a process of its own, and sends it signals at given times.

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How the process ended, and what it had printed.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit status.
    pub(crate) status: ExitStatus,
    /// Its lines, with the times that it gave them.
    pub(crate) lines: Vec<(Duration, String)>,
    /// From its first line to its end.
    pub(crate) span: Duration,
}

/// Starts `command`, waits for its line `ready`, and sends each signal that long after the one before.
///
/// # Errors
///
/// The command cannot be started, or its output cannot be read.
pub(crate) fn run_with_signals(
    command: &mut Command,
    ready: &str,
    signals: &[(Duration, Signal)],
) -> std::io::Result<Ended> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let output = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
    let mut lines = Vec::new();
    let mut start = Instant::now();
    for line in output.lines() {
        let line = line?;
        println_through(&line);
        let Some((at, text)) = parse(&line) else { continue };
        if lines.is_empty() {
            start = Instant::now();
        }
        if text == ready {
            send(Pid::from_child(&child), signals.to_vec());
        }
        lines.push((at, text));
    }
    Ok(Ended { status: child.wait()?, lines, span: start.elapsed() })
}

/// Sends from a thread, since this one reads what the program answers.
fn send(process: Pid, signals: Vec<(Duration, Signal)>) {
    std::thread::spawn(move || {
        let never = std::sync::mpsc::channel::<()>();
        for (after, signal) in signals {
            let _ = never.1.recv_timeout(after);
            if kill_process(process, signal).is_err() {
                return; // it ended before its last signal
            }
        }
    });
}

/// Takes `   500 ms  text` apart.
fn parse(line: &str) -> Option<(Duration, String)> {
    let (millis, text) = line.trim_start().split_once(" ms  ")?;
    Some((Duration::from_millis(millis.parse().ok()?), text.to_owned()))
}

fn println_through(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
