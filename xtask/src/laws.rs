//! The laws of `docs/semantics.md` and the tests that are named after them.
//!
//! A law has an id such as `T2`. A test belongs to it by its name, `law_t2_..`, wherever it stands and on
//! whichever backend it runs.

use std::cmp::Ordering;
use std::fmt;

/// The id of a law: a letter and a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Law {
    letter: char,
    number: u32,
}

impl Law {
    /// Reads `T2` or `t2`; `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Law> {
        let letter = text.chars().next().filter(char::is_ascii_alphabetic)?.to_ascii_uppercase();
        let digits = &text[1..];
        let plain =
            !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
        if plain { Some(Law { letter, number: digits.parse().ok()? }) } else { None }
    }

    /// The law that a test of this name defends: `law_t2_awaits_once` gives `T2`.
    pub(crate) fn of_test(name: &str) -> Option<Law> {
        Law::parse(name.strip_prefix("law_")?.split('_').next()?)
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.letter, self.number)
    }
}

impl Ord for Law {
    fn cmp(&self, other: &Law) -> Ordering {
        // The letters in the order in which the laws are told, not in the alphabet's.
        let place = |law: &Law| ("TCDGARB".find(law.letter).unwrap_or(usize::MAX), law.letter, law.number);
        place(self).cmp(&place(other))
    }
}

impl PartialOrd for Law {
    fn partial_cmp(&self, other: &Law) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The laws that the text states, each with its line: `- **T2** ..`.
pub(crate) fn stated(semantics: &str) -> Vec<(usize, Law)> {
    let law_of = |line: &str| Law::parse(line.trim_start().strip_prefix("- **")?.split("**").next()?);
    let numbered = semantics.lines().enumerate();
    numbered.filter_map(|(index, line)| Some((index + 1, law_of(line)?))).collect()
}

/// The ids, separated by commas.
pub(crate) fn list(laws: &[Law]) -> String {
    laws.iter().map(Law::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_are_read_from_the_text() {
        let text = "## 2. Tasks (T)\n\n- **T1** `spawn`\n- **T12** nothing\n- **not a law** x\n";
        let laws: Vec<_> = stated(text).into_iter().map(|(line, law)| (line, law.to_string())).collect();
        assert_eq!(laws, [(3, "T1".to_owned()), (4, "T12".to_owned())]);
    }

    #[test]
    fn a_test_names_its_law() {
        assert_eq!(Law::of_test("law_t12_drops_flat").map(|law| law.to_string()).as_deref(), Some("T12"));
        for other in ["t12_drops", "law_drops", "law_t_x", "law_tt2_x", "law_t02_x"] {
            assert_eq!(Law::of_test(other), None, "{other}");
        }
    }

    #[test]
    fn laws_are_ordered_as_they_are_told() {
        let mut laws: Vec<_> = ["A1", "T10", "C2", "T9"].into_iter().filter_map(Law::parse).collect();
        laws.sort();
        assert_eq!(list(&laws), "T9, T10, C2, A1");
    }
}
