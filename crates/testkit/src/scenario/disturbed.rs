//! Scenarios that are disturbed: cancelled, aborted and made to panic at every await, and made to panic before every
//! statement.
//!
//! There is no trace to compare with. What must hold is what always holds: the run ends, every task is done and
//! every group has ended, every guard was dropped once, the last first, no request was lost, and nothing of the
//! runtime is left.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use brigade_core::{Handle, RunOptions, run_main};

use super::interpreter::task_body;
use super::program::Scenario;
use super::world::{Counts, World};
use crate::Simulation;
use crate::explore::text_of;
use crate::interrupt::{KINDS, Plan, begin, left_of, met, plans};

/// What disturbing a scenario everywhere has done.
#[derive(Clone, Debug, Default)]
pub struct Disturbed {
    /// The steps of the undisturbed run: the points at which tasks were cancelled, aborted and made to panic.
    pub points: u64,
    /// How many pairs of those were tried.
    pub pairs: u64,
    /// The statements of the undisturbed run, before each of which a task panicked, too.
    pub statements: u64,
    /// How many runs there were.
    pub runs: u64,
    /// What did not hold, with the disturbance.
    pub findings: Vec<String>,
}

/// Runs `scenario` undisturbed, then with the running task cancelled, aborted and made to panic after every step, with
/// at most `pairs` sampled pairs of those, and with a panic before every statement.
#[must_use]
pub fn disturb_everywhere(scenario: &Scenario, pairs: u64) -> Disturbed {
    let calm = run_once(scenario, &Plan::new(), 0);
    let (points, statements) = (calm.steps, calm.statements);
    let mut total = Disturbed { points, statements, runs: 1, ..Disturbed::default() };
    total.note(&scenario.id, &"undisturbed", calm.finding);
    for plan in plans(points, &KINDS, pairs.min(points), points) {
        let run = run_once(scenario, &plan, 0);
        total.pairs += u64::from(plan.len() == 2);
        total.runs += 1;
        total.note(&scenario.id, &format_args!("{plan:?}"), run.finding);
    }
    for statement in 1..=statements {
        let run = run_once(scenario, &Plan::new(), statement);
        total.runs += 1;
        total.note(&scenario.id, &format_args!("panic before statement {statement}"), run.finding);
    }
    total
}

impl Disturbed {
    fn note(&mut self, id: &str, how: &dyn fmt::Display, finding: Option<String>) {
        self.findings.extend(finding.map(|finding| format!("{id}, {how}: {finding}")));
    }
}

struct Run {
    steps: u64,
    statements: u64,
    finding: Option<String>,
}

fn run_once(scenario: &Scenario, plan: &Plan, panic_at: u64) -> Run {
    let (simulation, world) = (Simulation::new(), World::new());
    for (step, how) in plan {
        simulation.interrupt_after(*step, *how);
    }
    begin();
    world.panic_at(panic_at);
    let run = || {
        let handle = Handle::new(simulation.clone());
        world.listen(&handle);
        let main = task_body(world.clone(), "root".to_owned(), scenario.root.clone());
        drop(run_main(&handle, &*simulation, RunOptions::new().name("root"), main));
        left_of(&handle, &simulation).or_else(met::finding)
    };
    let left = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Some(text_of(&*payload)));
    let (counts, open) = (world.counts(), world.open_groups());
    // Handles that the scenario kept are dropped with the world; only then must nothing hold the runtime.
    drop(world.into_trace(&scenario.id));
    let finding = left.or_else(|| of_guards(counts)).or_else(|| {
        if open > 0 {
            return Some(format!("{open} groups have not ended"));
        }
        (Arc::strong_count(&simulation) > 1).then(|| "something still holds the runtime".to_owned())
    });
    Run { steps: simulation.steps(), statements: counts.statements, finding }
}

fn of_guards(counts: Counts) -> Option<String> {
    if counts.guards_made != counts.guards_dropped {
        return Some(format!("{} guards, {} drops", counts.guards_made, counts.guards_dropped));
    }
    let out_of_order = counts.guards_out_of_order;
    (out_of_order > 0).then(|| format!("{out_of_order} guards were dropped out of order"))
}
