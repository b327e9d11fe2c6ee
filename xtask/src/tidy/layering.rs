//! Dependencies point one way (docs/architecture.md): everything rests on core, and siblings do not know each
//! other. Read from the manifests, so that a `use` cannot even be written.

use super::finding::Finding;
use super::tree::{File, Tree};

/// A member, the members it may depend on, and those that its tests may use besides.
type Layer = (&'static str, &'static [&'static str], &'static [&'static str]);

const LAYERS: &[Layer] = &[
    ("crates/core", &[], &["brigade-testkit"]),
    ("crates/executor", &["brigade-core"], &["brigade-testkit"]),
    ("crates/combinators", &["brigade-core"], &["brigade-testkit"]),
    ("crates/testkit", &["brigade-core", "brigade-combinators"], &[]),
    // What the attributes write names the facade, but they are built without it.
    ("crates/macros", &[], &["brigade", "brigade-testkit"]),
    (
        "crates/brigade",
        &["brigade-core", "brigade-executor", "brigade-combinators", "brigade-macros"],
        &["brigade-testkit"],
    ),
    ("benches", &["brigade-core", "brigade-executor", "brigade-combinators", "brigade"], &[]),
    ("xtask", &[], &[]),
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.files().iter().filter(|file| file.path.ends_with("/Cargo.toml"));
    manifests.flat_map(check_manifest).collect()
}

fn check_manifest(file: &File) -> Vec<Finding> {
    let folder = file.path.trim_end_matches("/Cargo.toml");
    let Some((_, normal, dev)) = LAYERS.iter().find(|(layer, ..)| *layer == folder) else {
        return vec![Finding::new(
            &file.path,
            1,
            "a member without a layer: add it to the table in layering.rs",
        )];
    };
    let mut findings: Vec<Finding> = dependencies(&file.text)
        .into_iter()
        .filter(|(_, _, name)| name.starts_with("brigade"))
        .filter(|(_, for_tests, name)| {
            // Tests may take the package itself, with features on.
            let in_tests = *for_tests && (dev.contains(name) || folder == format!("crates/{name}"));
            !in_tests && !normal.contains(name)
        })
        .map(|(line, _, name)| Finding::new(&file.path, line, format!("{folder} must not depend on {name}")))
        .collect();
    if !file.text.contains("[lints]\nworkspace = true") {
        findings.push(Finding::new(&file.path, 1, "does not take the workspace's lints"));
    }
    findings
}

/// Line, whether only for tests, and name of every dependency.
fn dependencies(manifest: &str) -> Vec<(usize, bool, &str)> {
    let mut section = "";
    let mut found = Vec::new();
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            // The long form `[dependencies.name]`.
            if let Some((table, name)) = section.rsplit_once("dependencies.") {
                found.push((index + 1, table.ends_with("dev-"), name));
            }
        } else if section.ends_with("dependencies") && !line.starts_with('#') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or("");
            if !name.is_empty() {
                found.push((index + 1, section.ends_with("dev-dependencies"), name));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    const LINTS: &str = "[lints]\nworkspace = true\n";

    #[test]
    fn a_sibling_is_named() {
        let text =
            format!("{LINTS}[dependencies]\nbrigade-core.workspace = true\nbrigade-executor = \"1\"\n");
        let tree = Tree::of(&[("crates/combinators/Cargo.toml", &text)]);
        let want = "crates/combinators/Cargo.toml:5: crates/combinators must not depend on brigade-executor";
        assert_eq!(told(&check(&tree)), [want]);
    }

    #[test]
    fn testkit_serves_tests_only() {
        let text = format!("{LINTS}[dev-dependencies]\nbrigade-testkit.workspace = true\n");
        assert_eq!(told(&check(&Tree::of(&[("crates/core/Cargo.toml", &text)]))), [""; 0]);
        let text = format!("{LINTS}[dependencies.brigade-testkit]\nworkspace = true\n");
        assert_eq!(check(&Tree::of(&[("crates/core/Cargo.toml", &text)])).len(), 1);
    }

    #[test]
    fn an_unknown_member_and_missing_lints_are_found() {
        assert_eq!(check(&Tree::of(&[("crates/stranger/Cargo.toml", LINTS)])).len(), 1);
        assert_eq!(check(&Tree::of(&[("xtask/Cargo.toml", "[package]\n")])).len(), 1);
    }
}
