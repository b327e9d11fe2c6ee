//! The tour: all fourteen programs in order, what each teaches, and whether each did what it must.
//!
//! `cargo run --release --example tour` runs them in real time on the default backend, in about thirty
//! seconds. With `-- --fast` the programs run on the simulator, whose clock jumps over the waiting; the two
//! that need the operating system (sockets and signals) then run in real time at a multiple of their speed.
//! A program that prints a wrong line, or a right one at a wrong time, fails the tour: the exit status says so.

#[path = "support/programs.rs"]
mod programs;

#[cfg(unix)]
#[path = "support/process.rs"]
mod process;

use brigade::backend::{Backend, Handle, RunOptions, run_main};
use brigade_testkit::Simulation;
use programs::script::{compare_exactly, compare_loosely};
use programs::{PROGRAMS, Play, Program, graceful_shutdown};
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What the table tells of a program.
struct Visit {
    name: &'static str,
    expected: Duration,
    measured: Duration,
    verdict: Result<(), String>,
}

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    match argument.as_deref() {
        None => tour(false),
        Some("--fast") => tour(true),
        Some(CHILD) => graceful_shutdown::run(TICK),
        Some(FAST_CHILD) => graceful_shutdown::run(TICK / FAST),
        Some(other) => {
            say(&format!("`{other}` is not an option of the tour; there is only `--fast`"));
            ExitCode::from(2)
        }
    }
}

fn tour(fast: bool) -> ExitCode {
    // One of the programs panics on purpose; one line about it is enough.
    std::panic::set_hook(Box::new(|panic| say(&format!("          (standard error: {panic})"))));
    let start = Instant::now();
    let mut visits = Vec::new();
    for (index, program) in PROGRAMS.iter().enumerate() {
        say(&format!("\n{:>2} · {}: {}", index + 1, program.name, program.teaches));
        visits.push(visit(program, fast));
    }
    print_table(&visits);
    say(&format!("\nThe tour took {:.1} s.", start.elapsed().as_secs_f32()));
    if visits.iter().all(|visit| visit.verdict.is_ok()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn visit(program: &Program, fast: bool) -> Visit {
    let last = program.script.last().map_or(0, |line| line.0);
    let (expected, (measured, verdict)) = match &program.play {
        Play::Anywhere(future) if fast => (Duration::from_millis(last), in_virtual_time(program, future())),
        play => {
            let speed = if fast { FAST } else { 1 };
            (Duration::from_millis(last) / speed, in_real_time(program, play, speed))
        }
    };
    Visit { name: program.name, expected, measured, verdict }
}

type Measured = (Duration, Result<(), String>);

fn in_virtual_time(program: &Program, future: programs::BoxFuture) -> Measured {
    let simulation = Simulation::new();
    let handle = Handle::new(simulation.clone());
    let outcome = run_main(&handle, &*simulation, RunOptions::new(), future);
    let measured = simulation.now() - brigade::Instant::ZERO;
    let verdict = outcome.map_err(|error| error.to_string());
    (measured, verdict.and_then(|()| compare_exactly(&(program.take)(), program.script)))
}

fn in_real_time(program: &Program, play: &Play, speed: u32) -> Measured {
    let start = Instant::now();
    let outcome = match play {
        Play::Anywhere(future) => brigade::run(future()).map_err(|error| error.to_string()),
        Play::Sockets(future) => brigade::run(future(speed)).map_err(|error| error.to_string()),
        Play::Process => return in_a_process(program, speed),
    };
    let measured = start.elapsed();
    (measured, outcome.and_then(|()| judge(&(program.take)(), program, measured, speed)))
}

/// Starts the tour once more, as the program, and stops it as an operator would.
#[cfg(unix)]
fn in_a_process(program: &Program, speed: u32) -> Measured {
    let mode = if speed == 1 { CHILD } else { FAST_CHILD };
    let stop = [(5 * TICK / speed, rustix::process::Signal::TERM)];
    let ended = std::env::current_exe().and_then(|tour| {
        process::run_with_signals(std::process::Command::new(tour).arg(mode), "bob connected", &stop)
    });
    match ended {
        Ok(ended) if ended.status.code() == Some(143) => {
            (ended.span, judge(&ended.lines, program, ended.span, speed))
        }
        Ok(ended) => (ended.span, Err(format!("it ended with {}", ended.status))),
        Err(error) => (Duration::ZERO, Err(error.to_string())),
    }
}

/// Where there are no such signals, the program is not shown.
#[cfg(not(unix))]
fn in_a_process(_program: &Program, _speed: u32) -> Measured {
    say("(this program needs the signals of Unix)");
    (Duration::ZERO, Ok(()))
}

fn judge(
    lines: &[(Duration, String)],
    program: &Program,
    measured: Duration,
    speed: u32,
) -> Result<(), String> {
    compare_loosely(lines, program.script, speed, SLACK)?;
    let expected = Duration::from_millis(program.script.last().map_or(0, |line| line.0)) / speed;
    if measured > expected + SLACK { Err("it ended too late".to_owned()) } else { Ok(()) }
}

fn print_table(visits: &[Visit]) {
    say(&format!("\n{:>2}   {:<20} {:>9} {:>9}", "", "program", "expected", "measured"));
    for (index, visit) in visits.iter().enumerate() {
        let (number, name) = (index + 1, visit.name);
        let (expected, measured) = (visit.expected.as_millis(), visit.measured.as_millis());
        let verdict = match &visit.verdict {
            Ok(()) => "ok".to_owned(),
            Err(difference) => format!("WRONG: {difference}"),
        };
        say(&format!("{number:>2}   {name:<20} {expected:>6} ms {measured:>6} ms   {verdict}"));
    }
}

fn say(text: &str) {
    // A closed standard output is no reason to stop: the exit status is still read by somebody.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// How much later than in the script a line may come in real time, on a busy machine.
const SLACK: Duration = Duration::from_millis(400);
/// The tick of `graceful_shutdown`.
const TICK: Duration = Duration::from_millis(100);
/// How many times faster the two real-time programs run in the fast tour.
const FAST: u32 = 5;
const CHILD: &str = "--graceful-shutdown";
const FAST_CHILD: &str = "--graceful-shutdown-fast";
