//! Telling tasks from futures that have not started.

use std::future::Future;

use crate::task::handle::Task;

/// What `wait_for` takes: a future, which a zero timeout never starts (law D5), or a task, which runs
/// already.
pub trait Awaited: IntoFuture {
    /// Whether the work goes on without being polled.
    const STARTED: bool;
}

impl<F: Future> Awaited for F {
    const STARTED: bool = false;
}

impl<T, E> Awaited for Task<T, E> {
    const STARTED: bool = true;
}

impl<T, E> Awaited for &mut Task<T, E> {
    const STARTED: bool = true;
}
