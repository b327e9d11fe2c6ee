//! `cargo xtask explore --programs N --seed S`: random programs under explored schedules, against the plain
//! reference model of the laws. All flags go through.

use crate::{Outcome, shell};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut command = shell::cargo(&["run", "--release", "--quiet", "--package", "brigade-testkit"]);
    command.args(["--example", "explore", "--"]).args(arguments);
    shell::run(command)
}
