//! The interface on which combinators are built: scopes, receivers, deadlines, and tasks that
//! belong to somebody.
//!
//! Nothing in here needs `unsafe`, and the combinators of Brigade use nothing else. The rules are in
//! section 3 of the laws; [`Scope`] and [`Receiver`] say in which order to call what.

pub use crate::cancel::account::{Level, Request};
pub use crate::cancel::grace::{Grace, abort_inside, is_aborting};
pub use crate::cancel::node::Verdict;
pub use crate::cancel::receiver::Receiver;
pub use crate::cancel::region::{LinkMode, OwnFate, Polled, Scope};
pub use crate::runtime::reports::{report_adoption, report_unobserved, warn};
pub use crate::task::awaited::Awaited;
pub use crate::task::output::{Owner, Plain, Sink};
pub use crate::task::prepare::{Prepared, SinkOf, SpawnOptions, prepare, prepare_local, stillborn};
pub use crate::time::timer::DeadlineTimer;

use crate::context::frame;
use crate::time::instant::Instant;

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
