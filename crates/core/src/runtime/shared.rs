//! What all tasks of a runtime share.
//!
//! | field | who, when |
//! |---|---|
//! | `phase` | moved on by the shutdown alone, read by spawns after they have entered their task |
//! | `registry` | spawns and epilogues; see `registry.rs` |
//! | `hooks`, `waiting`, `blocking` | anybody, under their locks; no user code under them |

use std::task::Waker;

use slab::Slab;

use crate::backend::Backend;
use crate::runtime::reports::Hooks;
use crate::sync::{Arc, AtomicBool, AtomicU8, Mutex, Ordering, lock};
use crate::task::registry::Registry;
use crate::task::reports::wake_safely;

/// Where the runtime stands; it only moves forward.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Open,
    /// Main has ended; tasks with an owner may still be spawned (law R5).
    Closing,
    Closed,
}

pub(crate) struct Shared {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) registry: Registry,
    phase: AtomicU8,
    pub(crate) hooks: Mutex<Hooks>,
    waiting: Mutex<Option<Waker>>,
    pub(crate) grace_over: AtomicBool,
    blocking: Mutex<Slab<Arc<str>>>,
}

impl Shared {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Shared {
        Shared {
            backend,
            registry: Registry::new(),
            phase: AtomicU8::new(Phase::Open as u8),
            hooks: Mutex::new(Hooks::default()),
            waiting: Mutex::new(None),
            grace_over: AtomicBool::new(false),
            blocking: Mutex::new(Slab::new()),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        // SeqCst: pairs with `advance`. A spawn enters its task and then looks here, the shutdown moves the phase on and
        // then looks at the tasks: one sees the other. The same for a task that leaves.
        match self.phase.load(Ordering::SeqCst) {
            0 => Phase::Open,
            1 => Phase::Closing,
            _ => Phase::Closed,
        }
    }

    pub(crate) fn advance(&self, phase: Phase) {
        // SeqCst: pairs with `phase`.
        self.phase.fetch_max(phase as u8, Ordering::SeqCst);
    }

    /// Whether nothing is left for the shutdown to wait for.
    pub(crate) fn is_idle(&self) -> bool {
        self.registry.is_empty() && lock(&self.blocking).is_empty()
    }

    /// Keeps the waker of the one who waits for the end.
    pub(crate) fn wait(&self, waker: &Waker) {
        let former = lock(&self.waiting).replace(waker.clone());
        drop(former);
    }

    pub(crate) fn wake_waiting(&self) {
        let waker = lock(&self.waiting).take();
        if let Some(waker) = waker {
            wake_safely(waker);
        }
    }

    /// Counts a blocking closure until the guard is dropped.
    pub(crate) fn blocking_started(&self, name: Arc<str>) -> BlockingGuard<'_> {
        BlockingGuard { shared: self, key: lock(&self.blocking).insert(name) }
    }

    /// The names of the closures that are running.
    pub(crate) fn blocking_names(&self) -> Vec<Arc<str>> {
        lock(&self.blocking).iter().map(|(_, name)| name.clone()).collect()
    }
}

/// See [`Shared::blocking_started`].
pub(crate) struct BlockingGuard<'a> {
    shared: &'a Shared,
    key: usize,
}

impl Drop for BlockingGuard<'_> {
    fn drop(&mut self) {
        let name = lock(&self.shared.blocking).try_remove(self.key);
        drop(name);
        if self.shared.phase() != Phase::Open {
            self.shared.wake_waiting();
        }
    }
}
