//! Tasks, scopes and cancellation of Brigade, without a thread, a queue, a clock or a socket.
//!
//! This crate holds everything that decides how a program *behaves*: the identity, the states and
//! the outcome of tasks, cancellation scopes, the registry of live tasks and the order of shutdown.
//! What runs the tasks is a [`backend::Backend`], so behaviour cannot differ between backends. The
//! numbers in the documentation (`T5`, `C9` …) are the laws of `docs/semantics.md`.
//!
//! Applications use the facade crate `brigade`; this crate is for those who write a backend
//! ([`backend`]) or a combinator ([`scope`]).

pub mod backend;
pub mod budget;
mod cancel;
mod context;
mod locals;
mod runtime;
pub mod scope;
mod sync;
mod task;
mod time;

pub use cancel::bracket::bracket;
pub use cancel::catch::{Cancelled, CatchCancel, catch_cancel};
pub use cancel::finally::{CancelExt, Cleanup, Finally, OnCancel};
pub use cancel::grace::CatchWithGrace;
pub use cancel::reason::{CancelKind, CancelReason};
pub use cancel::shield::{Shield, shield};
pub use locals::{Bound, Locals, TaskLocal};
pub use runtime::handle::{EnterGuard, Handle};
pub use runtime::main_task::{RunOptions, run_main, run_main_local};
pub use runtime::nesting::{DriveGuard, is_inside_task_or_drive};
pub use runtime::reports::{Ending as UnobservedKind, Unobserved, Warning};
pub use scope::effective_deadline;
pub use task::blocking::{blocking_cancelled, spawn_blocking};
pub use task::builder::Builder;
pub use task::callbacks::CallbackId;
pub use task::current::{all_tasks, current_task};
pub use task::error::{BoxError, DynError, Panic, TaskError};
pub use task::finished::Finished;
pub use task::handle::{CancelOnDrop, Task};
pub use task::id::TaskId;
pub use task::join::{Join, Watch};
pub use task::output::{Never, TaskOutput};
pub use task::reference::TaskRef;
pub use task::shared::{SharedJoin, SharedTask};
pub use task::spawn::{SpawnError, spawn, spawn_local, try_spawn};
pub use task::state::{CancelOutcome, Ending, TaskState};
pub use time::instant::Instant;
pub use time::interval::{Interval, MissedTicks, interval, interval_at};
pub use time::sleep::{Sleep, sleep, sleep_until};
pub use time::yielding::{YieldNow, yield_now};
