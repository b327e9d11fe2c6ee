//! A reference model of the laws: scenarios run by a step machine, without futures, wakers or a runtime.
//!
//! A task is a stack of what it is in the middle of ([`Act`]); a cancellation unwinds that stack as an exception
//! would. What is asked of a task is a list of requests, and when one is delivered is decided by a look at
//! that list (`requests`). Nothing here is shared with the implementation but the language, so the two can be
//! compared: on the corpus, and on programs made at random.
//!
//! | file | story |
//! |---|---|
//! | `requests` | who is asked to end, when it is told, and what becomes of the request (C2–C11) |
//! | `stack` | how an act goes on when what it ran has ended |
//! | `waits` | the acts that wait |
//! | `statements` | what each statement begins |
//! | `scopes` | timeouts and groups |

mod requests;
mod scopes;
mod stack;
mod statements;
mod waits;

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::{Value as Json, json};

use self::requests::{Handler, Request};
use self::scopes::{Group, Scope, Timeout};
use self::stack::{Act, Signal};
use super::program::{Block, Scenario};
use super::trace::Trace;
use crate::schedule::Dice;

/// What the model makes of a scenario.
#[derive(Clone, Debug)]
pub struct Modelled {
    /// The trace that the laws ask for.
    pub trace: Trace,
    /// Why the program should not be compared: its result depends on an order, or the laws leave it open
    /// (section 8 of the oracle's README).
    pub excluded: Vec<&'static str>,
    /// Whether two timers fired in one instant; then the result may depend on which comes first.
    pub coincident: bool,
    /// How many requests were delivered; a program with none is dull.
    pub deliveries: u64,
}

/// How the model is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelOptions {
    /// Ready tasks run at random by this seed, else in order.
    pub seed: Option<u64>,
    /// A planted fault: requests that are handed back are lost (against C9). The comparison must find it.
    pub loses_requests: bool,
}

/// Runs a scenario in the model.
#[must_use]
pub fn run_model(scenario: &Scenario, options: ModelOptions) -> Modelled {
    let dice = options.seed.map(Dice::new);
    let mut model = Model { dice, loses_requests: options.loses_requests, ..Model::default() };
    let root = model.new_fiber("root".to_owned(), Kind::Bare, None, scenario.root.clone());
    model.fibers[root].observed = true;
    model.names.insert("root".to_owned(), root);
    model.run();
    let unseen =
        model.fibers.iter().filter(|fiber| !fiber.observed && matches!(fiber.end, Some(End::Error(_))));
    model.reported.extend(unseen.map(|fiber| fiber.path.clone()).collect::<Vec<_>>());
    model.reported.sort();
    let trace = Trace::new(&scenario.id, model.events, model.outcomes, model.reported);
    let Model { excluded, coincident, deliveries, .. } = model;
    Modelled { trace, excluded, coincident, deliveries }
}

type FiberId = usize;

/// The whole state of a run.
#[derive(Default)]
struct Model {
    now: u64,
    fibers: Vec<Fiber>,
    requests: Vec<Request>,
    batches: Vec<requests::Batch>,
    groups: Vec<Group>,
    timeouts: Vec<Timeout>,
    names: HashMap<String, FiberId>,
    group_names: HashMap<String, usize>,
    timeout_names: HashMap<String, usize>,
    ready: VecDeque<FiberId>,
    dice: Option<Dice>,
    shutdown: bool,
    ends: u64,
    events: Vec<(u64, String, &'static str, Json)>,
    outcomes: BTreeMap<String, (u64, Json)>,
    reported: Vec<String>,
    excluded: Vec<&'static str>,
    coincident: bool,
    deliveries: u64,
    loses_requests: bool,
}

/// A task, or a branch of a gather.
struct Fiber {
    path: String,
    kind: Kind,
    /// The task that `self` means: for a branch, the one around it.
    owner: FiberId,
    stack: Vec<Act>,
    begun: bool,
    queued: bool,
    requests: Vec<usize>,
    handlers: Vec<Handler>,
    /// Scopes that are open in it, outermost first.
    open: Vec<Scope>,
    branches: Vec<FiberId>,
    /// It waits in a link that has passed a request on.
    linking: bool,
    /// Explicit requests that were not absorbed (T3).
    asked: i64,
    end: Option<End>,
    /// The how-manieth fiber to end it was.
    ended: u64,
    observed: bool,
    callbacks: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bare,
    Child(usize),
    Branch(FiberId),
}

#[derive(Clone, PartialEq)]
enum End {
    Value(Option<i64>),
    Error(Json),
    Cancelled,
}

impl End {
    fn to_json(&self) -> Json {
        match self {
            End::Value(value) => json!({"value": value}),
            End::Error(tree) => json!({"error": tree}),
            End::Cancelled => json!("cancelled"),
        }
    }
}

impl Model {
    fn run(&mut self) {
        loop {
            if let Some(fiber) = self.next_ready() {
                self.fibers[fiber].queued = false;
                self.step(fiber);
            } else if self.fibers.iter().all(|fiber| fiber.end.is_some()) {
                return;
            } else if !self.jump() {
                return self.exclude("hangs");
            }
        }
    }

    fn next_ready(&mut self) -> Option<FiberId> {
        let options = self.ready.len();
        match &mut self.dice {
            Some(dice) if options > 1 => self.ready.remove(dice.roll(options)),
            _ => self.ready.pop_front(),
        }
    }

