//! Running a program under many schedules, and naming the one under which it fails.
//!
//! A concurrent program that passes once has passed under one order of its tasks. [`explore`] runs it under
//! many: in order, in reverse, at random, and by priorities (PCT). A failure names its schedule; with
//! `BRIGADE_SCHEDULE` set to that name the same test runs the failing schedule only, so that it can be looked
//! at with a debugger or more output. [`Explorer::exhaust`] goes through *all* schedules of a small program.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use brigade_core::{Handle, RunOptions, TaskError, TaskOutput, run_main_local};

use crate::backend::Simulation;
use crate::schedule::{Choice, Policy};

/// The variable that makes every exploration run one schedule only.
const ONLY: &str = "BRIGADE_SCHEDULE";

/// Runs `program` under `runs` schedules; each must end with a value.
///
/// # Panics
///
/// When a run ends without a value, hangs, or is not deterministic. The message names the schedule; run the
/// test again with `BRIGADE_SCHEDULE` set to that name.
///
/// # Examples
///
/// ```
/// use brigade_core::{spawn, yield_now};
/// use brigade_testkit::explore;
/// use std::sync::{Arc, Mutex};
///
/// explore(50, || async {
///     let total = Arc::new(Mutex::new(0));
///     let tasks: Vec<_> = (1..=3)
///         .map(|n| {
///             let total = total.clone();
///             spawn(async move {
///                 yield_now().await;
///                 *total.lock().expect("nobody panics") += n;
///             })
///         })
///         .collect();
///     for task in tasks {
///         task.await?;
///     }
///     assert_eq!(*total.lock().expect("nobody panics"), 6);
///     Ok::<_, brigade_core::BoxError>(())
/// });
/// ```
pub fn explore<F>(runs: u64, program: impl Fn() -> F) -> Explored
where
    F: Future + 'static,
    F::Output: TaskOutput<Err: fmt::Debug>,
{
    Explorer::new().runs(runs).run(program)
}

/// An exploration with knobs; [`explore`] is the short form.
#[derive(Clone, Debug)]
#[must_use = "an explorer runs nothing until `run` or `exhaust`"]
pub struct Explorer {
    runs: u64,
    seed: u64,
    only: Option<Policy>,
}

/// What an exploration has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// How many runs there were.
    pub runs: u64,
    /// How many of them differed in a choice.
    pub schedules: usize,
    /// Whether these are all schedules that the program has; only [`Explorer::exhaust`] can know.
    pub complete: bool,
}

impl Default for Explorer {
    fn default() -> Explorer {
        Explorer::new()
    }
}

impl Explorer {
    /// A hundred runs from seed 0; one run, if `BRIGADE_SCHEDULE` names its schedule.
    ///
    /// # Panics
    ///
    /// When `BRIGADE_SCHEDULE` names no [`Policy`].
    pub fn new() -> Explorer {
        let only = std::env::var(ONLY).ok().map(|name| match name.parse() {
            Ok(policy) => policy,
            Err(unknown) => panic!("{ONLY}: {unknown}"),
        });
        Explorer { runs: 100, seed: 0, only }
    }

    /// How many runs; for [`exhaust`](Explorer::exhaust), how many at most.
    pub fn runs(self, runs: u64) -> Explorer {
        Explorer { runs, ..self }
    }

    /// Where the seeds begin, so that another night tries other schedules.
    pub fn seed(self, seed: u64) -> Explorer {
        Explorer { seed, ..self }
    }

    /// Runs `program` under one schedule only.
    pub fn only(self, policy: Policy) -> Explorer {
        Explorer { only: Some(policy), ..self }
    }

