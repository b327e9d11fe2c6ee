//! `cargo xtask explore --programs N --seed S`: random programs under explored schedules, against the plain
//! reference model of the laws.
//!
//! The run is the testkit's test `model`, which is told by the environment how much to do; it also plants a bug and
//! shows that it is found.

use crate::{Outcome, shell};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (programs, seed) = flags(arguments)?;
    let mut command = shell::cargo(&["test", "--release", "--package", "brigade-testkit", "--test", "model"]);
    // Link-time optimisation would take longer than the programs.
    command.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    command.args(["--", "--nocapture"]).env("PROGRAMS", programs.to_string()).env("SEED", seed.to_string());
    shell::run(command)
}

/// How many programs, and from which seed.
fn flags(arguments: &[String]) -> Result<(u64, u64), String> {
    let (mut programs, mut seed) = (50_000, 1);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = words.next().and_then(|value| value.parse().ok());
        match (word.as_str(), value) {
            ("--programs", Some(value)) => programs = value,
            ("--seed", Some(value)) => seed = value,
            _ => return Err(format!("{word}: it takes `--programs N` and `--seed S`")),
        }
    }
    Ok((programs, seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(flags(&words("--seed 7 --programs 20")), Ok((20, 7)));
        assert_eq!(flags(&[]), Ok((50_000, 1)));
        assert!(flags(&words("--seed")).is_err() && flags(&words("--depth 3")).is_err());
    }
}
