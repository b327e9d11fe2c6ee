//! The limit of a group: how many children run at once, and who waits for a slot (law G8).
//!
//! ```text
//!   spawn ───────► slot free? ──yes──► runs ──ends──► its slot goes to the first that waits
//!   spawn_ready ─►     └──no──► waits, first come first served; leaving costs a logarithm
//! ```
//!
//! A child that waits is a task like any other: it is suspended in [`Turn`], in front of its own future, so
//! every way to end a task ends it, and the future is dropped unpolled (law C7).
//!
//! INVARIANT L1: somebody waits only while every slot is taken.

use std::collections::BTreeMap;
use std::mem::replace;
use std::task::{Context, Poll, Waker};

use brigade_core::{TaskState, current_task};

use super::station::Station;
use crate::sync::Arc;

/// A place in the queue.
pub(super) type Ticket = u64;

/// The slots of a group and its queue.
#[derive(Debug)]
pub(super) struct Slots {
    limit: usize,
    taken: usize,
    /// By order of arrival; who is no longer in here has a slot.
    waiting: BTreeMap<Ticket, Option<Waker>>,
    next: Ticket,
}

impl Slots {
    pub(super) fn new(limit: usize) -> Slots {
        Slots { limit, taken: 0, waiting: BTreeMap::new(), next: 0 }
    }

    /// Takes a slot if there is one.
    pub(super) fn take(&mut self) -> bool {
        let free = self.taken < self.limit;
        self.taken += usize::from(free);
        free
    }

    /// Takes a slot, or a place in the queue.
    pub(super) fn take_or_wait(&mut self) -> Option<Ticket> {
        if self.take() {
            return None;
        }
        let ticket = self.next;
        self.next += 1;
        self.waiting.insert(ticket, None);
        Some(ticket)
    }

    /// Keeps the waker if this ticket still waits; the former one, or this one if it is of no use,
    /// is for the caller to drop (INVARIANT K2 of the station).
    pub(super) fn wait(&mut self, ticket: Ticket, waker: Waker) -> (bool, Option<Waker>) {
        match self.waiting.get_mut(&ticket) {
            Some(kept) => (true, kept.replace(waker)),
            None => (false, Some(waker)),
        }
    }

    /// Somebody leaves, with a ticket if he had to wait once. `wake` is who has his slot now, `retired`
    /// the waker that he leaves behind.
    pub(super) fn leave(&mut self, ticket: Option<Ticket>) -> Left {
        let waited = ticket.and_then(|ticket| self.waiting.remove(&ticket));
        if let Some(retired) = waited {
            return Left { wake: None, retired };
        }
        let Some((_, next)) = self.waiting.pop_first() else {
            self.taken -= 1;
            return Left::default();
        };
        Left { wake: next, retired: None }
    }

    /// The wakers of all who wait: the group ends.
    pub(super) fn wakers(&mut self) -> impl Iterator<Item = Waker> {
        self.waiting.values_mut().filter_map(Option::take)
    }
}

/// What to do outside the lock after somebody has left.
#[derive(Default)]
pub(super) struct Left {
    pub(super) wake: Option<Waker>,
    pub(super) retired: Option<Waker>,
}

/// A child's wait for its slot, in front of its future.
pub(crate) struct Turn<E: 'static> {
    station: Arc<Station<E>>,
    ticket: Ticket,
}

impl<E: 'static> Turn<E> {
    pub(super) fn new(station: Arc<Station<E>>, ticket: Ticket) -> Turn<E> {
        Turn { station, ticket }
    }

    /// Ready once the child has its slot. A cancellation and the slot may come in one turn; then the
    /// future must not begin (law C7), and the request ends the task after this poll.
    pub(super) fn poll_slot(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self.station.poll_slot(self.ticket, cx.waker()) {
            Asked::Has if is_cancelled() => Poll::Pending,
            Asked::Has => Poll::Ready(()),
            // If the group ends the request to this child is on its way.
            Asked::Closed | Asked::Waits => Poll::Pending,
        }
    }
}

/// Whether somebody has asked the task that is being polled to end.
pub(super) fn is_cancelled() -> bool {
    current_task().is_some_and(|task| task.state() == TaskState::Cancelling)
}

/// How somebody who waits for a slot stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// The group takes nobody any more.
    Closed,
    Waits,
    Has,
}

/// How somebody who comes to a group gets in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    /// With a slot, or in the queue.
    Queue,
    /// With a slot, or not at all.
    NowOrNever,
    /// He has his slot already.
    WithSlot,
    /// A service needs none.
    Service,
    /// A service with this place in the order of dismissal.
    Ranked(u64),
}

/// The slot of somebody who is not a child yet; given back when it is dropped.
pub(super) struct Claim<E: 'static> {
    station: Arc<Station<E>>,
    ticket: Option<Ticket>,
    stands: bool,
}

impl<E: 'static> Claim<E> {
    pub(super) fn new(station: Arc<Station<E>>) -> Claim<E> {
        Claim { station, ticket: None, stands: false }
    }

    /// Ready when there is a slot, `false` if the group takes nobody any more.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if !self.stands {
            self.ticket = self.station.stand_in_line();
            self.stands = true;
        }
        let asked = match self.ticket {
            Some(ticket) => self.station.poll_slot(ticket, cx.waker()),
            None => self.station.poll_open(),
        };
        match asked {
            Asked::Waits => Poll::Pending,
            Asked::Closed => Poll::Ready(false),
            Asked::Has => Poll::Ready(true),
        }
    }

    /// The slot goes to a child.
    pub(super) fn hand_over(&mut self) {
        self.stands = false;
    }
}

impl<E: 'static> Drop for Claim<E> {
    fn drop(&mut self) {
        if replace(&mut self.stands, false) {
            self.station.step_out(self.ticket);
        }
    }
}
