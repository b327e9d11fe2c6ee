//! Guards: values whose drops are counted, and whose order is watched.
//!
//! What was made last inside a scope goes first, however the scope ends. Guards form a tree: one is made below
//! another, as a scope lies within another, and none may go before those below it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The book of all guards of a run.
///
/// # Examples
///
/// ```
/// use brigade_testkit::Guards;
///
/// let guards = Guards::new();
/// let outer = guards.guard();
/// let inner = outer.below();
/// drop(inner);
/// drop(outer);
/// assert_eq!(guards.finding(), None);
///
/// let outer = guards.guard();
/// let inner = outer.below();
/// drop(outer);
/// drop(inner);
/// assert!(guards.finding().expect("the outer one went first").contains("order"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Guards(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    /// By number: how many guards below it are alive, and whose child it is; `None` once it was dropped.
    guards: Vec<Option<Entry>>,
    alive: usize,
    too_early: usize,
}

#[derive(Debug)]
struct Entry {
    below: usize,
    parent: Option<usize>,
}

impl Guards {
    /// An empty book. Clones are the same book.
    #[must_use]
    pub fn new() -> Guards {
        Guards::default()
    }

    /// A guard below no other.
    #[must_use = "a guard that is not kept is dropped at once"]
    pub fn guard(&self) -> Guard {
        self.make(None)
    }

    /// What is wrong: guards that are alive, or that went before those below them. The book is empty afterwards.
    #[must_use]
    pub fn finding(&self) -> Option<String> {
        let book = std::mem::take(&mut *self.book());
        match (book.alive, book.too_early) {
            (0, 0) => None,
            (0, early) => Some(format!("{early} guards were dropped out of order")),
            (alive, _) => Some(format!("{alive} guards were never dropped")),
        }
    }

    fn make(&self, parent: Option<usize>) -> Guard {
        let mut book = self.book();
        if let Some(Some(parent)) = parent.map(|parent| &mut book.guards[parent]) {
            parent.below += 1;
        }
        book.alive += 1;
        book.guards.push(Some(Entry { below: 0, parent }));
        Guard { guards: self.clone(), number: book.guards.len() - 1 }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One guard.
#[derive(Debug)]
pub struct Guard {
    guards: Guards,
    number: usize,
}

impl Guard {
    /// A guard that must go before this one.
    #[must_use = "a guard that is not kept is dropped at once"]
    pub fn below(&self) -> Guard {
        self.guards.make(Some(self.number))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut book = self.guards.book();
        let Some(entry) = book.guards.get_mut(self.number).and_then(Option::take) else { return };
        book.alive -= 1;
        book.too_early += usize::from(entry.below > 0);
        if let Some(Some(parent)) = entry.parent.map(|parent| &mut book.guards[parent]) {
            parent.below -= 1;
        }
    }
}
