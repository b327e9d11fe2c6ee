//! Tasks: spawned futures with an identity, a state and a result (laws T1–T13).
//!
//! One allocation per task, made by async-task:
//!
//! ```text
//! ┌ header of async-task ┬ TaskMeta ────────────────────────────┬ union ──────────────────────┐
//! │ state, awaiter       │ word, id, parent, place, runtime,    │ Root { future, scope, sink } │
//! │                      │ slot of the registry, late parts     │ or Out { outcome }           │
//! └──────────────────────┴──────────────────────────────────────┴──────────────────────────────┘
//!        ▲                        ▲
//!        └ Task, Job              └ TaskRef { waker, pointer }
//! ```
//!
//! A task's way: [`prepare`] builds it and puts it into the [`registry`]; [`job`] runs it, [`root`] is
//! what is polled; in its finishing poll the outcome becomes async-task's output ([`outcome`]); the
//! job's epilogue ([`job`]) publishes that in the [`state`] word, wakes waiters, runs
//! [`callbacks`], and tells the owner.

pub(crate) mod awaited;
pub(crate) mod blocking;
pub(crate) mod builder;
pub(crate) mod callbacks;
pub(crate) mod current;
pub(crate) mod drop_queue;
pub(crate) mod error;
pub(crate) mod finished;
pub(crate) mod handle;
pub(crate) mod hold;
pub(crate) mod id;
pub(crate) mod job;
pub(crate) mod join;
pub(crate) mod joiner;
pub(crate) mod late;
#[cfg(all(test, loom))]
mod loom_models;
pub(crate) mod meta;
pub(crate) mod outcome;
pub(crate) mod output;
pub(crate) mod prepare;
pub(crate) mod reference;
pub(crate) mod registry;
pub(crate) mod reports;
pub(crate) mod returns;
pub(crate) mod root;
pub(crate) mod shared;
pub(crate) mod slot;
pub(crate) mod spawn;
pub(crate) mod state;
