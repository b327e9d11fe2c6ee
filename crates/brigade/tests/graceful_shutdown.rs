//! Law R2 with real signals, shown on the example `graceful_shutdown` in a process of its own.
//!
//! The program must be the whole process, so this test has a `main` of its own (`harness = false`).

#[cfg(unix)]
#[path = "graceful_shutdown/unix.rs"]
mod unix;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    unix::main()
}

#[cfg(not(unix))]
fn main() {}
