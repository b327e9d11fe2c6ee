//! The table on standard output, printed row by row while the measurement goes on.

use crate::machine;
use crate::measure::{Comparison, Effort};
use crate::results::Control;

pub(crate) fn heading(workers: usize) {
    println!(
        "\n{}\n{:<22} {:<20} {:>7}  {:<15} {:>6} {:>11} {:>11} {:>7}",
        workers_of(workers),
        "workload",
        "rival",
        "ratio",
        "95 % interval",
        "pairs",
        "ours",
        "rival",
        "cpu"
    );
}

/// So many workers, in words.
pub(crate) fn workers_of(number: usize) -> String {
    format!("{number} worker{}", if number == 1 { "" } else { "s" })
}

pub(crate) fn row(comparison: &Comparison) {
    let Comparison { workload, metric, rival, estimate, ours_median, rival_median, effort, .. } = comparison;
    let width = 10 - metric.unit.len();
    let label = format!("{workload} {}", metric.name);
    println!(
        "{label:<22} {rival:<20} {:>7.3}  {:.3} .. {:<6.3} {:>6} {ours_median:>width$.0} {} {rival_median:>width$.0} {} {:>7.2}{}",
        estimate.ratio,
        estimate.low,
        estimate.high,
        effort.pairs,
        metric.unit,
        metric.unit,
        effort.cpu_ratio,
        remark(*effort),
    );
}

/// What must be known about how a row came about.
fn remark(effort: Effort) -> String {
    match effort {
        Effort { noisy: true, .. } => "  disturbed by other processes".to_owned(),
        Effort { discarded: 0, .. } => String::new(),
        Effort { discarded, .. } => format!("  {discarded} disturbed pairs discarded"),
    }
}

/// The measurement of Brigade against itself, and what it says about the others.
pub(crate) fn control(control: &Control) {
    print!("control (itself): {:.3}, {:.3} .. {:.3}: ", control.ratio, control.ci_low, control.ci_high);
    if control.quiet {
        println!("the machine was quiet");
    } else {
        println!("DISCARD this run, the machine was too noisy (load {:.1})", machine::load());
    }
}
