//! Which workloads belong together in a document, and the summaries over several of them.

use crate::results::{Results, Row};

/// Workloads that answer one question.
pub(crate) struct Section {
    /// Part of file names.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// How the names of its workloads begin.
    prefixes: &'static [&'static str],
}

pub(crate) const SECTIONS: &[Section] = &[
    Section {
        name: "scheduler",
        title: "Scheduler",
        prefixes: &["spawn_", "yield_", "ping_", "chained_", "skynet", "remote_"],
    },
    Section {
        name: "structure",
        title: "Groups, gathering, cancelling",
        prefixes: &["group_", "gather_", "cancel_"],
    },
    Section { name: "time", title: "Timeouts and timers", prefixes: &["timeout_", "timer_", "sleep_"] },
    Section { name: "network", title: "Sockets", prefixes: &["echo_", "idle_", "http_"] },
    Section { name: "latency", title: "Latency and fairness", prefixes: &["wake_", "fairness"] },
    Section { name: "memory", title: "Memory", prefixes: &["memory_"] },
];

impl Section {
    /// Its rows with that number of workers.
    pub(crate) fn rows<'a>(&self, results: &'a Results, workers: usize) -> Vec<&'a Row> {
        let is_named = |row: &Row| self.prefixes.iter().any(|prefix| row.workload.starts_with(prefix));
        let has = |row: &&Row| row.workers == workers && is_named(row);
        results.results.iter().filter(has).collect()
    }
}

/// A geometric mean over workloads.
pub(crate) struct Summary {
    pub(crate) title: &'static str,
    pub(crate) rival: &'static str,
    workloads: &'static [&'static str],
}

const SEVEN: &[&str] =
    &["spawn_join", "spawn_one", "spawn_detached", "yield_many", "ping_pong", "chained_spawn", "skynet"];
const PYTHON: &[&str] = &["spawn_join", "spawn_one", "yield_many", "skynet"];

pub(crate) const SUMMARIES: &[Summary] = &[
    Summary { title: "seven scheduler workloads", rival: "tokio", workloads: SEVEN },
    Summary { title: "the same on one thread", rival: "tokio-ct", workloads: SEVEN },
    Summary { title: "seven scheduler workloads", rival: "smol", workloads: SEVEN },
    Summary { title: "spawn_join, spawn_one, yield_many, skynet", rival: "asyncio", workloads: PYTHON },
    Summary { title: "spawn_join, spawn_one, yield_many, skynet", rival: "uvloop", workloads: PYTHON },
];

impl Summary {
    /// The mean, and the worst of its workloads; nothing unless all were measured.
    pub(crate) fn of(&self, results: &Results, workers: usize) -> Option<(f64, &'static str, f64)> {
        let ratio = |workload: &&'static str| {
            let key = (*workload, "", self.rival, workers);
            let row = results.results.iter().find(|row| row.key() == key)?;
            Some((*workload, row.ratio))
        };
        let ratios: Vec<_> = self.workloads.iter().map(ratio).collect::<Option<_>>()?;
        let mean = ratios.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / ratios.len() as f64;
        let (worst, most) = ratios.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((mean.exp(), worst, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};

    #[test]
    fn a_mean_needs_all_its_workloads() {
        let mut all = results(PYTHON.iter().map(|name| row(name, "uvloop", 0.25)).collect());
        let summary = SUMMARIES.last().unwrap();
        all.results[0].ratio = 0.5;
        let (mean, worst, most) = summary.of(&all, 2).unwrap();
        assert!((mean - 0.25 * 2f64.powf(0.25)).abs() < 1e-9 && worst == "spawn_join" && most == 0.5);
        assert!(summary.of(&all, 4).is_none());
        all.results.pop();
        assert!(summary.of(&all, 2).is_none());
    }

    #[test]
    fn every_workload_has_one_section() {
        let names = ["spawn_one", "group_100k", "timer_storm", "echo_64", "wake_idle", "memory_sleeping"];
        for (name, section) in names.iter().zip(SECTIONS) {
            let all = results(vec![row(name, "tokio", 1.0)]);
            let having = SECTIONS.iter().filter(|section| !section.rows(&all, 2).is_empty());
            assert_eq!(having.map(|section| section.name).collect::<Vec<_>>(), [section.name]);
        }
    }
}