    /// Time jumps to the next timer; false if there is none.
    fn jump(&mut self) -> bool {
        let sleeping = (0..self.fibers.len()).filter_map(|fiber| Some((fiber, self.alarm(fiber)?)));
        let sleeping: Vec<_> = sleeping.collect();
        let deadlines = self.timeouts.iter().filter_map(Timeout::alarm);
        let Some(at) = sleeping.iter().map(|(_, at)| *at).chain(deadlines).min() else { return false };
        let deadlines = self.timeouts.iter().filter_map(Timeout::alarm).filter(|other| *other == at).count();
        self.coincident |= deadlines + sleeping.iter().filter(|(_, until)| *until == at).count() > 1;
        self.now = at;
        self.expire_due();
        for (fiber, until) in sleeping {
            if until <= at {
                self.wake(fiber);
            }
        }
        true
    }

    /// One step of a fiber: until it waits or has ended.
    fn step(&mut self, fiber: FiberId) {
        if self.fibers[fiber].end.is_some() {
            return;
        }
        let mut signal = Signal::Next;
        if !self.fibers[fiber].begun {
            self.fibers[fiber].begun = true;
            if self.has_pending(fiber) {
                // C7: the body never runs.
                self.deliver(fiber);
                self.fibers[fiber].stack.clear();
                signal = Signal::Cancel;
            } else if !matches!(self.fibers[fiber].kind, Kind::Branch(_)) {
                self.log(fiber, "start", Json::Null);
            }
        }
        loop {
            let Some(act) = self.fibers[fiber].stack.pop() else { return self.finish(fiber, signal) };
            signal = match self.feed(fiber, act, signal) {
                Some(signal) => signal,
                None => {
                    self.expire_past(fiber);
                    if !self.has_pending(fiber) {
                        return;
                    }
                    self.deliver(fiber);
                    Signal::Cancel
                }
            };
        }
    }

    fn finish(&mut self, fiber: FiberId, signal: Signal) {
        let end = match signal {
            Signal::Raise(tree) => End::Error(tree),
            Signal::Cancel => End::Cancelled,
            // C8: for a task, a request that is undelivered decides.
            _ if self.is_task(fiber) && self.has_pending(fiber) => End::Cancelled,
            Signal::Next => End::Value(None),
            Signal::Return(value) => End::Value(value),
        };
        self.ends += 1;
        self.fibers[fiber].ended = self.ends;
        self.fibers[fiber].end = Some(end.clone());
        if self.is_task(fiber) {
            let path = self.fibers[fiber].path.clone();
            self.outcomes.insert(path.clone(), (self.now, end.to_json()));
            for k in std::mem::take(&mut self.fibers[fiber].callbacks) {
                self.events.push((self.now, format!("{path}!"), "callback", json!(k)));
            }
        }
        match self.fibers[fiber].kind {
            Kind::Child(group) => self.child_ended(group, fiber, &end),
            Kind::Branch(parent) => self.branch_ended(parent, fiber),
            Kind::Bare if fiber == 0 => self.begin_shutdown(),
            Kind::Bare => {}
        }
        for waiter in 0..self.fibers.len() {
            if self.waits_for(waiter, fiber) {
                self.wake(waiter);
            }
        }
    }

    /// R1: in the moment in which root ends, every bare task is asked once.
    fn begin_shutdown(&mut self) {
        self.shutdown = true;
        for fiber in 0..self.fibers.len() {
            if self.fibers[fiber].kind == Kind::Bare {
                self.ask(fiber, None, false, false);
            }
        }
    }

    fn new_fiber(&mut self, path: String, kind: Kind, owner: Option<FiberId>, body: Block) -> FiberId {
        let id = self.fibers.len();
        self.fibers.push(Fiber {
            path,
            kind,
            owner: owner.unwrap_or(id),
            stack: vec![Act::block(body)],
            begun: false,
            queued: false,
            requests: Vec::new(),
            handlers: Vec::new(),
            open: Vec::new(),
            branches: Vec::new(),
            linking: false,
            asked: 0,
            end: None,
            ended: 0,
            observed: kind != Kind::Bare,
            callbacks: Vec::new(),
        });
        if !matches!(kind, Kind::Branch(_)) {
            self.wake(id);
        }
        if self.shutdown && kind == Kind::Bare {
            // R5: cancelled before its first poll.
            self.ask(id, None, false, false);
        }
        id
    }

    fn wake(&mut self, fiber: FiberId) {
        let state = &mut self.fibers[fiber];
        if state.end.is_none() && !state.queued {
            state.queued = true;
            self.ready.push_back(fiber);
        }
    }

    fn is_task(&self, fiber: FiberId) -> bool {
        !matches!(self.fibers[fiber].kind, Kind::Branch(_))
    }

    fn is_done(&self, fiber: FiberId) -> bool {
        self.fibers[fiber].end.is_some()
    }

    fn failed(&self, fiber: FiberId) -> bool {
        matches!(self.fibers[fiber].end, Some(End::Error(_)))
    }

    fn log(&mut self, fiber: FiberId, kind: &'static str, value: Json) {
        self.events.push((self.now, self.fibers[fiber].path.clone(), kind, value));
    }

    fn exclude(&mut self, why: &'static str) {
        self.excluded.push(why);
    }
}
