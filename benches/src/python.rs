//! CPython's asyncio and uvloop as contenders: a process each, which runs the same workloads written in Python.

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use crate::contest::{Contender, Workload};
use crate::machine;

/// Adds the two to the workloads that they have, where Python is there.
pub(crate) fn join(workloads: &mut [Workload<'_>]) {
    for name in ["asyncio", "uvloop"] {
        let mut python = match Python::start(name) {
            Ok(python) => Rc::new(RefCell::new(python)),
            Err(why) => {
                println!("{name} is skipped: {why}");
                continue;
            }
        };
        let written = workloads.iter_mut().filter(|workload| WRITTEN.contains(&workload.name));
        written.for_each(|workload| workload.contenders.push(contender(name, workload.name, &mut python)));
    }
}

fn contender<'a>(
    name: &'static str,
    workload: &'static str,
    python: &mut Rc<RefCell<Python>>,
) -> Contender<'a> {
    let python = Rc::clone(python);
    Contender::new(name, move |rounds| {
        let measured = python.borrow_mut().run(workload, rounds);
        vec![measured.unwrap_or_else(|error| panic!("{workload} in Python: {error}"))]
    })
}

/// The workloads of `python/workloads.py`.
const WRITTEN: &[&str] = &[
    "spawn_join",
    "spawn_one",
    "spawn_detached",
    "yield_many",
    "skynet",
    "group_100k",
    "gather_10k",
    "cancel_100k",
    "timeout_ready",
    "timeout_pending",
];

/// A line with a name and a number of rounds goes in, a line with nanoseconds per operation comes out.
struct Python {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    fn start(event_loop: &str) -> Result<Python, String> {
        let mut command = Command::new("python3");
        command.args(["-c", include_str!("../python/workloads.py"), event_loop]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("python3 cannot be started: {error}"))?;
        machine::adopt(child.id());
        let orders = child.stdin.take().expect("it was asked to be a pipe");
        let answers = BufReader::new(child.stdout.take().expect("it was asked to be a pipe"));
        let mut python = Python { child, orders, answers };
        match python.answer() {
            Ok(ready) if ready == "ready" => Ok(python),
            _ => Err(format!("python3 has no {event_loop}, or is older than 3.11")),
        }
    }

    fn run(&mut self, workload: &str, rounds: u32) -> io::Result<f64> {
        writeln!(self.orders, "{workload} {rounds}")?;
        let answer = self.answer()?;
        answer.parse().map_err(|_| io::Error::other("the process has ended"))
    }

    fn answer(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It may be gone already; then there is nothing to end.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_is_written() {
        let text = include_str!("../python/workloads.py");
        for name in WRITTEN {
            assert!(text.contains(&format!("async def {name}()")), "{name}");
        }
    }
}
