//! Why a group has no value: every error of its children and its body, in one shape (law G3).

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::Location;

use brigade_core::{BoxError, TaskError, TaskId};

use super::flat_drop::flat_drop;
use super::supervisor::RestartsExhausted;
use super::tree;
use crate::sync::Arc;

/// Every error of a group: of its children in completion order, and the body's last (law G3).
///
/// One shape for one or many. Cancelled siblings are not entries. A group in a group is an entry whose
/// error is again a `GroupError`; printing and dropping such a tree does not recurse. `&errors` iterates
/// over the entries; [`split`](GroupError::split) and [`subgroup`](GroupError::subgroup) are what
/// `except*` is in Python.
///
/// # Examples
///
/// ```
/// use brigade_combinators::TaskGroup;
/// use brigade_core::BoxError;
///
/// brigade_testkit::simulate(async {
///     let outcome = TaskGroup::<BoxError>::scope(async |group| {
///         group.spawn_named("parser", async { Ok("x".parse::<u32>().map(drop)?) });
///         Ok(())
///     });
///     let errors = outcome.await.unwrap_err();
///     let (bad_numbers, rest) = errors.split::<std::num::ParseIntError>();
///     for child in &bad_numbers {
///         println!("{} failed: {}", child.name(), child.error());
///     }
///     assert_eq!((bad_numbers.len(), rest.len()), (1, 0));
/// }).unwrap();
/// ```
pub struct GroupError<E: 'static> {
    pub(super) group: Source,
    pub(super) children: Vec<ChildError<E>>,
    pub(super) cancelled: bool,
    /// Boxed: only the group of a supervisor that has given up has it.
    pub(super) exhausted: Option<Box<RestartsExhausted>>,
}

/// Which group it was.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) location: &'static Location<'static>,
}

/// One error of a [`GroupError`]: whose it is, and what it is.
pub struct ChildError<E: 'static> {
    pub(super) child: Origin,
    pub(super) error: TaskError<E>,
}

/// Which child it was.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) name: Arc<str>,
    pub(crate) id: Option<TaskId>,
    pub(crate) location: &'static Location<'static>,
    pub(crate) is_body: bool,
}

impl<E: 'static> GroupError<E> {
    /// The first entry in completion order. `None` only if the group was cancelled, or in a part made by
    /// [`split`](GroupError::split) to which nothing belongs.
    #[must_use]
    pub fn first(&self) -> Option<&ChildError<E>> {
        self.children.first()
    }

    /// The same by value.
    #[must_use]
    pub fn into_first(self) -> Option<ChildError<E>> {
        self.into_iter().next()
    }

    /// The entries of this group; entries of groups inside are in their errors.
    pub fn iter(&self) -> std::slice::Iter<'_, ChildError<E>> {
        self.children.iter()
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.children.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    /// Whether the group was ended by [`TaskGroup::cancel`](crate::TaskGroup::cancel) without a value and
    /// without any error. Stored, not derived from emptiness (law G6).
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    /// Why the supervisor gave up whose group this is; `None` for any other group, and for a supervisor
    /// that was ended from outside. See [`Supervisor`](crate::Supervisor).
    #[must_use]
    pub fn exhausted(&self) -> Option<&RestartsExhausted> {
        self.exhausted.as_deref()
    }

    /// The name of the group, if it was given one.
    #[must_use]
    pub fn group_name(&self) -> Option<&str> {
        self.group.name.as_deref()
    }

    /// Where the group was opened.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.group.location
    }

    /// Parts the entries: those whose error is an `X`, and the rest. Either may be empty.
    ///
    /// An error in a [`BoxError`] is looked at inside, also if a task returned it; a panic is a
    /// [`Panic`](brigade_core::Panic). Groups inside are parted in the same way, so both parts keep the shape of the tree.
    #[must_use]
    pub fn split<X: Error + 'static>(self) -> (GroupError<E>, GroupError<E>) {
        tree::part(self, &mut tree::sort_by_type::<E, X>)
    }

    /// The entries for which `condition` holds, in the shape of the tree; the others are dropped. Like
    /// Python's, it is asked for entries that are groups, too: one for which it holds is taken whole,
    /// another is looked into.
    #[must_use]
    pub fn subgroup(self, mut condition: impl FnMut(&ChildError<E>) -> bool) -> GroupError<E> {
        tree::part(self, &mut |child| match condition(&child) {
            true => (Some(child), None),
            false => (None, Some(child)),
        })
        .0
    }
}

