//! What children and bodies return, and what a child's own handle says of an error that belongs to the
//! group (law G1).

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use brigade_core::TaskId;
use pin_project_lite::pin_project;

use super::limit::Turn;
use crate::never::Never;
use crate::sync::Arc;

/// What a child or the body of a group with errors of type `E` may return: `()`, `!` or `Result<T, E>`.
#[diagnostic::on_unimplemented(
    message = "a child or the body of this group must return `()` or `Result<T, {E}>`, not `{Self}`",
    label = "this future's output is `{Self}`",
    note = "return `Ok(value)`; all errors of one group have one type, `BoxError` if in doubt"
)]
pub trait ChildOutput<E> {
    /// The value of a child that succeeds.
    type Ok: 'static;

    /// The output as a result.
    ///
    /// # Errors
    ///
    /// The error that the child returned.
    fn into_child_result(self) -> Result<Self::Ok, E>;
}

impl<E> ChildOutput<E> for () {
    type Ok = ();
    fn into_child_result(self) -> Result<(), E> {
        Ok(())
    }
}

impl<E> ChildOutput<E> for Never {
    type Ok = Never;
    fn into_child_result(self) -> Result<Never, E> {
        self
    }
}

impl<T: 'static, E> ChildOutput<E> for Result<T, E> {
    type Ok = T;
    fn into_child_result(self) -> Result<T, E> {
        self
    }
}

/// The error of a child on its way to the group: the sink takes it out before anybody sees it.
pub(crate) struct Raised<E>(pub(crate) E);

impl<E> fmt::Debug for Raised<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an error that belongs to a group")
    }
}

pin_project! {
    /// A child's future, after the wait for its slot, with an output that every task may have.
    pub(crate) struct Child<F, E>
    where
        E: 'static,
    {
        #[pin]
        future: F,
        // Boxed: only a child that had to wait for its slot has one.
        turn: Option<Box<Turn<E>>>,
    }
}

impl<F, E> Child<F, E> {
    pub(super) fn new(future: F, turn: Option<Turn<E>>) -> Child<F, E> {
        Child { future, turn: turn.map(Box::new) }
    }

    /// The future again, if it was never polled.
    pub(crate) fn into_inner(self) -> F {
        self.future
    }
}

impl<F, E> Future for Child<F, E>
where
    F: Future,
    F::Output: ChildOutput<E>,
{
    type Output = Result<<F::Output as ChildOutput<E>>::Ok, Raised<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(turn) = this.turn {
            ready!(turn.poll_slot(cx));
            *this.turn = None;
        }
        this.future.poll(cx).map(|output| output.into_child_result().map_err(Raised))
    }
}

/// A number that tells groups apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub(crate) u64);

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GroupId({})", self.0)
    }
}

/// What the handle of a group's child says instead of its error: the error is in the group's
/// [`GroupError`](crate::GroupError) (law G1).
///
/// A body that hands it on by `?`, bare or boxed, adds no second entry.
#[derive(Clone)]
pub struct InGroup {
    pub(crate) group: GroupId,
    pub(crate) child: TaskId,
    pub(crate) name: Arc<str>,
}

impl InGroup {
    /// The group that has the error.
    #[must_use]
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// The child that failed.
    #[must_use]
    pub fn child(&self) -> TaskId {
        self.child
    }

    /// The name of the child that failed.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for InGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` failed; its error is in its group", self.name)
    }
}

impl fmt::Debug for InGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InGroup({self})")
    }
}

impl Error for InGroup {}

/// A group takes no more children, its runtime has ended, or all slots of its limit are taken: the future
/// comes back (laws G4, G8).
pub struct Closed<F> {
    pub(crate) future: F,
    pub(crate) full: bool,
}

impl<F> Closed<F> {
    /// The future that was not spawned. It was not polled.
    #[must_use]
    pub fn into_future(self) -> F {
        self.future
    }

    /// Whether the group is open and only has no free slot: later there may be one (law G8).
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }
}

impl<F> fmt::Display for Closed<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.full {
            true => "every slot of the group is taken",
            false => "the group takes no more children",
        })
    }
}

impl<F> fmt::Debug for Closed<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closed")
    }
}

impl<F> Error for Closed<F> {}
