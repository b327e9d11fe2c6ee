//! What an event in a group leads to: the one file to read, and to change, about who is cancelled when
//! (laws G2, G5, G6).
//!
//! ```text
//!             1 on_failure: a child or the body failed ── SiblingFailed: children, body
//!  (open) ──► 2 cancel, finish                         ── GroupCancelled: children, body ──► (ending) ──► (over)
//!             3 unwind: a request came through          ── ParentCancelled: children           │     close
//!             4 abandon: the future was dropped         ── ParentCancelled: children ──────────┴───► (over)
//! ```
//!
//! Whatever comes first decides the reason; a group that is ending is never cancelled again.

use brigade_core::{CancelKind, CancelReason};

use super::station::{Orders, State};

/// Where a group stands.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    /// It takes children.
    Open,
    /// Its children were cancelled for this reason; it waits for them.
    Ending(CancelReason),
    /// Its future has returned or is gone.
    Over,
}

impl PartialEq for Phase {
    fn eq(&self, other: &Phase) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl Phase {
    /// Why children end that come in now.
    pub(super) fn reason(&self) -> Option<&CancelReason> {
        match self {
            Phase::Ending(reason) => Some(reason),
            Phase::Open | Phase::Over => None,
        }
    }
}

/// Edge 1: the first failure cancels everybody else, once (law G2).
pub(super) fn on_failure<E: 'static>(state: &mut State<E>, who: &str) -> Orders {
    let reason = CancelReason::with_text(CancelKind::SiblingFailed, format!("{who} failed"));
    state.begin_ending(reason, true)
}

/// A child has left. If it failed, edge 1; a child that ended as cancelled is no failure.
pub(super) fn on_child_end<E: 'static>(state: &mut State<E>) -> Orders {
    match state.unanswered_failure() {
        Some(name) => on_failure(state, &format!("`{name}`")),
        None => state.wake_if_empty(),
    }
}
