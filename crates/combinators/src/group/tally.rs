//! How many children of a group have not ended, in one word: a child that ends in a group where that changes nothing
//! takes itself off, and no lock.
//!
//! | bit | set by | never cleared |
//! |---|---|---|
//! | `HEEDED` | `heed`: ends have to be looked at under the lock, as there is a policy, a limit, a service or a failure | yes |
//! | `CLOSED` | `close`: the group takes no more children; who is seated now may have missed the request | yes |
//! | the rest | `enter` (under the lock of the station), `leave` | counts |
//!
//! INVARIANT K4: `enter`, `heed` and `close` are called under the lock of the station alone, so the count does not grow
//! while that is held, and a group that is found empty under it and is not open stays empty.

use crate::sync::{AtomicUsize, Ordering};

const HEEDED: usize = 1;
const CLOSED: usize = 1 << 1;
const CHILD: usize = 1 << 2;

/// See the module. What follows it in memory is on another cache line, since the children's threads write it while
/// others use their group. An alignment would do the same, but makes the allocation of a group twice as dear.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Tally(AtomicUsize, [usize; 7]);

/// What the end of a child leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Departure {
    /// Nothing.
    Unnoticed,
    /// It was the last one, or ends have to be looked at.
    Noticed,
}

impl Tally {
    /// One more.
    pub(super) fn enter(&self) {
        // Relaxed: under the lock of the station (INVARIANT K4), which orders it before the looks for the last child.
        self.0.fetch_add(CHILD, Ordering::Relaxed);
    }

    /// One less.
    #[must_use]
    pub(super) fn leave(&self) -> Departure {
        // Release: pairs with the Acquire of `count`, so that who finds the group empty finds all that its children
        // left. Acquire: the last one looks at what the others left.
        let before = self.0.fetch_sub(CHILD, Ordering::AcqRel);
        match before & HEEDED != 0 || before < 2 * CHILD {
            true => Departure::Noticed,
            false => Departure::Unnoticed,
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        // Acquire: pairs with the Release of `leave`.
        self.0.load(Ordering::Acquire) / CHILD
    }

    /// From here on ends are looked at.
    pub(super) fn heed(&self) {
        // Relaxed: whose end matters sets it himself, or begins after it was set; see `is_heeded`.
        self.0.fetch_or(HEEDED, Ordering::Relaxed);
    }

    /// Whether ends are looked at. A child whose own end matters finds it set: it was set before the child began,
    /// or by the child.
    pub(super) fn is_heeded(&self) -> bool {
        // Relaxed: the child's own past orders it.
        self.0.load(Ordering::Relaxed) & HEEDED != 0
    }

    /// From here on the group takes nobody.
    pub(super) fn close(&self) {
        // Relaxed: the lock of the block orders it; see `is_special`.
        self.0.fetch_or(CLOSED, Ordering::Relaxed);
    }

    /// Whether a child that has just been seated has to be greeted. Who closes the group looks into each block
    /// afterwards: a child that it has not seen there sees, after the lock of its block, that the group is closed.
    pub(super) fn is_special(&self) -> bool {
        // Relaxed: see above.
        self.0.load(Ordering::Relaxed) & (HEEDED | CLOSED) != 0
    }
}
