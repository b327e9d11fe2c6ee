//! Reads the output of test programs.

/// One line about one test: `test path::to::name ... ok`.
pub(crate) struct TestLine<'a> {
    pub(crate) path: &'a str,
    pub(crate) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    /// Ignored, or still running.
    Open,
}

impl TestLine<'_> {
    pub(crate) fn parse(line: &str) -> Option<TestLine<'_>> {
        let (path, verdict) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let path = path.split(" - ").next().unwrap_or(path);
        let verdict = match verdict {
            // Something that the test printed may stand before the verdict.
            _ if verdict.ends_with("FAILED") => Verdict::Failed,
            _ if verdict.ends_with("ok") => Verdict::Passed,
            _ => Verdict::Open,
        };
        Some(TestLine { path, verdict })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let parse = |line| TestLine::parse(line).map(|test| (test.path, test.verdict));
        assert_eq!(parse("test a::b ... ok"), Some(("a::b", Verdict::Passed)));
        assert_eq!(parse("test a::b - should panic ... ok"), Some(("a::b", Verdict::Passed)));
        assert_eq!(parse("test a::b ... FAILED"), Some(("a::b", Verdict::Failed)));
        assert_eq!(parse("test a::b ... ignored, slow"), Some(("a::b", Verdict::Open)));
        assert_eq!(parse("running 3 tests"), None);
    }
}
