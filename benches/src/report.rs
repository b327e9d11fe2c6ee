//! The table on standard output and the JSON file.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::machine;
use crate::measure::Comparison;

/// The widest interval of the control at which the machine counts as quiet.
const QUIET: f64 = 0.03;

pub(crate) fn heading() {
    println!(
        "{:<15} {:<8} {:>7}  {:<15} {:>6} {:>9} {:>9} {:>7}",
        "workload", "rival", "ratio", "95 % interval", "pairs", "ours/op", "rival/op", "cpu"
    );
}

pub(crate) fn row(comparison: &Comparison) {
    let Comparison { workload, rival, estimate, pairs, ours_nanos, rival_nanos, cpu_ratio } = comparison;
    println!(
        "{:<15} {rival:<8} {:>7.3}  {:.3} .. {:<6.3} {pairs:>6} {ours_nanos:>6.0} ns {rival_nanos:>6.0} ns {cpu_ratio:>7.2}",
        workload.name(),
        estimate.ratio,
        estimate.low,
        estimate.high,
    );
}

/// The measurement of Brigade against itself, and what it says about the others.
pub(crate) fn control(control: &Comparison) {
    let estimate = control.estimate;
    print!("control (itself): {:.3}, {:.3} .. {:.3}: ", estimate.ratio, estimate.low, estimate.high);
    if is_quiet(control) {
        println!("the machine was quiet");
    } else {
        println!("the machine was too noisy to trust small differences (load {:.1})", machine::load());
    }
}

/// Writes `{"machine": .., "results": [..]}`.
pub(crate) fn write_json(
    path: &Path,
    workers: usize,
    results: &[Comparison],
    control: &Comparison,
) -> Result<(), String> {
    let rows: Vec<String> = results.iter().map(|comparison| result(comparison, workers)).collect();
    let text = format!(
        "{{\n  \"machine\": {},\n  \"results\": [\n    {}\n  ]\n}}\n",
        machine_json(control),
        rows.join(",\n    ")
    );
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn is_quiet(control: &Comparison) -> bool {
    control.estimate.contains_one() && control.estimate.width() < QUIET
}

fn machine_json(control: &Comparison) -> String {
    let estimate = control.estimate;
    format!(
        "{{\"cpu\": {}, \"cores\": {}, \"os\": {}, \"kernel\": {}, \"load\": {:.2}, \
         \"control\": {{\"ratio\": {:.4}, \"ci_low\": {:.4}, \"ci_high\": {:.4}, \"quiet\": {}}}}}",
        quoted(&machine::cpu()),
        machine::cores(),
        quoted(std::env::consts::OS),
        quoted(&machine::kernel()),
        machine::load(),
        estimate.ratio,
        estimate.low,
        estimate.high,
        is_quiet(control),
    )
}

fn result(comparison: &Comparison, workers: usize) -> String {
    let estimate = comparison.estimate;
    format!(
        "{{\"workload\": {}, \"rival\": {}, \"workers\": {workers}, \"ratio\": {:.4}, \"ci_low\": {:.4}, \"ci_high\": {:.4}}}",
        quoted(comparison.workload.name()),
        quoted(comparison.rival),
        estimate.ratio,
        estimate.low,
        estimate.high,
    )
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => write!(out, "\\u{:04x}", c as u32).expect("a string takes everything"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        assert_eq!(quoted("a \"b\" \\ \n"), "\"a \\\"b\\\" \\\\ \\u000a\"");
    }
}
