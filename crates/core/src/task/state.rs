//! The word in which everything that threads must agree on about a task is decided.
//!
//! Only this file names the bits. Each transition is one atomic read-modify-write and answers with
//! what the caller has to do.
//!
//! | bit | set by | can not be set when |
//! |---|---|---|
//! | `SOFT`, `HARD` | `request` (1) | `ENDING` is set: the outcome is decided, the request is answered `Done` |
//! | `ABORT` | `request_abort` (2) | it has no effect once `ENDING` is set |
//! | `ENDING` | `transition_to_ending` (3) | never twice: only the poll that finishes the task sets it |
//! | `DONE` and the ending | `transition_to_done` (4) | `ENDING` is not set |
//! | `WATCHED` | `transition_to_watched` (5) | `DONE` is set: the watcher must look instead of wait |
//! | `JOINED` | `transition_to_joined` (6) | as `WATCHED`; set and cleared by the one handle only (`joiner.rs`) |
//!
//! ```text
//!            1 request ⟲ take_requests           2 request_abort
//!   (start) ────────────────────────► (live) ──────────────────► (live, ABORT)
//!      │                                 │ 3 transition_to_ending      │ 3
//!      └──── 3 (C7) ────────────────────►▼◄────────────────────────────┘
//!                                     (ENDING) ── 4 transition_to_done ──► (DONE)
//! ```
//!
//! INVARIANT W1: `ENDING` and the requests before it are decided by one read-modify-write each on the
//! same word, so each request either precedes the end and is seen by it, or is answered `Done` (C8).
//!
//! INVARIANT W2: a thread that reads `DONE` sees the outcome in async-task's cell and the ending.

use crate::cancel::account::Level;
use crate::sync::{AtomicU32, Ordering};

const SOFT: u32 = 1;
const HARD: u32 = 1 << 1;
const ABORT: u32 = 1 << 2;
const ENDING: u32 = 1 << 3;
const DONE: u32 = 1 << 4;
const WATCHED: u32 = 1 << 5;
const JOINED: u32 = 1 << 6;
const ENDING_SHIFT: u32 = 7;
const REQUESTS: u32 = SOFT | HARD;

/// What a request for cancellation met (law C1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The request was noted; it will be delivered at the task's next suspension point.
    Requested,
    /// The same, and an earlier request has not been absorbed yet.
    AlreadyRequested,
    /// The task's outcome is decided; nothing changed.
    Done,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// With a value.
    Value,
    /// With an error.
    Failed,
    /// Cancelled or aborted.
    Cancelled,
    /// By a panic.
    Panicked,
}

/// Where a task stands (law T3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskState {
    /// Not polled yet.
    Pending,
    /// Being polled.
    Running,
    /// Waiting for something.
    Suspended,
    /// A request for cancellation was made and has not been absorbed.
    Cancelling,
    /// Ended; never changes again.
    Done(Ending),
}

/// Who waits for the end of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// Somebody may have left a waker or a callback in the late part.
    pub(crate) watched: bool,
    /// The handle's waker is in its cell.
    pub(crate) joined: bool,
}

/// The word of one task.
#[derive(Debug)]
pub(crate) struct TaskWord(AtomicU32);

impl TaskWord {
    pub(crate) fn new() -> TaskWord {
        TaskWord(AtomicU32::new(0))
    }

    /// Edge 1. The reason must have been stored before, under the lock under which
    /// [`TaskWord::take_requests`] is called.
    #[must_use]
    pub(crate) fn request(&self, level: Level) -> CancelOutcome {
        let bit = if level == Level::Hard { HARD } else { SOFT };
        // Release: pairs with the Acquire of `transition_to_ending`, which then reads the reason.
        // Acquire: pairs with its Release, so that `Done` means that the body is over.
        let before = self.0.fetch_or(bit, Ordering::AcqRel);
        match (before & (ENDING | DONE), before & REQUESTS) {
            (0, 0) => CancelOutcome::Requested,
            (0, _) => CancelOutcome::AlreadyRequested,
            _ => CancelOutcome::Done,
        }
    }

    /// Takes the undelivered requests.
    #[must_use]
    pub(crate) fn take_requests(&self) -> Option<Level> {
        // Acquire: pairs with the Release of `request`. The lock of the late part orders the rest.
        let before = self.0.fetch_and(!REQUESTS, Ordering::AcqRel);
        level(before)
    }

