//! The table of counts that is kept in the repository, and how it is compared and printed.

use std::fmt::Write;
use std::fs;

use super::callgrind::Count;
use crate::{Outcome, shell};

/// Where the table lies, from the root of the repository.
pub(crate) const FILE: &str = "benches/icount.txt";

/// How much more an operation may cost before the check fails.
pub(crate) const PERCENT: f64 = 2.0;

/// Counts by name, in the order of the workloads, and the compiler that decided about them.
#[derive(Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) compiler: String,
    pub(crate) rows: Vec<(String, Count)>,
}

impl Table {
    pub(crate) fn read() -> Result<Table, String> {
        let text = fs::read_to_string(shell::root().join(FILE));
        Table::parse(&text.map_err(|error| format!("{FILE}: {error}"))?)
    }

    pub(crate) fn write(&self) -> Outcome {
        println!("\nwritten to {FILE}");
        fs::write(shell::root().join(FILE), self.text()).map_err(|error| format!("{FILE}: {error}"))
    }

    pub(crate) fn get(&self, name: &str) -> Option<Count> {
        self.rows.iter().find(|(known, _)| known == name).map(|(_, count)| *count)
    }

    /// Prints the table beside the former one, and returns the names of the rows that cost too much more.
    pub(crate) fn print(&self, before: Option<&Table>) -> Vec<String> {
        println!(
            "{:<22}{:>13}{:>9}{:>9}{:>13}{:>9}",
            "operation", "instructions", "before", "change", "allocations", "before"
        );
        let mut worse = Vec::new();
        for (name, now) in &self.rows {
            if row(name, *now, before.and_then(|before| before.get(name))) {
                worse.push(name.clone());
            }
        }
        worse
    }

    /// A workload that vanished would take its row along silently.
    pub(crate) fn complain_of_missing(&self, now: &Table, filter: &str) -> Outcome {
        let expected = self.rows.iter().map(|(name, _)| name).filter(|name| name.contains(filter));
        let missing: Vec<&str> =
            expected.filter(|name| now.get(name).is_none()).map(String::as_str).collect();
        match missing[..] {
            [] => Ok(()),
            _ => Err(format!("{} in {FILE} are no workloads any more; `--bless`", missing.join(", "))),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{HEAD}# {}\n", self.compiler);
        for (name, count) in &self.rows {
            writeln!(text, "{name:<22}{:>9.1}{:>8.2}", count.instructions, count.allocations)
                .expect("a string takes everything");
        }
        text
    }

    fn parse(text: &str) -> Result<Table, String> {
        let (comments, rows): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with('#') || line.is_empty());
        let compiler = comments.last().map_or("", |line| line.trim_start_matches('#')).trim().to_owned();
        let rows: Option<Vec<_>> = rows.into_iter().map(parse_row).collect();
        Ok(Table { compiler, rows: rows.ok_or_else(|| format!("{FILE} has a row that is none"))? })
    }
}

const HEAD: &str = "\
# Instructions and allocations per operation on one thread, without the kernel's: written by
# `cargo xtask icount --bless`, which counts with callgrind. `bare.` is async-task alone on the same kind of
# scheduler. The workloads stand in benches/src/bin/icount, and were compiled by
";

fn parse_row(line: &str) -> Option<(String, Count)> {
    let mut words = line.split_whitespace();
    let name = words.next()?.to_owned();
    let (instructions, allocations) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    words.next().is_none().then_some((name, Count { instructions, allocations }))
}

/// Prints a row; true if it costs too much more than before. What rivals cost is their business.
fn row(name: &str, now: Count, before: Option<Count>) -> bool {
    print!("{name:<22}{:>13.1}", now.instructions);
    let Some(before) = before else {
        println!("{:>9}{:>9}{:>13.2}", "-", "new", now.allocations);
        return false;
    };
    let percent = 100.0 * (now.instructions / before.instructions - 1.0);
    let worse = is_worse(now, before) && !name.starts_with("tokio.");
    let mark = if worse { "  worse" } else { "" };
    println!(
        "{:>9.1}{percent:>+7.1} %{:>13.2}{:>9.2}{mark}",
        before.instructions, now.allocations, before.allocations
    );
    worse
}

fn is_worse(now: Count, before: Count) -> bool {
    now.instructions > before.instructions * (1.0 + PERCENT / 100.0)
        || now.allocations > before.allocations + ALLOCATIONS
}

/// Allocations that are shared by many operations may move a little.
const ALLOCATIONS: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    fn count(instructions: f64, allocations: f64) -> Count {
        Count { instructions, allocations }
    }

    #[test]
    fn what_is_written_is_read() {
        let rows =
            vec![("spawn_join".to_owned(), count(812.5, 1.0)), ("bare.yield".to_owned(), count(90.0, 0.0))];
        let table = Table { compiler: "rustc 1.95.0, x86_64".to_owned(), rows };
        assert_eq!(Table::parse(&table.text()), Ok(table));
        assert!(Table::parse("spawn_join many\n").is_err());
    }

    #[test]
    fn two_percent_and_an_allocation_are_too_much() {
        assert!(!is_worse(count(101.9, 1.0), count(100.0, 1.0)));
        assert!(is_worse(count(102.1, 1.0), count(100.0, 1.0)));
        assert!(is_worse(count(50.0, 1.1), count(100.0, 1.0)));
    }

    #[test]
    fn a_vanished_row_is_told() {
        let full = Table::parse("a 1 0\nb 1 0\n").unwrap();
        let half = Table::parse("a 1 0\n").unwrap();
        assert!(full.complain_of_missing(&half, "").is_err());
        assert!(full.complain_of_missing(&half, "a").is_ok());
    }
}
