//! A scope: a region of one task that can be cancelled as a unit, and the rules of its poll.

use std::task::{Context, Poll, Waker};

use super::account::{OUTER, OWN, Request, Undelivered};
use super::node::{Node, Pressing, Verdict};
use super::reason::CancelReason;
use super::receiver::Receiver;
use super::settle::{Settle, Token};
use crate::context;
use crate::context::frame::{self, Frame, Says};
use crate::sync::Arc;
use crate::task::reports::wake_safely;
use crate::time::instant::Instant;

/// How a scope hangs in the scope around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkMode {
    /// It receives requests from outside whenever it waits: `catch_cancel`, the body of a group.
    Receiver,
    /// It passes requests from outside on to receivers inside, and is not there if it has none: a
    /// timeout.
    Transparent,
    /// It never hears of the outside; whoever made it passes requests on as its own: a branch of a
    /// gather, the root of a task.
    Isolated,
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
    node: Option<Arc<Node>>,
    epoch: u32,
    /// The unwinding or the delivery was put off, once, for requests of a scope around, which join it.
    put_off: bool,
    /// A request of this scope waits until no handler runs.
    waiting: bool,
    /// The construct has a request in hand for it.
    expecting: bool,
    /// It is a branch of an aggregate.
    is_branch: bool,
    /// It holds deliveries, but no handler runs behind them.
    idle: bool,
    outer: Receiver,
}

impl Scope {
    /// A scope in which nothing has been polled yet. Allocates nothing.
    #[must_use]
    pub const fn new() -> Scope {
        Scope {
            node: None,
            epoch: 0,
            put_off: false,
            waiting: false,
            expecting: false,
            is_branch: false,
            idle: false,
            outer: Receiver::new(),
        }
    }

    /// The scope of a branch of an aggregate, which gets its requests from there alone: what unwinds inside waits for
    /// no others.
    #[must_use]
    pub const fn branch() -> Scope {
        let mut scope = Scope::new();
        scope.is_branch = true;
        scope
    }

    /// Says before [`enter`](Scope::enter) that the construct has a request for this scope, which it will give to
    /// [`after_pending`](Scope::after_pending): what unwinds inside in between waits for it (laws C2, D4).
    pub fn expect_request(&mut self) {
        match self.is_branch {
            true => self.expecting = true,
            false => self.waiting = true,
        }
    }

