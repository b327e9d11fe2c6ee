//! Paired measurement on a machine that others use too: blocks alternate as A B B A, or B A A B by lot, so that a
//! slow drift hits both sides alike; each half gives one ratio of neighbours. What was disturbed by other processes is
//! measured again while there is time.

use std::time::{Duration, Instant};

use crate::contest::{Contender, Metric, Workload};
use crate::machine::{self, Watch};
use crate::stats::{Estimate, Random, median};

/// How long one comparison may take.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    time: Duration,
    /// Fewer groups of four blocks are no measurement, however long they take.
    least_groups: usize,
    /// The same for workloads of which one run takes longer than [`SLOW`].
    least_slow_groups: usize,
}

impl Budget {
    /// Some thirty comparisons in a hundred seconds.
    pub(crate) const QUICK: Budget =
        Budget { time: Duration::from_millis(1600), least_groups: 3, least_slow_groups: 1 };
    /// Some hundred and thirty comparisons in half an hour.
    pub(crate) const FULL: Budget =
        Budget { time: Duration::from_secs(8), least_groups: 30, least_slow_groups: 5 };
}

/// The shortest block: long enough for the cost of starting it to vanish.
const BLOCK: Duration = Duration::from_millis(20);

/// Where one side is very much faster, the blocks of the other one end here.
const LONGEST_BLOCK: Duration = Duration::from_millis(200);

/// Runs that are so long that few must do.
const SLOW: Duration = Duration::from_millis(600);

/// Two contenders by one metric of one workload.
pub(crate) struct Comparison {
    pub(crate) workload: &'static str,
    pub(crate) metric: Metric,
    pub(crate) ours: &'static str,
    pub(crate) rival: &'static str,
    pub(crate) estimate: Estimate,
    /// Medians, in the unit of the metric.
    pub(crate) ours_median: f64,
    pub(crate) rival_median: f64,
    pub(crate) effort: Effort,
}

/// What all metrics of a comparison share.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) pairs: usize,
    /// Pairs that were thrown away because other processes were busy.
    pub(crate) discarded: usize,
    /// Too few pairs were undisturbed, so that disturbed ones are among those that were kept.
    pub(crate) noisy: bool,
    /// CPU time of both sides, ours divided by the rival's: tells spinning from speed.
    pub(crate) cpu_ratio: f64,
}

/// Measures until the budget is spent; one comparison for each metric.
pub(crate) fn compare(
    workload: &Workload<'_>,
    ours: &Contender<'_>,
    rival: &Contender<'_>,
    budget: Budget,
) -> Vec<Comparison> {
    let begin = Instant::now();
    let mut duel = Duel::warm(ours, rival);
    let least = if duel.is_slow { budget.least_slow_groups } else { budget.least_groups };
    let mut groups = Vec::new();
    while groups.len() < least || begin.elapsed() < budget.time {
        groups.push(duel.group());
    }
    let (kept, effort) = duel.keep(groups, least);
    let compared = |(index, metric): (usize, &Metric)| Comparison {
        workload: workload.name,
        metric: *metric,
        ours: ours.name,
        rival: rival.name,
        estimate: Estimate::of(&kept.iter().map(|group| group.ratios(index)).collect::<Vec<_>>()),
        ours_median: median_of(&kept, 0, index),
        rival_median: median_of(&kept, 1, index),
        effort,
    };
    workload.metrics.iter().enumerate().map(compared).collect()
}

/// Two contenders who take turns.
struct Duel<'a> {
    sides: [&'a Contender<'a>; 2],
    cpu: [Duration; 2],
    /// Runs that fill a block of either side, so that the block of the faster one is long enough.
    rounds: u32,
    is_slow: bool,
    random: Random,
}

/// Four blocks in a row, as two pairs; in each what was measured of us and of the rival.
#[derive(Clone)]
struct Group {
    pairs: [[Vec<f64>; 2]; 2],
    disturbed: bool,
}

impl<'a> Duel<'a> {
    /// Runs each side once to touch all memory, and, unless that took long, once more to see how long a run takes.
    fn warm(ours: &'a Contender<'a>, rival: &'a Contender<'a>) -> Duel<'a> {
        let times = [ours, rival].map(|side| {
            let first = time_of(side);
            if first > SLOW { first } else { time_of(side) }
        });
        let [fast, slow] = [times[0].min(times[1]), times[0].max(times[1])];
        let most = LONGEST_BLOCK.div_duration_f64(slow).clamp(1.0, 1000.0);
        let rounds = BLOCK.div_duration_f64(fast).ceil().clamp(1.0, most) as u32;
        let is_slow = slow * rounds > SLOW;
        Duel { sides: [ours, rival], cpu: [Duration::ZERO; 2], rounds, is_slow, random: Random::new(7) }
    }

    fn group(&mut self) -> Group {
        let watch = Watch::start();
        let first = self.random.below(2);
        let blocks = [first, 1 - first, 1 - first, first].map(|side| self.block(side));
        let [a, b, c, d] = blocks;
        let pairs = if first == 0 { [[a, b], [d, c]] } else { [[b, a], [c, d]] };
        Group { pairs, disturbed: watch.is_disturbed() }
    }

    fn block(&mut self, side: usize) -> Vec<f64> {
        let cpu = machine::cpu_time();
        let measured = self.sides[side].run(self.rounds);
        self.cpu[side] += machine::cpu_time().saturating_sub(cpu);
        measured
    }

    /// Throws disturbed groups away, if enough others are left.
    fn keep(&self, groups: Vec<Group>, least: usize) -> (Vec<Group>, Effort) {
        let (disturbed, clean): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| group.disturbed);
        let noisy = clean.len() < least;
        let discarded = if noisy { 0 } else { disturbed.len() * 2 };
        let kept = if noisy { [clean, disturbed].concat() } else { clean };
        let [ours, rivals] = self.cpu.map(|time| time.as_secs_f64().max(1e-3));
        let effort = Effort { pairs: kept.len() * 2, discarded, noisy, cpu_ratio: ours / rivals };
        (kept, effort)
    }
}

impl Group {
    /// Ours divided by the rival's, for one metric.
    fn ratios(&self, metric: usize) -> [f64; 2] {
        [0, 1].map(|pair| self.pairs[pair][0][metric] / self.pairs[pair][1][metric])
    }
}

fn median_of(groups: &[Group], side: usize, metric: usize) -> f64 {
    let measured = groups.iter().flat_map(|group| group.pairs.iter().map(|pair| pair[side][metric]));
    median(&mut measured.collect::<Vec<_>>())
}

fn time_of(side: &Contender<'_>) -> Duration {
    let begin = Instant::now();
    side.run(1);
    begin.elapsed()
}
