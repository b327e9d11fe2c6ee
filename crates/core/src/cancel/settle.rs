//! How a delivery ends: resumed, absorbed, or handed back to its scope (laws C4, C5, C9).

use std::fmt;

use super::node::{Level, Node, OUTER, OWN, SOURCES, State};
use super::reason::CancelReason;
use crate::sync::Arc;
use crate::task::reports::wake_safely;

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settle {
    /// The unwinding goes on in the scope (law C5).
    Resume,
    /// The request has been dealt with (`uncancel`, law C4).
    Absorb,
    /// The receiver ended without handling it: the scope delivers it again (law C9).
    HandBack,
}

/// A delivery that left its receiver and has not been settled.
///
/// Dropping it makes the request undelivered again, so that the next enclosing receiver, or one that
/// is awaited before the next suspension point, gets it there (laws C4, C5).
pub(crate) struct Token {
    node: Option<Arc<Node>>,
    sources: u8,
    reason: CancelReason,
}

impl Token {
    pub(crate) fn new(node: Arc<Node>, sources: u8, reason: CancelReason) -> Token {
        Token { node: Some(node), sources, reason }
    }

    pub(crate) fn reason(&self) -> &CancelReason {
        &self.reason
    }

    /// Settles the delivery; `false` if its scope no longer exists.
    pub(crate) fn settle(mut self, how: Settle) -> bool {
        self.node.take().is_some_and(|node| settle(node, self.sources, how))
    }

    fn disarm(mut self) -> Option<(Arc<Node>, u8)> {
        self.node.take().map(|node| (node, self.sources))
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        if let Some(node) = self.node.take() {
            settle(node, self.sources, Settle::HandBack);
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
pub(crate) fn settle(mut node: Arc<Node>, mut sources: u8, mut how: Settle) -> bool {
    loop {
        let mut state = node.lock();
        for source in SOURCES.into_iter().filter(|source| sources & source != 0) {
            state.settle_one(source, how);
        }
        let waker = state.waker.take();
        let next = state.take_forward();
        let reached = sources != 0 && !state.dead;
        drop(state);
        if let Some(waker) = waker {
            wake_safely(waker);
        }
        let Some((token, verdict)) = next else {
            return reached;
        };
        let Some((outer, outer_sources)) = token.disarm() else {
            return reached;
        };
        (node, sources, how) = (outer, outer_sources, verdict);
    }
}

impl State {
    fn settle_one(&mut self, source: u8, how: Settle) {
        let account = self.account_mut(source);
        account.unsettled -= 1;
        match how {
            Settle::Resume => account.resumed = true,
            Settle::HandBack => account.undelivered = account.undelivered.max(Some(Level::Soft)),
            Settle::Absorb => {}
        }
        if account.is_clear() {
            account.reason = None;
            if source == OWN {
                self.explicit = 0;
            }
        }
    }

    /// A scope that ended while tokens were alive left its own delivery behind: once they are all
    /// settled, it is settled in the same way.
    fn take_forward(&mut self) -> Option<(Token, Settle)> {
        let account = self.account(OUTER);
        if !self.dead || account.unsettled > 0 {
            return None;
        }
        let how = match (account.resumed, account.undelivered) {
            (true, _) => Settle::Resume,
            (false, Some(_)) => Settle::HandBack,
            (false, None) => Settle::Absorb,
        };
        self.forward.take().map(|token| (token, how))
    }
}
