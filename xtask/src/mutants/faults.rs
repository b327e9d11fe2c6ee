//! Reads `faults.txt` and plants its changes.

use std::collections::BTreeSet;

use crate::laws::Law;

const TEXT: &str = include_str!("faults.txt");

/// The crates that faults are planted in: there the question to the environment is asked.
pub(crate) const ROOTS: [&str; 4] = [
    "crates/core/src/lib.rs",
    "crates/combinators/src/lib.rs",
    "crates/executor/src/lib.rs",
    "crates/testkit/src/lib.rs",
];

/// A change that breaks a law.
pub(crate) struct Fault {
    pub(crate) law: Law,
    pub(crate) file: &'static str,
    right: String,
    wrong: String,
}

impl Fault {
    /// The text of the file with the fault in it.
    pub(crate) fn plant(&self, text: &str) -> Result<String, String> {
        match text.matches(&self.right).count() {
            1 => {
                let question = format!("crate::planted_fault(\"{}\")", self.law);
                Ok(text.replace(&self.right, &self.wrong.replace("FAULT", &question)))
            }
            count => Err(format!("the fault of {} fits {count} places in {}, not one", self.law, self.file)),
        }
    }
}

/// All faults, in the order of the file.
pub(crate) fn read() -> Result<Vec<Fault>, String> {
    let blocks = TEXT.split("\n\n").filter(|block| block.lines().any(|line| !line.starts_with('#')));
    blocks.filter(|block| !block.trim().is_empty()).map(parse).collect()
}

/// The files with faults.
pub(crate) fn files(faults: &[Fault]) -> BTreeSet<&'static str> {
    faults.iter().map(|fault| fault.file).collect()
}

/// Whether a file is written by the planting, and not by the copying before it.
pub(crate) fn is_planted(path: &str) -> bool {
    ROOTS.contains(&path) || TEXT.lines().any(|line| line.strip_prefix("file ") == Some(path))
}

fn parse(block: &'static str) -> Result<Fault, String> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
    let side = |mark: &str| {
        let lines = block.lines().filter_map(|line| line.strip_prefix(mark));
        lines.collect::<Vec<_>>().join("\n")
    };
    let incomplete = || format!("a fault needs `law`, `file`, `- ..` and `+ ..`:\n{block}");
    let fault = Fault {
        law: field("law ").and_then(Law::parse).ok_or_else(incomplete)?,
        file: field("file ").ok_or_else(incomplete)?,
        right: side("- "),
        wrong: side("+ "),
    };
    if fault.right.is_empty() || !fault.wrong.contains("FAULT") { Err(incomplete()) } else { Ok(fault) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_fits_the_sources() {
        let root = crate::shell::root();
        for fault in read().unwrap() {
            let text = std::fs::read_to_string(root.join(fault.file)).unwrap();
            fault.plant(&text).unwrap();
        }
    }

    #[test]
    fn a_fault_is_planted_behind_its_question() {
        let law = Law::parse("C7").unwrap();
        let fault = Fault { law, file: "x", right: "if a {".to_owned(), wrong: "if FAULT || a {".to_owned() };
        let planted = fault.plant("fn f() { if a { b } }").unwrap();
        assert_eq!(planted, "fn f() { if crate::planted_fault(\"C7\") || a { b } }");
        assert!(fault.plant("nothing").is_err());
    }
}
