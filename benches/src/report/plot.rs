//! The pictures: bars of ratios with their intervals for each section, and curves of latency.

use std::fs;
use std::path::Path;

use super::sections::SECTIONS;
use super::svg::{Anchor, Drawing, INK, PALE, colour};
use crate::results::{Results, Row};

/// Writes all pictures of a run into the folder, with the usual number of workers.
pub(crate) fn write(folder: &Path, results: &Results) -> Result<(), String> {
    let workers = results.usual_workers();
    let failed = |error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    for section in SECTIONS {
        let rows = section.rows(results, workers);
        if !rows.is_empty() {
            let path = folder.join(format!("{}.svg", section.name));
            fs::write(path, bars(section.title, &rows)).map_err(failed)?;
        }
    }
    for workload in ["wake_idle", "wake_loaded"] {
        let is_shown = |row: &&Row| row.workload == workload && row.workers == workers;
        let rows: Vec<&Row> = results.results.iter().filter(is_shown).collect();
        if !rows.is_empty() {
            fs::write(folder.join(format!("{workload}.svg")), curves(workload, &rows)).map_err(failed)?;
        }
    }
    Ok(())
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 48.0;
const BAR: f64 = 15.0;
const GAP: f64 = 9.0;

/// Where the axis of ratios ends; longer bars are cut, and their numbers stand beside them.
const MOST: f64 = 2.0;

/// One group of bars for each workload, one bar for each rival: Brigade's time as a part of the rival's.
fn bars(title: &str, rows: &[&Row]) -> String {
    let rows = together(rows);
    let groups: Vec<&[&Row]> = rows.chunk_by(|a, b| a.label() == b.label()).collect();
    let height = TOP + groups.len() as f64 * GAP + rows.len() as f64 * BAR + 40.0;
    let mut drawing = Drawing::new(WIDTH, height);
    drawing.text((LEFT, 18.0), Anchor::Start, INK, &format!("{title}: Brigade ÷ rival, less is better"));
    axis(&mut drawing, height);
    let mut y = TOP;
    for group in groups {
        drawing.text((LEFT - 8.0, y + 11.5), Anchor::End, INK, &group[0].label());
        for row in group {
            bar(&mut drawing, y, row);
            y += BAR;
        }
        y += GAP;
    }
    legend(&mut drawing, height, &rows);
    drawing.finish()
}

/// The rows with equal labels beside each other, at the place of the first of them.
fn together<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let mut labels: Vec<String> = Vec::new();
    for row in rows {
        if !labels.contains(&row.label()) {
            labels.push(row.label());
        }
    }
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| labels.iter().position(|label| *label == row.label()));
    rows
}

fn axis(drawing: &mut Drawing, height: f64) {
    for tick in 0..=8 {
        let (ratio, bottom) = (f64::from(tick) * 0.25, height - 36.0);
        let is_equal = tick == 4;
        let (ink, width) = if is_equal { (INK, 1.5) } else { (PALE, 1.0) };
        drawing.line((x_of(ratio), TOP - 8.0), (x_of(ratio), bottom), ink, width);
        if tick % 2 == 0 {
            drawing.text((x_of(ratio), TOP - 12.0), Anchor::Middle, INK, &format!("{ratio}"));
        }
    }
}

fn bar(drawing: &mut Drawing, y: f64, row: &Row) {
    let middle = y + BAR / 2.0 - 1.0;
    drawing.bar((LEFT, y), (x_of(row.ratio) - LEFT, BAR - 3.0), colour(&row.rival));
    drawing.line((x_of(row.ci_low), middle), (x_of(row.ci_high), middle), INK, 2.0);
    let end = x_of(row.ratio.max(row.ci_high)) + 6.0;
    let digits = if row.ratio < 0.1 { 3 } else { 2 };
    drawing.text((end, y + 11.0), Anchor::Start, INK, &format!("{:.digits$}", row.ratio));
}

fn x_of(ratio: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * ratio.min(MOST) / MOST
}

/// The rivals with their colours, in the order in which they occur.
fn legend(drawing: &mut Drawing, height: f64, rows: &[&Row]) {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.rival.as_str()) {
            names.push(&row.rival);
        }
    }
    let mut x = 20.0;
    for name in names {
        drawing.bar((x, height - 22.0), (12.0, 12.0), colour(name));
        drawing.text((x + 17.0, height - 12.0), Anchor::Start, INK, name);
        x += 36.0 + name.len() as f64 * 7.0;
    }
}

/// Latency over percentiles, for each runtime a curve. The scale of time is logarithmic.
fn curves(workload: &str, rows: &[&Row]) -> String {
    let mut drawing = Drawing::new(WIDTH, 360.0);
    drawing.text((LEFT, 18.0), Anchor::Start, INK, &format!("{workload}: time from wake-up to poll"));
    let curves = Curve::all(rows);
    let times = curves.iter().flat_map(|curve| curve.points.iter().map(|(_, time)| *time));
    let (low, high) = times.fold((f64::MAX, f64::MIN), |(low, high), time| (low.min(time), high.max(time)));
    let scale = Scale { low: low.log10().floor(), high: high.log10().ceil() };
    scale.draw(&mut drawing, &curves);
    let mut ends: Vec<(f64, &str)> =
        curves.iter().map(|curve| (curve.draw(&mut drawing, &scale), curve.name)).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = f64::MIN;
    for (y, name) in ends {
        // Names that would lie on one another move down.
        free = y.max(free);
        drawing.text((640.0, free + 4.0), Anchor::Start, colour(name), name);
        free += 14.0;
    }
    drawing.finish()
}

