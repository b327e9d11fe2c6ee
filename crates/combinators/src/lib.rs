//! Task groups, gather, wait, race and timeouts of Brigade: the constructs that run several things at
//! once, or one thing for a certain time, and that end only when everything in them has ended.
//!
//! | to … | use |
//! |---|---|
//! | spawn tasks that end before the block does | [`TaskGroup`] |
//! | start children again when they fail | [`Supervisor`] with a [`Backoff`] |
//! | run several futures or tasks and get all their values | [`gather()`], [`gather_all`] |
//! | wait until some or all tasks have ended | [`wait()`], [`as_completed()`] |
//! | call an async function for every item of a stream or an iterator, so many at once | [`amap()`], [`amap_iter`] |
//! | take the first that ends, or the first that succeeds | [`race()`], [`first_success`] |
//! | give a future a certain time | [`timeout()`], [`timeout_at`], [`wait_for`], [`move_on_after`], [`Timeout::scope`] |
//! | try again what has failed | [`retry()`], [`retry_if`] with a [`Backoff`] |
//!
//! Everything here is built on the public interface of [`brigade_core::scope`], and nothing here knows
//! what runs the tasks. Each function says under *Cancellation* what happens to each of its branches. The
//! numbers in the documentation (`G5`, `A2` …) are the laws of `docs/semantics.md`.

mod amap;
mod as_completed;
mod backoff;
mod gather;
mod group;
#[cfg(doctest)]
mod misuse;
mod never;
mod race;
mod retry;
mod slots;
mod sync;
mod timeout;
mod wait;

pub use amap::{Amap, Items, Mapped, NextMapped, amap, amap_iter};
pub use as_completed::{AsCompleted, NextCompleted, as_completed};
pub use backoff::{Backoff, Pauses};
pub use gather::{AsBranch, BranchExt, Gather, Gatherable, LeaveRunning, ReturnErrors, gather, gather_all};
pub use group::{
    ChildBuilder, ChildEnd, ChildError, ChildOutput, Closed, Deduplicated, GroupBuilder, GroupError, GroupId,
    GroupScope, InGroup, Keyed, Next, Policy, Ready, Restart, RestartsExhausted, SpawnReady, Start,
    StartError, Supervisor, TaskGroup,
};
pub use race::{AllFailed, FirstSuccess, Race, Racers, first_success, race};
pub use retry::{retry, retry_if};
pub use timeout::{
    Limited, MoveOnAfter, RescheduleError, TimedOut, Timeout, TimeoutScope, move_on_after, timeout,
    timeout_at, wait_for,
};
pub use wait::{TaskHandle, TaskSet, Wait, wait};

/// Types and traits that stand in signatures and are nobody's business.
#[doc(hidden)]
pub mod machinery {
    pub use crate::gather::array::FixedRow;
    pub use crate::gather::branch::{Branch, BranchOutput, Step};
    pub use crate::gather::crew::{GatherTeam, RaceTeam, Seats};
    pub use crate::gather::round::Team;
    pub use crate::gather::tuple::{
        Team1, Team2, Team3, Team4, Team5, Team6, Team7, Team8, Team9, Team10, Team11, Team12,
    };
    pub use crate::gather::vec::Row;
    pub use crate::never::Returns;
}
