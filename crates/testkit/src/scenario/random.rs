//! Programs made at random, and Brigade compared with the reference model on them.
//!
//! A program is kept if it ends, meets none of the situations that the laws leave open, and gives the same
//! trace in the model in every order that was tried. Then Brigade must give that trace under every schedule.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::model::{ModelOptions, run_model};
use super::program::{Block, Mode, Scenario, Settle, Stmt, When};
use super::run_scenario;
use super::shrink::shrink;
use crate::schedule::Dice;
use crate::{Policy, Simulation};

/// How long waits are, at most.
const SPAN: usize = 130;

/// What a comparison of random programs has done.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Programs that were compared.
    pub programs: u64,
    /// Programs that were thrown away: their result depends on an order, or the laws leave it open.
    pub discarded: u64,
    /// Runs of Brigade.
    pub runs: u64,
    /// Requests that the model delivered.
    pub deliveries: u64,
    /// Where Brigade departs from the model, with the seed of the program.
    pub findings: Vec<String>,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { programs, discarded, runs, deliveries, findings } = self;
        write!(
            f,
            "{programs} programs ({discarded} discarded), {deliveries} deliveries, {runs} runs, {} differences",
            findings.len()
        )
    }
}

/// Compares Brigade with the model on `programs` random programs, each under three schedules.
#[must_use]
pub fn check_random_programs(seed: u64, programs: u64, options: ModelOptions) -> Checked {
    let mut checked = Checked::default();
    let mut next = seed.wrapping_mul(1 << 32);
    while checked.programs < programs {
        next += 1;
        let scenario = random_scenario(next);
        let Some(expected) = confluent(&scenario, options, &mut checked) else {
            checked.discarded += 1;
            continue;
        };
        checked.programs += 1;
        for policy in policies(next) {
            checked.runs += 1;
            let Some(difference) = difference(&scenario, &policy, &expected) else { continue };
            if is_confluent(&scenario, options, &expected, 500) {
                let small = shrink(&scenario, |smaller| is_finding(smaller, &policy, options));
                let program = serde_json::to_string(&small.root).unwrap_or_default();
                checked.findings.push(format!("program {next}, {policy}: {difference}\n    {program}"));
            } else {
                // A dozen orders had not shown it; it is no program for a comparison.
                checked.discarded += 1;
                checked.programs -= 1;
            }
            break;
        }
    }
    checked
}

fn policies(seed: u64) -> [Policy; 3] {
    [Policy::Fifo, Policy::Random { seed }, Policy::Pct { seed, changes: 2, steps: 40 }]
}

/// Where Brigade departs from the expected trace under a schedule.
fn difference(scenario: &Scenario, policy: &Policy, expected: &serde_json::Value) -> Option<String> {
    let run = || run_scenario(&Simulation::with_policy(policy.clone()), scenario).compare(expected);
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => None,
        Ok(Err(difference)) => Some(difference.to_string()),
        Err(payload) => Some(crate::explore::text_of(&*payload)),
    }
}

/// Whether a program is fit for a comparison, and Brigade departs from the model.
fn is_finding(scenario: &Scenario, policy: &Policy, options: ModelOptions) -> bool {
    let first = run_model(scenario, options);
    if first.coincident || !first.excluded.is_empty() {
        return false;
    }
    let expected = first.trace.to_json();
    difference(scenario, policy, &expected).is_some() && is_confluent(scenario, options, &expected, 100)
}

/// The trace of a program that has only one.
fn confluent(scenario: &Scenario, options: ModelOptions, checked: &mut Checked) -> Option<serde_json::Value> {
    let first = run_model(scenario, options);
    if first.coincident || !first.excluded.is_empty() || first.deliveries < 2 {
        return None;
    }
    let expected = first.trace.to_json();
    if !is_confluent(scenario, options, &expected, 12) {
        return None;
    }
    checked.deliveries += first.deliveries;
    Some(expected)
}

/// Whether so many random orders of the model all give the expected trace.
fn is_confluent(
    scenario: &Scenario,
    options: ModelOptions,
    expected: &serde_json::Value,
    orders: u64,
) -> bool {
    (1..=orders).all(|seed| {
        let again = run_model(scenario, ModelOptions { seed: Some(seed), ..options });
        again.excluded.is_empty() && again.trace.compare(expected).is_ok()
    })
}

