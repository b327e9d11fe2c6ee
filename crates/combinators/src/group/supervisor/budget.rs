//! How often a supervisor restarts: a window that slides over its books.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use brigade_core::{Instant, TaskRef};

use super::super::error::{ChildError, Origin};

/// The restarts and the failures of the last while.
pub(super) struct Budget<E: 'static> {
    restarts: usize,
    window: Duration,
    log: VecDeque<Event<E>>,
}

struct Event<E: 'static> {
    at: Instant,
    /// It was answered by a restart; else a child failed while it was stopped.
    counts: bool,
    /// `None` if a child that has to run for ever came to its end.
    error: Option<ChildError<E>>,
}

impl<E: 'static> Budget<E> {
    pub(super) fn new(restarts: usize, window: Duration) -> Budget<E> {
        Budget { restarts, window, log: VecDeque::new() }
    }

    /// A restart is due for this end of a child. `false`: it would be one too many.
    pub(super) fn spend(&mut self, now: Instant, error: Option<ChildError<E>>) -> bool {
        self.forget(now);
        let left = self.spent() < self.restarts;
        self.log.push_back(Event { at: now, counts: true, error });
        left
    }

    /// A child failed while it was stopped, for a restart that has been counted.
    pub(super) fn note(&mut self, now: Instant, error: ChildError<E>) {
        self.forget(now);
        self.log.push_back(Event { at: now, counts: false, error: Some(error) });
    }

    /// The account, now that the restart for the last end is refused, by the books or by the backoff.
    pub(super) fn account(&self, last: &TaskRef, by_backoff: bool) -> RestartsExhausted {
        let child =
            Origin { name: last.name(), id: Some(last.id()), location: last.location(), is_body: false };
        RestartsExhausted { child, restarts: self.spent() - 1, window: self.window, by_backoff }
    }

    /// The failures in the window.
    pub(super) fn take_errors(&mut self) -> impl Iterator<Item = ChildError<E>> + use<E> {
        std::mem::take(&mut self.log).into_iter().filter_map(|event| event.error)
    }

    /// The last restart, for people.
    pub(super) fn so_far(&self) -> String {
        format!("restart {} of at most {} within {:?}", self.spent(), self.restarts, self.window)
    }

    fn spent(&self) -> usize {
        self.log.iter().filter(|event| event.counts).count()
    }

    fn forget(&mut self, now: Instant) {
        while self.log.front().is_some_and(|event| event.at.saturating_add(self.window) < now) {
            self.log.pop_front();
        }
    }
}

/// The account of a [`Supervisor`](crate::Supervisor) that has given up; found by
/// [`GroupError::exhausted`](crate::GroupError::exhausted).
#[derive(Clone)]
pub struct RestartsExhausted {
    child: Origin,
    restarts: usize,
    window: Duration,
    by_backoff: bool,
}

impl RestartsExhausted {
    /// The name of the child that ended last.
    #[must_use]
    pub fn child(&self) -> &str {
        &self.child.name
    }

    /// Where that child was given to its supervisor.
    #[must_use]
    pub fn location(&self) -> &'static std::panic::Location<'static> {
        self.child.location
    }

    /// How many restarts, of all children together, there were within the [window](Self::window) before.
    #[must_use]
    pub fn restarts(&self) -> usize {
        self.restarts
    }

    /// The window of the budget.
    #[must_use]
    pub fn window(&self) -> Duration {
        self.window
    }

    /// Whether it was the backoff that gave up, with the budget not used up.
    #[must_use]
    pub fn by_backoff(&self) -> bool {
        self.by_backoff
    }
}

impl fmt::Display for RestartsExhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RestartsExhausted { child, restarts, window, by_backoff } = self;
        let plural = if *restarts == 1 { "" } else { "s" };
        write!(f, "{child} ended after {restarts} restart{plural} within {window:?}")?;
        f.write_str(if *by_backoff { ", and its backoff gave up" } else { "" })
    }
}

impl fmt::Debug for RestartsExhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RestartsExhausted({self})")
    }
}
