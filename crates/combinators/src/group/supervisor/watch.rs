//! Who is stopped and started when: the body of a supervisor's group.
//!
//! ```text
//!                1 start_due                      2 answer: it stays ended
//!   (due) ──────────────────────────► (running) ─────────────────────────────► (ended), (out)
//!     ▲                                 │ │                                        │
//!     │  3 answer: a restart is due     │ │                                        │
//!     ├─────────────────────────────────┘ │                                        │
//!     │  4 stop: another is restarted     │                                        │
//!     └───────────────────────────────────┴──── 5 the same; never from (out) ──────┘
//! ```
//!
//! Between an end and the start that answers it the watch is suspended at least once. So a cancellation that was
//! requested by then drops the watch, and nothing is started (law C2).

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use brigade_core::scope::{Level, warn};
use brigade_core::{CancelKind, CancelOutcome, CancelReason, Instant, TaskRef, sleep_until};

use super::super::TaskGroup;
use super::super::limit::Entry;
use super::super::spawn::Order;
use super::super::station::abort;
use super::budget::{Budget, RestartsExhausted};
use super::plan::{Restart, Spec, Strategy, Supervisor};
use super::post::{End, Letter, Post, ToSupervisor};
use crate::backoff::{Backoff, Pauses};
use crate::sync::Arc;
use crate::timeout::timeout;

/// See the module.
pub(super) struct Watch<E: 'static> {
    group: TaskGroup<E>,
    post: Arc<Post<E>>,
    strategy: Strategy,
    backoff: Option<Backoff>,
    window: Duration,
    grace: Option<Duration>,
    budget: Budget<E>,
    /// In the order of the plan.
    seats: Vec<Seat<E>>,
}

/// A child of the plan, whether it runs or not.
struct Seat<E> {
    spec: Spec<E>,
    stage: Stage,
    /// Since it last ran for long.
    pauses: Option<Pauses>,
}

enum Stage {
    /// It is started at this moment.
    Due(Instant),
    Running {
        task: TaskRef,
        since: Instant,
    },
    /// It is done; it may begin again together with others.
    Ended,
    /// It never begins again.
    Out,
}

impl<E> Watch<E>
where
    E: fmt::Debug + Send + 'static,
{
    pub(super) fn new(group: TaskGroup<E>, post: Arc<Post<E>>, plan: Supervisor<E>) -> Watch<E> {
        let Supervisor { strategy, restarts, window, backoff, grace, children, .. } = plan;
        let seat = |spec| Seat { spec, stage: Stage::Due(Instant::ZERO), pauses: None };
        let (budget, seats) = (Budget::new(restarts, window), children.into_iter().map(seat).collect());
        Watch { group, post, strategy, backoff, window, grace, budget, seats }
    }

    /// Ends when no child runs or will run, or when the budget is used up.
    pub(super) async fn run(mut self) {
        self.start_due();
        while self.seats.iter().any(Seat::is_busy) {
            match self.next().await {
                None => self.start_due(),
                Some(letter) => match self.answer(letter) {
                    Ok(None) => {}
                    Ok(Some(restart)) => self.prepare(restart).await,
                    Err(account) => return self.give_up(account),
                },
            }
        }
    }

    /// A child has ended, or (`None`) the time has come for one that is due.
    async fn next(&mut self) -> Option<Letter<E>> {
        let due = self.seats.iter().filter_map(Seat::due).min();
        let mut alarm = pin!(sleep_until(due.unwrap_or(Instant::FAR_FUTURE)));
        let post = &self.post;
        poll_fn(|cx| match post.poll_next(cx) {
            Poll::Ready(letter) => Poll::Ready(Some(letter)),
            Poll::Pending => alarm.as_mut().poll(cx).map(|()| None),
        })
        .await
    }

    /// Edge 1.
    fn start_due(&mut self) {
        let now = Instant::now();
        for index in 0..self.seats.len() {
            if self.seats[index].due().is_some_and(|due| due <= now) {
                self.start(index, now);
            }
        }
    }

    fn start(&mut self, index: usize, now: Instant) {
        let seat = &mut self.seats[index];
        let future = (seat.spec.make)();
        let (post, station) = (self.post.clone(), self.group.station.clone());
        let entry = Entry::Ranked(index as u64);
        let order = Order { group: &self.group, label: seat.spec.label.clone(), entry };
        seat.stage = match order.launch_into(future, |_| ToSupervisor { post, station, seat: index }) {
            Ok(task) => Stage::Running { task: task.to_ref(), since: now },
            // The runtime has ended.
            Err(_) => Stage::Out,
        };
    }

    /// Edges 2 and 3. It does not wait, so no failure is lost if the watch is dropped.
    fn answer(&mut self, letter: Letter<E>) -> Result<Option<Begin>, RestartsExhausted> {
        let Letter { seat: index, task, end } = letter;
        let (now, seat) = (Instant::now(), &mut self.seats[index]);
        let Stage::Running { since, .. } = seat.stage else { unreachable!("only who runs can end") };
        seat.stage = seat.spec.restart.rest_after(&end);
        let restart = seat.spec.restart.is_due_after(&end);
        let error = end.into_failure();
        if !restart {
            error.into_iter().for_each(|error| self.group.station.report(&error));
            return Ok(None);
        }
        let pause = seat.pause(self.backoff.as_ref(), since, now, self.window);
        let failed = error.as_ref().map(|error| self.group.station.describe(error));
        let granted = self.budget.spend(now, error);
        let (true, Some(pause)) = (granted, pause) else {
            return Err(self.budget.account(&task, granted));
        };
        if let Some(what) = &failed {
            let (name, place) = (task.name(), task.location());
            let so_far = self.budget.so_far();
            warn(format!(
                "task `{name}` (spawned at {place}) failed: {what}; it is started again after {pause:?}, {so_far}"
            ));
        }
        let due = now.saturating_add(pause);
        self.seats[index].stage = Stage::Due(due);
        Ok(Some(Begin { index, due, reason: why(&task, failed.is_some()), ended: task }))
    }

    /// Edges 4 and 5: stops whom the strategy restarts together with this child, the last one first.
    async fn prepare(&mut self, begin: Begin) {
        let Begin { index, due, reason, ended } = begin;
        ended.finished().await;
        let others = match self.strategy {
            Strategy::OneForOne => 0..0,
            Strategy::OneForAll => 0..self.seats.len(),
            Strategy::RestForOne => index..self.seats.len(),
        };
        for other in others.rev().filter(|other| *other != index) {
            match &self.seats[other].stage {
                Stage::Running { task, .. } => {
                    let task = task.clone();
                    let again = self.stop(other, &task, &reason).await;
                    self.seats[other].stage = if again { Stage::Due(due) } else { Stage::Out };
                }
                Stage::Due(_) | Stage::Ended => self.seats[other].stage = Stage::Due(due),
                Stage::Out => {}
            }
        }
    }

    /// Cancels a child and waits for its end; `true` if it shall begin again.
    async fn stop(&mut self, index: usize, task: &TaskRef, reason: &CancelReason) -> bool {
        let asked = task.request(Level::Soft, reason.clone());
        let limit = self.grace;
        if timeout(limit, task.finished()).await.is_err() {
            let limit = limit.unwrap_or_default();
            abort(task, &format!("the grace of {limit:?} of {}", self.group.station.source));
            task.finished().await;
        }
        let end = self.post.take(index).map_or(End::Cancelled, |letter| letter.end);
        let temporary = self.seats[index].spec.restart == Restart::Temporary;
        // Somebody else had cancelled it before.
        let dismissed = matches!(end, End::Cancelled) && asked != CancelOutcome::Requested;
        match end.into_failure() {
            Some(error) if temporary => self.group.station.report(&error),
            Some(error) => {
                let what = self.group.station.describe(&error);
                let (name, place) = (error.name(), error.location());
                warn(format!("task `{name}` (spawned at {place}) failed while it was stopped: {what}"));
                self.budget.note(Instant::now(), error);
            }
            None => {}
        }
        !temporary && !dismissed
    }

    /// The group ends, and tells the failures that used up the budget.
    fn give_up(&mut self, account: RestartsExhausted) {
        let station = &self.group.station;
        let text = format!("`{}` has used up its restarts", account.child());
        station.unwind(CancelReason::with_text(CancelKind::SiblingFailed, text));
        self.budget.take_errors().for_each(|error| station.record(error));
        self.post.leave_account(account);
    }
}