/// A program made from a seed. It keeps the static rules of the language; whether it is fit for a comparison
/// the model tells.
#[must_use]
pub fn random_scenario(seed: u64) -> Scenario {
    let mut maker = Maker { dice: Dice::new(seed), ids: 0, left: 0, tasks: Vec::new(), groups: Vec::new() };
    maker.left = 6 + maker.dice.roll(30);
    let root = maker.block(&Place::default());
    Scenario { id: format!("random {seed}"), laws: Vec::new(), root, expect: None, order: None, note: None }
}

struct Maker {
    dice: Dice,
    ids: u32,
    /// Statements that may still be made.
    left: usize,
    /// All tasks that were spawned somewhere so far.
    tasks: Vec<String>,
    groups: Vec<String>,
}

/// Where a statement stands, as far as the rules of the language ask.
#[derive(Clone, Default)]
struct Place {
    depth: usize,
    in_branch: bool,
    in_cleanup: bool,
    /// Timeouts around, of this task and not through a shield.
    timeouts: Vec<String>,
}

impl Place {
    fn inside(&self) -> Place {
        Place { depth: self.depth + 1, ..self.clone() }
    }

    /// The body of another task.
    fn of_task(&self) -> Place {
        Place { depth: self.depth + 1, ..Place::default() }
    }
}

impl Maker {
    fn block(&mut self, place: &Place) -> Block {
        let most = 1 + self.dice.roll(if place.depth == 0 { 9 } else { 5 });
        let mut stmts = Vec::new();
        // Tasks whose value this block may still take.
        let mut own: Vec<String> = Vec::new();
        for _ in 0..most {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            if place.depth < 4 && self.dice.roll(9) == 0 {
                self.victim(place, &mut stmts);
            } else {
                stmts.push(self.statement(place, &mut own));
            }
        }
        stmts.into()
    }

    /// A task that is cancelled while it works, once or twice, and then joined.
    fn victim(&mut self, place: &Place, stmts: &mut Vec<Stmt>) {
        let (id, body) = (self.id("v"), self.block(&place.of_task()));
        stmts.push(Stmt::Spawn { id: id.clone(), body });
        for _ in 0..1 + self.dice.roll(2) {
            stmts.push(Stmt::Sleep { ms: self.span() / 2 + 1 });
            stmts.push(Stmt::Cancel { task: id.clone() });
        }
        let task = id.clone();
        stmts.push(if self.dice.roll(2) == 0 { Stmt::Join { task } } else { Stmt::TryJoin { task } });
        self.tasks.push(id);
    }

    fn statement(&mut self, place: &Place, own: &mut Vec<String>) -> Stmt {
        let deep = place.depth >= 5;
        match self.dice.roll(100) {
            0..=5 => Stmt::Log { k: self.number() },
            6..=21 => Stmt::Sleep { ms: self.span() },
            22..=24 => Stmt::Yield { n: Some(1 + u32::from(self.dice.roll(2) == 0)) },
            25..=36 if !deep => {
                let (id, body) = (self.id("t"), self.block(&place.of_task()));
                self.tasks.push(id.clone());
                own.push(id.clone());
                Stmt::Spawn { id, body }
            }
            37..=47 => Stmt::Cancel { task: self.some_task(place) },
            48..=53 => match own.pop() {
                Some(task) => self.take(task),
                None => Stmt::Sleep { ms: self.span() },
            },
            54..=57 => self.look(),
            58 => Stmt::Cancelling,
            59..=60 => Stmt::Raise { k: self.number() },
            61 if !place.in_cleanup => Stmt::Return { v: Some(self.number()) },
            62..=63 => Stmt::Guard { k: self.number() },
            64..=66 => self.wait_for_own(own),
            67..=69 if !place.timeouts.is_empty() => {
                let id = place.timeouts[self.dice.roll(place.timeouts.len())].clone();
                Stmt::Reschedule { id, ms: self.limit() }
            }
            70 if !self.groups.is_empty() => Stmt::GroupCancel { group: self.some_group() },
            71..=76 if !self.groups.is_empty() && !deep => {
                let group = self.some_group();
                let (id, body) = (self.id("c"), self.block(&place.of_task()));
                self.tasks.push(id.clone());
                Stmt::Gspawn { group, id, body }
            }
            _ if deep => Stmt::Sleep { ms: self.span() },
            _ => self.scope(place),
        }
    }

