//! What Brigade's semantics cost in instructions: its counts minus those of async-task alone on the same kind of
//! scheduler, against the aims that the project has set itself.

use super::table::Table;

/// A cost that is looked at: how it is computed from the table, and the aim.
struct Cost {
    name: &'static str,
    /// Rows that are added, and rows that are subtracted.
    plus: &'static [&'static str],
    minus: &'static [&'static str],
    aim: f64,
}

const COSTS: &[Cost] = &[
    Cost {
        name: "a spawn, its poll and its end",
        plus: &["spawn_detached"],
        minus: &["bare.spawn_detached"],
        aim: 150.0,
    },
    Cost { name: "a poll", plus: &["yield"], minus: &["bare.yield"], aim: 60.0 },
    Cost { name: "a poll inside catch_cancel", plus: &["poll_in_catch"], minus: &["bare.yield"], aim: 200.0 },
    Cost { name: "a poll inside timeout", plus: &["poll_in_timeout"], minus: &["bare.yield"], aim: 200.0 },
    Cost {
        name: "a linked await",
        plus: &["spawn_join", "bare.spawn_detached"],
        minus: &["spawn_detached", "bare.spawn_join"],
        aim: 500.0,
    },
];

/// Prints the costs of which all rows were counted.
pub(crate) fn print(table: &Table) {
    let costs = COSTS.iter().filter_map(|cost| Some((cost, cost.of(table)?)));
    for (index, (cost, instructions)) in costs.enumerate() {
        if index == 0 {
            println!("\n{:<36}{:>13}{:>9}", "more than async-task alone", "instructions", "aim");
        }
        let told = if instructions <= cost.aim { "" } else { "  not reached" };
        println!("{:<36}{instructions:>+13.1}{:>+9}{told}", cost.name, cost.aim);
    }
}

impl Cost {
    fn of(&self, table: &Table) -> Option<f64> {
        let sum = |names: &[&str]| -> Option<f64> {
            names.iter().map(|name| table.get(name).map(|count| count.instructions)).sum()
        };
        Some(sum(self.plus)? - sum(self.minus)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::callgrind::Count;
    use super::*;

    #[test]
    fn a_cost_needs_all_its_rows() {
        let row = |name: &str, instructions| (name.to_owned(), Count { instructions, allocations: 0.0 });
        let mut table = Table { compiler: String::new(), rows: vec![row("yield", 150.0)] };
        let poll = &COSTS[1];
        assert_eq!(poll.of(&table), None);
        table.rows.push(row("bare.yield", 100.0));
        assert_eq!(poll.of(&table), Some(50.0));
    }
}
