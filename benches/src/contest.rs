//! A workload as the measurement sees it: what is counted, and who takes part.

use std::time::{Duration, Instant};

/// A workload with all who take part in it.
pub(crate) struct Workload<'a> {
    pub(crate) name: &'static str,
    /// What is measured; each is a number per run of which less is better.
    pub(crate) metrics: &'static [Metric],
    pub(crate) contenders: Vec<Contender<'a>>,
    /// Who takes part in a quick run; nobody if the workload has no part in it.
    pub(crate) quick: &'static [&'static str],
}

/// A measured number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Metric {
    /// Empty for the only one of a workload.
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
}

/// The time of one operation, which most workloads measure.
pub(crate) const TIME: &[Metric] = &[Metric { name: "", unit: "ns" }];

/// Percentiles of a time. Each is a metric of its own, since the fast half says nothing about the slow thousandth.
pub(crate) const LATENCY: &[Metric] = &[
    Metric { name: "p50", unit: "ns" },
    Metric { name: "p90", unit: "ns" },
    Metric { name: "p99", unit: "ns" },
    Metric { name: "p99.9", unit: "ns" },
];

/// Who takes part: a runtime, or a library on a runtime.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    /// What one run does; one if nobody counts.
    pub(crate) operations: usize,
    run: Box<dyn Fn(u32) -> Vec<f64> + 'a>,
}

impl<'a> Contender<'a> {
    /// `run` repeats the workload as often as it is told, and returns one number for each metric.
    pub(crate) fn new(name: &'static str, run: impl Fn(u32) -> Vec<f64> + 'a) -> Contender<'a> {
        Contender { name, operations: 1, run: Box::new(run) }
    }

    /// Measures the time of `operations` that one call of `run` does.
    pub(crate) fn timed(name: &'static str, operations: usize, run: impl Fn() + 'a) -> Contender<'a> {
        Contender::reporting(name, operations, move || {
            let begin = Instant::now();
            run();
            begin.elapsed()
        })
    }

    /// The same, where the workload knows which part of its time counts.
    pub(crate) fn reporting(
        name: &'static str,
        operations: usize,
        run: impl Fn() -> Duration + 'a,
    ) -> Contender<'a> {
        let run = move |rounds| {
            let time: Duration = (0..rounds).map(|_| run()).sum();
            vec![time.as_nanos() as f64 / (operations as f64 * f64::from(rounds))]
        };
        Contender { operations, ..Contender::new(name, run) }
    }

    pub(crate) fn run(&self, rounds: u32) -> Vec<f64> {
        (self.run)(rounds)
    }

    /// Whether it is a runtime that has one thread, however many workers the others have.
    pub(crate) fn has_one_thread(&self) -> bool {
        self.name.ends_with("-ct")
    }
}

impl Workload<'_> {
    /// Every rival beside the Brigade that it is compared with: the single-threaded with the single-threaded.
    pub(crate) fn pairs(&self) -> Vec<(&Contender<'_>, &Contender<'_>)> {
        let ours = |name: &str| self.contenders.iter().find(|contender| contender.name == name);
        let rivals = self.contenders.iter().filter(|contender| !contender.name.starts_with(OURS));
        let pair = |rival| Some((ours(opponent(rival))?, rival));
        rivals.filter_map(pair).collect()
    }
}

/// The Brigade that a rival is compared with.
fn opponent(rival: &Contender<'_>) -> &'static str {
    if rival.has_one_thread() { "brigade-ct" } else { OURS }
}

pub(crate) const OURS: &str = "brigade";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_threaded_runtimes_meet_each_other() {
        let contender = |name| Contender::timed(name, 1, || {});
        let names = ["brigade", "brigade-ct", "tokio", "tokio-ct", "smol"];
        let contenders = names.map(contender).into();
        let workload = Workload { name: "x", metrics: TIME, contenders, quick: &[] };
        let pairs = workload.pairs();
        let pairs: Vec<_> = pairs.iter().map(|(ours, rival)| (ours.name, rival.name)).collect();
        assert_eq!(pairs, [("brigade", "tokio"), ("brigade-ct", "tokio-ct"), ("brigade", "smol")]);
    }

    #[test]
    fn a_time_is_divided_by_rounds_and_operations() {
        let contender = Contender::reporting("x", 10, || Duration::from_nanos(500));
        assert_eq!(contender.run(4), [50.0]);
    }
}
