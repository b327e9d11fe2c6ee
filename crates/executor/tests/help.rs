//! Who is called for what the reactor brings (`src/scheduler/idle.md`): nobody for what is done in a moment, and somebody in
//! any case for what would wait for a stuck worker.
#![cfg(unix)]

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use brigade_core::{Handle, RunOptions, TaskError, run_main, spawn, spawn_blocking};
use brigade_executor::{Async, MultiThread};

type Answer = Result<(), TaskError<io::Error>>;

/// Gives the client, which blocks, the other ends of some sockets on which tasks send back what comes. Each task calls
/// `before` for each byte.
fn with_echo(
    before: impl Fn() + Clone + Send + 'static,
    client: impl FnOnce(&MultiThread, &mut [UnixStream]) -> io::Result<()> + Send + 'static,
) {
    let backend = MultiThread::new(2).expect("workers");
    let counted = backend.clone();
    let main = async move {
        let mut ends = Vec::new();
        for _ in 0..SOCKETS {
            let (here, there) = UnixStream::pair()?;
            let here = Async::new(here)?;
            let before = before.clone();
            drop(spawn(async move {
                let mut byte = [0];
                while here.read_with(|mut end| end.read(&mut byte)).await? > 0 {
                    before();
                    here.write_with(|mut end| end.write(&byte)).await?;
                }
                Ok::<(), io::Error>(())
            }));
            ends.push(there);
        }
        spawn_blocking(move || client(&counted, &mut ends)).await.map_err(io::Error::other)
    };
    let outcome: Answer = run_main(&Handle::new(backend.clone()), &*backend, RunOptions::new(), main);
    outcome.expect("sockets work");
}

/// Asks on all sockets at once and waits for the answers, that many times.
fn ask(ends: &mut [UnixStream], times: usize) -> io::Result<()> {
    for _ in 0..times {
        ends.iter_mut().try_for_each(|end| end.write_all(b"x"))?;
        ends.iter_mut().try_for_each(|end| end.read_exact(&mut [0]))?;
    }
    Ok(())
}

#[test]
fn nobody_is_called_for_what_is_done_in_a_moment() {
    with_echo(
        || {},
        |backend, ends| {
            ask(ends, 100)?;
            let before = backend.counters().wakes;
            ask(ends, TIMES)?;
            let wakes = backend.counters().wakes - before;
            assert!(wakes < TIMES as u64 / 4, "{wakes} calls for {TIMES} bursts");
            Ok(())
        },
    );
}

#[test]
fn what_comes_with_a_task_that_gets_stuck_is_done_by_another_worker() {
    let (sticks, begun, others) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let stick = sticks.clone();
    let before = move || {
        if !stick.load(Ordering::SeqCst) {
            return;
        }
        if begun.fetch_add(1, Ordering::SeqCst) > 0 {
            others.fetch_add(1, Ordering::SeqCst);
            return;
        }
        let begin = Instant::now();
        while others.load(Ordering::SeqCst) < SOCKETS - 1 {
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "nobody takes what lies behind the stuck task"
            );
            std::hint::spin_loop();
        }
    };
    with_echo(before, move |_, ends| {
        // So the worker is known to be fast.
        ask(ends, 100)?;
        sticks.store(true, Ordering::SeqCst);
        ask(ends, 1)
    });
}

const SOCKETS: usize = 8;
const TIMES: usize = 400;
