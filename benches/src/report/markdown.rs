//! The tables of `docs/benchmarks.md`: what stands between two marks is replaced, the text around it stays.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::sections::{SECTIONS, SUMMARIES, Section, Summary};
use super::table::workers_of;
use crate::results::{Results, Row};

/// Puts the tables of one or more runs into the document.
pub(crate) fn write(path: &Path, runs: &[Results]) -> Result<(), String> {
    insert(path, "numbers", &tables(runs))
}

/// Puts text between the marks with that name, or, in a document without them, at its end.
pub(crate) fn insert(path: &Path, name: &str, text: &str) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", path.display());
    let before = if path.exists() { fs::read_to_string(path).map_err(failed)? } else { String::new() };
    fs::write(path, replaced(&before, name, text)).map_err(failed)
}

fn replaced(document: &str, name: &str, text: &str) -> String {
    let begin = format!("<!-- {name}: written by `cargo xtask bench --markdown` -->");
    let end = format!("<!-- end of {name} -->");
    let around = document.split_once(&begin).and_then(|(head, rest)| Some((head, rest.split_once(&end)?.1)));
    let (head, tail) = around.unwrap_or((document, "\n"));
    format!("{head}{begin}\n\n{text}\n{end}{tail}")
}

fn tables(runs: &[Results]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let usual = first.usual_workers();
    let mut parts = vec![machines(runs), summaries(runs, &first.workers())];
    parts.extend(SECTIONS.iter().map(|section| table(section, runs, usual)));
    let others = first.workers().into_iter().filter(|workers| *workers != usual);
    parts.extend(others.map(|workers| short_table(runs, workers)));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn machines(runs: &[Results]) -> String {
    let mut text = String::new();
    for (index, run) in runs.iter().enumerate() {
        let machine = &run.machine;
        let rivals = machine.rivals.iter().map(|(name, version)| format!("{name} {version}"));
        let control = &machine.control;
        let workers: Vec<_> = run.workers().iter().map(usize::to_string).collect();
        let workers = workers.join(", ");
        let verdict = if control.quiet { "quiet" } else { "**too noisy to be believed**" };
        line(
            &mut text,
            &format!(
                "- Run {}: {}, {}, {} cores, {workers} workers, {} {}, {}. Control {:.3} ({:.3} .. {:.3}): {verdict}. {}.",
                index + 1,
                machine.date,
                machine.cpu,
                machine.cores,
                machine.os,
                machine.kernel,
                machine.compiler,
                control.ratio,
                control.ci_low,
                control.ci_high,
                rivals.collect::<Vec<_>>().join(", "),
            ),
        );
    }
    text
}

fn summaries(runs: &[Results], numbers: &[usize]) -> String {
    let row = |(summary, workers): (&Summary, usize)| {
        let cells: Vec<_> = runs.iter().map(|run| summary.of(run, workers)).collect::<Option<_>>()?;
        let cell =
            |(mean, worst, most): &(f64, &str, f64)| format!("{mean:.3}, at most {most:.2} (`{worst}`)");
        let cells: Vec<_> = cells.iter().map(cell).collect();
        let with = if numbers.len() > 1 { format!(", {}", workers_of(workers)) } else { String::new() };
        Some(format!("| {}{with} | {} | {} |", summary.title, summary.rival, cells.join(" | ")))
    };
    let each = |summary| numbers.iter().map(move |&workers| (summary, workers));
    let rows: Vec<_> = SUMMARIES.iter().flat_map(each).filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = head(&["geometric mean of", "rival"], "ratio", runs);
    format!("### In short\n\n{head}{}\n", rows.join("\n"))
}

fn table(section: &Section, runs: &[Results], workers: usize) -> String {
    let rows: Vec<_> = runs.first().map(|run| section.rows(run, workers)).unwrap_or_default();
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("### {}\n\n", section.title);
    text += &head(&["workload", "Brigade", "", "rival", ""], "ratio", runs);
    for row in rows {
        let mut cells = vec![
            format!("`{}`", row.label()),
            row.ours.clone(),
            size(row.ours_median, &row.unit),
            row.rival.clone(),
            size(row.rival_median, &row.unit),
        ];
        cells.extend(runs.iter().map(|run| run.same(row).map_or("–".to_owned(), ratio)));
        line(&mut text, &format!("| {} |", cells.join(" | ")));
    }
    text
}

/// All ratios with another number of workers than the usual one.
fn short_table(runs: &[Results], workers: usize) -> String {
    let mut text = format!("### With {}\n\n", workers_of(workers));
    text += &head(&["workload", "rival"], "ratio", runs);
    for row in SECTIONS.iter().flat_map(|section| section.rows(&runs[0], workers)) {
        let mut cells = vec![format!("`{}`", row.label()), row.rival.clone()];
        cells.extend(runs.iter().map(|run| run.same(row).map_or("–".to_owned(), ratio)));
        line(&mut text, &format!("| {} |", cells.join(" | ")));
    }
    text
}

/// The first lines of a table whose last columns are one for each run.
fn head(columns: &[&str], last: &str, runs: &[Results]) -> String {
    let mut names: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
    let run = |index: usize| if runs.len() > 1 { format!("{last}, run {index}") } else { last.to_owned() };
    names.extend((1..=runs.len()).map(run));
    format!("| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()))
}

/// The ratio with its interval, and a mark if other processes disturbed it.
fn ratio(row: &Row) -> String {
    let mark = if row.noisy { " (disturbed)" } else { "" };
    format!("**{:.2}** ({:.2} .. {:.2}){mark}", row.ratio, row.ci_low, row.ci_high)
}

/// A number with three digits and a unit of fitting size.
fn size(number: f64, unit: &str) -> String {
    let (number, unit) = match unit {
        "ns" if number >= 1e6 => (number / 1e6, "ms"),
        "ns" if number >= 1e3 => (number / 1e3, "µs"),
        _ => (number, unit),
    };
    let digits = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    format!("{number:.digits$} {unit}")
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};

    #[test]
    fn the_text_around_stays() {
        let new = replaced("Before.\n", "numbers", "old\n") + "After.\n";
        assert!(
            new.starts_with("Before.\n<!-- numbers: ") && new.contains("\n\nold\n\n<!-- end of numbers -->")
        );
        assert_eq!(replaced(&new, "numbers", "new\n"), new.replace("old", "new"));
        assert!(replaced(&new, "counters", "1\n").contains("old\n"));
    }

    #[test]
    fn each_run_has_a_column() {
        let run = |ratio| results(vec![row("spawn_one", "tokio", ratio)]);
        let text = tables(&[run(0.5), run(0.6)]);
        assert!(text.contains("| ratio, run 1 | ratio, run 2 |\n|---|---|---|---|---|---|---|\n"), "{text}");
        assert!(
            text.contains(
                "| `spawn_one` | brigade | 50.0 ns | tokio | 100 ns | **0.50** (0.45 .. 0.55) | **0.60** ("
            ),
            "{text}"
        );
    }

    #[test]
    fn other_numbers_of_workers_have_a_table() {
        let mut run = results(vec![row("spawn_one", "tokio", 0.5), row("spawn_one", "tokio", 0.7)]);
        assert!(!tables(std::slice::from_ref(&run)).contains("### With"));
        run.results[1].workers = 4;
        let text = tables(&[run]);
        assert!(text.contains("2 cores, 2, 4 workers,") && text.contains("### Scheduler"), "{text}");
        assert!(text.ends_with("### With 4 workers\n\n| workload | rival | ratio |\n|---|---|---|\n| `spawn_one` | tokio | **0.70** (0.63 .. 0.77) |\n"), "{text}");
    }

    #[test]
    fn sizes_fit_their_units() {
        let sizes = [size(7.0, "ns"), size(1234.0, "ns"), size(45e6, "ns"), size(439.0, "B")];
        assert_eq!(sizes, ["7.00 ns", "1.23 µs", "45.0 ms", "439 B"]);
    }
}
