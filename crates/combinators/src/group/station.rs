//! What a group's handles, its children and its future share.
//!
//! INVARIANT K1: a child has its place in the roster before it is scheduled, and gives it up after its
//! outcome is readable. So the group is never found empty while a child runs.
//!
//! INVARIANT K2: under the lock nothing of the user runs: no request is made, no waker woken, and
//! nothing dropped but plain data.

use std::any::{Any, TypeId};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;
use std::time::Duration;

use brigade_core::scope::{Level, is_aborting, report_adoption, report_unobserved, warn};
use brigade_core::{CancelReason, Handle, Panic, TaskError, TaskRef};

use super::error::{ChildError, Source};
use super::limit::{Asked, Entry, Ticket};
use super::output::GroupId;
use super::policies::{ChildEnd, Next, Policy};
use super::policy::{self, Phase};
use super::roster::{Refused, Reserved};
use super::state::State;
use super::tally::{Departure, Tally};
use crate::sync::{Arc, Mutex, MutexGuard, lock, wake_safely};

/// See the module. In this order, for the sake of [`Tally`].
#[repr(C)]
pub(crate) struct Station<E: 'static> {
    tally: Tally,
    state: Mutex<State<E>>,
    pub(super) id: GroupId,
    pub(super) source: Source,
    /// The runtime on which the group was opened; children may be spawned from foreign threads.
    pub(super) runtime: Option<Handle>,
    /// The type that the scope returns, for `finish`.
    pub(super) value: (TypeId, &'static str),
    /// Decides what the end of a child leads to; the default, fail-fast, needs none (law G9).
    policy: Option<Box<dyn Policy<E>>>,
    describe: fn(&E) -> String,
}

/// What is known of a group when it is opened.
pub(super) struct Plan<E: 'static> {
    pub(super) id: GroupId,
    pub(super) source: Source,
    pub(super) value: (TypeId, &'static str),
    pub(super) limit: Option<usize>,
    pub(super) policy: Option<Box<dyn Policy<E>>>,
    pub(super) describe: fn(&E) -> String,
}

/// What is left of a group whose body and children have all ended.
pub(super) struct Rest<E: 'static> {
    pub(super) errors: Vec<ChildError<E>>,
    pub(super) finished: Option<Box<dyn Any + Send>>,
}