/// The percentiles of one runtime.
struct Curve<'a> {
    name: &'a str,
    /// Percentile and nanoseconds.
    points: Vec<(&'a str, f64)>,
}

impl<'a> Curve<'a> {
    /// Every rival, and each Brigade as it was measured beside the first rival that met it.
    fn all(rows: &[&'a Row]) -> Vec<Curve<'a>> {
        let mut curves: Vec<Curve<'a>> = Vec::new();
        for group in rows.chunk_by(|a, b| a.rival == b.rival) {
            let mut add = |name: &'a str, time: fn(&Row) -> f64| {
                if !curves.iter().any(|curve| curve.name == name) {
                    let points = group.iter().map(|row| (row.metric.as_str(), time(row))).collect();
                    curves.push(Curve { name, points });
                }
            };
            add(&group[0].ours, |row| row.ours_median);
            add(&group[0].rival, |row| row.rival_median);
        }
        curves
    }

    /// Draws it, and returns the height at which it ends.
    fn draw(&self, drawing: &mut Drawing, scale: &Scale) -> f64 {
        let ink = colour(self.name);
        let width = if self.name.ends_with("-ct") { 1.2 } else { 2.4 };
        let place =
            |(index, (_, time)): (usize, &(&str, f64))| (scale.x(index, self.points.len()), scale.y(*time));
        let places: Vec<_> = self.points.iter().enumerate().map(place).collect();
        places.windows(2).for_each(|ends| drawing.line(ends[0], ends[1], ink, width));
        places.iter().for_each(|&place| drawing.dot(place, ink));
        places.last().map_or(TOP, |(_, y)| *y)
    }
}

/// Powers of ten nanoseconds between which the curves lie.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn x(&self, index: usize, points: usize) -> f64 {
        90.0 + 540.0 * index as f64 / (points.max(2) - 1) as f64
    }

    fn y(&self, nanos: f64) -> f64 {
        320.0 - 270.0 * (nanos.log10() - self.low) / (self.high - self.low).max(1.0)
    }

    fn draw(&self, drawing: &mut Drawing, curves: &[Curve<'_>]) {
        let mut power = self.low;
        while power <= self.high {
            let y = self.y(10f64.powf(power));
            drawing.line((80.0, y), (640.0, y), PALE, 1.0);
            drawing.text((72.0, y + 4.0), Anchor::End, INK, &power_of_ten(power));
            power += 1.0;
        }
        let points = curves.first().map(|curve| curve.points.as_slice()).unwrap_or_default();
        for (index, (percentile, _)) in points.iter().enumerate() {
            drawing.text((self.x(index, points.len()), 344.0), Anchor::Middle, INK, percentile);
        }
    }
}

fn power_of_ten(power: f64) -> String {
    let (exponent, unit) = match power {
        ..3.0 => (power, "ns"),
        ..6.0 => (power - 3.0, "µs"),
        ..9.0 => (power - 6.0, "ms"),
        _ => (power - 9.0, "s"),
    };
    format!("{} {unit}", 10f64.powf(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::row;

    #[test]
    fn a_long_bar_is_cut_and_its_number_stands() {
        let long = row("spawn_one", "tokio", 7.25);
        let drawing = bars("Scheduler", &[&long]);
        assert!(drawing.contains("width=\"500.0\"") && drawing.contains(">7.25</text>"), "{drawing}");
    }

    #[test]
    fn bars_with_one_label_stand_together() {
        let rows = [("a", "tokio"), ("b", "tokio"), ("a", "smol")].map(|(name, rival)| row(name, rival, 1.0));
        let rows = together(&rows.iter().collect::<Vec<_>>());
        let order: Vec<_> = rows.iter().map(|row| (row.workload.as_str(), row.rival.as_str())).collect();
        assert_eq!(order, [("a", "tokio"), ("a", "smol"), ("b", "tokio")]);
    }

    #[test]
    fn each_runtime_has_one_curve() {
        let mut rows: Vec<Row> =
            ["tokio", "tokio", "smol", "smol"].map(|rival| row("wake_idle", rival, 0.5)).into();
        for (row, metric) in rows.iter_mut().zip(["p50", "p99", "p50", "p99"]) {
            row.metric = metric.to_owned();
        }
        let rows: Vec<&Row> = rows.iter().collect();
        let names: Vec<_> = Curve::all(&rows).iter().map(|curve| (curve.name, curve.points.len())).collect();
        assert_eq!(names, [("brigade", 2), ("tokio", 2), ("smol", 2)]);
    }

    #[test]
    fn powers_have_units() {
        assert_eq!([2.0, 3.0, 5.0, 6.0, 9.0].map(power_of_ten), ["100 ns", "1 µs", "100 µs", "1 ms", "1 s"]);
    }
}
