//! What a group's handles, its children and its future share.
//!
//! INVARIANT K1: a child has its place in `children` before it is scheduled, and gives it up after its
//! outcome is readable. So the group is never found empty while a child runs.
//!
//! INVARIANT K2: under the lock nothing of the user runs: no request is made, no waker woken, and
//! nothing dropped but plain data.

use std::any::{Any, TypeId};
use std::panic::Location;
use std::task::Waker;
use std::time::Duration;

use brigade_core::scope::{Level, Owner, is_aborting, report_adoption, report_unobserved, warn};
use brigade_core::{CancelReason, Handle, Panic, TaskError, TaskRef};
use slab::Slab;

use super::error::{ChildError, Origin, Source};
use super::output::GroupId;
use super::policy::{self, Phase};
use crate::sync::{Arc, Mutex, MutexGuard, lock, wake_safely};

/// A spike of children must not be felt for ever (law G7).
const KEPT_PLACES: usize = 64;

/// See the module.
pub(crate) struct Station<E: 'static> {
    pub(super) id: GroupId,
    pub(super) source: Source,
    /// The runtime on which the group was opened; children may be spawned from foreign threads.
    pub(super) runtime: Option<Handle>,
    /// The type that the scope returns, for `finish`.
    pub(super) value: (TypeId, &'static str),
    describe: fn(&E) -> String,
    state: Mutex<State<E>>,
}

pub(super) struct State<E: 'static> {
    pub(super) phase: Phase,
    /// `None` while a child is being built.
    children: Slab<Option<TaskRef>>,
    errors: Vec<ChildError<E>>,
    /// The group's request to its own body, until the body's scope takes it.
    body_request: Option<CancelReason>,
    /// The value given to `finish`, unless the body had ended with one before.
    finished: Option<Box<dyn Any + Send>>,
    /// There is a value; a later one does not count.
    valued: bool,
    /// The future of the group, while it waits.
    waker: Option<Waker>,
}

/// What is left of a group whose body and children have all ended.
pub(super) struct Rest<E: 'static> {
    pub(super) errors: Vec<ChildError<E>>,
    pub(super) finished: Option<Box<dyn Any + Send>>,
}

