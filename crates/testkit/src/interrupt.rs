//! Interrupting a program at every one of its awaits.
//!
//! Whatever a task waits for, it can be cancelled or aborted right there, and what it waits for can panic. A
//! program that is correct stays so: the run ends, no task, timer or waker is left, nothing is lost.
//! [`interrupt_everywhere`] runs a program once to count its steps, and then once more for each step and each kind
//! of interruption, always interrupting the task that has just run. A pair of interruptions finds what one alone
//! does not; of those it samples.
//!
//! Files: [`breaking`] (how an await is made to panic), [`met`] (which tasks were met, and what must have become of
//! them).

mod breaking;
pub(crate) mod met;

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use brigade_core::{Handle, RunOptions, TaskError, TaskId, TaskOutput, all_tasks, run_main_local};

pub use self::breaking::breakable;
use crate::backend::Simulation;
use crate::schedule::Dice;

/// What is done to a task at one of its awaits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interruption {
    /// `cancel()`: a request, which handlers may answer.
    Cancel,
    /// `abort()`: the future is dropped where it stands.
    Abort,
    /// What the task waits for panics, if it does so by [`breakable`].
    Panic,
}

/// How long a run that has ended may hold on to its runtime, in real time.
const PATIENCE: Duration = Duration::from_secs(2);

/// All of them.
pub(crate) const KINDS: [Interruption; 3] = [Interruption::Cancel, Interruption::Abort, Interruption::Panic];

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Interruption::Cancel => "cancel",
            Interruption::Abort => "abort",
            Interruption::Panic => "panic",
        })
    }
}

/// Runs `program` with every task cancelled and aborted at every one of its awaits, and with a panic at those of its
/// awaits that are [`breakable`]; `after` is called after each run and asserts what must hold then.
///
/// The program may end with any outcome but a panic of its own. What holds for every program is asserted here: the
/// run ends, nothing of it is left, and no task that was cancelled ends with a value unless it has absorbed the
/// request (laws C8, C9).
///
/// # Panics
///
/// When a run hangs or panics, when a task, a timer or a waker is left after it, when a request was lost, or when
/// `after` panics. The message tells the step.
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
    /// How many pairs of interruptions were tried.
    pub pairs: u64,
    /// How many runs there were.
    pub runs: u64,
    /// How many interruptions met a task that was not done.
    pub met: u64,
    /// How many awaits have panicked.
    pub panics: u64,
}

/// [`interrupt_everywhere`] with knobs.
#[derive(Clone, Debug)]
#[must_use = "an interrupter runs nothing until `run`"]
pub struct Interrupter {
    /// As many as there are points if nobody says anything else.
    pairs: Option<u64>,
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
        Interrupter { pairs: None, seed: 0 }
    }

    /// How many pairs of points are sampled.
    pub fn pairs(self, pairs: u64) -> Interrupter {
        Interrupter { pairs: Some(pairs), ..self }
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
        let calm = run_once(&program, &after, &Vec::new());
        let mut total = Interrupted { points: calm.points, runs: 1, ..Interrupted::default() };
        let kinds = if calm.breakable { &KINDS[..] } else { &KINDS[..2] };
        for plan in plans(calm.points, kinds, self.pairs.unwrap_or(calm.points), self.seed) {
            let run = run_once(&program, &after, &plan);
            total.pairs += u64::from(plan.len() == 2);
            total.runs += 1;
            total.met += run.met;
            total.panics += run.panics;
        }
        total
    }
}

/// What is done in a run, and after which step.
pub(crate) type Plan = Vec<(u64, Interruption)>;

/// Every single interruption of a program of `points` steps, then `pairs` pairs of them.
pub(crate) fn plans(points: u64, kinds: &[Interruption], pairs: u64, seed: u64) -> Vec<Plan> {
    let single = |point| kinds.iter().map(move |kind| vec![(point, *kind)]);
    let mut plans: Vec<Plan> = (1..=points).flat_map(single).collect();
    let mut dice = Dice::new(seed);
    let pairs = if points == 0 { 0 } else { pairs };
    for _ in 0..pairs {
        let mut roll = || (1 + dice.next() % points, kinds[dice.roll(kinds.len())]);
        plans.push(vec![roll(), roll()]);
    }
    plans
}

/// Interrupts a task; false if it is done.
pub(crate) fn interrupt(id: TaskId, how: Interruption) -> bool {
    let task = all_tasks().into_iter().find(|task| task.id() == id && !task.done());
    let Some(task) = task else { return false };
    match how {
        Interruption::Cancel => drop(task.cancel_with("interrupted by the test")),
        Interruption::Abort => task.abort(),
        Interruption::Panic => breaking::doom(id),
    }
    met::note(task, how);
    true
}

/// A run begins, and knows nothing of those before it.
pub(crate) fn begin() {
    breaking::begin();
    met::begin();
}

/// What one run has shown.
struct Run {
    points: u64,
    met: u64,
    panics: u64,
    /// It has an await that can be made to panic.
    breakable: bool,
}

/// Runs the program on a simulation that is told what to interrupt.
fn run_once<F>(program: &impl Fn() -> F, after: &impl Fn(), plan: &Plan) -> Run
where
    F: Future + 'static,
    F::Output: TaskOutput<Err: fmt::Debug>,
{
    let simulation = Simulation::new();
    for (step, how) in plan {
        simulation.interrupt_after(*step, *how);
    }
    begin();
    let run = || {
        let handle = Handle::new(simulation.clone());
        let outcome = run_main_local(&handle, &*simulation, RunOptions::new(), program());
        match outcome {
            Err(TaskError::Panicked(panic)) if panic.message() != breaking::TEXT => {
                panic!("main panicked: {}", panic.message())
            }
            outcome => drop(outcome),
        }
        let left = left_of(&handle, &simulation).or_else(met::finding);
        drop(handle);
        simulation.wait_for_threads();
        assert!(left.is_none(), "{}", left.unwrap_or_default());
        // First, since it may look at handles that the program has kept, and drop them.
        after();
        assert!(is_released(&simulation), "something still holds the runtime: a waker or a task is left");
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
        let plan: Vec<_> = plan.iter().map(|(step, how)| format!("{how} after step {step}")).collect();
        panic!("interruption ({}): {}", plan.join(", "), crate::explore::text_of(&*payload));
    }
    let (panics, breakable) = breaking::end();
    Run { points: simulation.steps(), met: simulation.interrupted(), panics, breakable }
}

/// Whether nobody else holds the simulation any more. A real thread that has done a blocking job may need a moment to
/// let go of it.
fn is_released(simulation: &Arc<Simulation>) -> bool {
    let start = Instant::now();
    while Arc::strong_count(simulation) > 1 && start.elapsed() < PATIENCE {
        thread::yield_now();
    }
    Arc::strong_count(simulation) == 1
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
