//! What the tasks of a run share: the events, the handles, the outcomes.
//!
//! Every field is behind one lock, which is held for a look or an append and never across an await.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brigade_combinators::{InGroup, TaskGroup, Timeout};
use brigade_core::{CancelOutcome, Ending, Handle, Instant, Task, TaskError, TaskRef, TaskState};
use serde_json::{Value as Json, json};

use super::trace::Trace;

/// What a task or a branch returns.
pub type Value = Option<i64>;

/// An error of the language, as JSON, and the path in which it was last a task's or a branch's outcome.
#[derive(Clone)]
pub struct Fault {
    pub(super) tree: Json,
    origin: String,
}

impl Fault {
    pub(super) fn new(tree: Json) -> Fault {
        Fault { tree, origin: String::new() }
    }

    pub(super) fn at(self, path: &str) -> Fault {
        Fault { origin: path.to_owned(), ..self }
    }
}

/// The text from which the report of an unobserved failure tells the path.
impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}@", self.origin)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {}", self.tree)
    }
}

impl std::error::Error for Fault {}

/// A handle of a bare task or of a group's child.
pub(super) enum Held {
    Bare(Task<Value, Fault>),
    Child(Task<Value, InGroup>),
}

/// See the module.
#[derive(Clone)]
pub(super) struct World(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    events: Vec<(u64, String, &'static str, Json)>,
    tasks: HashMap<String, (String, TaskRef)>,
    handles: HashMap<String, Held>,
    groups: HashMap<String, TaskGroup<Fault>>,
    timeouts: HashMap<String, Timeout>,
    results: HashMap<String, Result<Value, Json>>,
    outcomes: BTreeMap<String, (u64, Json)>,
    reported: Vec<String>,
    /// The guards that are alive, by the path in which they were made.
    guards: HashMap<String, Vec<u64>>,
    counts: Counts,
}

/// What a run of a scenario has counted, for runs that are disturbed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Statements that were begun.
    pub(super) statements: u64,
    /// The statement before which the task panics; 0 is none.
    pub(super) panic_at: u64,
    pub(super) guards_made: u64,
    pub(super) guards_dropped: u64,
    /// Guards that were dropped before one that was made later in the same task or branch.
    pub(super) guards_out_of_order: u64,
}

pub(super) fn now() -> u64 {
    Instant::now().as_nanos() / 1_000_000
}

impl World {
    pub(super) fn new() -> World {
        World(Arc::default())
    }

    /// Counts a statement, and panics if it is the one that was chosen.
    pub(super) fn enter_statement(&self) {
        let mut state = self.state();
        state.counts.statements += 1;
        let due = state.counts.statements == state.counts.panic_at;
        drop(state);
        if due {
            // Not by `panic!`, whose hook would tell of each of thousands.
            resume_unwind(Box::new("a panic that the test asked for"));
        }
    }

    /// A guard is made in this task or branch; gives its number.
    pub(super) fn guard_made(&self, path: &str) -> u64 {
        let mut state = self.state();
        state.counts.guards_made += 1;
        let number = state.counts.guards_made;
        state.guards.entry(path.to_owned()).or_default().push(number);
        number
    }

    /// It is dropped. What was made last goes first.
    pub(super) fn guard_dropped(&self, path: &str, number: u64) {
        let mut state = self.state();
        state.counts.guards_dropped += 1;
        let alive = state.guards.entry(path.to_owned()).or_default();
        let in_order = alive.last() == Some(&number);
        alive.retain(|other| *other != number);
        state.counts.guards_out_of_order += u64::from(!in_order);
    }

    /// Groups that still take children.
    pub(super) fn open_groups(&self) -> usize {
        self.state().groups.values().filter(|group| group.is_open() || !group.is_empty()).count()
    }

    pub(super) fn panic_at(&self, statement: u64) {
        self.state().counts.panic_at = statement;
    }