impl<E: 'static> Station<E> {
    pub(super) fn new(
        id: GroupId,
        name: Option<Arc<str>>,
        location: &'static Location<'static>,
        value: (TypeId, &'static str),
        describe: fn(&E) -> String,
    ) -> Station<E> {
        let state = State {
            phase: Phase::Open,
            children: Slab::new(),
            errors: Vec::new(),
            body_request: None,
            finished: None,
            valued: false,
            waker: None,
        };
        let source = Source { name, location };
        Station { id, source, runtime: Handle::try_current(), value, describe, state: Mutex::new(state) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<E>> {
        lock(&self.state)
    }

    /// A place for a child, if the group takes one (INVARIANT K1).
    pub(super) fn reserve(&self) -> Option<usize> {
        let mut state = self.lock();
        (state.phase == Phase::Open).then(|| state.children.insert(None))
    }

    /// The child is built. If the group began to end meanwhile, the child ends with it, unpolled.
    pub(super) fn seat(&self, key: usize, task: TaskRef) {
        let mut state = self.lock();
        let late = state.phase.reason().cloned();
        let also = late.is_some().then(|| task.clone());
        state.children[key] = Some(task);
        drop(state);
        if let (Some(reason), Some(task)) = (late, also) {
            task.request(Level::Soft, reason);
        }
    }

    /// The child could not be built.
    pub(super) fn release(&self, key: usize) {
        self.leave(key);
    }

    /// An error of a child, before the child's own outcome is readable.
    pub(super) fn record(&self, child: Origin, error: TaskError<E>) {
        let mut state = self.lock();
        if state.phase != Phase::Over {
            state.errors.push(ChildError::new(child, error));
            return;
        }
        drop(state);
        self.report(&ChildError::new(child, error));
    }

    /// The body has ended with a value. `false`: one was given to `finish` before.
    pub(super) fn body_succeeded(&self) -> bool {
        !std::mem::replace(&mut self.lock().valued, true)
    }

    /// Whether this panic of a child is an entry.
    pub(super) fn has_panic(&self, panic: &Panic) -> bool {
        self.lock().errors.iter().any(|child| match child.error() {
            TaskError::Panicked(known) => known.same_as(panic),
            _ => false,
        })
    }

    /// Whether a cancellation for this reason is the group's own doing.
    pub(super) fn explains(&self, reason: &CancelReason) -> bool {
        self.lock().phase.reason().is_some_and(|known| known.kind() == reason.kind())
    }

    /// The body failed: the children are cancelled. Its error comes last (law G3).
    pub(super) fn body_failed(&self) {
        let mut state = self.lock();
        let orders = policy::on_failure(&mut state, "the body of the group");
        drop(state);
        orders.carry_out();
    }

    /// `TaskGroup::cancel` and `finish`.
    pub(super) fn cancel(&self, reason: CancelReason, value: Option<Box<dyn Any + Send>>) {
        let mut state = self.lock();
        let wanted = value.is_some() && !state.valued && state.phase != Phase::Over;
        state.valued |= wanted;
        let unused = if wanted { std::mem::replace(&mut state.finished, value) } else { value };
        let orders = state.begin_ending(reason, true);
        drop(state);
        drop(unused);
        orders.carry_out();
    }

    /// A cancellation from outside has reached the group (law G5).
    pub(super) fn unwind(&self, reason: CancelReason) {
        let orders = self.lock().begin_ending(reason, false);
        orders.carry_out();
    }

    /// Before the group's future waits: it is woken when the last child has left, and when the
    /// group has a request for its body, which is returned if it has one already.
    pub(super) fn listen(&self, waker: &Waker) -> (Option<CancelReason>, bool) {
        let mut retired = None;
        let mut state = self.lock();
        if !state.waker.as_ref().is_some_and(|old| old.will_wake(waker)) {
            retired = state.waker.replace(waker.clone());
        }
        let answer = (state.body_request.take(), state.children.is_empty());
        drop(state);
        drop(retired);
        answer
    }

    pub(super) fn len(&self) -> usize {
        self.lock().children.len()
    }

    /// Ends the group, unless a child is left. No child can be spawned after this.
    pub(super) fn close(&self) -> Option<Rest<E>> {
        let mut state = self.lock();
        if !state.children.is_empty() {
            return None;
        }
        state.phase = Phase::Over;
        let retired = state.waker.take();
        let rest = Rest { errors: std::mem::take(&mut state.errors), finished: state.finished.take() };
        drop(state);
        drop(retired);
        Some(rest)
    }

    pub(super) fn is_ending(&self) -> bool {
        self.lock().phase != Phase::Open
    }

    /// The grace of the group is over (law C13).
    pub(super) fn abort_children(&self, grace: Duration) {
        let left = self.lock().tasks();
        left.iter().for_each(|task| abort(task, &format!("the grace of {grace:?} of {}", self.source)));
    }

    /// The group's future was dropped from outside (laws C16, G10): the children are cancelled and left
    /// to the runtime, or aborted if a grace around is over; errors that nobody will get are reported.
    pub(super) fn abandon(&self, reason: CancelReason) {
        let mut state = self.lock();
        let orders = state.begin_ending(reason, false);
        state.phase = Phase::Over;
        let retired = (state.waker.take(), state.finished.take());
        let errors = std::mem::take(&mut state.errors);
        let adopted = state.tasks();
        drop(state);
        drop(retired);
        orders.carry_out();
        match is_aborting() {
            true => adopted.iter().for_each(|task| abort(task, "a grace")),
            false => adopted.iter().for_each(report_adoption),
        }
        errors.iter().for_each(|error| self.report(error));
    }

    fn report(&self, error: &ChildError<E>) {
        let message = match error.error() {
            TaskError::Failed(error) => (self.describe)(error),
            TaskError::Panicked(panic) => panic.to_string(),
            TaskError::Cancelled(_) => return,
        };
        report_unobserved(error.name(), message, error.location());
    }

    /// Gives up a child's place, and does what its end leads to.
    fn leave(&self, key: usize) {
        let mut state = self.lock();
        let gone = state.children.remove(key);
        if state.children.is_empty() && state.children.capacity() > KEPT_PLACES {
            state.children = Slab::new();
        }
        let orders = policy::on_child_end(&mut state);
        drop(state);
        drop(gone);
        orders.carry_out();
    }
}

impl<E: Send + 'static> Owner for Station<E> {
    fn child_done(&self, key: usize, _task: &TaskRef) {
        self.leave(key);
    }
}

impl<E: 'static> State<E> {
    /// The name of the last child that failed, if the group is still open.
    pub(super) fn unanswered_failure(&self) -> Option<Arc<str>> {
        let error = self.errors.last().filter(|_| self.phase == Phase::Open)?;
        Some(error.child.name.clone())
    }

    /// The group ends: nobody comes in, every child is cancelled once, and so is the body if
    /// `and_body`. Nothing happens the second time.
    pub(super) fn begin_ending(&mut self, reason: CancelReason, and_body: bool) -> Orders {
        if self.phase != Phase::Open {
            return Orders::default();
        }
        self.phase = Phase::Ending(reason.clone());
        if and_body {
            self.body_request = Some(reason.clone());
        }
        let waker = if and_body { self.waker.take() } else { None };
        Orders { cancel: self.tasks(), reason: Some(reason), waker }
    }

    /// Wakes the group's future if no child is left.
    pub(super) fn wake_if_empty(&mut self) -> Orders {
        let waker = if self.children.is_empty() { self.waker.take() } else { None };
        Orders { waker, ..Orders::default() }
    }

    fn tasks(&self) -> Vec<TaskRef> {
        self.children.iter().filter_map(|(_, child)| child.clone()).collect()
    }
}

fn abort(task: &TaskRef, grace: &str) {
    let (name, place) = (task.name(), task.location());
    warn(format!("task `{name}` (spawned at {place}) did not end within {grace}; it was aborted"));
    task.abort();
}

/// What has to be done once the lock is released (INVARIANT K2).
#[derive(Default)]
#[must_use = "orders are given under the lock and carried out after it"]
pub(super) struct Orders {
    cancel: Vec<TaskRef>,
    reason: Option<CancelReason>,
    waker: Option<Waker>,
}

impl Orders {
    pub(super) fn carry_out(self) {
        if let Some(reason) = self.reason {
            for task in self.cancel {
                task.request(Level::Soft, reason.clone());
            }
        }
        if let Some(waker) = self.waker {
            wake_safely(waker);
        }
    }
}
