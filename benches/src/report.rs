//! The table on standard output and the JSON file.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::machine;
use crate::measure::{Comparison, Effort};

/// The widest interval of the control at which the machine counts as quiet.
const QUIET: f64 = 0.03;

pub(crate) fn heading() {
    println!(
        "{:<22} {:<20} {:>7}  {:<15} {:>6} {:>11} {:>11} {:>7}",
        "workload", "rival", "ratio", "95 % interval", "pairs", "ours/op", "rival/op", "cpu"
    );
}

pub(crate) fn row(comparison: &Comparison) {
    let Comparison { metric, rival, estimate, ours_median, rival_median, effort, .. } = comparison;
    let width = 10 - metric.unit.len();
    print!(
        "{:<22} {rival:<20} {:>7.3}  {:.3} .. {:<6.3} {:>6} {ours_median:>width$.0} {} {rival_median:>width$.0} {} {:>7.2}",
        label(comparison),
        estimate.ratio,
        estimate.low,
        estimate.high,
        effort.pairs,
        metric.unit,
        metric.unit,
        effort.cpu_ratio,
    );
    println!("{}", remark(comparison));
}

/// What must be known about how a row came about.
fn remark(comparison: &Comparison) -> String {
    match comparison.effort {
        Effort { noisy: true, .. } => "  disturbed by other processes".to_owned(),
        Effort { discarded: 0, .. } => String::new(),
        Effort { discarded, .. } => format!("  {discarded} disturbed pairs discarded"),
    }
}

/// The workload, with the metric if there are several.
fn label(comparison: &Comparison) -> String {
    format!("{} {}", comparison.workload, comparison.metric.name).trim_end().to_owned()
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
    let Comparison { workload, metric, ours, rival, estimate, effort, .. } = comparison;
    format!(
        "{{\"workload\": {}, \"metric\": {}, \"unit\": {}, \"ours\": {}, \"rival\": {}, \"workers\": {workers}, \
         \"ratio\": {:.4}, \"ci_low\": {:.4}, \"ci_high\": {:.4}, \"ours_median\": {:.2}, \"rival_median\": {:.2}, \
         \"cpu_ratio\": {:.3}, \"pairs\": {}, \"discarded\": {}, \"noisy\": {}}}",
        quoted(workload),
        quoted(metric.name),
        quoted(metric.unit),
        quoted(ours),
        quoted(rival),
        estimate.ratio,
        estimate.low,
        estimate.high,
        comparison.ours_median,
        comparison.rival_median,
        effort.cpu_ratio,
        effort.pairs,
        effort.discarded,
        effort.noisy,
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
