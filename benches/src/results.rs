//! What a run has found, as it is kept in a file: machine, versions, control, and one row for each comparison.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::measure::Comparison;
use crate::{machine, options};

#[derive(Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) machine: Machine,
    pub(crate) results: Vec<Row>,
}

/// Where, when and with what it was measured.
#[derive(Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) os: String,
    pub(crate) kernel: String,
    pub(crate) load: f64,
    pub(crate) compiler: String,
    /// Name and version of every rival.
    pub(crate) rivals: Vec<(String, String)>,
    pub(crate) control: Control,
}

/// Brigade against itself: the ratio is 1, or the machine was not quiet.
#[derive(Serialize, Deserialize)]
pub(crate) struct Control {
    pub(crate) ratio: f64,
    pub(crate) ci_low: f64,
    pub(crate) ci_high: f64,
    pub(crate) quiet: bool,
}

/// One comparison. `ratio` is ours divided by the rival's; less is better, whatever is measured.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) workload: String,
    pub(crate) metric: String,
    pub(crate) unit: String,
    pub(crate) ours: String,
    pub(crate) rival: String,
    pub(crate) workers: usize,
    pub(crate) ratio: f64,
    pub(crate) ci_low: f64,
    pub(crate) ci_high: f64,
    pub(crate) ours_median: f64,
    pub(crate) rival_median: f64,
    pub(crate) cpu_ratio: f64,
    pub(crate) pairs: usize,
    pub(crate) discarded: usize,
    pub(crate) noisy: bool,
}

/// The widest interval of the control at which the machine counts as quiet.
const QUIET: f64 = 0.03;

impl Results {
    pub(crate) fn of(results: Vec<Row>, control: Control) -> Results {
        Results { machine: Machine::here(control), results }
    }

    /// The numbers of workers, in the order in which they were measured.
    pub(crate) fn workers(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = self.results.iter().map(|row| row.workers).collect();
        numbers.dedup();
        numbers
    }

    /// Those rows of which a document and a picture tell most.
    pub(crate) fn usual_workers(&self) -> usize {
        options::usual(&self.workers())
    }

    pub(crate) fn read(path: &Path) -> Result<Results, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
        serde_json::from_str(&text).map_err(|error| failed(&error))
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).expect("results have nothing that JSON lacks");
        let folder = path.parent().unwrap_or(Path::new(""));
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text + "\n"));
        written.map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The row of the same comparison.
    pub(crate) fn same(&self, row: &Row) -> Option<&Row> {
        self.results.iter().find(|other| other.key() == row.key())
    }
}

impl Row {
    pub(crate) fn of(comparison: &Comparison, workers: usize) -> Row {
        let Comparison { workload, metric, ours, rival, estimate, ours_median, rival_median, effort } =
            comparison;
        Row {
            workload: (*workload).to_owned(),
            metric: metric.name.to_owned(),
            unit: metric.unit.to_owned(),
            ours: (*ours).to_owned(),
            rival: (*rival).to_owned(),
            workers,
            ratio: rounded(estimate.ratio),
            ci_low: rounded(estimate.low),
            ci_high: rounded(estimate.high),
            ours_median: rounded(*ours_median),
            rival_median: rounded(*rival_median),
            cpu_ratio: rounded(effort.cpu_ratio),
            pairs: effort.pairs,
            discarded: effort.discarded,
            noisy: effort.noisy,
        }
    }

    /// What is compared, of what, with whom.
    pub(crate) fn key(&self) -> (&str, &str, &str, usize) {
        (&self.workload, &self.metric, &self.rival, self.workers)
    }

    /// The workload, with the metric if there are several.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.workload, self.metric).trim_end().to_owned()
    }
}

impl Control {
    pub(crate) fn of(comparison: &Comparison) -> Control {
        let estimate = comparison.estimate;
        Control {
            ratio: rounded(estimate.ratio),
            ci_low: rounded(estimate.low),
            ci_high: rounded(estimate.high),
            quiet: estimate.contains_one() && estimate.width() < QUIET && !comparison.effort.noisy,
        }
    }

    /// Of the controls of one run the one that says whether to believe all of it.
    pub(crate) fn worst(controls: Vec<Control>) -> Option<Control> {
        controls.into_iter().reduce(|worst, control| if worst.quiet { control } else { worst })
    }
}