    /// Runs `program` in order, in reverse, and under random and priority schedules in turn.
    ///
    /// Every sixteenth run is made twice: the same seed must take the same choices.
    ///
    /// # Panics
    ///
    /// As [`explore`].
    pub fn run<F>(&self, program: impl Fn() -> F) -> Explored
    where
        F: Future + 'static,
        F::Output: TaskOutput<Err: fmt::Debug>,
    {
        let mut seen = HashSet::new();
        let mut steps = 100;
        let runs = self.only.as_ref().map_or(self.runs, |_| 1);
        for number in 0..runs {
            let policy = self.only.clone().unwrap_or_else(|| self.policy(number, steps));
            let run = run_once(policy.clone(), &program);
            if number % 16 == 0 {
                let again = run_once(policy.clone(), &program);
                assert_eq!(
                    run.choices, again.choices,
                    "the program is not deterministic: two runs of the schedule `{policy}` differ"
                );
            }
            run.expect_value(number, &policy);
            steps = run.steps;
            seen.insert(run.choices);
        }
        Explored { runs, schedules: seen.len(), complete: false }
    }

    /// Runs `program` under all its schedules, depth first, at most as many as [`runs`](Explorer::runs) says.
    ///
    /// # Panics
    ///
    /// As [`explore`].
    ///
    /// # Examples
    ///
    /// ```
    /// use brigade_core::{spawn, yield_now};
    /// use brigade_testkit::Explorer;
    ///
    /// let explored = Explorer::new().runs(1000).exhaust(|| async {
    ///     let (first, second) = (spawn(yield_now()), spawn(yield_now()));
    ///     first.await?;
    ///     second.await
    /// });
    /// assert!(explored.complete && explored.schedules > 1);
    /// ```
    pub fn exhaust<F>(&self, program: impl Fn() -> F) -> Explored
    where
        F: Future + 'static,
        F::Output: TaskOutput<Err: fmt::Debug>,
    {
        if self.only.is_some() {
            return self.run(program);
        }
        let mut next = Some(Vec::new());
        let mut runs = 0;
        while let (Some(prefix), true) = (&next, runs < self.runs) {
            let policy = Policy::Replay(prefix.clone());
            let run = run_once(policy.clone(), &program);
            run.expect_value(runs, &policy);
            runs += 1;
            next = following(run.choices);
        }
        Explored { runs, schedules: usize::try_from(runs).unwrap_or(usize::MAX), complete: next.is_none() }
    }

    fn policy(&self, number: u64, steps: u64) -> Policy {
        let seed = self.seed.wrapping_add(number);
        match number {
            0 => Policy::Fifo,
            1 => Policy::Lifo,
            _ if number % 2 == 0 => Policy::Random { seed },
            // One to three changes: most bugs need no more switches than that.
            _ => Policy::Pct { seed, changes: 1 + u32::try_from(number % 3).unwrap_or(0), steps },
        }
    }
}

/// The next schedule in depth-first order: the last choice that has another option left takes it.
fn following(mut choices: Vec<Choice>) -> Option<Vec<u32>> {
    loop {
        let last = choices.pop()?;
        if last.taken + 1 < last.options {
            let before = choices.iter().map(|choice| choice.taken);
            return Some(before.chain([last.taken + 1]).collect());
        }
    }
}

/// One run and its end.
struct Run {
    choices: Vec<Choice>,
    steps: u64,
    failure: Option<String>,
}

impl Run {
    #[track_caller]
    fn expect_value(&self, number: u64, policy: &Policy) {
        if let Some(failure) = &self.failure {
            panic!(
                "run {number}, schedule `{policy}`: {failure}\n\
                 to run only this schedule again, set {ONLY}={policy}"
            );
        }
    }
}

fn run_once<F>(policy: Policy, program: &impl Fn() -> F) -> Run
where
    F: Future + 'static,
    F::Output: TaskOutput<Err: fmt::Debug>,
{
    let simulation = Simulation::with_policy(policy);
    let handle = Handle::new(simulation.clone());
    let run = || run_main_local(&handle, &*simulation, RunOptions::new(), program());
    let failure = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(_)) => None,
        Ok(Err(TaskError::Panicked(panic))) => Some(panic.message().to_owned()),
        Ok(Err(error)) => Some(format!("main ended without a value: {error:?}")),
        Err(payload) => Some(text_of(&*payload)),
    };
    Run { choices: simulation.choices(), steps: simulation.steps(), failure }
}

pub(crate) fn text_of(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
