//! What a request for cancellation says: why, who asked, and where (law C15).

use std::fmt;
use std::panic::Location;

use crate::context;
use crate::sync::Arc;
use crate::task::id::TaskId;
use crate::task::meta::{TaskMeta, default_name};

/// Why a cancellation was requested (law C15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CancelKind {
    /// Somebody called `cancel()`.
    Explicit,
    /// A timeout expired.
    Deadline,
    /// Another child of the group, or another branch of the aggregate, failed.
    SiblingFailed,
    /// The task that waited for this one was cancelled.
    ParentCancelled,
    /// The group was cancelled by `TaskGroup::cancel`.
    GroupCancelled,
    /// The group took no more children.
    GroupClosed,
    /// The process got SIGINT or SIGTERM.
    Signal,
    /// The runtime is ending.
    Shutdown,
    /// The task was aborted: no handler ran.
    Aborted,
}

/// The reason that a request for cancellation carries (law C15).
///
/// Cloning is cheap. The first reason of a chain of requests is the one that is reported.
#[derive(Clone)]
pub struct CancelReason {
    request: Arc<Inner>,
    /// The task that ended because of it.
    task: Option<Named>,
}

#[derive(Clone)]
struct Inner {
    kind: CancelKind,
    text: Option<Box<str>>,
    requester: Option<Named>,
    location: &'static Location<'static>,
}

/// A task as people call it: the name that it was given, else the one made of its number.
#[derive(Clone)]
struct Named(TaskId, Option<Arc<str>>);

impl Named {
    fn of(task: &TaskMeta) -> Named {
        Named(task.id(), task.given_name())
    }

    fn name(&self) -> Arc<str> {
        self.1.clone().unwrap_or_else(|| default_name(self.0))
    }
}

impl CancelReason {
    /// A reason of this kind, made by the current task at the caller's place.
    #[must_use]
    #[track_caller]
    pub fn new(kind: CancelKind) -> CancelReason {
        CancelReason::build(kind, None, Location::caller())
    }

    /// The same with a text for people.
    #[must_use]
    #[track_caller]
    pub fn with_text(kind: CancelKind, text: impl Into<String>) -> CancelReason {
        CancelReason::build(kind, Some(text.into().into_boxed_str()), Location::caller())
    }

    /// The reason that is handed on to others, for instance from a waiter to the awaited task: of
    /// another kind, with the text, the requester and the place of the first request.
    #[must_use]
    pub fn with_kind(&self, kind: CancelKind) -> CancelReason {
        if kind == self.request.kind {
            return CancelReason { request: self.request.clone(), task: None };
        }
        CancelReason { request: Arc::new(Inner { kind, ..(*self.request).clone() }), task: None }
    }

    /// Whether both stem from one call, handed on without a change of kind.
    pub(crate) fn is_same(&self, other: &CancelReason) -> bool {
        Arc::ptr_eq(&self.request, &other.request)
    }

    /// The same reason as the outcome of `task`.
    pub(crate) fn ended(self, task: &TaskMeta) -> CancelReason {
        CancelReason { request: self.request, task: Some(Named::of(task)) }
    }

    /// Why the cancellation was requested.
    #[must_use]
    pub fn kind(&self) -> CancelKind {
        self.request.kind
    }

    /// The text given to `cancel_with`.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.request.text.as_deref()
    }

    /// The id and the name of the task that asked, if a task did.
    #[must_use]
    pub fn requester(&self) -> Option<(TaskId, Arc<str>)> {
        self.request.requester.as_ref().map(|task| (task.0, task.name()))
    }

    /// Where the request was made.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.request.location
    }

    /// A reason with a place that is not the caller's.
    pub(crate) fn at(kind: CancelKind, location: &'static Location<'static>) -> CancelReason {
        CancelReason::build(kind, None, location)
    }

    fn build(kind: CancelKind, text: Option<Box<str>>, location: &'static Location<'static>) -> CancelReason {
        let requester = context::with_task(|task| task.map(Named::of));
        CancelReason { request: Arc::new(Inner { kind, text, requester, location }), task: None }
    }
}

impl fmt::Display for CancelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CancelKind::Explicit => "on request",
            CancelKind::Deadline => "by a deadline",
            CancelKind::SiblingFailed => "because a sibling failed",
            CancelKind::ParentCancelled => "with the task that waited for it",
            CancelKind::GroupCancelled => "with its group",
            CancelKind::GroupClosed => "because its group had ended",
            CancelKind::Signal => "by a signal",
            CancelKind::Shutdown => "by the shutdown of the runtime",
            CancelKind::Aborted => "by abort",
        })
    }
}

impl fmt::Display for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(task) = &self.task {
            write!(f, "task `{}` was ", task.name())?;
        }
        write!(f, "cancelled {}", self.request.kind)?;
        if let Some(text) = &self.request.text {
            write!(f, ": {text}")?;
        }
        if let Some(task) = &self.request.requester {
            write!(f, " (asked by task `{}`)", task.name())?;
        }
        write!(f, " at {}", self.request.location)
    }
}

impl fmt::Debug for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CancelReason({self})")
    }
}