/// A restart that has been granted.
struct Begin {
    index: usize,
    due: Instant,
    /// For those who are restarted as well.
    reason: CancelReason,
    /// The child, which may not have ended quite (INVARIANT P1).
    ended: TaskRef,
}

impl<E> Seat<E> {
    fn due(&self) -> Option<Instant> {
        match self.stage {
            Stage::Due(at) => Some(at),
            _ => None,
        }
    }

    fn is_busy(&self) -> bool {
        matches!(self.stage, Stage::Due(_) | Stage::Running { .. })
    }

    /// How long it stays ended; `None` if its backoff gives up.
    fn pause(
        &mut self,
        backoff: Option<&Backoff>,
        since: Instant,
        now: Instant,
        long: Duration,
    ) -> Option<Duration> {
        let Some(backoff) = backoff else { return Some(Duration::ZERO) };
        if now.duration_since(since) >= long {
            self.pauses = None;
        }
        self.pauses.get_or_insert_with(|| backoff.begin(since)).next_after(now)
    }
}

impl Restart {
    fn is_due_after<E>(self, end: &End<E>) -> bool {
        match (self, end) {
            (Restart::Temporary, _) | (_, End::Cancelled) => false,
            (Restart::Permanent, _) => true,
            (Restart::Transient, end) => matches!(end, End::Failed(_)),
        }
    }

    /// What it is from then on, if no restart is due.
    fn rest_after<E>(self, end: &End<E>) -> Stage {
        match (self, end) {
            (Restart::Temporary, _) | (_, End::Cancelled) => Stage::Out,
            _ => Stage::Ended,
        }
    }
}

fn why(ended: &TaskRef, failed: bool) -> CancelReason {
    let (kind, verb) = match failed {
        true => (CancelKind::SiblingFailed, "failed"),
        false => (CancelKind::GroupCancelled, "ended"),
    };
    CancelReason::with_text(kind, format!("`{}` {verb}", ended.name()))
}

impl<E: 'static> Drop for Watch<E> {
    /// Nothing is restarted any more, and failures are the group's.
    fn drop(&mut self) {
        let failures = self.post.close().into_iter().filter_map(|letter| letter.end.into_failure());
        failures.for_each(|error| self.group.station.record(error));
    }
}
