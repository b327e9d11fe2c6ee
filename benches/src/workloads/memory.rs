//! Memory per task, which other processes measure.

use crate::contest::{Contender, Metric, Workload};
use crate::memory::{Held, bytes_elsewhere};
use crate::runtimes::Runtimes;

pub(super) fn all(runtimes: &Runtimes) -> Vec<Workload<'_>> {
    let held = |name: &'static str, held: Held, names: &[&'static str]| {
        let contender =
            |&name| Contender::new(name, move |_| vec![bytes_elsewhere(name, held, runtimes.workers)]);
        let contenders = names.iter().map(contender).collect();
        Workload { name, metrics: BYTES, contenders, quick: &[] }
    };
    vec![
        held("memory_sleeping", Held::Sleeping, &["brigade", "tokio", "smol"]),
        held("memory_group_child", Held::Child, &["brigade", "tokio"]),
    ]
}

const BYTES: &[Metric] = &[Metric { name: "", unit: "B" }];
