//! The half of a waiting construct: it registers in the scope in which it is polled, and gets what
//! is delivered there (laws C3, C9).

use std::task::Waker;

use super::account::{Entry, Level, Link, Request, SOURCES};
use super::node::Node;
use super::reason::{CancelKind, CancelReason};
use super::settle::{Held, Settle, Token, settle};
use crate::context::frame;

/// The registration of a waiting construct (a join, a group, a gather …) as a receiver in the scope
/// in which it is polled.
///
/// It registers by [`poll_request`](Receiver::poll_request), which belongs in *every* `Pending` arm of
/// the construct: a receiver counts only while it is awaited (law C3). Dropping it hands a request
/// that is unsettled back to its scope (law C9).
#[derive(Debug, Default)]
pub struct Receiver {
    link: Option<Link>,
    requested: Option<CancelReason>,
}

impl Receiver {
    /// A receiver that is not registered yet.
    #[must_use]
    pub const fn new() -> Receiver {
        Receiver { link: None, requested: None }
    }

    /// Registers in the scope that is being polled, refreshes the registration, or moves it there
    /// if the construct has been moved; returns a request that is newly delivered.
    ///
    /// Outside every scope there is nobody who could cancel, so it answers `None`.
    pub fn poll_request(&mut self, waker: &Waker) -> Option<Request> {
        let (epoch, own_waker) = (frame::epoch(), frame::foreign(waker));
        let here = self.link.as_ref().filter(|link| frame::is_node_of_scope(&link.node));
        let Some(link) = here else {
            self.register(epoch, own_waker);
            return None;
        };
        let request = link.node.refresh(link.key, epoch, own_waker);
        if let Some(request) = &request {
            self.requested.get_or_insert_with(|| request.reason.clone());
        }
        request
    }

    /// Registers in the scope that is being polled, and nowhere else.
    fn register(&mut self, epoch: u32, own_waker: Option<&Waker>) {
        self.hand_back();
        self.link = frame::scope_node().map(|node| {
            let (key, serial) = node.insert(epoch, own_waker);
            Link { node, key, serial }
        });
    }

    /// Whether a request was delivered and is not settled.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.requested.is_some()
    }

    /// The reason of the request that was delivered and is not settled.
    #[must_use]
    pub fn reason(&self) -> Option<&CancelReason> {
        self.requested.as_ref()
    }

    /// The unwinding goes on in the scope. From here on the construct must answer `Pending`; it will
    /// be dropped.
    pub fn resume(&mut self) {
        self.settle(Settle::GoOn, true);
    }

    /// The same where the others have ended that would have handled further requests: such a one, if it waits, does not
    /// join the unwinding, but goes on waiting (laws C6, C11).
    pub fn resume_alone(&mut self) {
        self.settle(Settle::GoAlone, true);
    }

    /// The same where the last request has met nobody, and only those before it are resumed: it goes back to its scope
    /// (laws C9, C11).
    pub fn resume_with_rest(&mut self) {
        self.give_rest();
        self.settle(Settle::GoAlone, true);
    }

    /// One of the requests that were delivered here goes back to its scope.
    pub(crate) fn give_rest(&self) {
        let Some(link) = &self.link else { return };
        let mut state = link.node.lock();
        let counted = state.receivers[link.key].counted;
        for source in SOURCES.into_iter().filter(|source| counted & source != 0) {
            let account = state.account_mut(source);
            account.undelivered.add(Level::Soft);
            account.rest = true;
        }
    }

    /// Gives up the registration; a request that was delivered goes back to its scope and is
    /// delivered there again, when no handler runs (laws C6, C9).
    #[inline]
    pub fn hand_back(&mut self) {
        let met = self.requested.is_some();
        self.settle(Settle::HandBack, met);
    }

    /// The same where the request has met nobody who acted on it: it was only postponed, as by a
    /// shield, or everything it was passed on to had ended before (laws C2, C11).
    pub fn hand_back_unmet(&mut self) {
        self.settle(Settle::HandBack, false);
    }

    /// The request was absorbed; the construct goes on and stays registered.
    pub fn absorb(&mut self) {
        self.requested = None;
        if let Some(link) = &self.link {
            let held = link.uncount();
            if held.sources != 0 {
                settle(link.node.clone(), held, Settle::Absorb);
            }
        }
    }

    /// Says, after [`poll_request`](Receiver::poll_request), that no handler runs behind the request that
    /// it holds, since the unwinding of every scope inside was put off
    /// ([`BranchScope::is_idle`](super::region::BranchScope::is_idle)): requests that wait for handlers may be
    /// delivered now (law C6).
    pub fn set_idle(&self) {
        if let Some(link) = &self.link {
            link.node.lock().receivers[link.key].idle = true;
        }
    }

    /// The registration, for the node of the scope that it belongs to.
    pub(crate) fn link(&self) -> Option<Link> {
        self.link.clone()
    }

    /// The number of explicit requests in what was picked up, if nobody else got them, and the sources that it had got
    /// nothing of before.
    pub(crate) fn take_explicit(&self) -> (u32, u8) {
        let Some(link) = &self.link else { return (0, 0) };
        let entry = &mut link.node.lock().receivers[link.key];
        (std::mem::take(&mut entry.explicit), std::mem::take(&mut entry.fresh))
    }

    /// Whether a request was delivered that has not been picked up, in the turn in which the construct
    /// was polled: so if it shares the scope's waker.
    pub(crate) fn has_news(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.node.has_news(link.key))
    }

    /// The registration's delivery as a token of its own.
    pub(crate) fn take_token(&mut self) -> Option<Token> {
        let link = self.link.take()?;
        let entry = link.node.remove(link.key);
        link.node.touch(entry.counted);
        let reason = self
            .requested
            .take()
            .or_else(|| entry.pending.as_ref().map(|request| request.reason.clone()))
            .unwrap_or_else(|| CancelReason::new(CancelKind::ParentCancelled));
        Some(Token::new(link.node, entry.held(), reason))
    }

    /// Most receivers were never registered: every scope has one for what comes from outside.
    #[inline]
    fn settle(&mut self, how: Settle, met: bool) {
        if self.link.is_some() {
            self.settle_link(how, met);
        }
    }

    fn settle_link(&mut self, how: Settle, met: bool) {
        self.requested = None;
        if let Some(link) = self.link.take() {
            let entry = link.node.remove(link.key);
            if met {
                link.node.touch(entry.counted);
            }
            if entry.counted != 0 {
                settle(link.node, Held { hard: 0, ..entry.held() }, how);
            }
        }
    }
}

