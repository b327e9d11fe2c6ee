//! `run`, `Runner` and the ends that they can come to.

use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use brigade_core::{CancelKind, TaskError, current_task, sleep, spawn, spawn_local};
use brigade_executor::{Runner, run};

#[test]
fn run_gives_mains_outcome() {
    let outcome: Result<i32, TaskError<String>> = run(async { Ok(7) });
    assert_eq!(outcome.expect("a value"), 7);
    let outcome: Result<(), TaskError<String>> = run(async { Err("burnt".to_owned()) });
    assert!(matches!(outcome, Err(TaskError::Failed(error)) if error == "burnt"));
    let outcome = run(async { assert_eq!(1, 2, "spilt") });
    assert!(matches!(outcome, Err(TaskError::Panicked(panic)) if panic.message().contains("spilt")));
}

#[test]
fn law_r3_a_nested_run_names_both_places() {
    let outcome: Result<(), TaskError<Infallible>> = run(async {
        let error = Runner::new().try_run(async {}).expect_err("inside a task");
        assert!(error.is_nested());
        assert_eq!(error.to_string().matches("tests/runner.rs:").count(), 2, "{error}");
        let outcome = spawn(async { drop(run(async {})) }).await;
        assert!(
            matches!(outcome, Err(TaskError::Panicked(panic)) if panic.message().contains("another thread"))
        );
    });
    outcome.expect("the outer one goes on");
}

#[test]
fn law_r3_impossible_workers_are_an_error() {
    for workers in [0, usize::MAX] {
        let error = Runner::new().workers(workers).try_run(async {}).expect_err("impossible");
        assert!(error.is_invalid(), "{error}");
    }
}

