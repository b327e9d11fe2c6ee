//! The end of a group: what the body left, waiting for children, and the decision (laws G3, G5, G6).

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::task::{Context, Poll};
use std::time::Duration;

use brigade_core::scope::{Grace, Receiver, Scope};
use brigade_core::{BoxError, CancelKind, CancelReason, Panic, TaskError, current_task};

use super::error::{ChildError, GroupError, Origin};
use super::output::InGroup;
use super::start::StartError;
use super::station::{Rest, Station};
use crate::sync::Arc;

/// The part of a group's future that is not pinned.
pub(super) struct Desk<E: 'static, T> {
    pub(super) station: Arc<Station<E>>,
    pub(super) stage: Stage,
    /// Receives requests from outside once the body has ended by itself.
    tail: Receiver,
    value: Option<T>,
    body_error: Option<TaskError<E>>,
    /// A request from outside goes through the group.
    unwinding: bool,
    /// What body and children get after a request (law C13); boxed, since few groups have one.
    grace: Option<Box<Grace>>,
    /// The grace is over.
    pub(super) overrun: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Fresh,
    Body,
    /// The body has ended by itself, or by the group's own request.
    Ending,
    /// A request from outside has dropped the body; its delivery is held by the body's scope.
    Passing,
    /// The unwinding goes on outside.
    Resumed,
    Done,
}

impl<E: 'static, T> Desk<E, T> {
    pub(super) fn new(station: Arc<Station<E>>, grace: Option<Duration>) -> Desk<E, T> {
        Desk {
            station,
            stage: Stage::Fresh,
            tail: Receiver::new(),
            value: None,
            body_error: None,
            unwinding: false,
            grace: grace.map(|limit| Box::new(Grace::new(limit))),
            overrun: false,
        }
    }

    /// The body has come to its end. An error that is a child's own adds no second entry (law G1).
    pub(super) fn body_ended(&mut self, result: Result<T, E>) {
        match result {
            Ok(value) => {
                if self.station.body_succeeded() {
                    self.value = Some(value);
                }
            }
            Err(error) => {
                if !self.is_of_a_child(&error) {
                    self.body_failed(TaskError::Failed(error));
                }
            }
        }
    }

    pub(super) fn body_panicked(&mut self, payload: Box<dyn Any + Send>) {
        let name = self.body_origin().name;
        self.body_failed(TaskError::Panicked(Panic::new(payload, name)));
    }

    /// A request from outside has come through (law G5).
    pub(super) fn unwind(&mut self, reason: Option<CancelReason>) {
        self.unwinding = true;
        self.station.unwind(reason.map_or_else(
            || CancelReason::new(CancelKind::ParentCancelled),
            |reason| reason.with_kind(CancelKind::ParentCancelled),
        ));
    }

    /// Whether body and children have had the time that they get after a request (law C13). One that
    /// was absorbed while the group is open gives it back.
    pub(super) fn grace_is_over(&mut self, scope: &Scope, cx: &mut Context<'_>) -> bool {
        let Some(grace) = &mut self.grace else { return false };
        if !scope.is_requested() && !self.station.is_ending() {
            grace.reset();
            return false;
        }
        self.overrun = self.overrun || grace.poll_expired(cx);
        self.overrun
    }

    /// The first error of the body counts: a destructor that panics afterwards changes nothing.
    fn body_failed(&mut self, error: TaskError<E>) {
        self.value = None;
        self.body_error.get_or_insert(error);
        self.station.body_failed();
    }

    /// Whether the body only hands on what the handle of a child told it: an error or a panic that is
    /// an entry already, or a cancellation that is the group's own doing.
    fn is_of_a_child(&self, error: &E) -> bool {
        let told = told::<InGroup>(error).map(|failed| failed.group == self.station.id);
        let told = told.or_else(|| told_by_start(error).map(|error| self.is_known(error)));
        told.or_else(|| self::told(error).map(|error| self.is_known(error))).unwrap_or(false)
    }

    fn is_known(&self, error: &TaskError<InGroup>) -> bool {
        match error {
            TaskError::Failed(failed) => failed.group == self.station.id,
            TaskError::Panicked(panic) => self.station.has_panic(panic),
            TaskError::Cancelled(reason) => self.station.explains(reason),
        }
    }

    fn body_origin(&self) -> Origin {
        let task = current_task();
        Origin {
            name: task.as_ref().map_or_else(|| "(no task)".into(), |task| task.name()),
            id: task.map(|task| task.id()),
            location: self.station.source.location,
            is_body: true,
        }
    }
}

