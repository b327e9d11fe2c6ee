//! The interface on which combinators are built: scopes, receivers, deadlines, and tasks that
//! belong to somebody.
//!
//! Nothing in here needs `unsafe`, and the combinators of Brigade use nothing else. The rules are in
//! section 3 of the laws; [`Scope`] and [`Receiver`] say in which order to call what.

pub use crate::cancel::account::{Level, Request};
pub use crate::cancel::grace::{Grace, abort_inside, is_aborting};
pub use crate::cancel::node::Verdict;
pub use crate::cancel::receiver::Receiver;
pub use crate::cancel::region::{BranchScope, LinkMode, OwnFate, Polled, Scope};
pub use crate::runtime::reports::{report_adoption, report_unobserved, warn};
pub use crate::task::awaited::Awaited;
pub use crate::task::output::{Owner, Plain, Sink};
pub use crate::task::prepare::{Prepared, SinkOf, SpawnOptions, prepare, prepare_local, stillborn};
pub use crate::time::timer::DeadlineTimer;

use std::task::Waker;

use crate::context::{self, frame};
use crate::time::instant::Instant;

/// Where code stands in the aggregates of its task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place(usize);

impl Place {
    /// Of the running code.
    #[must_use]
    pub fn here() -> Place {
        Place(frame::branch())
    }
}

/// The turn of its task in which a branch of an aggregate was polled while requests around waited.
///
/// If one of them is delivered to the branch in that very turn, it waits at the suspension point at which the request
/// is due, and polling it once more would let it slip past (law C2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn(u64);

impl Turn {
    /// The one that is going on, if requests around wait; else none.
    #[must_use]
    pub fn if_pressed() -> Turn {
        Turn(if frame::says().pressing { context::number() } else { 0 })
    }

    /// Whether this one is going on, and delivers.
    #[must_use]
    pub fn is_delivering(self) -> bool {
        context::is_delivering() && self.0 == context::number()
    }
}

/// Says that a request was made of a scope at `place`, which delivers it after its poll. If the running code may be
/// inside that scope, what unwinds there waits for it (laws C2, D4); not in another branch of an aggregate.
pub fn note_request(place: Place) {
    if place == Place::here() {
        context::note_request();
    }
}

/// Whether `waker` is not the current task's own: that of a branch of an aggregate, which is polled only when it is woken.
#[must_use]
pub fn is_foreign(waker: &Waker) -> bool {
    context::foreign_to_root(waker).is_some()
}

/// Calls `poll`, in which the deadline of the caller's scope may be moved by [`move_deadline`].
pub fn with_movable_deadline<R>(poll: impl FnOnce() -> R) -> R {
    frame::with_movable_deadline(poll)
}

/// How many deadlines around the running code may be moved: what is polled by [`with_movable_deadline`] next has one more.
#[must_use]
pub fn movable_depth() -> u32 {
    frame::movable_depth()
}

/// Says, from within the `depth`-th [`with_movable_deadline`] around, that its deadline is now `at`: timeouts inside that
/// have been told a later one take notice in this very poll (law D4).
pub fn move_deadline(depth: u32, at: Instant) {
    frame::move_deadline(depth, at);
}

/// The tightest deadline around the code that is being polled that has not fired;
/// [`Instant::FAR_FUTURE`] if there is none.
///
/// A timeout inside it does not arm unless its own deadline is earlier (law D4).
#[must_use]
pub fn enclosing_deadline() -> Instant {
    frame::deadline()
}

/// The tightest deadline around the code that is being polled, `None` if there is none (law D6);
/// Trio's `current_effective_deadline`. A shield hides what is outside (law C11).
#[must_use]
pub fn effective_deadline() -> Option<Instant> {
    let deadline = frame::deadline();
    (deadline != Instant::FAR_FUTURE).then_some(deadline)
}
