//! What a scope's node keeps books of: requests, accounts of them, receivers, batches.
//!
//! These are plain values under the node's lock; the rules that connect them are in [`super::node`].

use std::task::Waker;

use super::node::Node;
use super::reason::CancelReason;
use crate::sync::Arc;

/// How urgent a request is (law C6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Made once by a group, a timeout or the shutdown, or handed back: waits until no handler
    /// inside the scope is running.
    Soft,
    /// An explicit `cancel()`: interrupts a handler that is still running.
    Hard,
}

/// A request for cancellation on its way to a scope.
#[derive(Clone, Debug)]
pub struct Request {
    /// How urgent it is.
    pub level: Level,
    /// Why, who and where.
    pub reason: CancelReason,
}

/// The sources of a scope's requests, as bits.
pub(crate) const OWN: u8 = 1;
/// Handed down by the enclosing scope; see [`OWN`].
pub(crate) const OUTER: u8 = 2;
pub(crate) const SOURCES: [u8; 2] = [OWN, OUTER];

/// How often a receiver with a waker of its own is woken in vain before it counts as left aside.
pub(super) const ATTEMPTS: u8 = 3;

/// Which levels of requests wait for delivery. An explicit one that is due does not take along one that has to wait
/// for a handler (law C6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Undelivered {
    pub(crate) hard: bool,
    pub(crate) soft: bool,
}

impl Undelivered {
    pub(crate) fn is_none(self) -> bool {
        !self.hard && !self.soft
    }

    pub(crate) fn add(&mut self, level: Level) {
        match level {
            Level::Hard => self.hard = true,
            Level::Soft => self.soft = true,
        }
    }

    /// Whether one is due where a handler runs, or does not.
    pub(crate) fn is_due(self, handling: bool) -> bool {
        self.hard || self.soft && !handling
    }

    /// Takes those that are due; gives the higher level.
    pub(crate) fn take(&mut self, handling: bool) -> Option<Level> {
        let due = Undelivered { hard: self.hard, soft: self.soft && !handling };
        (self.hard, self.soft) = (false, self.soft && handling);
        match due {
            Undelivered { hard: true, .. } => Some(Level::Hard),
            Undelivered { soft: true, .. } => Some(Level::Soft),
            _ => None,
        }
    }
}

/// What happened to the requests of one source.
#[derive(Default)]
pub(crate) struct Account {
    pub(crate) undelivered: Undelivered,
    pub(crate) unsettled: u32,
    pub(crate) resumed: bool,
    /// A delivery ended a wait: it was caught, or somebody unwound because of it.
    pub(crate) touched: bool,
    /// What is undelivered is the rest of a delivery whose other requests were resumed.
    pub(crate) rest: bool,
    /// The first reason, which is the one to report (law C15).
    pub(crate) reason: Option<CancelReason>,
    /// The reason of the request that is undelivered.
    pub(super) latest: Option<CancelReason>,
}

impl Account {
    pub(crate) fn is_clear(&self) -> bool {
        self.undelivered.is_none() && self.unsettled == 0 && !self.resumed
    }

    /// Edge 1: a request arrives.
    pub(super) fn add(&mut self, request: Request) {
        self.undelivered.add(request.level);
        self.reason.get_or_insert(request.reason.clone());
        self.latest = Some(request.reason);
    }
}

/// A registered receiver.
pub(crate) struct Entry {
    /// `None` if it is polled with the very waker that polls the scope.
    pub(crate) waker: Option<Waker>,
    /// Boxed: hardly any receiver ever gets one, and entries come and go with every wait.
    pub(crate) pending: Option<Box<Request>>,
    pub(crate) counted: u8,
    /// Those of them whose delivery was explicit (law C6).
    pub(crate) hard: u8,
    pub(crate) batch: usize,
    /// The explicit requests that it got, as the only one, and that its scope has not moved to its own books yet.
    pub(crate) explicit: u32,
    /// The sources that it had got nothing of before, and that its scope has not moved to its own books yet.
    pub(crate) fresh: u8,
    /// Its unwinding was put off: it holds a delivery, but no handler runs behind it.
    pub(crate) idle: bool,
    pub(crate) epoch: u32,
    pub(crate) attempts: u8,
    /// Tells apart receivers that had the same key one after the other.
    pub(crate) serial: u64,
}

/// A registration: the scope and the key there.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) node: Arc<Node>,
    pub(crate) key: usize,
    pub(crate) serial: u64,
}

impl Entry {
    /// Whether somebody awaits this receiver (law C3). One that shares the scope's waker is polled in
    /// each of its polls; of the others it is assumed until they do not answer.
    pub(super) fn is_live(&self, epoch: u32) -> bool {
        match self.waker {
            None => self.epoch == epoch,
            Some(_) => self.attempts < ATTEMPTS,
        }
    }
}

/// What has become of the explicit requests of a batch.
#[derive(Default)]
pub(crate) struct Closed {
    /// They are undelivered again.
    pub(crate) again: u32,
    pub(crate) absorbed: u32,
    /// The sources around of which everything was absorbed.
    pub(crate) released: u8,
}

/// One delivery; see [`super::node`].
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) unsettled: u32,
    pub(crate) resumed: bool,
    /// It was resumed by somebody who held a token, which is a suspension point (law C5); else by constructs
    /// whose wait was over.
    pub(crate) by_token: bool,
    /// It was resumed for what was delivered alone: others that wait do not join.
    pub(crate) alone: bool,
    pub(crate) handed_back: bool,
    /// The explicit requests that it delivered (law T3).
    pub(crate) explicit: u32,
    /// The sources of the scope around that came with it, and had not come before.
    pub(crate) fresh: u8,
}

impl Batch {
    /// After one of its deliveries was settled: if it was the last, what becomes of its explicit
    /// requests.
    pub(crate) fn close(&mut self) -> Closed {
        if self.unsettled > 0 || self.resumed {
            return Closed::default();
        }
        let (explicit, fresh) = (std::mem::take(&mut self.explicit), std::mem::take(&mut self.fresh));
        match std::mem::take(&mut self.handed_back) {
            true => Closed { again: explicit, ..Closed::default() },
            false => Closed { absorbed: explicit, released: fresh, ..Closed::default() },
        }
    }
}

/// Counts a receiver in the batch that is being delivered. What it had got before stands in the same
/// delivery from now on: a token stands for every request delivered so far (law C6).
pub(super) fn move_to_last(batches: &mut [Batch], entry: &mut Entry) {
    let last = batches.len() - 1;
    if entry.counted != 0 && entry.batch == last {
        return;
    }
    if entry.counted != 0 {
        let former = &mut batches[entry.batch];
        former.unsettled -= 1;
        if former.unsettled == 0 && !former.resumed {
            batches[last].explicit += std::mem::take(&mut batches[entry.batch].explicit);
            batches[last].fresh |= std::mem::take(&mut batches[entry.batch].fresh);
        }
    }
    entry.batch = last;
    batches[last].unsettled += 1;
}
