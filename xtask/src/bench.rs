//! `cargo xtask bench`: the workloads of `benches/`, built for speed. All flags go through.

use crate::{Outcome, shell};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut command = shell::cargo(&["run", "--release", "--quiet", "--package", "brigade-benches", "--"]);
    command.args(arguments);
    shell::run(command)
}
