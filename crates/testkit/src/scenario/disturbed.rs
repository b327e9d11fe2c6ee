//! Scenarios that are disturbed: cancelled and aborted at every await, and made to panic at every statement.
//!
//! There is no trace to compare with. What must hold is what always holds: the run ends, every task is done,
//! every guard was dropped once, and nothing of the runtime is left.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use brigade_core::{Handle, RunOptions, run_main};

use super::interpreter::task_body;
use super::program::Scenario;
use super::world::World;
use crate::Simulation;
use crate::explore::text_of;
use crate::interrupt::{Interruption, left_of, plans};

/// What disturbing a scenario everywhere has done.
#[derive(Clone, Debug, Default)]
pub struct Disturbed {
    /// The steps of the undisturbed run: the points at which tasks were cancelled and aborted.
    pub points: u64,
    /// The statements of the undisturbed run: the points at which tasks panicked.
    pub statements: u64,
    /// How many runs there were.
    pub runs: u64,
    /// What did not hold, with the disturbance.
    pub findings: Vec<String>,
}

/// Runs `scenario` undisturbed, then with the running task cancelled and aborted after every step, with at most
/// `pairs` sampled pairs of those, and with a panic before every statement.
#[must_use]
pub fn disturb_everywhere(scenario: &Scenario, pairs: u64) -> Disturbed {
    let calm = run_once(scenario, &[], 0);
    let mut total =
        Disturbed { points: calm.steps, statements: calm.statements, runs: 1, findings: Vec::new() };
    total.note(&scenario.id, &"undisturbed", calm.finding);
    for plan in plans(calm.steps, pairs, calm.steps) {
        let run = run_once(scenario, &plan, 0);
        total.runs += 1;
        total.note(&scenario.id, &format_args!("{plan:?}"), run.finding);
    }
    for statement in 1..=calm.statements {
        let run = run_once(scenario, &[], statement);
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

fn run_once(scenario: &Scenario, plan: &[(u64, Interruption)], panic_at: u64) -> Run {
    let (simulation, world) = (Simulation::new(), World::new());
    for (step, how) in plan {
        simulation.interrupt_after(*step, *how);
    }
    world.panic_at(panic_at);
    let run = || {
        let handle = Handle::new(simulation.clone());
        world.listen(&handle);
        let main = task_body(world.clone(), "root".to_owned(), scenario.root.clone());
        drop(run_main(&handle, &*simulation, RunOptions::new().name("root"), main));
        left_of(&handle, &simulation)
    };
    let left = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Some(text_of(&*payload)));
    let counts = world.counts();
    // Handles that the scenario kept are dropped with the world; only then must nothing hold the runtime.
    drop(world.into_trace(&scenario.id));
    let finding = left.or_else(|| {
        if counts.guards_made != counts.guards_dropped {
            return Some(format!("{} guards, {} drops", counts.guards_made, counts.guards_dropped));
        }
        (Arc::strong_count(&simulation) > 1).then(|| "something still holds the runtime".to_owned())
    });
    Run { steps: simulation.steps(), statements: counts.statements, finding }
}
