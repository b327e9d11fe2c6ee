//! The parts of a task that most tasks never need, behind one lock.
//!
//! | field | who, when |
//! |---|---|
//! | `more` | made at the first name, request, watcher or callback |
//!
//! INVARIANT L1: no user code runs, and no waker is woken or dropped, while the lock is held.

use std::task::Waker;

use slab::Slab;

use crate::cancel::reason::CancelReason;
use crate::sync::Arc;
use crate::task::callbacks::Callback;

#[derive(Default)]
pub(crate) struct Late {
    pub(crate) more: Option<Box<More>>,
}

#[derive(Default)]
pub(crate) struct More {
    pub(crate) name: Option<Arc<str>>,
    /// The reason of the requests that are in the task word.
    pub(crate) reason: Option<CancelReason>,
    /// Explicit requests that the root has not moved to its node yet (law T3).
    pub(crate) explicit: u32,
    pub(crate) watchers: Slab<Waker>,
    pub(crate) callbacks: Vec<Callback>,
    pub(crate) next_callback: u64,
    /// A task is there that runs the callbacks that came late.
    pub(crate) has_caller: bool,
}

impl Late {
    /// Everybody who waits for the end, once.
    pub(crate) fn take_watchers(&mut self) -> (Slab<Waker>, Vec<Callback>) {
        match &mut self.more {
            Some(more) => (std::mem::take(&mut more.watchers), std::mem::take(&mut more.callbacks)),
            None => (Slab::new(), Vec::new()),
        }
    }

    pub(crate) fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }
}
