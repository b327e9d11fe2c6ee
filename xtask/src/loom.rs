//! `cargo xtask loom`: the models of the crates that hand-write atomics, over every interleaving.
//!
//! `cfg(loom)` swaps the atomics of a crate for loom's. They then work inside a model only, so the models are built
//! apart, and only tests with `loom` in their path run. Arguments go through to the test programs.

use std::fs;

use crate::{Outcome, shell};

/// A crate takes part by depending on loom under this cfg.
const MARK: &str = "[target.'cfg(loom)'.dependencies]";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let packages = packages()?;
    if packages.is_empty() {
        println!("no crate depends on loom under cfg(loom)");
    }
    for package in packages {
        let mut command = shell::cargo(&["test", "--release", "--lib", "--package", &package, "--", "loom"]);
        // Link-time optimisation would take longer than the models; overflow and debug assertions are worth having.
        command.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
        command.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
        command.args(arguments).env("RUSTFLAGS", "--cfg loom");
        // Other flags make other artifacts: in a folder of their own they do not throw away the usual ones.
        command.env("CARGO_TARGET_DIR", shell::target().join("loom"));
        shell::run(command)?;
    }
    Ok(())
}

/// The library crates with models, in alphabetical order.
fn packages() -> Result<Vec<String>, String> {
    let folder = shell::root().join("crates");
    let failed = |error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap_or_default();
        if manifest.contains(MARK) {
            found.push(format!("brigade-{}", entry.file_name().to_string_lossy()));
        }
    }
    found.sort();
    Ok(found)
}