    pub(super) fn counts(&self) -> Counts {
        self.state().counts
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has failures that nobody observed noted (law T6).
    pub(super) fn listen(&self, handle: &Handle) {
        let world = self.clone();
        handle.set_unobserved_hook(move |report| {
            let path = report.message().split('@').nth(1).unwrap_or("?").to_owned();
            world.state().reported.push(path);
        });
    }

    pub(super) fn log(&self, path: &str, kind: &'static str, value: Json) {
        self.state().events.push((now(), path.to_owned(), kind, value));
    }

    /// Enters a task under its id and has its outcome noted when it ends.
    pub(super) fn adopt(&self, id: &str, path: &str, task: &TaskRef) {
        self.state().tasks.insert(id.to_owned(), (path.to_owned(), task.clone()));
        if task.done() {
            self.ended(path, task);
            return;
        }
        let (world, path) = (self.clone(), path.to_owned());
        task.on_done(move |task| world.ended(&path, task));
    }

    fn ended(&self, path: &str, task: &TaskRef) {
        let mut state = self.state();
        let result = state.results.get(path).cloned();
        let outcome = match (task.state(), result) {
            (TaskState::Done(Ending::Value), Some(Ok(value))) => json!({"value": value}),
            (TaskState::Done(Ending::Failed), Some(Err(tree))) => json!({"error": tree}),
            (TaskState::Done(Ending::Cancelled), _) => json!("cancelled"),
            (state, result) => json!(format!("fault in the interpreter: {state:?} {result:?}")),
        };
        state.outcomes.insert(path.to_owned(), (now(), outcome));
    }

    /// Notes what a body returned; whether that becomes the outcome is for the laws to say.
    pub(super) fn returned(&self, path: &str, result: &Result<Value, Fault>) {
        let result = result.clone().map_err(|fault| fault.tree);
        self.state().results.insert(path.to_owned(), result);
    }

    pub(super) fn task(&self, id: &str) -> Option<(String, TaskRef)> {
        self.state().tasks.get(id).cloned()
    }

    pub(super) fn cancel(&self, task: &TaskRef) -> &'static str {
        match task.cancel() {
            CancelOutcome::Done => "done",
            _ => "requested",
        }
    }

    pub(super) fn hold(&self, id: &str, handle: Held) {
        self.state().handles.insert(id.to_owned(), handle);
    }

    pub(super) fn take(&self, id: &str) -> Option<Held> {
        self.state().handles.remove(id)
    }

    pub(super) fn open_group(&self, id: &str, group: TaskGroup<Fault>) {
        self.state().groups.insert(id.to_owned(), group);
    }

    pub(super) fn group(&self, id: &str) -> Option<TaskGroup<Fault>> {
        self.state().groups.get(id).cloned()
    }

    pub(super) fn open_timeout(&self, id: &str, timeout: Timeout) {
        self.state().timeouts.insert(id.to_owned(), timeout);
    }

    pub(super) fn timeout(&self, id: &str) -> Option<Timeout> {
        self.state().timeouts.get(id).cloned()
    }

    /// A task's outcome as JSON; the error of a group's child is the group's, so it is looked up.
    pub(super) fn outcome<E>(&self, id: &str, outcome: &Result<Value, TaskError<E>>) -> Json {
        match outcome {
            Ok(value) => json!({"value": value}),
            Err(TaskError::Cancelled(_)) => json!("cancelled"),
            Err(TaskError::Panicked(panic)) => json!({"panic": panic.message()}),
            Err(TaskError::Failed(_)) => {
                let state = self.state();
                let path = state.tasks.get(id).map(|(path, _)| path.clone()).unwrap_or_default();
                let tree = state.results.get(&path).cloned();
                json!({"error": tree.and_then(Result::err)})
            }
        }
    }

    /// The trace of the run, after its end. Dropping the handles reports what nobody observed.
    pub(super) fn into_trace(self, id: &str) -> Trace {
        let mut state = std::mem::take(&mut *self.state());
        drop(std::mem::take(&mut state.handles));
        let mut reported = std::mem::take(&mut state.reported);
        reported.append(&mut self.state().reported);
        reported.sort();
        Trace::new(id, state.events, state.outcomes, reported)
    }
}
