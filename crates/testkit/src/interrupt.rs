//! Interrupting a program at every one of its awaits.
//!
//! Whatever a task waits for, it can be cancelled or aborted right there. A program that is correct stays so:
//! the run ends, no task, timer or waker is left, nothing is lost. [`interrupt_everywhere`] runs a program once
//! to count its steps, and then once more for each step and each kind of interruption, always interrupting
//! the task that has just run. A pair of interruptions finds what one alone does not; of those it samples.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use brigade_core::{Handle, RunOptions, TaskError, TaskId, TaskOutput, all_tasks, run_main_local};

use crate::backend::Simulation;
use crate::schedule::Dice;

/// What is done to a task at one of its awaits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interruption {
    /// `cancel()`: a request, which handlers may answer.
    Cancel,
    /// `abort()`: the future is dropped where it stands.
    Abort,
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Interruption::Cancel => "cancel",
            Interruption::Abort => "abort",
        })
    }
}

/// Runs `program` with every task cancelled and aborted at every one of its awaits; `after` is called after each
/// run and asserts what must hold then.
///
/// The program may end with any outcome but a panic.
///
/// # Panics
///
/// When a run hangs or panics, when a task, a timer or a waker is left after it, or when `after` panics. The
/// message tells the step.
///
/// # Examples
///
/// ```
/// use brigade_core::{BoxError, sleep, spawn};
/// use brigade_testkit::{Probe, interrupt_everywhere};
/// use std::time::Duration;
///
/// let probe = Probe::new();
/// let interrupted = interrupt_everywhere(
///     || {
///         let item = probe.item();
///         async move {
///             let worker = spawn(async move {
///                 sleep(Duration::from_millis(5)).await;
///                 Ok::<_, BoxError>(item)
///             });
///             worker.await?.deliver();
///             Ok::<_, BoxError>(())
///         }
///     },
///     || assert!(probe.is_balanced(), "an item was lost"),
/// );
/// assert!(interrupted.points > 0);
/// ```
pub fn interrupt_everywhere<F>(program: impl Fn() -> F, after: impl Fn()) -> Interrupted
where
    F: Future + 'static,
    F::Output: TaskOutput<Err: fmt::Debug>,
{
    Interrupter::new().run(program, after)
}

/// What an exhaustive interruption has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interrupted {
    /// The steps of the undisturbed program.
    pub points: u64,
    /// How many runs there were.
    pub runs: u64,
    /// How many interruptions met a task that was not done.
    pub met: u64,
}

/// [`interrupt_everywhere`] with knobs.
#[derive(Clone, Debug)]
#[must_use = "an interrupter runs nothing until `run`"]
pub struct Interrupter {
    pairs: u64,
    seed: u64,
}

impl Default for Interrupter {
    fn default() -> Interrupter {
        Interrupter::new()
    }
}

impl Interrupter {
    /// Every single point, and as many sampled pairs.
    pub fn new() -> Interrupter {
        Interrupter { pairs: u64::MAX, seed: 0 }
    }

    /// How many pairs of points are sampled, at most as many as there are points.
    pub fn pairs(self, pairs: u64) -> Interrupter {
        Interrupter { pairs, ..self }
    }

    /// The seed of the sample.
    pub fn seed(self, seed: u64) -> Interrupter {
        Interrupter { seed, ..self }
    }

    /// Runs the program with all its interruptions.
    ///
    /// # Panics
    ///
    /// As [`interrupt_everywhere`].
    pub fn run<F>(&self, program: impl Fn() -> F, after: impl Fn()) -> Interrupted
    where
        F: Future + 'static,
        F::Output: TaskOutput<Err: fmt::Debug>,
    {
        let points = run_once(&program, &after, &[]).0;
        let mut total = Interrupted { points, runs: 1, met: 0 };
        for plan in plans(points, self.pairs, self.seed) {
            total.met += run_once(&program, &after, &plan).1;
            total.runs += 1;
        }
        total
    }
}

/// Every single interruption of a program of `points` steps, then at most `pairs` pairs of them.
pub(crate) fn plans(points: u64, pairs: u64, seed: u64) -> Vec<Vec<(u64, Interruption)>> {
    let kinds = [Interruption::Cancel, Interruption::Abort];
    let mut plans: Vec<_> = (1..=points).flat_map(|point| kinds.map(|kind| vec![(point, kind)])).collect();
    let mut dice = Dice::new(seed);
    for _ in 0..pairs.min(points) {
        let mut roll = || (1 + dice.next() % points, kinds[dice.roll(2)]);
        plans.push(vec![roll(), roll()]);
    }
    plans
}

/// Interrupts a task; false if it is done.
pub(crate) fn interrupt(id: TaskId, how: Interruption) -> bool {
    let task = all_tasks().into_iter().find(|task| task.id() == id && !task.done());
    match (&task, how) {
        (Some(task), Interruption::Cancel) => drop(task.cancel_with("interrupted by the test")),
        (Some(task), Interruption::Abort) => task.abort(),
        (None, _) => {}
    }
    task.is_some()
}

/// Runs the program on a simulation that is told what to interrupt; gives its steps and what was met.
fn run_once<F>(program: &impl Fn() -> F, after: &impl Fn(), plan: &[(u64, Interruption)]) -> (u64, u64)
where
    F: Future + 'static,
    F::Output: TaskOutput<Err: fmt::Debug>,
{
    let simulation = Simulation::new();
    for (step, how) in plan {
        simulation.interrupt_after(*step, *how);
    }
    let run = || {
        let handle = Handle::new(simulation.clone());
        let outcome = run_main_local(&handle, &*simulation, RunOptions::new(), program());
        if let Err(TaskError::Panicked(panic)) = outcome {
            panic!("main panicked: {}", panic.message());
        }
        let left = left_of(&handle, &simulation);
        drop(handle);
        assert!(left.is_none(), "{}", left.unwrap_or_default());
        assert_eq!(
            Arc::strong_count(&simulation),
            1,
            "something still holds the runtime: a waker or a task is left"
        );
        after();
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
        let plan: Vec<_> = plan.iter().map(|(step, how)| format!("{how} after step {step}")).collect();
        panic!("interruption ({}): {}", plan.join(", "), crate::explore::text_of(&*payload));
    }
    (simulation.steps(), simulation.interrupted())
}

/// What a run has left behind although it has ended.
pub(crate) fn left_of(handle: &Handle, simulation: &Simulation) -> Option<String> {
    let tasks: Vec<_> = handle.all_tasks().iter().map(|task| task.name().to_string()).collect();
    match (tasks.is_empty(), simulation.left_behind()) {
        (true, 0) => None,
        (false, _) => Some(format!("tasks are left: {}", tasks.join(", "))),
        (true, left) => Some(format!("{left} timers or jobs are left")),
    }
}
