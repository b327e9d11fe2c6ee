//! `cargo xtask mutants --laws`: shows that a law's test can fail.
//!
//! `faults.txt` has one change per law that breaks it. All of them are planted at once in a copy of the sources, each
//! behind a question to the environment, so that one build serves all laws. Then each law's tests run with its fault
//! switched on, and must fail. A test that passes then has proved nothing so far.

mod faults;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::laws::{self, Law, stated};
use crate::{Outcome, shell};
use faults::Fault;

/// The variable that names the law whose fault is on.
const SWITCH: &str = "BRIGADE_FAULT";

/// Where the tests of the laws are: the suite, on the simulation, and what the executor alone can show.
const SUITES: [[&str; 2]; 2] = [["brigade-testkit", "simulation"], ["brigade-executor", "runner"]];

/// A run that takes longer hangs, which is a failure, too.
const LONGEST: Duration = Duration::from_secs(60);

pub(crate) fn run(arguments: &[String]) -> Outcome {
    if arguments.first().map(String::as_str) != Some("--laws") {
        return Err("`--laws` is the only kind of mutants so far; laws after it choose a few".to_owned());
    }
    let faults = faults::read()?;
    let wanted = |fault: &&Fault| arguments.len() == 1 || arguments[1..].contains(&fault.law.to_string());
    let tree = shell::target().join("mutants");
    plant(&tree, &faults)?;
    let suites = SUITES.iter().map(|suite| build(&tree, suite)).collect::<Result<Vec<_>, _>>()?;
    let mut survivors = Vec::new();
    for fault in faults.iter().filter(wanted) {
        let caught = is_caught(&suites, &fault.law)?;
        println!("{:<4} {}", fault.law.to_string(), if caught { "caught" } else { "NOT CAUGHT" });
        if !caught {
            survivors.push(fault.law.clone());
        }
    }
    report(&faults, &survivors)
}

/// Copies the sources and plants every fault. Files that do not change keep their times, so that building again is
/// quick.
fn plant(tree: &Path, faults: &[Fault]) -> Outcome {
    copy(&shell::root(), tree, "")?;
    for path in faults::ROOTS {
        let text = read(&shell::root().join(path))?;
        let question = format!(
            "\n#[doc(hidden)]\npub fn planted_fault(law: &str) -> bool {{\n    \
             std::env::var(\"{SWITCH}\").is_ok_and(|on| on == law)\n}}\n"
        );
        write(&tree.join(path), &(text + &question))?;
    }
    for file in faults::files(faults) {
        let text = read(&shell::root().join(file))?;
        let planted =
            faults.iter().filter(|fault| fault.file == file).try_fold(text, |text, it| it.plant(&text))?;
        write(&tree.join(file), &planted)?;
    }
    Ok(())
}

/// Copies what the build needs.
fn copy(from: &Path, to: &Path, below: &str) -> Outcome {
    let failed = |error| format!("{}: {error}", from.join(below).display());
    for entry in fs::read_dir(from.join(below)).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let skipped = name.starts_with('.') || name == "target" || entry.path().join("CACHEDIR.TAG").exists();
        if skipped || faults::is_planted(&path) {
            continue;
        }
        if entry.path().is_dir() {
            copy(from, to, &path)?;
        } else {
            write_bytes(&to.join(&path), &fs::read(entry.path()).map_err(failed)?)?;
        }
    }
    Ok(())
}

/// Builds a suite; gives its program.
fn build(tree: &Path, [package, test]: &[&str; 2]) -> Result<PathBuf, String> {
    let words = ["test", "--no-run", "--package", package, "--test", test];
    let mut command = shell::cargo(&words);
    command.current_dir(tree).env("RUSTFLAGS", "-Awarnings").env("CARGO_TARGET_DIR", tree.join("target"));
    let output = command.stderr(Stdio::piped()).output().map_err(|error| format!("cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let program =
        text.lines().rev().find_map(|line| line.trim().strip_prefix("Executable ")?.split(['(', ')']).nth(1));
    match program {
        Some(program) if output.status.success() => Ok(tree.join(program)),
        _ => Err(format!("the mutants do not build\n{text}")),
    }
}

/// Whether a test of the law fails while its fault is on.
fn is_caught(suites: &[PathBuf], law: &Law) -> Result<bool, String> {
    for suite in suites {
        if fails(suite, law)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn fails(suite: &Path, law: &Law) -> Result<bool, String> {
    let filter = format!("law_{}_", law.to_string().to_lowercase());
    let mut command = Command::new(suite);
    command.arg(&filter).env(SWITCH, law.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", suite.display()))?;
    let begin = Instant::now();
    while begin.elapsed() < LONGEST {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(!status.success());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = child.kill().and_then(|()| child.wait());
    ended.map(|_| true).map_err(|error| error.to_string())
}

fn report(faults: &[Fault], survivors: &[Law]) -> Outcome {
    let text = read(&shell::root().join("docs/semantics.md"))?;
    let planted = |law: &Law| faults.iter().any(|fault| fault.law == *law);
    let without: Vec<Law> =
        stated(&text).into_iter().map(|(_, law)| law).filter(|law| !planted(law)).collect();
    println!("laws without a planted fault: {} ({})", without.len(), laws::list(&without));
    println!("laws whose test cannot fail: {}", survivors.len());
    if survivors.is_empty() { Ok(()) } else { Err(format!("not caught: {}", laws::list(survivors))) }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    write_bytes(path, text.as_bytes())
}

/// Writes unless the file holds just this.
fn write_bytes(path: &Path, bytes: &[u8]) -> Outcome {
    let failed = |error| format!("{}: {error}", path.display());
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, bytes).map_err(failed)
}
