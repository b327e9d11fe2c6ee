//! What an event in a group leads to: the one file to read, and to change, about who is cancelled when
//! (laws G2, G5, G6).
//!
//! ```text
//!             1 on_failure: a child or the body failed ── SiblingFailed: children, body
//!  (open) ──► 2 cancel, finish                         ── GroupCancelled: children, body ──► (ending) ──► (over)
//!             3 unwind: a request came through          ── ParentCancelled: children           │     close
//!             4 abandon: the future was dropped         ── ParentCancelled: children ──────────┴───► (over)
//!             5 only services are left                  ── the reason so far: one after the other
//! ```
//!
//! Whatever comes first decides the reason; a group that is ending is never cancelled again. With a policy of
//! its own (law G9) a group asks that policy in the place of edge 1.

use brigade_core::{CancelKind, CancelReason, Ending, TaskRef, TaskState};

use super::policies::Next;
use super::state::{Orders, State};

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

    /// The same for those who got in before the end and come to be seen only now.
    pub(super) fn reason_for_latecomers(&self) -> Option<CancelReason> {
        match self {
            Phase::Open => None,
            Phase::Ending(reason) => Some(reason.clone()),
            Phase::Over => Some(CancelReason::new(CancelKind::ParentCancelled)),
        }
    }
}

/// Edge 1 for the body, whatever the policy (laws G2, G9).
pub(super) fn on_body_failure<E: 'static>(state: &mut State<E>, left: usize) -> Orders {
    on_failure(state, left, "the body of the group")
}

/// A child has left a group that fails fast, and there are so many `left`. If it failed, edge 1; a child that ended as
/// cancelled is no failure.
pub(super) fn on_child_end<E: 'static>(state: &mut State<E>, left: usize) -> Orders {
    match state.unanswered_failure() {
        Some(name) => on_failure(state, left, &format!("`{name}`")),
        None => on_departure(state, left),
    }
}

/// A child has left a group with a policy of its own, which has said what follows (law G9).
pub(super) fn on_verdict<E: 'static>(
    state: &mut State<E>,
    left: usize,
    gone: Option<&TaskRef>,
    next: Next,
) -> Orders {
    let (Some(task), true) = (gone, next != Next::Continue && state.phase == Phase::Open) else {
        return on_departure(state, left);
    };
    let (kind, verb) = match task.state() {
        TaskState::Done(Ending::Value | Ending::Cancelled) => (CancelKind::GroupCancelled, "ended"),
        _ => (CancelKind::SiblingFailed, "failed"),
    };
    let reason = CancelReason::with_text(kind, format!("`{}` {verb}", task.name()));
    let orders = state.begin_ending(reason, next == Next::Cancel);
    orders.and_also(on_departure(state, left))
}

/// The body has ended, however it did: edge 5 if nobody else is there.
pub(super) fn on_body_gone<E: 'static>(state: &mut State<E>, left: usize) -> Orders {
    state.body_gone = true;
    dismiss_a_service(state, left)
}

/// The first failure cancels everybody else, once (law G2).
fn on_failure<E: 'static>(state: &mut State<E>, left: usize, who: &str) -> Orders {
    let reason = CancelReason::with_text(CancelKind::SiblingFailed, format!("{who} failed"));
    let orders = state.begin_ending(reason, true);
    orders.and_also(on_departure(state, left))
}

/// One less: perhaps it was the last, perhaps only services are left.
fn on_departure<E: 'static>(state: &mut State<E>, left: usize) -> Orders {
    match left {
        0 => state.wake(),
        _ => dismiss_a_service(state, left),
    }
}

/// Edge 5: services end after the body and the ordinary children, the youngest first, each after the one
/// before has ended (law G9).
fn dismiss_a_service<E: 'static>(state: &mut State<E>, left: usize) -> Orders {
    if !state.body_gone {
        return Orders::default();
    }
    let Some(service) = state.roster.dismiss(left) else { return Orders::default() };
    let ended = || CancelReason::with_text(CancelKind::GroupCancelled, "the group has come to its end");
    let reason = state.phase.reason().cloned().unwrap_or_else(ended);
    if state.phase == Phase::Open {
        state.phase = Phase::Ending(reason.clone());
    }
    Orders {
        cancel: service.into_iter().collect(),
        reason: Some(reason),
        others: state.roster.waiting(),
        ..Orders::default()
    }
}
