//! `cargo xtask miri`: core's and testkit's tests under Miri, which sees undefined behaviour and leaks.
//!
//! Miri is hundreds of times slower than the machine, so tests shrink their numbers under `cfg(miri)`.
//! Arguments go through to `cargo miri test`.

use crate::{Outcome, shell};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    install()?;
    let words = ["run", "nightly", "cargo", "miri", "test"];
    let mut command = shell::program("rustup", &words);
    if arguments.is_empty() {
        command.args(["-p", "brigade-core", "-p", "brigade-testkit", "--lib", "--tests"]);
    }
    // Isolation would refuse the clock; preemption is off because async-task's documented races are benign
    // and the models of `cargo xtask loom` look at interleavings.
    command.args(arguments).env("MIRIFLAGS", "-Zmiri-disable-isolation");
    // The variable names the stable cargo that runs us, and would win over the toolchain asked for.
    command.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    command.env("CARGO_TARGET_DIR", shell::target().join("miri"));
    shell::run(command)
}

fn install() -> Outcome {
    let words = ["component", "add", "--toolchain", "nightly", "miri", "rust-src"];
    shell::run(shell::program("rustup", &words))
}