impl<E: 'static> Station<E> {
    pub(super) fn new(plan: Plan<E>) -> Station<E> {
        let Plan { id, source, value, limit, policy, describe } = plan;
        let tally = Tally::default();
        if policy.is_some() || limit.is_some() {
            tally.heed();
        }
        let state = Mutex::new(State::new(limit));
        Station { tally, state, id, source, runtime: Handle::try_current(), value, policy, describe }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<E>> {
        lock(&self.state)
    }

    /// A place for a child, if the group takes one (INVARIANT K1).
    pub(super) fn reserve(self: &Arc<Self>, entry: Entry) -> Result<Reserved<E>, Refused> {
        let mut state = self.lock();
        let reserved = match state.phase {
            Phase::Open => state.roster.reserve(self, entry),
            Phase::Ending(_) | Phase::Over => Err(Refused::Closed),
        }?;
        self.tally.enter();
        if matches!(entry, Entry::Service | Entry::Ranked(_)) {
            self.tally.heed();
        }
        Ok(reserved)
    }

    /// Whether a child that was seated has to be greeted.
    pub(super) fn is_special(&self) -> bool {
        self.tally.is_special()
    }

    /// The child is built and seated. If the group began to end meanwhile, the child ends with it, unpolled.
    pub(super) fn greet(&self, key: usize, task: &TaskRef) {
        let mut state = self.lock();
        let due = state.roster.greet(key, task);
        let late = if due { state.phase.reason_for_latecomers() } else { None };
        let is_service = state.roster.is_service(key);
        drop(state);
        if let Some(policy) = self.policy.as_ref().filter(|_| !is_service) {
            policy.on_spawn(task);
        }
        if let Some(reason) = late {
            task.request(Level::Soft, reason);
        }
    }

    /// An error of a child, before the child's own outcome is readable.
    pub(super) fn record(&self, error: ChildError<E>) {
        let mut state = self.lock();
        if state.phase != Phase::Over {
            self.tally.heed();
            state.errors.push(error);
            return;
        }
        drop(state);
        self.report(&error);
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
        self.tally.close();
        let orders = policy::on_body_failure(&mut state, self.tally.count());
        drop(state);
        orders.carry_out();
    }

    /// `TaskGroup::cancel` and `finish`.
    pub(super) fn cancel(&self, reason: CancelReason, value: Option<Box<dyn Any + Send>>) {
        let mut state = self.lock();
        let wanted = value.is_some() && !state.valued && state.phase != Phase::Over;
        state.valued |= wanted;
        let unused = if wanted { std::mem::replace(&mut state.finished, value) } else { value };
        self.tally.close();
        let orders = state.begin_ending(reason, true);
        drop(state);
        drop(unused);
        orders.carry_out();
    }

    /// A cancellation from outside has reached the group (law G5).
    pub(super) fn unwind(&self, reason: CancelReason) {
        let mut state = self.lock();
        self.tally.close();
        let orders = state.begin_ending(reason, false);
        drop(state);
        orders.carry_out();
    }

    /// Before the group's future waits for its body: it is woken when the group has a request for the
    /// body, which is returned if it has one already.
    pub(super) fn listen(&self, waker: &Waker) -> Option<CancelReason> {
        let mut state = self.lock();
        let retired = state.keep_waker(waker);
        let request = state.body_request.take();
        drop(state);
        drop(retired);
        request
    }

    /// Before the group's future waits for its children, the body being gone: it is woken when the last
    /// one has left. `true`: there is none.
    pub(super) fn attend(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        let retired = state.keep_waker(waker);
        let left = self.tally.count();
        let orders = policy::on_body_gone(&mut state, left);
        drop(state);
        drop(retired);
        orders.carry_out();
        left == 0
    }

    pub(super) fn len(&self) -> usize {
        self.tally.count()
    }

    /// Ends the group, unless a child is left. No child can be spawned after this.
    pub(super) fn close(&self) -> Option<Rest<E>> {
        if self.tally.count() > 0 {
            return None;
        }
        let mut state = self.lock();
        if self.tally.count() > 0 {
            return None;
        }
        state.phase = Phase::Over;
        let retired = (state.waker.take(), state.roster.shut());
        let errors = std::mem::take(&mut state.errors);
        let finished = state.finished.take();
        drop(state);
        drop(retired);
        let errors = match &self.policy {
            Some(policy) => policy.finish(errors),
            None => errors,
        };
        Some(Rest { errors, finished })
    }

    pub(super) fn is_ending(&self) -> bool {
        self.lock().phase != Phase::Open
    }

    /// The grace of the group is over (law C13).
    pub(super) fn abort_children(&self, grace: Duration) {
        let left = self.lock().roster.all_tasks();
        left.iter().for_each(|task| abort(task, &format!("the grace of {grace:?} of {}", self.source)));
    }

    /// The group's future was dropped from outside (laws C16, G10): the children are cancelled and left
    /// to the runtime, or aborted if a grace around is over; errors that nobody will get are reported.
    pub(super) fn abandon(&self, reason: CancelReason) {
        let mut state = self.lock();
        self.tally.close();
        let orders = state.begin_ending(reason, false);
        state.phase = Phase::Over;
        let services = policy::on_body_gone(&mut state, self.tally.count());
        let retired = (state.waker.take(), state.finished.take(), state.roster.shut());
        let errors = std::mem::take(&mut state.errors);
        let adopted = state.roster.all_tasks();
        drop(state);
        drop(retired);
        orders.carry_out();
        services.carry_out();
        match is_aborting() {
            true => adopted.iter().for_each(|task| abort(task, "a grace")),
            false => adopted.iter().for_each(report_adoption),
        }
        errors.iter().for_each(|error| self.report(error));
    }

    /// Nobody will get this error (law T6).
    pub(super) fn report(&self, error: &ChildError<E>) {
        report_unobserved(error.name(), self.describe(error), error.location());
    }

    /// An error or a panic in words.
    pub(super) fn describe(&self, error: &ChildError<E>) -> String {
        match error.error() {
            TaskError::Failed(error) => (self.describe)(error),
            TaskError::Panicked(panic) => panic.to_string(),
            TaskError::Cancelled(reason) => format!("{reason:?}"),
        }
    }

    /// A child that was `gone` from its place has ended, or could not be built: what its end leads to.
    pub(super) fn leave(&self, key: usize, gone: Option<TaskRef>) {
        if self.tally.is_heeded() {
            self.leave_heeded(key, gone);
        } else if self.tally.leave() == Departure::Noticed {
            let mut state = self.lock();
            let orders = policy::on_child_end(&mut state, self.tally.count());
            drop(state);
            orders.carry_out();
        }
    }

    #[cold]
    fn leave_heeded(&self, key: usize, gone: Option<TaskRef>) {
        let mut state = self.lock();
        let (next, left) = state.roster.remove(key);
        let _ = self.tally.leave();
        let count = self.tally.count();
        let orders = match self.policy {
            Some(_) => policy::on_verdict(&mut state, count, gone.as_ref(), next),
            None => policy::on_child_end(&mut state, count),
        };
        drop(state);
        drop((gone, left.retired));
        orders.and_wake(left.wake).carry_out();
    }

    pub(super) fn has_policy(&self) -> bool {
        self.policy.is_some()
    }

    /// What the policy says of the way in which a child ends; kept until the child has left.
    pub(super) fn judge(&self, key: usize, end: ChildEnd<'_, E>, task: &dyn Fn() -> TaskRef) {
        let Some(policy) = &self.policy else { return };
        if self.lock().roster.is_service(key) && !end.is_failure() {
            return;
        }
        let ask = AssertUnwindSafe(|| policy.on_done(&task(), end));
        let next = catch_unwind(ask).unwrap_or(Next::Cancel);
        self.lock().roster.set_next(key, next);
    }

    /// A slot, or a ticket for the queue (law G8).
    pub(super) fn stand_in_line(&self) -> Option<Ticket> {
        self.lock().roster.slots.as_mut()?.take_or_wait()
    }

    /// Whether the holder of this ticket has a slot.
    pub(super) fn poll_slot(&self, ticket: Ticket, waker: &Waker) -> Asked {
        let fresh = waker.clone();
        let mut state = self.lock();
        if state.phase != Phase::Open {
            drop(state);
            return Asked::Closed;
        }
        let slots = state.roster.slots.as_mut().expect("a ticket was issued by these slots");
        let (waits, retired) = slots.wait(ticket, fresh);
        drop(state);
        drop(retired);
        if waits { Asked::Waits } else { Asked::Has }
    }

    pub(super) fn poll_open(&self) -> Asked {
        if self.is_ending() { Asked::Closed } else { Asked::Has }
    }

    /// Somebody who stood in line does not come in.
    pub(super) fn step_out(&self, ticket: Option<Ticket>) {
        let mut state = self.lock();
        let left = state.roster.slots.as_mut().map(|slots| slots.leave(ticket)).unwrap_or_default();
        drop(state);
        drop(left.retired);
        left.wake.into_iter().for_each(wake_safely);
    }
}

/// Aborts a task whose grace is over, and names it (law C13).
pub(super) fn abort(task: &TaskRef, grace: &str) {
    let (name, place) = (task.name(), task.location());
    warn(format!("task `{name}` (spawned at {place}) did not end within {grace}; it was aborted"));
    task.abort();
}