impl Drop for Receiver {
    #[inline]
    fn drop(&mut self) {
        self.hand_back();
    }
}

impl Link {
    /// Takes the receiver's count, unless a further request waits to be picked up.
    pub(crate) fn uncount(&self) -> Held {
        let mut state = self.node.lock();
        let nothing = Held { sources: 0, hard: 0, batch: 0 };
        match state.receivers.get_mut(self.key) {
            Some(entry) if entry.serial == self.serial && entry.pending.is_none() => {
                let held = entry.held();
                entry.counted = 0;
                held
            }
            _ => nothing,
        }
    }
}

impl Link {
    /// Everything that the receiver got of these sources was absorbed, but not what it got of the others (law C6).
    pub(super) fn release(&self, sources: u8) {
        let mut state = self.node.lock();
        let entry = state.receivers.get_mut(self.key).filter(|entry| entry.serial == self.serial);
        let Some(entry) = entry.filter(|entry| entry.pending.is_none()) else { return };
        let released = entry.counted & sources;
        if released == entry.counted {
            return;
        }
        entry.counted &= !released;
        entry.hard &= !released;
        for source in SOURCES.into_iter().filter(|source| released & source != 0) {
            state.absorb(source);
        }
    }

    /// So many of the explicit requests that the receiver got were absorbed; the others are not settled (law T3).
    pub(super) fn forgo(self, explicit: u32) {
        let mut next = Some(self);
        while let Some(link) = next {
            let mut state = link.node.lock();
            let batch = state.receivers.get(link.key).filter(|entry| entry.serial == link.serial);
            if let Some(batch) = batch.map(|entry| entry.batch).and_then(|at| state.batches.get_mut(at)) {
                batch.explicit = batch.explicit.saturating_sub(explicit);
            }
            next = state.link.clone();
            drop(state);
        }
    }
}

impl Entry {
    fn held(&self) -> Held {
        Held { sources: self.counted, hard: self.hard & self.counted, batch: self.batch }
    }
}

impl Node {
    fn insert(&self, epoch: u32, waker: Option<&Waker>) -> (usize, u64) {
        let waker = waker.cloned();
        let mut state = self.lock();
        state.serials += 1;
        let serial = state.serials;
        let key = state.receivers.insert(Entry {
            waker,
            pending: None,
            counted: 0,
            hard: 0,
            batch: 0,
            explicit: 0,
            fresh: 0,
            idle: false,
            epoch,
            attempts: 0,
            serial,
        });
        (key, serial)
    }

    fn refresh(&self, key: usize, epoch: u32, waker: Option<&Waker>) -> Option<Request> {
        let mut retired = None;
        let mut state = self.lock();
        let entry = &mut state.receivers[key];
        entry.epoch = epoch;
        entry.idle = false;
        entry.attempts = 0;
        let same = match (&entry.waker, waker) {
            (None, None) => true,
            (Some(old), Some(new)) => old.will_wake(new),
            _ => false,
        };
        if !same {
            retired = std::mem::replace(&mut entry.waker, waker.cloned());
        }
        let request = entry.pending.take().map(|request| *request);
        drop(state);
        drop(retired);
        request
    }

    pub(super) fn touch(&self, sources: u8) {
        let mut state = self.lock();
        for source in SOURCES.into_iter().filter(|source| sources & source != 0) {
            state.account_mut(source).touched = true;
        }
    }

    fn remove(&self, key: usize) -> Entry {
        self.lock().receivers.remove(key)
    }

    fn has_news(&self, key: usize) -> bool {
        let state = self.lock();
        let entry = &state.receivers[key];
        entry.pending.is_some() && entry.waker.is_none()
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Node")
    }
}
