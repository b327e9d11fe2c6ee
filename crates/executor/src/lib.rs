//! Brigade's default executor: schedulers, timers and sockets, without hidden threads.

pub(crate) mod blocking;
mod current_thread;
mod multi_thread;
pub(crate) mod reactor;
pub(crate) mod scheduler;
pub(crate) mod services;
pub(crate) mod sync;
pub(crate) mod thread;
pub(crate) mod until;
pub(crate) mod worker;

pub use current_thread::CurrentThread;
pub use multi_thread::MultiThread;
