//! Which ready job runs next.
//!
//! The whole freedom of a scheduler is here: a simulation asks its schedule for the next job, and nothing
//! else decides the order. So a run *is* the list of its choices ([`Choice`]), and can be run again from it.
//!
//! | policy | takes |
//! |---|---|
//! | [`Policy::Fifo`] | the job that was woken first: asyncio's order, in which the laws promise most (T4, B3) |
//! | [`Policy::Lifo`] | the job that was woken last |
//! | [`Policy::Random`] | any |
//! | [`Policy::Pct`] | the job of the task with the highest priority; priorities are drawn at random, and a few random changes in between find bugs that need a few unlucky switches with high probability |
//! | [`Policy::Replay`] | what an earlier run took |
//!
//! Every [`FAIR`]th choice takes the oldest job, whatever the policy: a scheduler may be unfair, but one that
//! starves a task for ever is none.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::str::FromStr;

use brigade_core::TaskId;
use brigade_core::backend::Job;

/// How often the oldest job is taken.
const FAIR: usize = 64;

/// Among how many jobs, oldest first, [`Policy::Pct`] looks for the highest priority: a choice among
/// a hundred thousand would make a run quadratic, and such programs are not what the policy is for.
const WINDOW: usize = 256;

/// The order in which a simulation runs what is ready.
///
/// Its text form names it in messages and in the environment: `fifo`, `lifo`, `random:7`, `pct:7:2:300`,
/// `replay:0.2.1`.
///
/// # Examples
///
/// ```
/// use brigade_testkit::Policy;
///
/// let policy: Policy = "random:7".parse().expect("a known form");
/// assert_eq!(policy, Policy::Random { seed: 7 });
/// assert_eq!(policy.to_string(), "random:7");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// First woken, first run.
    #[default]
    Fifo,
    /// Last woken, first run; a task that yields lets all others run first.
    Lifo,
    /// Any ready job, by the seed.
    Random {
        /// The same seed takes the same choices.
        seed: u64,
    },
    /// Probabilistic concurrency testing: run the task with the highest of random priorities, and lower the
    /// priority of the running one at some random steps. A task that yields drops below all others, too, or
    /// it would starve them.
    Pct {
        /// The same seed takes the same choices.
        seed: u64,
        /// How many times the running task loses its priority.
        changes: u32,
        /// About how many steps the program has; the changes are spread over them.
        steps: u64,
    },
    /// The choices of an earlier run, then [`Policy::Fifo`].
    Replay(
        /// What to take among the ready jobs whenever there is more than one, oldest first.
        Vec<u32>,
    ),
}

/// One choice of a schedule. Steps at which only one job was ready are no choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// Which one ran, counted from the one that was ready first.
    pub taken: u32,
    /// How many were ready.
    pub options: u32,
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Fifo => f.write_str("fifo"),
            Policy::Lifo => f.write_str("lifo"),
            Policy::Random { seed } => write!(f, "random:{seed}"),
            Policy::Pct { seed, changes, steps } => write!(f, "pct:{seed}:{changes}:{steps}"),
            Policy::Replay(choices) => {
                let choices: Vec<_> = choices.iter().map(u32::to_string).collect();
                write!(f, "replay:{}", choices.join("."))
            }
        }
    }
}

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Policy, UnknownPolicy> {
        let unknown = || UnknownPolicy(text.to_owned());
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let number = |text: &str| text.parse().map_err(|_| unknown());
        match name {
            "fifo" => Ok(Policy::Fifo),
            "lifo" => Ok(Policy::Lifo),
            "random" => Ok(Policy::Random { seed: number(rest)? }),
            "pct" => {
                let mut parts = rest.splitn(3, ':').map(number);
                let mut next = || parts.next().unwrap_or_else(|| Err(unknown()));
                let (seed, changes, steps) = (next()?, next()?, next()?);
                Ok(Policy::Pct { seed, changes: u32::try_from(changes).map_err(|_| unknown())?, steps })
            }
            "replay" => {
                let choices = rest.split('.').filter(|choice| !choice.is_empty());
                let choices: Result<_, _> =
                    choices.map(|choice| choice.parse().map_err(|_| unknown())).collect();
                Ok(Policy::Replay(choices?))
            }
            _ => Err(unknown()),
        }
    }
}

/// A text that names no [`Policy`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPolicy(String);

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no schedule: fifo, lifo, random:SEED, pct:SEED:CHANGES:STEPS, replay:N.N.N",
            self.0
        )
    }
}

