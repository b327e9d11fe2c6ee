//! The state of a task that lives inside its allocation.

use std::num::NonZeroU32;
use std::panic::Location;

use crate::backend::Home;
use crate::cancel::account::{Level, OWN, Request};
use crate::cancel::node::Node;
use crate::cancel::reason::CancelReason;
use crate::locals::Locals;
use crate::runtime::handle::Handle;
use crate::sync::{Arc, AtomicU8, Mutex, MutexGuard, OnceLock, Ordering, lock};
use crate::task::hold::Hold;
use crate::task::id::TaskId;
use crate::task::joiner::Joiner;
use crate::task::late::Late;
use crate::task::output::Owner;
use crate::task::registry::Place;
use crate::task::state::{CancelOutcome, TaskState, TaskWord};

const PENDING: u8 = 0;
const RUNNING: u8 = 1;
const SUSPENDED: u8 = 2;

/// Metadata of a task, inline in async-task's header.
///
/// | field | who, when |
/// |---|---|
/// | `word` | anybody; see `state.rs` |
/// | `phase` | written by the polling thread, read by anybody |
/// | `place` | the registry; see `registry.rs` |
/// | `hold` | see `hold.rs` |
/// | `node` | published once by the root, read by anybody |
/// | `late` | anybody, under its lock |
/// | `joiner` | see `joiner.rs` |
/// | the rest | written before the task is scheduled, constant afterwards |
pub(crate) struct TaskMeta {
    pub(crate) word: TaskWord,
    phase: AtomicU8,
    pub(crate) home: Option<LocalHome>,
    pub(crate) parent: Option<TaskId>,
    pub(crate) location: &'static Location<'static>,
    /// Somebody else than the runtime owns it.
    pub(crate) is_owned: bool,
    pub(crate) place: Place,
    pub(crate) hold: Hold,
    pub(crate) node: OnceLock<Arc<Node>>,
    late: Mutex<Late>,
    pub(crate) joiner: Joiner,
}

/// Where a `!Send` task lives: the backend's worker and the thread behind it.
#[derive(Clone, Copy)]
pub(crate) struct LocalHome {
    pub(crate) worker: Home,
    pub(crate) thread: NonZeroU32,
}

/// What [`TaskMeta::new`] is made of.
pub(crate) struct Parts {
    pub(crate) place: Place,
    pub(crate) home: Option<LocalHome>,
    pub(crate) parent: Option<TaskId>,
    pub(crate) location: &'static Location<'static>,
    pub(crate) owner: Option<(Arc<dyn Owner>, usize)>,
    pub(crate) name: Option<Arc<str>>,
}

impl TaskMeta {
    #[inline(always)]
    pub(crate) fn new(parts: Parts) -> TaskMeta {
        let mut late = Late::default();
        if let Some(name) = parts.name {
            late.more().name = Some(name);
        }
        TaskMeta {
            word: TaskWord::new(),
            phase: AtomicU8::new(PENDING),
            home: parts.home,
            parent: parts.parent,
            location: parts.location,
            is_owned: parts.owner.is_some(),
            place: parts.place,
            hold: Hold::new(parts.owner, Locals::capture()),
            node: OnceLock::new(),
            late: Mutex::new(late),
            joiner: Joiner::default(),
        }
    }

    pub(crate) fn id(&self) -> TaskId {
        self.place.id()
    }

    pub(crate) fn runtime(&self) -> Handle {
        self.runtime_ref().clone()
    }

    pub(crate) fn runtime_ref(&self) -> &Handle {
        self.place.runtime()
    }

    pub(crate) fn late(&self) -> MutexGuard<'_, Late> {
        lock(&self.late)
    }

    pub(crate) fn name(&self) -> Arc<str> {
        self.given_name().unwrap_or_else(|| default_name(self.id()))
    }

    pub(crate) fn given_name(&self) -> Option<Arc<str>> {
        self.late().more.as_ref().and_then(|more| more.name.clone())
    }

    pub(crate) fn set_name(&self, name: Arc<str>) {
        let former = self.late().more().name.replace(name);
        drop(former);
    }

    /// Notes a request without waking anybody (laws C1, C8, T3).
    pub(crate) fn request(&self, level: Level, reason: CancelReason, explicit: bool) -> CancelOutcome {
        let earlier = self.node.get().is_some_and(|node| !node.lock().account(OWN).is_clear());
        let mut late = self.late();
        let more = late.more();
        let first = more.reason.is_none();
        if first {
            more.reason = Some(reason);
        }
        let outcome = self.word.request(level);
        let withdrawn = match outcome {
            CancelOutcome::Done if first => more.reason.take(),
            CancelOutcome::Done => None,
            _ => {
                more.explicit += u32::from(explicit);
                None
            }
        };
        drop(late);
        drop(withdrawn);
        match outcome {
            CancelOutcome::Requested if earlier => CancelOutcome::AlreadyRequested,
            outcome => outcome,
        }
    }

    /// Asks for an abort without waking anybody, for this reason unless there is an earlier one (laws
    /// C14, C15); `false` if the outcome was decided before.
    #[must_use]
    pub(crate) fn request_abort(&self, reason: CancelReason) -> bool {
        let mut late = self.late();
        let unused = match &mut late.more().reason {
            known @ None => known.replace(reason),
            Some(_) => Some(reason),
        };
        drop(late);
        drop(unused);
        self.word.request_abort()
    }

    /// Takes the requests that were made to the task, for delivery by its root.
    #[inline]
    pub(crate) fn take_request(&self) -> Option<Request> {
        if self.word.has_requests() { self.take_noted_request() } else { None }
    }

    #[cold]
    fn take_noted_request(&self) -> Option<Request> {
        let mut late = self.late();
        let level = self.word.take_requests()?;
        let more = late.more();
        let reason = more.reason.take()?;
        let explicit = more.explicit;
        if let Some(node) = self.node.get() {
            more.explicit = 0;
            drop(late);
            node.lock().explicit += explicit;
        }
        Some(Request { level, reason })
    }

    /// The number of explicit requests that were not absorbed (law T3).
    pub(crate) fn cancelling(&self) -> u32 {
        let waiting = self.late().more.as_ref().map_or(0, |more| more.explicit);
        waiting + self.node.get().map_or(0, |node| node.lock().explicit_requests())
    }

    pub(crate) fn set_running(&self) {
        // Relaxed: a snapshot for `state()`; nothing is published with it.
        self.phase.store(RUNNING, Ordering::Relaxed);
    }

    pub(crate) fn set_suspended(&self) {
        // Relaxed: as in `set_running`.
        self.phase.store(SUSPENDED, Ordering::Relaxed);
    }

    pub(crate) fn started(&self) -> bool {
        // Relaxed: as in `set_running`.
        self.phase.load(Ordering::Relaxed) != PENDING
    }

    pub(crate) fn state(&self) -> TaskState {
        if let Some(ending) = self.word.ending() {
            return TaskState::Done(ending);
        }
        let asked = || self.node.get().is_some_and(|node| !node.lock().account(OWN).is_clear());
        if self.word.has_requests() || self.word.abort_requested() || asked() {
            return TaskState::Cancelling;
        }
        // Relaxed: as in `set_running`.
        match self.phase.load(Ordering::Relaxed) {
            PENDING => TaskState::Pending,
            RUNNING => TaskState::Running,
            _ => TaskState::Suspended,
        }
    }
}

/// The name of a task that was not given one (law T7).
pub(crate) fn default_name(id: TaskId) -> Arc<str> {
    format!("task-{id}").into()
}
