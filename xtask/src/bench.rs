//! `cargo xtask bench`: the workloads of `benches/`, built for speed. All flags go through.

use crate::{Outcome, shell};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    // The allocator that counts is a program of its own, since it takes time.
    let counts = arguments.iter().any(|argument| argument == "--counters");
    let program = if counts { "counters" } else { "brigade-benches" };
    let words = ["run", "--release", "--quiet", "--package", "brigade-benches", "--bin", program, "--"];
    let mut command = shell::cargo(&words);
    command.args(arguments);
    shell::run(command)
}
