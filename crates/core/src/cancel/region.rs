//! A scope: a region of one task that can be cancelled as a unit, and how it hangs in the scope around it.

mod branch;
pub(crate) mod inside;

use std::task::{Context, Poll, Waker};

use self::inside::{Inside, Outer};
use super::account::{OUTER, OWN, Request};
use super::node::{Node, Verdict};
use super::reason::CancelReason;
use super::receiver::Receiver;
use super::settle::{Settle, Token};
use crate::context;
use crate::context::frame::{self, Says};
use crate::context::task_poll;
use crate::sync::Arc;
use crate::time::instant::Instant;

pub use self::branch::BranchScope;

/// How a scope hangs in the scope around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkMode {
    /// It receives requests from outside whenever it waits: `catch_cancel`, the body of a group.
    Receiver,
    /// It passes requests from outside on to receivers inside, and is not there if it has none: a
    /// timeout.
    Transparent,
}

/// What became of the requests that a scope made to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnFate {
    /// None was made, or all were absorbed.
    Clear,
    /// One was made, and no wait inside has been ended by it.
    Undelivered,
    /// One has ended a wait inside, and was not absorbed.
    Touched,
}

/// What a poll inside a scope may answer: something that can say `Pending`.
pub trait Polled {
    /// The answer of a future that waits.
    fn pending() -> Self;
}

impl<T> Polled for Poll<T> {
    fn pending() -> Poll<T> {
        Poll::Pending
    }
}

/// A poll whose panic was caught.
impl<T, E> Polled for Result<Poll<T>, E> {
    fn pending() -> Result<Poll<T>, E> {
        Ok(Poll::Pending)
    }
}

/// A region of one task that can be cancelled as a unit (section 3 of the laws).
///
/// It lives in the pinned future that polls the inner one, in a field *after* the inner future, so
/// that what is dropped inside still finds its scope. A poll of that future is
///
/// 1. [`enter`](Scope::enter): poll the inner future inside the scope. `Ready`: drop the inner
///    future, [`finish`](Scope::finish), return.
/// 2. `Pending`: [`after_pending`](Scope::after_pending) takes in new requests. On
///    [`Verdict::Unwind`]: drop the inner future, then [`resume`](Scope::resume) (or turn the
///    delivery into a result of its own) or `finish`.
#[derive(Debug, Default)]
pub struct Scope {
    inside: Inside,
    outer: Receiver,
}

impl Scope {
    /// A scope in which nothing has been polled yet. Allocates nothing.
    #[must_use]
    pub const fn new() -> Scope {
        Scope { inside: Inside::new(), outer: Receiver::new() }
    }

    /// Says before [`enter`](Scope::enter) that the construct has a request for this scope, which it will give to
    /// [`after_pending`](Scope::after_pending): what unwinds inside in between waits for it (laws C2, D4).
    pub fn expect_request(&mut self) {
        self.inside.waiting = true;
    }

    /// Calls `poll` with this scope as the innermost one, unless the scope is about to take in a
    /// request that was delivered in this very turn, or to unwind: then the inner future has just answered
    /// `Pending`, and polling it again would let it slip past the suspension point at which the
    /// request is due (law C2). The answer is `Pending`, and [`after_pending`](Scope::after_pending) follows.
    ///
    /// `deadline` is the scope's own, as long as it has not fired, else
    /// [`Instant::FAR_FUTURE`]; timeouts inside do not arm if it is not later than theirs (law D4).
    #[inline]
    pub fn enter<R: Polled>(
        &mut self,
        cx: &mut Context<'_>,
        deadline: Instant,
        poll: impl FnOnce(&mut Context<'_>) -> R,
    ) -> R {
        task_poll::with_poll(|current| {
            if current.is_delivering() && (self.inside.put_off || self.outer.has_news()) {
                return R::pending();
            }
            let around = frame::says_in(current);
            let says = Says {
                deadline: deadline.min(around.deadline),
                near: deadline.min(around.near),
                pressing: around.pressing || self.inside.put_off || self.inside.waiting,
                coming: around.coming,
                branch: around.branch,
            };
            self.inside.enter(current, cx, &says, poll)
        })
    }

    /// Takes in new requests after the inner future has answered `Pending`: `own`, made by the
    /// construct to its scope (a deadline, a failed sibling), and what the scope around delivers.
    ///
    /// A request never pre-empts a result, which is why this comes after the poll (laws C2, D3).
    #[must_use = "the verdict says whether the inner future has to be dropped"]
    #[inline]
    pub fn after_pending(&mut self, own: Option<Request>, link: LinkMode, waker: &Waker) -> Verdict {
        let request = self.poll_outer(link, waker);
        let is_transparent = link == LinkMode::Transparent;
        let outer = Outer { receiver: &mut self.outer, request, is_transparent };
        self.inside.after_pending_with(own, Some(outer), waker)
    }

    /// After the inner future is gone the construct may have to wait for others (a group for its
    /// children): from then on it is a plain waiting construct. See [`Receiver::poll_request`].
    pub fn poll_request(&mut self, waker: &Waker) -> Option<Request> {
        self.outer.poll_request(waker)
    }

    /// Whether handlers of the scope's own requests are still running or their tokens are alive
    /// (law D3's exception).
    #[must_use]
    #[inline]
    pub fn own_unsettled(&self) -> bool {
        self.inside.node().is_some_and(|node| !node.is_quiet() && node.lock().account(OWN).unsettled > 0)
    }

    /// Whether a request from outside was delivered to this scope and is not settled.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.outer.is_requested()
    }

