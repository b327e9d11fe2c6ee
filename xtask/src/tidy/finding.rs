//! One violation, and how it is printed.

use std::fmt;

/// A violation of a rule at a place. Ordered by place, for reading.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    message: String,
    rule: &'static str,
}

impl Finding {
    /// A finding at a line, counted from 1.
    pub(crate) fn new(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line, message: message.into(), rule: "" }
    }

    /// The same finding, with the name of the rule that made it.
    pub(crate) fn under(mut self, rule: &'static str) -> Finding {
        self.rule = rule;
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} ({})", self.path, self.line, self.message, self.rule)
    }
}

/// What a rule found, as `path:line` and message, for the rules' own tests.
#[cfg(test)]
pub(crate) fn told(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|it| format!("{}:{}: {}", it.path, it.line, it.message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line_that_editors_understand() {
        let finding = Finding::new("crates/core/src/lib.rs", 7, "too long").under("size");
        assert_eq!(finding.to_string(), "crates/core/src/lib.rs:7: too long (size)");
    }
}