impl<E: 'static, T: 'static> Desk<E, T> {
    /// The body is gone: the rest is waiting for children. `scope` is the body's.
    pub(super) fn poll_end(
        &mut self,
        scope: &mut Scope,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, GroupError<E>>> {
        // The second is for a child that comes, and perhaps ends, in between.
        let rest = self.station.close().or_else(|| match self.station.attend(cx.waker()) {
            true => self.station.close(),
            false => None,
        });
        if let Some(rest) = rest {
            return self.conclude(scope, rest);
        }
        if self.stage == Stage::Passing {
            // A further request changes nothing: children are cancelled once (law C6).
            let _ = scope.poll_request(cx.waker());
        } else if let Some(request) = self.tail.poll_request(cx.waker()) {
            self.unwind(Some(request.reason));
        }
        if self.grace_is_over(scope, cx) {
            // Taken, so that it is done once.
            let grace = self.grace.take();
            grace.into_iter().for_each(|grace| self.station.abort_children(grace.limit()));
        }
        Poll::Pending
    }

    /// Everybody has ended. Errors come first, then a request from outside, then the value.
    fn conclude(&mut self, scope: &mut Scope, rest: Rest<E>) -> Poll<Result<T, GroupError<E>>> {
        let Rest { mut errors, finished } = rest;
        if let Some(error) = self.body_error.take() {
            errors.push(ChildError::new(self.body_origin(), error));
        }
        if self.unwinding && errors.is_empty() {
            match self.stage {
                Stage::Passing => scope.resume(),
                _ => self.tail.resume(),
            }
            self.stage = Stage::Resumed;
            return Poll::Pending;
        }
        self.stage = Stage::Done;
        scope.finish();
        self.tail.hand_back();
        if !errors.is_empty() {
            return Poll::Ready(Err(self.error(errors, false)));
        }
        let finished = finished.and_then(|value| value.downcast::<T>().ok());
        let value = finished.map(|value| *value).or(self.value.take());
        Poll::Ready(value.ok_or_else(|| self.error(Vec::new(), true)))
    }

    fn error(&self, children: Vec<ChildError<E>>, cancelled: bool) -> GroupError<E> {
        GroupError { group: self.station.source.clone(), children, cancelled, exhausted: None }
    }
}

/// The error as an `X`, bare or boxed.
fn told<X: Error + 'static>(error: &dyn Any) -> Option<&X> {
    error.downcast_ref().or_else(|| error.downcast_ref::<BoxError>()?.downcast_ref())
}

/// The outcome of a child that ended before it was ready.
fn told_by_start(error: &dyn Any) -> Option<&TaskError<InGroup>> {
    match told(error)? {
        StartError::Ended(error) => Some(error),
        StartError::NeverReady(_) => None,
    }
}

impl<E: 'static, T> Drop for Desk<E, T> {
    /// The group's future is dropped before its end (laws C16, G10).
    fn drop(&mut self) {
        if matches!(self.stage, Stage::Resumed | Stage::Done) {
            return;
        }
        if let Some(error) = self.body_error.take() {
            self.station.record(ChildError::new(self.body_origin(), error));
        }
        self.station.abandon(CancelReason::new(CancelKind::ParentCancelled));
    }
}

impl<E: 'static, T> fmt::Debug for Desk<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupScope")
            .field("group", &format_args!("{}", self.station.source))
            .field("stage", &self.stage)
            .field("children", &self.station.len())
            .finish_non_exhaustive()
    }
}
