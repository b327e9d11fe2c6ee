//! `cargo xtask oracle`: the scenarios of the oracle against the traces that CPython's asyncio gave.
//!
//! Takes the corpus of the repository, or each `--file F`. The last line is `equal N of M`; lines of the given
//! corpus that contradict a law are named before it, with the reason, and are not among the M.

use std::path::Path;

use crate::{Outcome, shell};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut command =
        shell::cargo(&["run", "--quiet", "--package", "brigade-testkit", "--example", "oracle", "--"]);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let file = match (argument.as_str(), rest.next()) {
            ("--file", Some(file)) => file,
            ("--file", None) => return Err("--file needs a corpus".to_owned()),
            _ => return Err(format!("`{argument}` is not known; usage: cargo xtask oracle [--file F]..")),
        };
        // Cargo runs the program in another folder.
        let path = Path::new(file).canonicalize().map_err(|error| format!("{file}: {error}"))?;
        command.arg(path);
    }
    shell::run(command)
}
