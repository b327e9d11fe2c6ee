//! Runs a workload under callgrind and reads what it wrote.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::shell;

/// What one operation costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Count {
    pub(crate) instructions: f64,
    pub(crate) allocations: f64,
}

/// The operations of the shorter run. A hundred of them are one round of the workloads that work in crowds.
pub(crate) const OPERATIONS: u64 = 8_000;

pub(crate) fn program() -> PathBuf {
    shell::target().join("release").join("icount")
}

/// Counts one operation of a workload.
pub(crate) fn count(name: &str) -> Result<Count, String> {
    let [once, twice] = [OPERATIONS, 2 * OPERATIONS].map(|operations| totals(name, operations));
    let (once, twice) = (once?, twice?);
    let each = |once: u64, twice: u64| (twice as f64 - once as f64) / OPERATIONS as f64;
    Ok(Count {
        instructions: each(once.instructions, twice.instructions),
        allocations: each(once.allocations, twice.allocations),
    })
}

/// The instructions of one operation by the function that spends them, most first.
pub(crate) fn functions(name: &str) -> Result<Vec<(String, f64)>, String> {
    let mut spent = own_instructions(&record(name, 2 * OPERATIONS)?);
    for (function, instructions) in own_instructions(&record(name, OPERATIONS)?) {
        *spent.entry(function).or_default() -= instructions;
    }
    let each = |(function, instructions)| (function, instructions as f64 / OPERATIONS as f64);
    let mut functions: Vec<(String, f64)> = spent.into_iter().map(each).collect();
    functions.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(functions)
}

fn totals(name: &str, operations: u64) -> Result<Totals, String> {
    Totals::of(&record(name, operations)?).ok_or_else(|| format!("callgrind wrote no totals for {name}"))
}

/// Runs the workload and returns what callgrind wrote.
fn record(name: &str, operations: u64) -> Result<String, String> {
    let file = shell::target().join(format!("icount-{name}-{operations}.out"));
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--compress-strings=no", "--compress-pos=no"]);
    command.arg(format!("--callgrind-out-file={}", file.display()));
    command.arg(program()).arg(name).arg(operations.to_string());
    let output = command.stdout(Stdio::null()).output().map_err(|error| format!("valgrind: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name} under valgrind ended with {}:\n{said}", output.status));
    }
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    fs::remove_file(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text)
}

/// The counts of a whole run.
#[derive(Debug, PartialEq)]
struct Totals {
    instructions: u64,
    allocations: u64,
}

impl Totals {
    /// Reads the sum of all instructions, and how often each function of the allocator was called.
    fn of(text: &str) -> Option<Totals> {
        let (mut instructions, mut allocations, mut callee) = (None, 0, "");
        for line in text.lines() {
            match line.split_once('=').or_else(|| line.split_once(": ")) {
                Some(("totals", total)) => instructions = total.trim().parse().ok(),
                Some(("cfn", name)) => callee = name,
                Some(("calls", calls)) if allocates(callee) => {
                    allocations += calls.split(' ').next()?.parse::<u64>().ok()?;
                }
                _ => {}
            }
        }
        Some(Totals { instructions: instructions?, allocations })
    }
}

/// The instructions that each function spends itself, without those of what it calls.
fn own_instructions(text: &str) -> BTreeMap<String, i64> {
    let (mut spent, mut function, mut is_call) = (BTreeMap::new(), "", false);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            function = name;
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            // The line after a call holds what was spent inside it.
            let instructions = line.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
            if !std::mem::take(&mut is_call) {
                *spent.entry(function.to_owned()).or_default() += instructions;
            }
        }
    }
    spent
}

fn allocates(function: &str) -> bool {
    ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"].contains(&function)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "events: Ir\nfn=main\n12 5\ncob=libc.so\ncfn=malloc\ncalls=3 0\n12 100\n\
                           cfn=free\ncalls=9 0\n1 1\nfn=next\ncfn=realloc\ncalls=2 0\n1 1\n4 7\n\
                           totals: 1234\n";

    #[test]
    fn totals_are_read() {
        assert_eq!(Totals::of(WRITTEN), Some(Totals { instructions: 1234, allocations: 5 }));
        assert_eq!(Totals::of("events: Ir\n"), None);
    }

    #[test]
    fn a_function_is_charged_for_itself() {
        let spent: Vec<_> = own_instructions(WRITTEN).into_iter().collect();
        assert_eq!(spent, [("main".to_owned(), 5), ("next".to_owned(), 7)]);
    }
}
