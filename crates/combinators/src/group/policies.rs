//! What the end of a child means for its group (law G9): the trait, and the policies that come with it.
//!
//! Java's `Joiner` is the model. A policy decides only about children: a body that fails always ends its
//! group, and a group that is ending asks nobody.

use std::fmt;

use brigade_core::{CancelReason, Panic, TaskRef};

use super::error::ChildError;
use crate::sync::{AtomicBool, Ordering};

/// Decides what the end of a child means for its group; given to
/// [`GroupBuilder::policy`](crate::GroupBuilder::policy) (law G9).
///
/// The methods take `&self` and are called on whatever thread a child begins or ends, also at the same
/// time. They must return soon, and should leave the group alone.
///
/// # Examples
///
/// Two failures are borne, a third ends the group.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use brigade_combinators::{ChildEnd, Next, Policy, TaskGroup};
/// use brigade_core::{BoxError, TaskRef};
///
/// struct Bears(AtomicUsize);
///
/// impl Policy<BoxError> for Bears {
///     fn on_done(&self, _child: &TaskRef, end: ChildEnd<'_, BoxError>) -> Next {
///         let borne = !end.is_failure()
///             || self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
///         if borne { Next::Continue } else { Next::Cancel }
///     }
/// }
///
/// brigade_testkit::simulate(async {
///     let group = TaskGroup::<BoxError>::builder().policy(Bears(AtomicUsize::new(2))).scope(async |group| {
///         for n in 1..=5 {
///             group.spawn(async move { Err::<(), BoxError>(format!("plate {n} broke").into()) }).finished().await;
///         }
///         Ok(())
///     });
///     assert_eq!(group.await.unwrap_err().len(), 3);
/// }).unwrap();
/// ```
pub trait Policy<E>: Send + Sync + 'static {
    /// A child was spawned; it has not begun. Not called for services.
    fn on_spawn(&self, child: &TaskRef) {
        let _ = child;
    }

    /// A child ends in this way; nobody can see its outcome yet. What the policy answers is done once the
    /// outcome is readable. Of services only the failures are told. A policy that panics here is taken
    /// to have answered [`Next::Cancel`].
    fn on_done(&self, child: &TaskRef, end: ChildEnd<'_, E>) -> Next;

    /// Everybody has ended: which of these errors does the group return? If none, it returns its body's
    /// value. An error of the body comes on top.
    fn finish(&self, errors: Vec<ChildError<E>>) -> Vec<ChildError<E>> {
        errors
    }
}

/// What a group does after the end of a child; see [`Policy::on_done`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Next {
    /// It goes on.
    #[default]
    Continue,
    /// It takes no more children, and cancels those that it has. The body goes on.
    CancelChildren,
    /// The same, and the body is cancelled as well.
    Cancel,
}

/// How a child ended, for [`Policy::on_done`].
pub enum ChildEnd<'a, E> {
    /// With a value.
    Value,
    /// With this error.
    Failed(&'a E),
    /// With this panic.
    Panicked(&'a Panic),
    /// As cancelled.
    Cancelled(&'a CancelReason),
}

impl<E> ChildEnd<'_, E> {
    /// Whether it is an error or a panic. A cancelled child is no failure (law G2).
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, ChildEnd::Failed(_) | ChildEnd::Panicked(_))
    }
}

impl<E> Clone for ChildEnd<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for ChildEnd<'_, E> {}

impl<E: fmt::Debug> fmt::Debug for ChildEnd<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChildEnd::Value => f.write_str("Value"),
            ChildEnd::Failed(error) => f.debug_tuple("Failed").field(error).finish(),
            ChildEnd::Panicked(panic) => f.debug_tuple("Panicked").field(panic).finish(),
            ChildEnd::Cancelled(reason) => f.debug_tuple("Cancelled").field(reason).finish(),
        }
    }
}

/// A failure is recorded, and the siblings go on.
pub(super) struct Supervise;

impl<E> Policy<E> for Supervise {
    fn on_done(&self, _child: &TaskRef, _end: ChildEnd<'_, E>) -> Next {
        Next::Continue
    }
}

/// The first value ends the children and makes the failures before it void.
#[derive(Default)]
pub(super) struct FirstSuccess {
    succeeded: AtomicBool,
}

impl<E> Policy<E> for FirstSuccess {
    fn on_done(&self, _child: &TaskRef, end: ChildEnd<'_, E>) -> Next {
        if !matches!(end, ChildEnd::Value) {
            return Next::Continue;
        }
        // Relaxed: the partner is the load in `finish`, which comes after the group was found empty
        // under its lock, and this child left it under that lock after this store.
        self.succeeded.store(true, Ordering::Relaxed);
        Next::CancelChildren
    }

    fn finish(&self, errors: Vec<ChildError<E>>) -> Vec<ChildError<E>> {
        // Relaxed: the partner is the store in `on_done`, ordered by the group's lock.
        if self.succeeded.load(Ordering::Relaxed) { Vec::new() } else { errors }
    }
}
