//! Brigade: structured concurrency for async Rust, with asyncio's vocabulary.
//!
#![doc = include_str!("../../../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "macros")]
#[doc(hidden)]
#[path = "attributes.rs"]
pub mod __private;
#[cfg(doctest)]
mod chapters;
#[cfg(feature = "hyper")]
pub mod hyper;
#[cfg(doctest)]
mod misuse;
pub mod prelude;

#[doc(inline)]
pub use brigade_core::{
    Bound, BoxError, Builder, CallbackId, CancelExt, CancelKind, CancelOnDrop, CancelOutcome, CancelReason,
    Cancelled, CatchCancel, CatchWithGrace, Cleanup, DynError, Ending, EnterGuard, Finally, Finished, Handle,
    Instant, Interval, Join, Locals, MissedTicks, Never, OnCancel, Panic, SharedJoin, SharedTask, Shield,
    Sleep, SpawnError, Task, TaskError, TaskId, TaskLocal, TaskOutput, TaskRef, TaskState, Unobserved,
    UnobservedKind, Warning, Watch, YieldNow, all_tasks, blocking_cancelled, bracket, catch_cancel,
    current_task, effective_deadline, interval, interval_at, shield, sleep, sleep_until, spawn,
    spawn_blocking, spawn_local, try_spawn, yield_now,
};

#[doc(inline)]
pub use brigade_combinators::{
    AllFailed, Amap, AsBranch, AsCompleted, Backoff, BranchExt, ChildBuilder, ChildEnd, ChildError,
    ChildOutput, Closed, Deduplicated, FirstSuccess, Gather, Gatherable, GroupBuilder, GroupError, GroupId,
    GroupScope, InGroup, Items, Keyed, LeaveRunning, Limited, Mapped, MoveOnAfter, Next, NextCompleted,
    NextMapped, Pauses, Policy, Race, Racers, Ready, RescheduleError, Restart, RestartsExhausted,
    ReturnErrors, SpawnReady, Start, StartError, Supervisor, TaskGroup, TaskHandle, TaskSet, TimedOut,
    Timeout, TimeoutScope, Wait, amap, amap_iter, as_completed, first_success, gather, gather_all,
    move_on_after, race, retry, retry_if, timeout, timeout_at, wait, wait_for,
};

#[doc(inline)]
pub use brigade_executor::{RunError, Runner, run};

#[cfg(feature = "macros")]
#[doc(inline)]
pub use brigade_macros::{main, test};

#[cfg(feature = "net")]
#[doc(inline)]
pub use brigade_executor::net;

#[cfg(all(feature = "net", unix))]
#[doc(inline)]
pub use brigade_executor::{Async, Descriptor};

/// What combinators are built on: scopes, receivers, owners. For authors of combinators.
pub use brigade_core::scope;

/// The contract of a backend, the default backends, and what runs a program on one. For embedders.
///
/// An application calls [`run`] or a [`Runner`] and needs nothing of this. A program that brings
/// its own event loop implements [`Backend`](backend::Backend) and [`Drive`](backend::Drive), makes a
/// [`Handle`] of it, and calls [`run_main`](backend::run_main); the example `custom_backend` does so.
pub mod backend {
    #[doc(inline)]
    pub use brigade_core::backend::*;
    #[doc(inline)]
    pub use brigade_core::{
        DriveGuard, Handle, RunOptions, is_inside_task_or_drive, run_main, run_main_local,
    };
    #[doc(inline)]
    pub use brigade_executor::{CurrentThread, MultiThread};
}
