//! `cargo xtask loom`: the models of `crates/*/tests/loom_*.rs`, over every interleaving.
//!
//! `cfg(loom)` swaps the atomics of a crate for loom's, so these tests are built apart from all others.

use std::fs;
use std::path::Path;

use crate::{Outcome, shell};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let models = models()?;
    if models.is_empty() {
        println!("no models: no crate has a tests/loom_*.rs");
    }
    for (package, model) in models {
        let mut command = shell::cargo(&["test", "--release", "--package", &package, "--test", &model]);
        command.args(arguments).env("RUSTFLAGS", "--cfg loom");
        command.env("CARGO_TARGET_DIR", shell::target().join("loom"));
        shell::run(command)?;
    }
    Ok(())
}

/// Package and test target of every model, in a fixed order.
fn models() -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for folder in entries(&shell::root().join("crates"))? {
        let package = format!("brigade-{folder}");
        let tests = shell::root().join("crates").join(&folder).join("tests");
        if !tests.is_dir() {
            continue;
        }
        let names = entries(&tests)?.into_iter().filter(|name| name.starts_with("loom_"));
        let models = names.filter_map(|name| Some(name.strip_suffix(".rs")?.to_owned()));
        found.extend(models.map(|model| (package.clone(), model)));
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<String>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
