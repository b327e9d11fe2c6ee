//! Paired measurement on a machine that others use too: blocks alternate as A B B A, or B A A B by lot, so that a
//! slow drift hits both sides alike; each half gives one ratio of neighbours.

use std::time::{Duration, Instant};

use crate::machine;
use crate::runtimes::Subject;
use crate::stats::{Estimate, Random, median};
use crate::workloads::Workload;

/// How long one comparison may take.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    time: Duration,
    least_groups: usize,
}

impl Budget {
    /// Fifteen comparisons in under a minute.
    pub(crate) const QUICK: Budget = Budget { time: Duration::from_millis(2800), least_groups: 3 };
    pub(crate) const FULL: Budget = Budget { time: Duration::from_secs(20), least_groups: 30 };
}

/// The shortest block: long enough for the cost of starting it to vanish.
const BLOCK: Duration = Duration::from_millis(20);

/// Two subjects on one workload.
pub(crate) struct Comparison {
    pub(crate) workload: Workload,
    pub(crate) rival: &'static str,
    pub(crate) estimate: Estimate,
    pub(crate) pairs: usize,
    /// Medians, in nanoseconds per operation.
    pub(crate) ours_nanos: f64,
    pub(crate) rival_nanos: f64,
    /// CPU time of both sides, ours divided by the rival's: tells spinning from speed.
    pub(crate) cpu_ratio: f64,
}

impl Comparison {
    /// Measures until the budget is spent.
    pub(crate) fn measure(
        workload: Workload,
        ours: &dyn Subject,
        rival: &dyn Subject,
        budget: Budget,
    ) -> Self {
        let begin = Instant::now();
        let mut sides = [Side::warm(ours, workload), Side::warm(rival, workload)];
        // Both sides run as often in a block, so that the block of the faster one is long enough.
        let rounds = sides[0].rounds.max(sides[1].rounds);
        let mut random = Random::new(workload.operations());
        let mut groups = Vec::new();
        while groups.len() < budget.least_groups || begin.elapsed() < budget.time {
            let first = random.below(2);
            let order = [first, 1 - first, 1 - first, first];
            let times = order.map(|side| sides[side].block(workload, rounds));
            let ratio = |ours: f64, rival: f64| if first == 0 { ours / rival } else { rival / ours };
            groups.push([ratio(times[0], times[1]), ratio(times[3], times[2])]);
        }
        let [mut ours, mut theirs] = sides;
        Comparison {
            workload,
            rival: rival.name(),
            estimate: Estimate::of(&groups),
            pairs: groups.len() * 2,
            ours_nanos: median(&mut ours.nanos),
            rival_nanos: median(&mut theirs.nanos),
            cpu_ratio: ours.cpu.as_secs_f64() / theirs.cpu.as_secs_f64().max(1e-3),
        }
    }
}

/// What was measured of one subject.
struct Side<'a> {
    subject: &'a dyn Subject,
    /// Runs that fill a block.
    rounds: u32,
    nanos: Vec<f64>,
    cpu: Duration,
}

impl<'a> Side<'a> {
    /// Runs once to touch all memory, and once to see how long a run takes.
    fn warm(subject: &'a dyn Subject, workload: Workload) -> Side<'a> {
        subject.run(workload);
        let begin = Instant::now();
        subject.run(workload);
        let rounds = BLOCK.div_duration_f64(begin.elapsed()).ceil().clamp(1.0, 1000.0) as u32;
        Side { subject, rounds, nanos: Vec::new(), cpu: Duration::ZERO }
    }

    /// Runs one block and returns its nanoseconds per operation.
    fn block(&mut self, workload: Workload, rounds: u32) -> f64 {
        let (begin, cpu) = (Instant::now(), machine::cpu_time());
        (0..rounds).for_each(|_| self.subject.run(workload));
        let nanos = begin.elapsed().as_nanos() as f64 / (f64::from(rounds) * workload.operations() as f64);
        self.cpu += machine::cpu_time().saturating_sub(cpu);
        self.nanos.push(nanos);
        nanos
    }
}
