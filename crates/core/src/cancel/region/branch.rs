//! The scope of a branch of an aggregate.

use std::task::{Context, Waker};

use super::inside::Inside;
use super::{OwnFate, Polled};
use crate::cancel::account::Request;
use crate::cancel::node::Verdict;
use crate::context::frame::{self, Says};
use crate::context::task_poll;
use crate::time::instant::Instant;

/// The scope of a branch of an aggregate, as a gather: it never hears of the scope around.
///
/// The aggregate passes requests on to it as its own, so what unwinds inside waits for no others. It is used as a
/// [`Scope`](super::Scope), but for the link.
#[derive(Debug, Default)]
pub struct BranchScope {
    inside: Inside,
}

impl BranchScope {
    /// A scope in which nothing has been polled yet. Allocates nothing.
    #[must_use]
    pub const fn new() -> BranchScope {
        BranchScope { inside: Inside::new() }
    }

    /// Says before [`enter`](BranchScope::enter) that the aggregate has a request for this scope, which it will give to
    /// [`after_pending`](BranchScope::after_pending): what unwinds inside in between waits for it (law C2).
    pub fn expect_request(&mut self) {
        self.inside.expecting = true;
    }

    /// Calls `poll` with this scope as the innermost one; see [`Scope::enter`](super::Scope::enter).
    #[inline]
    pub fn enter<R: Polled>(&mut self, cx: &mut Context<'_>, poll: impl FnOnce(&mut Context<'_>) -> R) -> R {
        task_poll::with_poll(|current| {
            if self.inside.put_off && current.is_delivering() {
                return R::pending();
            }
            let around = frame::says_in(current);
            let says = Says {
                deadline: around.deadline,
                near: Instant::FAR_FUTURE,
                pressing: self.hears(&around) || self.inside.put_off || self.inside.waiting,
                coming: around.coming || self.inside.expecting,
                branch: std::ptr::from_ref(self).addr(),
            };
            self.inside.enter(current, cx, &says, poll)
        })
    }

    /// Takes in a request of the aggregate after the inner future has answered `Pending`; see
    /// [`Scope::after_pending`](super::Scope::after_pending).
    #[must_use = "the verdict says whether the inner future has to be dropped"]
    #[inline]
    pub fn after_pending(&mut self, request: Option<Request>, waker: &Waker) -> Verdict {
        self.inside.after_pending(request, waker)
    }

    /// Whether this scope has got requests, but no handler runs for one of them, since its unwinding was
    /// put off: an aggregate whose every unsettled branch says so calls
    /// [`Receiver::set_idle`](crate::scope::Receiver::set_idle).
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.inside.idle
    }

    /// Whether nothing is left of the requests: none was made, or all were absorbed.
    #[must_use]
    pub fn absorbed(&self) -> bool {
        self.inside.absorbed()
    }

    /// What became of the requests, when the branch has ended with an output and before
    /// [`finish`](BranchScope::finish).
    #[must_use]
    pub fn own_fate(&self) -> OwnFate {
        self.inside.own_fate()
    }

    /// The scope has ended: requests are withdrawn. Dropping the scope does the same.
    #[inline]
    pub fn finish(&mut self) {
        self.inside.finish();
    }

    /// Whether requests that wait around this scope are meant for it: only if the aggregate has got others before, and not
    /// settled them.
    fn hears(&self, around: &Says) -> bool {
        around.pressing && !self.absorbed()
    }
}