#[test]
fn run_local_lifts_send_on_every_backend() {
    for runner in [Runner::new().workers(2), Runner::current_thread()] {
        let shared = Rc::new(Cell::new(0));
        let inside = shared.clone();
        let outcome: Result<(), TaskError<Infallible>> = runner.run_local(async move {
            let thread = std::thread::current().id();
            let tasks = (0..100).map(|_| {
                let inside = inside.clone();
                spawn_local(async move {
                    brigade_core::yield_now().await;
                    sleep(Duration::from_millis(1)).await;
                    assert_eq!(std::thread::current().id(), thread, "a local task stays at home");
                    inside.set(inside.get() + 1);
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.expect("a local task ends well");
            }
        });
        outcome.expect("no error");
        assert_eq!(shared.get(), 100);
    }
}

#[test]
fn local_tasks_stay_on_the_worker_that_spawned_them() {
    let outcome: Result<(), TaskError<Infallible>> = Runner::new().workers(4).run(async {
        let hosts = (0..50).map(|_| {
            spawn(async {
                // A task that may move asks for one that may not, and only waits for it from anywhere.
                let inner = {
                    let thread = std::thread::current().id();
                    let local = Rc::new(thread);
                    spawn_local(async move {
                        for _ in 0..20 {
                            brigade_core::yield_now().await;
                            assert_eq!(std::thread::current().id(), *local);
                        }
                    })
                };
                inner.await.expect("a local task ends well");
            })
        });
        for host in hosts.collect::<Vec<_>>() {
            host.await.expect("a host ends well");
        }
    });
    outcome.expect("no error");
}

#[test]
fn the_name_and_the_grace_are_used() {
    let runner = Runner::current_thread().name("chef").grace(Duration::from_millis(20));
    let begin = std::time::Instant::now();
    let outcome: Result<(), TaskError<Infallible>> = runner.run(async {
        assert_eq!(&*current_task().expect("main").name(), "chef");
        let stubborn = spawn(async {
            let _ = brigade_core::shield(sleep(Duration::from_secs(3600))).await;
        });
        brigade_core::yield_now().await;
        drop(stubborn);
    });
    outcome.expect("no error");
    assert!(begin.elapsed() < Duration::from_secs(5), "what is left after the grace is aborted");
}

/// Signals, in processes of their own.
#[cfg(unix)]
mod signals {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    const CHILD: &str = "BRIGADE_TEST_SIGNAL";

    /// Begins the test of this name again in a child process, and waits until it says that it is ready.
    fn child(name: &str) -> (Child, impl BufRead + use<>) {
        child_with(name, "")
    }

    fn child_with(name: &str, grace: &str) -> (Child, impl BufRead + use<>) {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", name, "--nocapture", "--test-threads=1"])
            .env(CHILD, name)
            .env("GRACE", grace)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child process");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        while !line.ends_with("ready\n") {
            assert_ne!(output.read_line(&mut line).expect("readable"), 0, "the child ended: {line}");
        }
        (child, output)
    }

    fn is_child(name: &str) -> bool {
        std::env::var(CHILD).is_ok_and(|child| child == name)
    }

    fn send(signal: &str, child: &Child) {
        let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(status.expect("kill is everywhere").success());
    }

    fn end(mut child: Child, mut output: impl BufRead) -> (Option<i32>, String) {
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("readable");
        let status = child.wait().expect("it ends");
        assert!(status.code().is_some(), "{status}: {rest}");
        (status.code(), rest)
    }

    /// `ExitCode` has no number to read, so the child leaves by it through `main`'s own way: compared as text.
    fn leave(code: std::process::ExitCode) -> ! {
        let text = format!("{code:?}");
        let number = text.chars().filter(char::is_ascii_digit).collect::<String>();
        std::process::exit(number.parse().expect("a number"));
    }

    #[test]
    fn law_r2_the_first_signal_cancels_main() {
        let name = "signals::law_r2_the_first_signal_cancels_main";
        if is_child(name) {
            leave(Runner::new().workers(2).signals(true).exit_code(async {
                println!("ready");
                match brigade_core::catch_cancel(sleep(Duration::from_secs(3600))).await {
                    Ok(()) => println!("slept"),
                    Err(cancelled) => {
                        assert_eq!(cancelled.reason().kind(), CancelKind::Signal);
                        println!("cleaned");
                        cancelled.resume().await;
                    }
                }
            }));
        }
        for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
            let (child, output) = child(name);
            send(signal, &child);
            let (status, rest) = end(child, output);
            assert_eq!((status, rest.as_str()), (Some(code), "cleaned\n"));
        }
    }

    #[test]
    fn law_r2_the_second_signal_ends_the_grace() {
        let name = "signals::law_r2_the_second_signal_ends_the_grace";
        if is_child(name) {
            let runner = Runner::new().workers(2).grace(Duration::from_secs(3600)).signals(true);
            leave(runner.exit_code(async {
                let stubborn = spawn(async {
                    println!("ready");
                    brigade_core::shield(sleep(Duration::from_secs(3600))).await;
                });
                let _ =
                    brigade_core::catch_cancel(sleep(Duration::from_secs(3600))).await.map_err(|cancelled| {
                        println!("first");
                        cancelled.uncancel();
                    });
                drop(stubborn);
            }));
        }
        let (child, mut output) = child(name);
        send("-TERM", &child);
        let mut line = String::new();
        output.read_line(&mut line).expect("readable");
        assert_eq!(line, "first\n");
        send("-TERM", &child);
        assert_eq!(end(child, output).0, Some(143));
    }

    #[test]
    fn law_r2_a_main_that_does_not_listen_is_ended_by_a_second_signal_or_after_the_grace() {
        let name =
            "signals::law_r2_a_main_that_does_not_listen_is_ended_by_a_second_signal_or_after_the_grace";
        if is_child(name) {
            let grace =
                Duration::from_millis(std::env::var("GRACE").expect("set").parse().expect("a number"));
            leave(Runner::new().workers(2).grace(grace).signals(true).exit_code(async {
                println!("ready");
                brigade_core::shield(sleep(Duration::from_secs(3600))).await;
            }));
        }
        // Two different signals, since two of a kind may become one on their way.
        for (grace, signals) in [("3600000", &["-INT", "-TERM"][..]), ("50", &["-INT"])] {
            let (child, output) = child_with(name, grace);
            signals.iter().for_each(|signal| send(signal, &child));
            let (code, _) = end(child, output);
            assert!(matches!(code, Some(130 | 143)), "{code:?}");
        }
    }

    #[test]
    fn exit_codes_of_ordinary_ends() {
        let code = |outcome: Result<(), &'static str>| {
            format!("{:?}", Runner::current_thread().exit_code(async move { outcome }))
        };
        assert_eq!(code(Ok(())), format!("{:?}", std::process::ExitCode::SUCCESS));
        assert_eq!(code(Err("burnt")), format!("{:?}", std::process::ExitCode::FAILURE));
    }
}
