//! What a scope has whether it hears of the outside or not: its node, and the rules of its poll.
//!
//! | field | who, when |
//! |---|---|
//! | `node` | made by the first receiver inside, or by a request; closed at the end |
//! | `epoch` | counted up by each poll |
//! | `put_off`, `waiting`, `idle` | the last decision; see [`Inside::after_pending`] |
//! | `expecting` | [`Inside::expect_request`], until the request has come |

use std::task::{Context, Waker};

use super::{OwnFate, Polled};
use crate::cancel::account::{OUTER, OWN, Request, Undelivered};
use crate::cancel::node::{Node, Pressing, Verdict};
use crate::cancel::receiver::Receiver;
use crate::context;
use crate::context::frame::{self, Frame, Says};
use crate::context::task_poll::TaskPoll;
use crate::sync::Arc;
use crate::task::reports::wake_safely;

/// See the module. Small, since every task has one.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(super) node: Option<Arc<Node>>,
    epoch: u32,
    /// The unwinding or the delivery was put off, once, for requests of a scope around, which join it.
    pub(super) put_off: bool,
    /// A request of this scope waits until no handler runs.
    pub(super) waiting: bool,
    /// The construct has a request in hand for it.
    pub(super) expecting: bool,
    /// It holds deliveries, but no handler runs behind them.
    pub(super) idle: bool,
}

/// What the scope around has delivered, and how this one hears of it.
pub(super) struct Outer<'a> {
    pub(super) receiver: &'a mut Receiver,
    pub(super) request: Option<Request>,
    /// It passes requests from outside on, and is not there if there is nobody inside to get them.
    pub(super) is_transparent: bool,
}

impl Inside {
    pub(crate) const fn new() -> Inside {
        Inside { node: None, epoch: 0, put_off: false, waiting: false, expecting: false, idle: false }
    }

    /// Calls `poll` with this scope as the innermost one, which says this.
    #[inline]
    pub(super) fn enter<R>(
        &mut self,
        current: &TaskPoll<'_>,
        cx: &mut Context<'_>,
        says: &Says,
        poll: impl FnOnce(&mut Context<'_>) -> R,
    ) -> R {
        self.epoch = self.epoch.wrapping_add(1);
        Frame::new(&mut self.node, cx.waker(), self.epoch, says).enter(current, || poll(cx))
    }

    /// The same for the root of a task, which has no scope around it.
    #[inline]
    pub(crate) fn enter_outermost<R: Polled>(
        &mut self,
        current: &TaskPoll<'_>,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> R,
    ) -> R {
        if current.is_delivering() && self.put_off {
            return R::pending();
        }
        let says = if self.put_off || self.waiting { &Says::PRESSING } else { &Says::NOTHING };
        self.enter(current, cx, says, poll)
    }

    /// Takes in new requests after the inner future has answered `Pending`: `own`, made by the construct to its scope,
    /// and what the scope around delivers.
    pub(crate) fn after_pending(&mut self, own: Option<Request>, waker: &Waker) -> Verdict {
        self.after_pending_with(own, None, waker)
    }

    pub(super) fn after_pending_with(
        &mut self,
        own: Option<Request>,
        outer: Option<Outer<'_>>,
        waker: &Waker,
    ) -> Verdict {
        self.expecting = false;
        let external = outer.as_ref().is_some_and(|outer| outer.request.is_some());
        if own.is_none() && !external && self.is_quiet() {
            return Verdict::Wait;
        }
        self.decide(own, outer, external, waker)
    }

    /// The rest of [`Inside::after_pending`], where there is something to decide.
    #[cold]
    fn decide(
        &mut self,
        own: Option<Request>,
        outer: Option<Outer<'_>>,
        external: bool,
        waker: &Waker,
    ) -> Verdict {
        let is_transparent = outer.as_ref().is_some_and(|outer| outer.is_transparent);
        if own.is_some() && outer.is_some() && !is_transparent {
            context::forget_note();
        }
        let mut pressing = frame::pressing();
        if self.put_off {
            // Once, and once more for the one that an aggregate has in hand.
            pressing = Pressing { waiting: pressing.coming, ..Pressing::default() };
        }
        if self.node.is_none() && !pressing.any() {
            return Verdict::Unwind { external };
        }
        let node = self.node.get_or_insert_default();
        let changed = own.is_some();
        let (mut receiver, request) =
            outer.map_or((None, None), |outer| (Some(outer.receiver), outer.request));
        if let (Some(receiver), true) = (&mut receiver, external) {
            node.link_to(receiver);
        }
        let decision = node.decide(own, request, self.epoch, waker, pressing, is_transparent);
        (self.put_off, self.waiting, self.idle) = (decision.put_off, decision.waiting, decision.idle);
        if decision.put_off || changed && decision.verdict == Verdict::Wait {
            // The second: a deadline that has fired no longer hides those inside (law D4).
            context::ask_for_repoll();
            // A branch of an aggregate has a waker of its own, without which it is not polled.
            context::foreign_to_root(waker).into_iter().for_each(Waker::wake_by_ref);
        }
        if let Some(receiver) = receiver {
            if decision.idle {
                receiver.set_idle();
            }
            if decision.outer_clear && receiver.is_requested() {
                receiver.absorb();
            }
        }
        if decision.verdict == (Verdict::Unwind { external: true }) {
            node.touch(OUTER);
        }
        decision.wakers.into_iter().for_each(wake_safely);
        decision.verdict
    }

    /// Whether nothing has been requested of this scope, as far as its own polls know.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.node.as_ref().is_none_or(|node| node.is_quiet())
    }

    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        self.node.as_ref()
    }

    /// Whether nothing is left of the scope's own requests.
    pub(super) fn absorbed(&self) -> bool {
        self.node.as_ref().is_none_or(|node| node.is_quiet() || node.lock().account(OWN).is_clear())
    }

    pub(super) fn own_fate(&self) -> OwnFate {
        let Some(node) = &self.node else { return OwnFate::Clear };
        let state = node.lock();
        let account = state.account(OWN);
        match (account.is_clear(), account.touched) {
            (true, _) => OwnFate::Clear,
            (false, true) => OwnFate::Touched,
            (false, false) => OwnFate::Undelivered,
        }
    }

    /// Whether there is somebody inside who would get a request from outside, or something from there is not settled.
    pub(super) fn needs_link(&self) -> bool {
        self.node.as_ref().is_some_and(|node| {
            let state = node.lock();
            !state.receivers.is_empty() || !state.account(OUTER).is_clear() || state.is_busy()
        })
    }

    /// The scope has ended: its own requests are withdrawn.
    #[inline]
    pub(crate) fn finish(&mut self) {
        if self.node.is_some() {
            drop(self.close_node());
        }
    }

    /// From here on a token that is settled finds a scope that has ended.
    pub(super) fn close_node(&mut self) -> Option<Arc<Node>> {
        let node = self.node.take()?;
        let mut state = node.lock();
        state.dead = true;
        state.account_mut(OWN).undelivered = Undelivered::default();
        let former = (state.waker.take(), state.link.take());
        drop(state);
        drop(former);
        Some(node)
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        self.finish();
    }
}

impl Node {
    /// A request came through this receiver.
    fn link_to(&self, receiver: &mut Receiver) {
        let (link, (explicit, fresh)) = (receiver.link(), receiver.take_explicit());
        let mut state = self.lock();
        state.explicit += explicit;
        state.fresh |= fresh;
        let former = std::mem::replace(&mut state.link, link);
        drop(state);
        drop(former);
    }
}
