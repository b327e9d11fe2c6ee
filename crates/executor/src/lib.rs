//! Brigade's default executor: two schedulers, timers, sockets, signals, and the way into a program.
//!
//! * [`run`](run()) and [`Runner`] run a program from its main to the end of everything.
//! * [`MultiThread`] takes work from one worker to another, [`CurrentThread`] keeps everything on one thread. Both
//!   implement [`Backend`](brigade_core::backend::Backend) and [`Drive`](brigade_core::backend::Drive) of the core, and
//!   nothing but these: how tasks and groups behave is none of this crate's business.
//! * [`net`] has sockets, [`Async`] any other descriptor.
//!
//! No thread is hidden: the workers themselves wait for timers and events, one of them in the operating system, and the
//! thread that calls `run` is one of them. Only blocking closures have threads of their own, while there are any. A
//! runtime is a value: two of them in a process know nothing of each other, and one that has ended has left no thread, no
//! descriptor and no timer behind.
//!
//! Where to read on: `scheduler/idle.md` tells who wakes whom, `reactor/wheel.rs` how timers are kept,
//! `reactor/source.rs` how a socket waits.

pub(crate) mod blocking;
mod clock;
mod current_thread;
mod multi_thread;
pub mod net;
pub(crate) mod reactor;
mod runner;
pub(crate) mod scheduler;
pub(crate) mod services;
#[cfg(unix)]
mod signal;
#[cfg(not(unix))]
#[path = "signal/unsupported.rs"]
mod signal;
#[cfg(unix)]
mod source;
pub(crate) mod sync;
pub(crate) mod thread;
pub(crate) mod until;
pub(crate) mod worker;

pub use current_thread::CurrentThread;
pub use multi_thread::MultiThread;
pub use runner::{RunError, Runner, run};
#[cfg(unix)]
pub use source::{Async, Descriptor};
pub use worker::counts::Counters;