impl<E> ChildError<E> {
    pub(crate) fn new(child: Origin, error: TaskError<E>) -> ChildError<E> {
        ChildError { child, error }
    }

    /// The name of the child; of the task that ran the body, if it is the body's error.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.child.name
    }

    /// The id of the child; `None` if a body ran outside every task.
    #[must_use]
    pub fn id(&self) -> Option<TaskId> {
        self.child.id
    }

    /// Where the child was spawned; where the group was opened, if it is the body's error.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.child.location
    }

    /// Whether the body failed, not a child.
    #[must_use]
    pub fn is_body(&self) -> bool {
        self.child.is_body
    }

    /// The error: [`TaskError::Failed`] or [`TaskError::Panicked`].
    #[must_use]
    pub fn error(&self) -> &TaskError<E> {
        &self.error
    }

    /// The same by value.
    #[must_use]
    pub fn into_error(self) -> TaskError<E> {
        self.error
    }

    /// The error as an `X`, if it is one: itself, inside a [`BoxError`], or as the [`Panic`](brigade_core::Panic) of a child.
    #[must_use]
    pub fn downcast_ref<X: Error + 'static>(&self) -> Option<&X> {
        match &self.error {
            TaskError::Failed(error) => downcast(error),
            TaskError::Panicked(panic) => (panic as &dyn Any).downcast_ref(),
            TaskError::Cancelled(_) => None,
        }
    }
}

/// Looks through boxes and through the outcomes of tasks that were awaited with `?`.
fn downcast<E: 'static, X: Error + 'static>(error: &E) -> Option<&X> {
    let any: &dyn Any = error;
    if let Some(found) = any.downcast_ref() {
        return Some(found);
    }
    let mut boxed = any.downcast_ref::<BoxError>()?;
    loop {
        if let Some(found) = boxed.downcast_ref() {
            return Some(found);
        }
        if let Some(TaskError::Failed(found)) = boxed.downcast_ref::<TaskError<X>>() {
            return Some(found);
        }
        boxed = boxed.downcast_ref::<TaskError<BoxError>>()?.failed()?;
    }
}

impl<E: 'static> Drop for GroupError<E> {
    fn drop(&mut self) {
        flat_drop(std::mem::take(&mut self.children));
    }
}

impl<E: 'static> IntoIterator for GroupError<E> {
    type Item = ChildError<E>;
    type IntoIter = std::vec::IntoIter<ChildError<E>>;

    fn into_iter(mut self) -> Self::IntoIter {
        std::mem::take(&mut self.children).into_iter()
    }
}

impl<'a, E: 'static> IntoIterator for &'a GroupError<E> {
    type Item = &'a ChildError<E>;
    type IntoIter = std::slice::Iter<'a, ChildError<E>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<E: fmt::Display> fmt::Display for GroupError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tree::write(self, f, fmt::Display::fmt)
    }
}

/// Written for people, as the tree that `Display` shows, since `fn main() -> Result<..>` prints it.
impl<E: fmt::Debug> fmt::Debug for GroupError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tree::write(self, f, |error, f| match error {
            TaskError::Failed(error) => fmt::Debug::fmt(error, f),
            other => fmt::Debug::fmt(other, f),
        })
    }
}

impl<E: fmt::Debug + fmt::Display> Error for GroupError<E> {}

impl<E: fmt::Display> fmt::Display for ChildError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.child, self.error)
    }
}

impl<E: fmt::Debug> fmt::Debug for ChildError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.child, self.error)
    }
}

impl<E: fmt::Debug + fmt::Display + 'static> Error for ChildError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = if self.is_body { "body in " } else { "" };
        write!(f, "{role}`{}` ({})", self.name, self.location)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "group `{name}` ({})", self.location),
            None => write!(f, "the group at {}", self.location),
        }
    }
}