    /// A statement with a body of its own.
    fn scope(&mut self, place: &Place) -> Stmt {
        let inside = place.inside();
        match self.dice.roll(26) {
            0..=2 => Stmt::Try { body: self.block(&inside), handler: self.block(&inside) },
            3..=8 => {
                let settle = [Settle::Resume, Settle::Uncancel, Settle::Drop][self.dice.roll(3)];
                Stmt::Catch { body: self.block(&inside), handler: self.block(&inside), settle }
            }
            9..=12 => {
                let cleanup = Place { in_cleanup: true, timeouts: Vec::new(), ..inside.clone() };
                Stmt::Finally { body: self.block(&inside), cleanup: self.block(&cleanup) }
            }
            13..=17 => {
                let (id, ms, fail) = (self.id("d"), self.limit(), self.dice.roll(4) == 0);
                let mut inside = inside;
                inside.timeouts.push(id.clone());
                Stmt::Timeout { id, ms, body: self.block(&inside), fail }
            }
            18 => {
                let (ms, fail) = (self.limit(), self.dice.roll(4) == 0);
                Stmt::WaitFor { ms, body: Some(self.block(&inside)), task: None, fail }
            }
            19..=20 => Stmt::Shield { body: self.block(&Place { timeouts: Vec::new(), ..inside }) },
            21..=23 => {
                let id = self.id("g");
                self.groups.push(id.clone());
                Stmt::Group { id, body: self.block(&inside) }
            }
            _ => {
                let (id, count) = (self.id("m"), 1 + self.dice.roll(3));
                let mode = if self.dice.roll(3) == 0 { Mode::ReturnErrors } else { Mode::FailFast };
                let branch = Place { in_branch: true, timeouts: Vec::new(), ..inside };
                Stmt::Gather { id, mode, branches: (0..count).map(|_| self.block(&branch)).collect() }
            }
        }
    }

    /// Takes the value of an own task.
    fn take(&mut self, task: String) -> Stmt {
        match self.dice.roll(5) {
            0..=1 => Stmt::Join { task },
            2..=3 => Stmt::TryJoin { task },
            _ => Stmt::WaitFor { ms: self.limit(), body: None, task: Some(task), fail: false },
        }
    }

    /// Looks at some task without taking anything.
    fn look(&mut self) -> Stmt {
        if self.tasks.is_empty() {
            return Stmt::Log { k: self.number() };
        }
        let task = self.tasks[self.dice.roll(self.tasks.len())].clone();
        match self.dice.roll(5) {
            0..=1 => Stmt::Watch { task },
            2 => Stmt::Inspect { task },
            3 => Stmt::OnDone { task, k: self.number() },
            _ => Stmt::Spin { task, ms: self.span() },
        }
    }

    /// Waits for tasks of the same spawner; none is a list as well.
    fn wait_for_own(&mut self, own: &mut Vec<String>) -> Stmt {
        let ms = self.limit();
        if self.dice.roll(2) == 0 {
            let when = [When::All, When::First, When::Error][self.dice.roll(3)];
            return Stmt::Wait { tasks: own.clone(), when, ms };
        }
        let take = Some(1 + self.dice.roll(2));
        Stmt::AsCompleted { tasks: std::mem::take(own), take, ms }
    }

    fn some_task(&mut self, place: &Place) -> String {
        let options = self.tasks.len() + 1;
        match self.tasks.get(self.dice.roll(options)) {
            Some(task) => task.clone(),
            None if place.in_branch => "root".to_owned(),
            None if self.dice.roll(3) == 0 => "root".to_owned(),
            None => "self".to_owned(),
        }
    }

    fn some_group(&mut self) -> String {
        self.groups[self.dice.roll(self.groups.len())].clone()
    }

    fn limit(&mut self) -> Option<i64> {
        match self.dice.roll(12) {
            0 => None,
            1 => Some(0),
            _ => Some(self.span()),
        }
    }

    fn span(&mut self) -> i64 {
        1 + i64::try_from(self.dice.roll(SPAN)).unwrap_or(0)
    }

    fn number(&mut self) -> i64 {
        self.ids += 1;
        i64::from(self.ids)
    }

    fn id(&mut self, letter: &str) -> String {
        self.ids += 1;
        format!("{letter}{}", self.ids)
    }
}
