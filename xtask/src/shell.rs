//! Runs other programs, always from the root of the workspace.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

/// The root of the workspace: the folder above this package.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("xtask lies in the workspace's folder").to_path_buf()
}

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// A call of the cargo that runs this program.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// A call of a program that may not be there.
pub(crate) fn program(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments).current_dir(root());
    command
}

/// Runs the command to its end with our own standard streams.
pub(crate) fn run(mut command: Command) -> Outcome {
    let status = command.status().map_err(|error| format!("{}: {error}", shown(&command)))?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", shown(&command))) }
}

/// Runs the command, prints its standard output as it comes, and hands each line to `see`.
pub(crate) fn run_seen(mut command: Command, mut see: impl FnMut(&str)) -> Outcome {
    let name = shown(&command);
    let failed = |error| format!("{name}: {error}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let output = child.stdout.take().expect("standard output was asked to be a pipe");
    let mut output = BufReader::new(output);
    let mut bytes = Vec::new();
    // Read to the end, whatever is printed: a pipe that nobody reads would end the programs behind it.
    while output.read_until(b'\n', &mut bytes).map_err(failed)? > 0 {
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        println!("{line}");
        see(line);
        bytes.clear();
    }
    let status = child.wait().map_err(failed)?;
    if status.success() { Ok(()) } else { Err(format!("{name} ended with {status}")) }
}

/// Whether the command can be started and ends well; its output is thrown away.
pub(crate) fn succeeds(mut command: Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// The command as a person would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    format!("`{}`", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_is_no_text_is_read_to_its_end() {
        let mut lines = Vec::new();
        let command = program("printf", &["a\\n\\377b\\nc\\n"]);
        run_seen(command, |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines, ["a", "\u{fffd}b", "c"]);
    }
}
