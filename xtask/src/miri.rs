//! `cargo xtask miri`: core's and testkit's tests under Miri, which sees undefined behaviour, races and leaks.
//!
//! Miri is hundreds of times slower than the machine, so tests shrink their numbers under `cfg(miri)`.
//! Arguments replace the default choice of packages and go through to `cargo miri test`.

use crate::{Outcome, shell};

/// What Miri can run: everything that asks no system for sockets.
const DEFAULT: &[&str] = &["-p", "brigade-core", "-p", "brigade-testkit", "--lib", "--tests"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let install = ["component", "add", "--toolchain", "nightly", "miri", "rust-src"];
    shell::run(shell::program("rustup", &install))?;
    let mut command = shell::program("rustup", &["run", "nightly", "cargo", "miri", "test"]);
    if arguments.is_empty() {
        command.args(DEFAULT);
    }
    // Isolation would hide the clock, which tests with real time read.
    command.args(arguments).env("MIRIFLAGS", "-Zmiri-disable-isolation");
    // These name the stable toolchain that runs us, and would win over the one asked for.
    command.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTDOC").env_remove("RUSTUP_TOOLCHAIN");
    command.env("CARGO_TARGET_DIR", shell::target().join("miri"));
    shell::run(command)
}