impl Machine {
    fn here(control: Control) -> Machine {
        Machine {
            date: date(SystemTime::now()),
            cpu: machine::cpu(),
            cores: machine::cores(),
            os: std::env::consts::OS.to_owned(),
            kernel: machine::kernel(),
            load: machine::load(),
            compiler: compiler(),
            rivals: RIVALS.iter().filter_map(|name| Some(((*name).to_owned(), version(name)?))).collect(),
            control,
        }
    }
}

/// The packages whose versions matter.
const RIVALS: &[&str] =
    &["tokio", "tokio-util", "async-executor", "async-io", "futures-util", "futures-concurrency", "hyper"];

/// The version with which this program was built.
fn version(package: &str) -> Option<String> {
    let lock = include_str!("../../Cargo.lock");
    let found = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{package}\"\n")))?;
    Some(found.split("version = \"").nth(1)?.split('"').next()?.to_owned())
}

fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.split(" (").next().unwrap_or_default().trim().to_owned()
}

/// Year, month and day, in Greenwich.
fn date(time: SystemTime) -> String {
    let mut days = time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / 86_400);
    let mut year = 1970;
    let is_leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, days + 1)
}

/// Six digits say more than was measured.
fn rounded(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    let scale = 10f64.powi(5 - number.abs().log10().floor() as i32);
    (number * scale).round() / scale
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;

    pub(crate) fn row(workload: &str, rival: &str, ratio: f64) -> Row {
        let ours = if rival.ends_with("-ct") { "brigade-ct" } else { "brigade" };
        Row {
            workload: workload.to_owned(),
            metric: String::new(),
            unit: "ns".to_owned(),
            ours: ours.to_owned(),
            rival: rival.to_owned(),
            workers: 2,
            ratio,
            ci_low: ratio * 0.9,
            ci_high: ratio * 1.1,
            ours_median: 100.0 * ratio,
            rival_median: 100.0,
            cpu_ratio: 1.0,
            pairs: 60,
            discarded: 0,
            noisy: false,
        }
    }

    pub(crate) fn results(rows: Vec<Row>) -> Results {
        let control = Control { ratio: 1.0, ci_low: 0.995, ci_high: 1.005, quiet: true };
        let machine = Machine {
            date: "2026-01-02".to_owned(),
            cpu: "a <cpu>".to_owned(),
            cores: 2,
            os: "linux".to_owned(),
            kernel: "6".to_owned(),
            load: 0.1,
            compiler: "rustc 1".to_owned(),
            rivals: vec![("tokio".to_owned(), "1".to_owned())],
            control,
        };
        Results { machine, results: rows }
    }

    #[test]
    fn days_become_dates() {
        let date_of = |days: u64| date(UNIX_EPOCH + Duration::from_secs(days * 86_400));
        assert_eq!(
            [0, 59, 11_016, 20_787].map(date_of),
            ["1970-01-01", "1970-03-01", "2000-02-29", "2026-11-30"]
        );
    }

    #[test]
    fn numbers_keep_six_digits() {
        assert_eq!([rounded(1234.5678), rounded(0.123456789), rounded(0.0)], [1234.57, 0.123457, 0.0]);
    }

    #[test]
    fn versions_are_read() {
        assert!(version("tokio").is_some_and(|version| version.starts_with("1.")));
        assert_eq!(version("no-such-package"), None);
    }

    #[test]
    fn one_noisy_control_is_enough() {
        let control = |ratio, quiet| Control { ratio, ci_low: 0.9, ci_high: 1.1, quiet };
        let controls = vec![control(1.0, true), control(1.1, false), control(1.2, true)];
        assert!(Control::worst(controls).is_some_and(|worst| !worst.quiet && worst.ratio == 1.1));
        assert!(Control::worst(Vec::new()).is_none());
    }

    #[test]
    fn what_is_written_is_read() {
        let text = serde_json::to_string(&results(vec![row("spawn_one", "tokio", 0.5)])).unwrap();
        let read: Results = serde_json::from_str(&text).unwrap();
        assert_eq!(read.results[0].key(), ("spawn_one", "", "tokio", 2));
        assert!(read.same(&row("spawn_one", "tokio", 0.7)).is_some());
    }
}
