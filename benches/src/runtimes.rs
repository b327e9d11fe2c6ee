//! What a workload needs of a runtime, and the runtimes that are compared.
//!
//! Every runtime keeps its threads for the whole run, and sleeps while another one is measured. The main part of a
//! workload runs as a task on a worker everywhere, never on the thread that waits for it.

mod async_executor;
mod brigade;
mod tokio;

use std::future::Future;

use crate::workloads::{self, Workload};

/// A runtime whose tasks spawn on the runtime that they run on.
pub(crate) trait Runtime: Send + Sync + 'static {
    /// The handle of a task; dropping it is not part of any workload.
    type Task<T: Send + 'static>: Send + 'static;

    fn spawn<F>(future: F) -> Self::Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns a task that nobody waits for, in the runtime's own way.
    fn spawn_detached<F: Future<Output = ()> + Send + 'static>(future: F);

    fn join<T: Send + 'static>(task: Self::Task<T>) -> impl Future<Output = T> + Send;

    fn yield_now() -> impl Future<Output = ()> + Send;

    /// Runs `main` as a task on a worker, and blocks the calling thread until it has ended.
    fn block_on<F: Future<Output = ()> + Send + 'static>(&self, main: F);
}

/// A runtime as the measurement sees it.
pub(crate) trait Subject {
    fn name(&self) -> &'static str;

    /// Runs the workload once, in full.
    fn run(&self, workload: Workload);
}

struct Named<R>(&'static str, R);

impl<R: Runtime> Subject for Named<R> {
    fn name(&self) -> &'static str {
        self.0
    }

    fn run(&self, workload: Workload) {
        workloads::run(&self.1, workload);
    }
}

pub(crate) fn brigade(workers: usize) -> Result<Box<dyn Subject>, String> {
    Ok(Box::new(Named("brigade", brigade::Brigade::new(workers)?)))
}

pub(crate) fn tokio(workers: usize) -> Result<Box<dyn Subject>, String> {
    Ok(Box::new(Named("tokio", tokio::Tokio::new(workers)?)))
}

pub(crate) fn smol(workers: usize) -> Result<Box<dyn Subject>, String> {
    Ok(Box::new(Named("smol", async_executor::Smol::new(workers)?)))
}

pub(crate) fn by_name(name: &str, workers: usize) -> Result<Box<dyn Subject>, String> {
    match name {
        "brigade" => brigade(workers),
        "tokio" => tokio(workers),
        "smol" => smol(workers),
        _ => Err(format!("there is no runtime {name}: brigade, tokio or smol")),
    }
}