    /// From here on the undelivered requests wait until no handler runs (laws C6, C11).
    pub(crate) fn soften_requests(&self) {
        // Relaxed: only the task's own poll lowers and takes requests; their reasons are published as before.
        if self.0.load(Ordering::Relaxed) & HARD != 0 {
            // Relaxed: as above. One that is made in between counts as made before.
            self.0.fetch_or(SOFT, Ordering::Relaxed);
            self.0.fetch_and(!HARD, Ordering::Relaxed);
        }
    }

    /// Whether a request is waiting to be delivered. A stale `false` is harmless: whoever made
    /// the request wakes the task afterwards.
    pub(crate) fn has_requests(&self) -> bool {
        // Acquire: pairs with the Release of `request`.
        self.0.load(Ordering::Acquire) & REQUESTS != 0
    }

    /// Whether a request or an abort is waiting. A stale `false` is harmless, as in `has_requests`.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        // Acquire: pairs with the Release of `request` and of `request_abort`.
        self.0.load(Ordering::Acquire) & (REQUESTS | ABORT) != 0
    }

    /// Edge 2; `false` if the outcome was decided before.
    #[must_use]
    pub(crate) fn request_abort(&self) -> bool {
        // AcqRel: as in `request`.
        self.0.fetch_or(ABORT, Ordering::AcqRel) & (ENDING | DONE) == 0
    }

    pub(crate) fn abort_requested(&self) -> bool {
        // Acquire: pairs with the Release of `request_abort`.
        self.0.load(Ordering::Acquire) & ABORT != 0
    }

    /// Edge 3: from here on requests are answered `Done`. Tells whether one is undelivered.
    #[must_use]
    pub(crate) fn transition_to_ending(&self) -> bool {
        // AcqRel: pairs with `request` on the same word, which decides law C8 (INVARIANT W1).
        self.0.fetch_or(ENDING, Ordering::AcqRel) & REQUESTS != 0
    }

    /// Whether edge 3 was taken; for the poll that takes it.
    pub(crate) fn is_ending(&self) -> bool {
        // Relaxed: only the poll that asks sets the bit.
        self.0.load(Ordering::Relaxed) & ENDING != 0
    }

    /// Edge 4: the outcome is readable. Tells who waits.
    #[must_use]
    pub(crate) fn transition_to_done(&self, ending: Ending) -> Waiting {
        let bits = DONE | ((ending as u32) << ENDING_SHIFT);
        // Release: pairs with the Acquire in `ending`, which makes the outcome readable
        // (INVARIANT W2). Acquire: pairs with `transition_to_watched`, whose waker we read next.
        let before = self.0.fetch_or(bits, Ordering::AcqRel);
        Waiting { watched: before & WATCHED != 0, joined: before & JOINED != 0 }
    }

    /// Edge 5: asks the end to look for watchers. `false` if the task is done already.
    #[must_use]
    pub(crate) fn transition_to_watched(&self) -> bool {
        // Release: pairs with the Acquire of `transition_to_done`. Acquire: pairs with its Release.
        self.0.fetch_or(WATCHED, Ordering::AcqRel) & DONE == 0
    }

    /// Edge 6: the handle has left its waker. `false` if the task is done already, and the end did not see
    /// it.
    #[must_use]
    pub(crate) fn transition_to_joined(&self) -> bool {
        // Release: publishes the waker to the Acquire of `transition_to_done`. Acquire: pairs with its Release.
        self.0.fetch_or(JOINED, Ordering::AcqRel) & DONE == 0
    }

    /// Takes edge 6 back. `false` if the end has met it: then the waker is the end's.
    #[must_use]
    pub(crate) fn transition_to_unjoined(&self) -> bool {
        // Relaxed: only the handle, which asks, sets the bit.
        if self.0.load(Ordering::Relaxed) & JOINED == 0 {
            return true;
        }
        // Acquire: pairs with the Release of `transition_to_done`. Release: nothing is published, but the word's
        // other readers rely on an unbroken chain.
        self.0.fetch_and(!JOINED, Ordering::AcqRel) & DONE == 0
    }

    /// How the task ended, if it has.
    pub(crate) fn ending(&self) -> Option<Ending> {
        // Acquire: pairs with the Release of `transition_to_done` (INVARIANT W2).
        let word = self.0.load(Ordering::Acquire);
        if word & DONE == 0 {
            return None;
        }
        Some(match (word >> ENDING_SHIFT) & 3 {
            0 => Ending::Value,
            1 => Ending::Failed,
            2 => Ending::Cancelled,
            _ => Ending::Panicked,
        })
    }
}

fn level(word: u32) -> Option<Level> {
    match word & REQUESTS {
        0 => None,
        SOFT => Some(Level::Soft),
        _ => Some(Level::Hard),
    }
}