impl std::error::Error for UnknownPolicy {}

/// The jobs that are ready, the policy that chooses among them, and what it has chosen.
#[derive(Debug)]
pub(crate) struct Schedule {
    policy: Policy,
    ready: VecDeque<Job>,
    dice: Dice,
    /// Apart from the dice, so that who asks for a seed changes no choice.
    seeds: Dice,
    priorities: Priorities,
    steps: u64,
    choices: Vec<Choice>,
}

impl Schedule {
    pub(crate) fn new(policy: Policy) -> Schedule {
        let seed = match policy {
            Policy::Random { seed } | Policy::Pct { seed, .. } => seed,
            _ => 0,
        };
        let mut dice = Dice::new(seed);
        let priorities = match policy {
            Policy::Pct { changes, steps, .. } => Priorities::new(changes, steps, &mut dice),
            _ => Priorities::default(),
        };
        let (ready, choices, seeds) = (VecDeque::new(), Vec::new(), Dice::new(!seed));
        Schedule { policy, ready, dice, seeds, priorities, steps: 0, choices }
    }

    /// A seed for the program's own random numbers.
    pub(crate) fn seed(&mut self) -> u64 {
        self.seeds.next()
    }

    /// Takes a job that became ready; `yielded` says that its task woke itself while it ran.
    pub(crate) fn push(&mut self, job: Job, yielded: bool) {
        match self.policy {
            Policy::Lifo if yielded => return self.ready.push_front(job),
            Policy::Pct { .. } if yielded => self.priorities.lower(job.id()),
            _ => {}
        }
        self.ready.push_back(job);
    }

    pub(crate) fn pop(&mut self) -> Option<Job> {
        let options = self.ready.len();
        let taken = match options {
            0 => return None,
            1 => 0,
            _ => self.choose(options),
        };
        self.steps += 1;
        let job = self.ready.remove(taken);
        if let (Policy::Pct { .. }, Some(job)) = (&self.policy, &job) {
            self.priorities.after_step(self.steps, job.id());
        }
        job
    }

    pub(crate) fn len(&self) -> usize {
        self.ready.len()
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    pub(crate) fn choices(&self) -> &[Choice] {
        &self.choices
    }

    fn choose(&mut self, options: usize) -> usize {
        let taken = match &self.policy {
            Policy::Lifo | Policy::Random { .. } | Policy::Pct { .. }
                if self.choices.len() % FAIR == FAIR - 1 =>
            {
                0
            }
            Policy::Fifo => 0,
            Policy::Lifo => options - 1,
            Policy::Random { .. } => self.dice.roll(options),
            Policy::Pct { .. } => self.priorities.highest(&self.ready, &mut self.dice),
            Policy::Replay(choices) => {
                choices.get(self.choices.len()).map_or(0, |taken| (*taken as usize).min(options - 1))
            }
        };
        self.choices.push(Choice { taken: narrow(taken), options: narrow(options) });
        taken
    }
}

/// The priorities of [`Policy::Pct`].
#[derive(Debug, Default)]
struct Priorities {
    /// Drawn when a task is seen first; the upper half of the numbers.
    of_task: HashMap<TaskId, u64>,
    /// The steps after which the task that ran drops below all others.
    changes: HashSet<u64>,
    lowest: u64,
}

impl Priorities {
    fn new(changes: u32, steps: u64, dice: &mut Dice) -> Priorities {
        let changes = (0..changes).map(|_| 1 + dice.next() % steps.max(1)).collect();
        Priorities { of_task: HashMap::new(), changes, lowest: u64::MAX / 2 }
    }

    fn highest(&mut self, ready: &VecDeque<Job>, dice: &mut Dice) -> usize {
        let mut best = (0, 0);
        for (index, job) in ready.iter().enumerate().take(WINDOW) {
            let drawn = self.of_task.entry(job.id()).or_insert_with(|| dice.next() | 1 << 63);
            best = best.max((*drawn, index));
        }
        best.1
    }

    fn after_step(&mut self, step: u64, ran: TaskId) {
        if self.changes.contains(&step) {
            self.lower(ran);
        }
    }

    fn lower(&mut self, task: TaskId) {
        self.lowest -= 1;
        self.of_task.insert(task, self.lowest);
    }
}

/// Random numbers that are the same everywhere for the same seed (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        // The remainder is below `sides`, so it fits.
        (self.next() % sides as u64) as usize
    }
}

/// More than four billion ready jobs do not fit into memory.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
