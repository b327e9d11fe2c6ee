//! How a delivery ends: resumed, absorbed, or handed back to its scope (laws C4, C5, C9).

use std::fmt;

use super::account::{Level, Link, OUTER, SOURCES};
use super::node::{Node, State};
use super::reason::CancelReason;
use crate::context;
use crate::sync::Arc;
use crate::task::reports::wake_safely;

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settle {
    /// The unwinding goes on in the scope, from a suspension point (law C5).
    Resume,
    /// The unwinding goes on in the scope, from a construct whose wait is over (laws C2, C10).
    GoOn,
    /// The same, without the requests that wait: their time has not come.
    GoAlone,
    /// The request has been dealt with (`uncancel`, law C4).
    Absorb,
    /// Nobody handled it: the scope delivers it again (laws C5, C9).
    HandBack,
}

/// A delivery that left its receiver and has not been settled.
///
/// Dropping it makes the request undelivered again, so that the next enclosing receiver, or one that
/// is awaited before the next suspension point, gets it there (laws C4, C5).
pub(crate) struct Token {
    node: Option<Arc<Node>>,
    held: Held,
    reason: CancelReason,
}

/// What a receiver or a token holds of its scope: a delivery of these sources, in this batch. Where it is handed
/// back, those in `hard` come back as explicit ones (law C6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) sources: u8,
    pub(crate) hard: u8,
    pub(crate) batch: usize,
}

impl Token {
    pub(crate) fn new(node: Arc<Node>, held: Held, reason: CancelReason) -> Token {
        Token { node: Some(node), held, reason }
    }

    pub(crate) fn reason(&self) -> &CancelReason {
        &self.reason
    }

    /// Settles the delivery; `false` if its scope no longer exists.
    pub(crate) fn settle(mut self, how: Settle) -> bool {
        self.node.take().is_some_and(|node| settle(node, self.held, how))
    }

    fn disarm(mut self) -> Option<(Arc<Node>, Held)> {
        self.node.take().map(|node| (node, self.held))
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        if let Some(node) = self.node.take() {
            settle(node, self.held, Settle::HandBack);
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({})", self.reason)
    }
}

/// Edges 3 to 5 of the diagram in [`super::node`]. Where the scope has ended in the meantime, the
/// delivery that it had got itself is settled in turn: a loop, since scopes nest without bound
/// (law T12). `false` if the request reached no scope that still exists.
pub(crate) fn settle(mut node: Arc<Node>, mut held: Held, mut how: Settle) -> bool {
    loop {
        let mut state = node.lock();
        let (explicit, released) = state.settle(held, how);
        let waker = state.waker.take();
        let next = state.take_forward();
        let absorbed = if how == Settle::Absorb { state.take_absorbed_link() } else { None };
        let part = (explicit > 0 || released != 0) && absorbed.is_none();
        let partly = if part { state.link.clone() } else { None };
        let reached = held.sources != 0 && !state.dead;
        drop(state);
        if reached && how == Settle::HandBack {
            context::note_handed_back();
        }
        if let Some(link) = partly {
            link.release(released);
            link.forgo(explicit);
        }
        if let Some(waker) = waker {
            wake_safely(waker);
        }
        if let Some(link) = absorbed {
            let outer_held = link.uncount();
            if outer_held.sources == 0 {
                return reached;
            }
            (node, held) = (link.node, outer_held);
            continue;
        }
        let Some((token, verdict)) = next else {
            return reached;
        };
        let Some((outer, outer_held)) = token.disarm() else {
            return reached;
        };
        (node, held, how) = (outer, outer_held, verdict);
    }
}

impl State {
    /// Gives the number of explicit requests that were absorbed, and the sources around of which everything was.
    fn settle(&mut self, held: Held, how: Settle) -> (u32, u8) {
        if held.sources == 0 {
            return (0, 0);
        }
        for source in SOURCES.into_iter().filter(|source| held.sources & source != 0) {
            let level = if held.hard & source == 0 { Level::Soft } else { Level::Hard };
            self.settle_source(source, how, level);
        }
        let batch = &mut self.batches[held.batch];
        batch.unsettled -= 1;
        batch.resumed |= matches!(how, Settle::Resume | Settle::GoOn | Settle::GoAlone);
        batch.by_token |= how == Settle::Resume;
        batch.alone |= how == Settle::GoAlone;
        batch.handed_back |= how == Settle::HandBack;
        let closed = batch.close();
        self.explicit += closed.again;
        while self.batches.last().is_some_and(|batch| batch.unsettled == 0 && !batch.resumed) {
            self.batches.pop();
        }
        // What came later of the same sources is not settled.
        let last = held.batch >= self.batches.len();
        (closed.absorbed, if last { closed.released } else { 0 })
    }

    /// A receiver's delivery from this source is absorbed, while it holds others.
    pub(super) fn absorb(&mut self, source: u8) {
        self.settle_source(source, Settle::Absorb, Level::Soft);
    }

    fn settle_source(&mut self, source: u8, how: Settle, level: Level) {
        let account = self.account_mut(source);
        account.unsettled -= 1;
        match how {
            Settle::Resume | Settle::GoOn | Settle::GoAlone => account.resumed = true,
            Settle::HandBack => account.undelivered.add(level),
            Settle::Absorb => {}
        }
        if account.is_clear() {
            account.reason = None;
            account.rest = false;
        }
    }

    /// Where everything that came from outside is absorbed, the scope around hears of it at once, so that
    /// `cancelling()` is right in the next line (law T3).
    fn take_absorbed_link(&mut self) -> Option<Link> {
        if self.dead || !self.account(OUTER).is_clear() { None } else { self.link.take() }
    }

    /// A scope that ended while tokens were alive left its own delivery behind: once they are all
    /// settled, it is settled in the same way.
    fn take_forward(&mut self) -> Option<(Token, Settle)> {
        let account = self.account(OUTER);
        if !self.dead || account.unsettled > 0 {
            return None;
        }
        let how = match (account.resumed, account.undelivered.is_none()) {
            (true, _) => Settle::Resume,
            (false, false) => Settle::HandBack,
            (false, true) => Settle::Absorb,
        };
        let soft = !account.undelivered.hard;
        let mut token = self.forward.take()?;
        if soft {
            token.held.hard = 0;
        }
        Some((token, how))
    }
}