    /// Whether a request from outside has come to this scope in the turn that is going on, or is on its way: a deadline
    /// that an outer one has hidden up to now does not fire along with it (law D4).
    #[must_use]
    pub fn is_asked_now(&self) -> bool {
        let coming = frame::says().coming;
        coming || context::is_delivering() && (self.outer.is_requested() || self.outer.has_news())
    }

    /// The reason of the request from outside that is not settled.
    #[must_use]
    pub fn reason(&self) -> Option<&CancelReason> {
        self.outer.reason()
    }

    /// The unwinding goes on in the scope around. From here on the construct answers `Pending`.
    pub fn resume(&mut self) {
        match self.inside.close_node().is_some_and(|node| node.lock().account(OUTER).rest) {
            true => self.outer.resume_with_rest(),
            false => self.outer.resume(),
        }
    }

    /// The scope has ended: own requests are withdrawn; one from outside that nobody handled goes
    /// back to the scope around (law C9). Dropping the scope does the same.
    #[inline]
    pub fn finish(&mut self) {
        if self.inside.node().is_some() {
            self.finish_node();
        } else {
            self.outer.hand_back();
        }
    }

    fn finish_node(&mut self) {
        let Some(node) = self.inside.close_node() else { return };
        let state = node.lock();
        let account = state.account(OUTER);
        let (busy, clear, touched) = (account.unsettled > 0, account.is_clear(), account.touched);
        let explicit = account.undelivered.hard;
        drop(state);
        match (busy, clear, touched) {
            (true, ..) => self.leave_to_tokens(&node),
            // Its handler has dropped it, so it comes back as it was (law C5).
            (false, false, true) if explicit => drop(self.outer.take_token()),
            (false, false, true) => self.outer.hand_back(),
            (false, false, false) => self.outer.hand_back_unmet(),
            (false, true, _) => {
                if self.outer.is_requested() {
                    self.outer.absorb();
                }
                self.outer.hand_back();
            }
        }
    }

    /// The delivery as a token, for `catch_cancel`.
    pub(crate) fn take_token(&mut self) -> Option<Token> {
        if self.inside.close_node().is_some_and(|node| node.lock().account(OUTER).rest) {
            self.outer.give_rest();
        }
        self.outer.take_token()
    }

    fn poll_outer(&mut self, link: LinkMode, waker: &Waker) -> Option<Request> {
        match link {
            LinkMode::Receiver => self.outer.poll_request(waker),
            LinkMode::Transparent if self.inside.needs_link() => self.outer.poll_request(waker),
            LinkMode::Transparent => {
                // Whatever it had got was absorbed inside.
                if self.outer.is_requested() {
                    self.outer.absorb();
                }
                self.outer.hand_back();
                None
            }
        }
    }

    /// Tokens of the scope are alive, perhaps inside its value: the scope's own delivery waits for
    /// them and is then settled as they were.
    fn leave_to_tokens(&mut self, node: &Arc<Node>) {
        let Some(token) = self.outer.take_token() else { return };
        let mut state = node.lock();
        if state.account(OUTER).unsettled > 0 {
            state.forward = Some(token);
            return;
        }
        // They were settled on another thread since the caller looked.
        let how = match (state.account(OUTER).resumed, state.account(OUTER).is_clear()) {
            (true, _) => Settle::Resume,
            (false, false) => Settle::HandBack,
            (false, true) => Settle::Absorb,
        };
        drop(state);
        token.settle(how);
    }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        self.finish();
    }
}
