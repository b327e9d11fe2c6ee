//! What all tasks of a runtime share.
//!
//! | field | who, when |
//! |---|---|
//! | `phase` | moved on by the shutdown alone, read by spawns under a shard's lock |
//! | `registry` | spawns and epilogues |
//! | `hooks`, `waiting`, `blocking` | anybody, under their locks; no user code under them |

use std::cell::Cell;
use std::task::Waker;

use slab::Slab;

use crate::backend::Backend;
use crate::runtime::reports::Hooks;
use crate::sync::{Arc, AtomicBool, AtomicU8, AtomicU64, Mutex, Ordering, lock};
use crate::task::id::TaskId;
use crate::task::registry::Registry;
use crate::task::reports::wake_safely;

/// How many task numbers a thread takes at a time.
const BLOCK: u64 = 64;

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
    serial: u64,
    next_id: AtomicU64,
    pub(crate) hooks: Mutex<Hooks>,
    waiting: Mutex<Option<Waker>>,
    pub(crate) grace_over: AtomicBool,
    blocking: Mutex<Slab<Arc<str>>>,
}

thread_local! {
    /// The runtime for which this thread holds numbers, the next one, and where they end.
    static NUMBERS: Cell<(u64, u64, u64)> = const { Cell::new((0, 0, 0)) };
}

impl Shared {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Shared {
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        Shared {
            backend,
            registry: Registry::new(),
            phase: AtomicU8::new(Phase::Open as u8),
            // Relaxed, here and for the numbers: only uniqueness is asked for.
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            next_id: AtomicU64::new(1),
            hooks: Mutex::new(Hooks::default()),
            waiting: Mutex::new(None),
            grace_over: AtomicBool::new(false),
            blocking: Mutex::new(Slab::new()),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        // Acquire: pairs with the Release in `advance`. Spawns read it under a shard's lock, which
        // the shutdown takes after it has advanced the phase.
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Open,
            1 => Phase::Closing,
            _ => Phase::Closed,
        }
    }

    pub(crate) fn advance(&self, phase: Phase) {
        // AcqRel: pairs with the Acquire in `phase`.
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
    }

    /// A number that no other task of this runtime has. Threads take them in blocks, so that spawning
    /// does not contend.
    pub(crate) fn next_id(&self) -> TaskId {
        NUMBERS.with(|numbers| {
            let (serial, next, end) = numbers.get();
            let (next, end) = if serial == self.serial && next < end {
                (next, end)
            } else {
                // Relaxed: as in `new`.
                let first = self.next_id.fetch_add(BLOCK, Ordering::Relaxed);
                (first, first + BLOCK)
            };
            numbers.set((self.serial, next + 1, end));
            TaskId::new(next)
        })
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

    /// A shard has no tasks any more; called after its lock is gone.
    pub(crate) fn shard_emptied(&self) {
        if self.phase() != Phase::Open {
            self.wake_waiting();
        }
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