    /// Calls `poll` with this scope as the innermost one, unless the scope is about to take in a
    /// request that was delivered in this very turn, or to unwind: then the inner future has just answered
    /// `Pending`, and polling it again would let it slip past the suspension point at which the
    /// request is due (law C2). The answer is `Pending`, and [`after_pending`](Scope::after_pending) follows.
    ///
    /// `deadline` is the scope's own, as long as it has not fired, else
    /// [`Instant::FAR_FUTURE`]; timeouts inside do not arm if it is not later than theirs (law D4).
    pub fn enter<R: Polled>(
        &mut self,
        cx: &mut Context<'_>,
        deadline: Instant,
        poll: impl FnOnce(&mut Context<'_>) -> R,
    ) -> R {
        if context::is_delivering() && (self.put_off || self.outer.has_news()) {
            return R::pending();
        }
        self.epoch = self.epoch.wrapping_add(1);
        let around = frame::says();
        let says = Says {
            epoch: self.epoch,
            deadline: deadline.min(around.deadline),
            near: deadline.min(if self.is_branch { Instant::FAR_FUTURE } else { around.near }),
            pressing: self.hears(&around) || self.put_off || self.waiting,
            coming: around.coming || self.expecting,
            branch: if self.is_branch { std::ptr::from_ref(self).addr() } else { around.branch },
        };
        Frame::new(&mut self.node, cx.waker(), says).enter(|| poll(cx))
    }

    /// The same for a scope that has none around it, as a task's root.
    #[inline]
    pub(crate) fn enter_outermost<R: Polled>(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> R,
    ) -> R {
        if context::is_delivering() && self.put_off {
            return R::pending();
        }
        self.epoch = self.epoch.wrapping_add(1);
        let pressing = self.put_off || self.waiting;
        let says = Says { epoch: self.epoch, pressing, ..Says::NOTHING };
        Frame::new(&mut self.node, cx.waker(), says).enter(|| poll(cx))
    }

    /// Whether requests that wait around this scope are meant for it. A branch of an aggregate hears of them only if the
    /// aggregate has got others before, and not settled them.
    fn hears(&self, around: &Says) -> bool {
        around.pressing && !(self.is_branch && self.absorbed())
    }

    /// Takes in new requests after the inner future has answered `Pending`: `own`, made by the
    /// construct to its scope (a deadline, a failed sibling), and what the scope around delivers.
    ///
    /// A request never pre-empts a result, which is why this comes after the poll (laws C2, D3).
    #[must_use = "the verdict says whether the inner future has to be dropped"]
    pub fn after_pending(&mut self, own: Option<Request>, link: LinkMode, waker: &Waker) -> Verdict {
        self.expecting = false;
        let outer = self.poll_outer(link, waker);
        if own.is_none() && outer.is_none() && self.is_quiet() {
            return Verdict::Wait;
        }
        if own.is_some() && link == LinkMode::Receiver {
            context::forget_note();
        }
        let mut pressing = frame::pressing();
        if self.put_off {
            // Once, and once more for the one that an aggregate has in hand.
            pressing = Pressing { waiting: pressing.coming, ..Pressing::default() };
        }
        if self.node.is_none() && !pressing.any() {
            return Verdict::Unwind { external: outer.is_some() };
        }
        let node = self.node.get_or_insert_default();
        if outer.is_some() {
            let (link, (explicit, fresh)) = (self.outer.link(), self.outer.take_explicit());
            let mut state = node.lock();
            state.explicit += explicit;
            state.fresh |= fresh;
            let former = std::mem::replace(&mut state.link, link);
            drop(state);
            drop(former);
        }
        let changed = own.is_some();
        let decision = node.decide(own, outer, self.epoch, waker, pressing, link == LinkMode::Transparent);
        (self.put_off, self.waiting, self.idle) = (decision.put_off, decision.waiting, decision.idle);
        if decision.put_off || changed && decision.verdict == Verdict::Wait {
            // The second: a deadline that has fired no longer hides those inside (law D4).
            context::ask_for_repoll();
            // A branch of an aggregate has a waker of its own, without which it is not polled.
            context::foreign_to_root(waker).into_iter().for_each(Waker::wake_by_ref);
        }
        if decision.idle {
            self.outer.set_idle();
        }
        if decision.outer_clear && self.outer.is_requested() {
            self.outer.absorb();
        }
        if decision.verdict == (Verdict::Unwind { external: true }) {
            node.touch(OUTER);
        }
        decision.wakers.into_iter().for_each(wake_safely);
        decision.verdict
    }

    /// After the inner future is gone the construct may have to wait for others (a group for its
    /// children): from then on it is a plain waiting construct. See [`Receiver::poll_request`].
    pub fn poll_request(&mut self, waker: &Waker) -> Option<Request> {
        self.outer.poll_request(waker)
    }

    /// Whether handlers of the scope's own requests are still running or their tokens are alive
    /// (law D3's exception).
    #[must_use]
    pub fn own_unsettled(&self) -> bool {
        self.node.as_ref().is_some_and(|node| node.lock().account(OWN).unsettled > 0)
    }

    /// Whether this scope has got requests, but no handler runs for one of them, since its unwinding was
    /// put off: an aggregate whose every unsettled branch says so calls
    /// [`Receiver::set_idle`].
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.idle
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

    /// Whether nothing is left of the scope's own requests: none was made, or all were absorbed.
    #[must_use]
    pub fn absorbed(&self) -> bool {
        self.node.as_ref().is_none_or(|node| node.lock().account(OWN).is_clear())
    }

    /// What became of the scope's own requests; for aggregates, when a branch has ended with an output
    /// and before [`finish`](Scope::finish).
    #[must_use]
    pub fn own_fate(&self) -> OwnFate {
        let Some(node) = &self.node else { return OwnFate::Clear };
        let state = node.lock();
        let account = state.account(OWN);
        match (account.is_clear(), account.touched) {
            (true, _) => OwnFate::Clear,
            (false, true) => OwnFate::Touched,
            (false, false) => OwnFate::Undelivered,
        }
    }

    /// The unwinding goes on in the scope around. From here on the construct answers `Pending`.
    pub fn resume(&mut self) {
        match self.close_node().is_some_and(|node| node.lock().account(OUTER).rest) {
            true => self.outer.resume_with_rest(),
            false => self.outer.resume(),
        }
    }

    /// The scope has ended: own requests are withdrawn; one from outside that nobody handled goes
    /// back to the scope around (law C9). Dropping the scope does the same.
    #[inline]
    pub fn finish(&mut self) {
        if self.node.is_some() {
            self.finish_node();
        } else {
            self.outer.hand_back();
        }
    }

    fn finish_node(&mut self) {
        let Some(node) = self.close_node() else { return };
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
        if self.close_node().is_some_and(|node| node.lock().account(OUTER).rest) {
            self.outer.give_rest();
        }
        self.outer.take_token()
    }

    /// Whether nothing has been requested of this scope, as far as its own polls know.
    pub(crate) fn is_quiet(&self) -> bool {
        self.node.as_ref().is_none_or(|node| node.is_quiet())
    }

    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        self.node.as_ref()
    }

    fn poll_outer(&mut self, link: LinkMode, waker: &Waker) -> Option<Request> {
        match link {
            LinkMode::Receiver => self.outer.poll_request(waker),
            LinkMode::Isolated => None,
            LinkMode::Transparent if self.needs_link() => self.outer.poll_request(waker),
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

    fn needs_link(&self) -> bool {
        self.node.as_ref().is_some_and(|node| {
            let state = node.lock();
            !state.receivers.is_empty() || !state.account(OUTER).is_clear() || state.is_busy()
        })
    }

    /// From here on a token that is settled finds a scope that has ended.
    fn close_node(&mut self) -> Option<Arc<Node>> {
        let node = self.node.take()?;
        let mut state = node.lock();
        state.dead = true;
        state.account_mut(OWN).undelivered = Undelivered::default();
        let former = (state.waker.take(), state.link.take());
        drop(state);
        drop(former);
        Some(node)
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
