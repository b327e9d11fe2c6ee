//! Group errors as trees: printing and parting them, with an explicit stack (law T12).
//!
//! A tree grows where the error of a child is a [`BoxError`] that holds the `GroupError` of a group
//! inside, bare or as the outcome of a task that was awaited with `?`. In groups with an error type of
//! the user a group inside is an error like any other.

use std::any::Any;
use std::error::Error;
use std::fmt;

use brigade_core::{BoxError, TaskError};

use super::error::{ChildError, GroupError, Origin};

/// An entry sorted into what matches and what does not.
pub(super) type Sorted<E> = (Option<ChildError<E>>, Option<ChildError<E>>);

/// Deeper levels are not indented further, but numbered: the text stays linear in the tree.
const INDENTED: usize = 32;

/// Writes a tree line by line; `leaf` shows an error that is no group.
pub(super) fn write<E: 'static>(
    root: &GroupError<E>,
    f: &mut fmt::Formatter<'_>,
    leaf: fn(&TaskError<E>, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    write_head(root, f)?;
    let mut levels = vec![root.iter()];
    while let Some(level) = levels.last_mut() {
        let Some(child) = level.next() else {
            levels.pop();
            continue;
        };
        let depth = levels.len();
        write!(f, "\n{:width$}", "", width = 2 * depth.min(INDENTED))?;
        if depth > INDENTED {
            write!(f, "[{depth}] ")?;
        }
        write!(f, "{}: ", child.child)?;
        match look_into(&child.error) {
            None => leaf(&child.error, f)?,
            Some(group) => {
                write_head(group, f)?;
                levels.push(group.iter());
            }
        }
    }
    Ok(())
}

fn write_head<E: 'static>(group: &GroupError<E>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match group.len() {
        0 if group.cancelled => write!(f, "{} was cancelled", group.group),
        0 => write!(f, "no error in {}", group.group),
        1 => write!(f, "1 error in {}", group.group),
        count => write!(f, "{count} errors in {}", group.group),
    }?;
    match &group.exhausted {
        Some(exhausted) => write!(f, ": {exhausted}"),
        None => Ok(()),
    }
}

/// Parts a tree by `sort`; entries that do not match are looked into if they are groups.
pub(super) fn part<E: 'static>(
    root: GroupError<E>,
    sort: &mut dyn FnMut(ChildError<E>) -> Sorted<E>,
) -> (GroupError<E>, GroupError<E>) {
    let mut level = Level::new(None, root);
    let mut outer = Vec::new();
    loop {
        if let Some(child) = level.todo.next() {
            let (matching, rest) = sort(child);
            level.matching.extend(matching);
            match rest.map(open) {
                None => {}
                Some(Err(rest)) => level.rest.push(rest),
                Some(Ok((origin, group))) => {
                    outer.push(std::mem::replace(&mut level, Level::new(Some(origin), group)));
                }
            }
            continue;
        }
        let (origin, matching, rest) = level.close();
        let (Some(parent), Some(origin)) = (outer.pop(), origin) else {
            return (matching, rest);
        };
        level = parent;
        level.matching.extend(enclose(&origin, matching));
        level.rest.extend(enclose(&origin, rest));
    }
}

/// One level of the tree on its way through [`part`].
struct Level<E: 'static> {
    /// Whose error the group of this level is; nobody's at the root.
    origin: Option<Origin>,
    /// The group without its entries.
    shape: GroupError<E>,
    todo: std::vec::IntoIter<ChildError<E>>,
    matching: Vec<ChildError<E>>,
    rest: Vec<ChildError<E>>,
}

impl<E: 'static> Level<E> {
    fn new(origin: Option<Origin>, mut group: GroupError<E>) -> Level<E> {
        let todo = std::mem::take(&mut group.children).into_iter();
        Level { origin, shape: group, todo, matching: Vec::new(), rest: Vec::new() }
    }

    fn close(self) -> (Option<Origin>, GroupError<E>, GroupError<E>) {
        let part = |children, cancelled| GroupError {
            group: self.shape.group.clone(),
            children,
            cancelled,
            exhausted: self.shape.exhausted.clone(),
        };
        (self.origin, part(self.matching, false), part(self.rest, self.shape.cancelled))
    }
}

/// Whether the error is an `X`, or a group of `X`s with an error type of its own.
pub(super) fn sort_by_type<E: 'static, X: Error + 'static>(child: ChildError<E>) -> Sorted<E> {
    let boxed = child.error.failed().and_then(|error| (error as &dyn Any).downcast_ref());
    match child.downcast_ref::<X>().is_some() || boxed.and_then(group_in::<X>).is_some() {
        true => (Some(child), None),
        false => (None, Some(child)),
    }
}

/// The group that an error is, with entries of the same type.
fn look_into<E: 'static>(error: &TaskError<E>) -> Option<&GroupError<E>> {
    let boxed = (error.failed()? as &dyn Any).downcast_ref::<BoxError>()?;
    let group: &dyn Any = group_in::<BoxError>(boxed)?;
    group.downcast_ref()
}

/// The group with entries of type `N` in a box, through the outcomes of tasks.
fn group_in<N: fmt::Debug + fmt::Display + 'static>(mut boxed: &BoxError) -> Option<&GroupError<N>> {
    loop {
        if let Some(group) = boxed.downcast_ref::<GroupError<N>>() {
            return (!group.is_empty()).then_some(group);
        }
        boxed = boxed.downcast_ref::<TaskError<BoxError>>()?.failed()?;
    }
}

/// The group that an entry is, by value.
fn open<E: 'static>(child: ChildError<E>) -> Result<(Origin, GroupError<E>), ChildError<E>> {
    if look_into(&child.error).is_none() {
        return Err(child);
    }
    let ChildError { child: origin, error } = child;
    let error = error.into_failed().unwrap_or_else(|_| unreachable!("only what has failed is opened"));
    let mut boxed: BoxError = cast(error);
    loop {
        boxed = match boxed.downcast::<GroupError<BoxError>>() {
            Ok(group) => return Ok((origin, cast(*group))),
            Err(outcome) => {
                let outcome = outcome.downcast::<TaskError<BoxError>>();
                let failed = outcome.ok().and_then(|outcome| outcome.into_failed().ok());
                failed.expect("look_into has gone the same way")
            }
        };
    }
}

/// The entry that a part of an opened group is; none if the part is empty.
fn enclose<E: 'static>(origin: &Origin, group: GroupError<E>) -> Option<ChildError<E>> {
    if group.is_empty() {
        return None;
    }
    let boxed: BoxError = Box::new(cast::<_, GroupError<BoxError>>(group));
    Some(ChildError::new(origin.clone(), TaskError::Failed(cast(boxed))))
}

/// `value` as the same type under another name: only boxes are opened, so `E` is [`BoxError`] there,
/// which the compiler does not know.
fn cast<A: 'static, B: 'static>(value: A) -> B {
    let mut value = Some(value);
    let same = (&mut value as &mut dyn Any).downcast_mut::<Option<B>>();
    same.and_then(Option::take).expect("the types are the same")
}
