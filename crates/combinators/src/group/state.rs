//! What a group keeps under its lock, and the orders that are given under it and carried out after it
//! (INVARIANT K2 of the station).

use std::any::Any;
use std::task::Waker;

use brigade_core::scope::{Level, Place, note_request};
use brigade_core::{CancelReason, TaskRef};

use super::error::ChildError;
use super::policy::Phase;
use super::roster::Roster;
use crate::sync::{Arc, wake_safely};

/// See the module.
pub(super) struct State<E: 'static> {
    pub(super) phase: Phase,
    pub(super) roster: Roster<E>,
    pub(super) errors: Vec<ChildError<E>>,
    /// The group's request to its own body, until the body's scope takes it.
    pub(super) body_request: Option<CancelReason>,
    /// Where the body was polled the last time.
    place: Place,
    /// The body has ended: services may be dismissed (law G9).
    pub(super) body_gone: bool,
    /// The value given to `finish`, unless the body had ended with one before.
    pub(super) finished: Option<Box<dyn Any + Send>>,
    /// There is a value; a later one does not count.
    pub(super) valued: bool,
    /// The future of the group, while it waits.
    pub(super) waker: Option<Waker>,
}

impl<E: 'static> State<E> {
    pub(super) fn new(limit: Option<usize>) -> State<E> {
        State {
            phase: Phase::Open,
            roster: Roster::new(limit),
            errors: Vec::new(),
            body_request: None,
            place: Place::default(),
            body_gone: false,
            finished: None,
            valued: false,
            waker: None,
        }
    }

    /// The name of the last child that failed, if the group is still open.
    pub(super) fn unanswered_failure(&self) -> Option<Arc<str>> {
        let error = self.errors.last().filter(|_| self.phase == Phase::Open)?;
        Some(error.child.name.clone())
    }

    /// Keeps the waker of the group's future; returns the former one.
    pub(super) fn keep_waker(&mut self, waker: &Waker) -> Option<Waker> {
        if self.waker.as_ref().is_some_and(|old| old.will_wake(waker)) {
            return None;
        }
        self.waker.replace(waker.clone())
    }

    /// The body is going to be polled; whether there is a request for it.
    pub(super) fn enter_body(&mut self, place: Place) -> bool {
        self.place = place;
        self.body_request.is_some()
    }

    /// The group ends: nobody comes in, every child but the services is cancelled once, and so is the
    /// body if `and_body`. Nothing happens the second time.
    pub(super) fn begin_ending(&mut self, reason: CancelReason, and_body: bool) -> Orders {
        if self.phase != Phase::Open {
            return Orders::default();
        }
        self.phase = Phase::Ending(reason.clone());
        if and_body {
            self.body_request = Some(reason.clone());
        }
        let waker = if and_body { self.waker.take() } else { None };
        Orders {
            cancel: self.roster.ordinary_tasks(),
            reason: Some(reason),
            body: and_body.then_some(self.place),
            waker,
            others: self.roster.waiting(),
        }
    }

    /// Wakes the group's future, since no child is left.
    pub(super) fn wake(&mut self) -> Orders {
        Orders { waker: self.waker.take(), ..Orders::default() }
    }
}

/// What has to be done once the lock is released (INVARIANT K2).
#[derive(Default)]
#[must_use = "orders are given under the lock and carried out after it"]
pub(super) struct Orders {
    pub(super) cancel: Vec<TaskRef>,
    pub(super) reason: Option<CancelReason>,
    /// The body has got a request, and stands here; it may be the body that is running.
    pub(super) body: Option<Place>,
    /// The group's future.
    pub(super) waker: Option<Waker>,
    /// Those who wait for a slot.
    pub(super) others: Vec<Waker>,
}

impl Orders {
    /// These orders, and others that concern other people.
    pub(super) fn and_also(mut self, more: Orders) -> Orders {
        if self.reason.is_none() {
            self.reason = more.reason;
        }
        self.cancel.extend(more.cancel);
        self.body = self.body.or(more.body);
        self.waker = self.waker.or(more.waker);
        self.others.extend(more.others);
        self
    }

    /// Wakes somebody else, too.
    pub(super) fn and_wake(mut self, other: Option<Waker>) -> Orders {
        self.others.extend(other);
        self
    }

    pub(super) fn carry_out(self) {
        if let Some(reason) = self.reason {
            for task in self.cancel {
                task.request(Level::Soft, reason.clone());
            }
        }
        self.body.into_iter().for_each(note_request);
        self.waker.into_iter().chain(self.others).for_each(wake_safely);
    }
}
