//! tokio's multi-thread runtime as `#[tokio::main]` makes it, but for the number of workers: with sockets and timers,
//! which the other runtimes have, too.

use std::future::Future;

use tokio::runtime;
use tokio::task::{self, JoinHandle};

use super::Runtime;

pub(crate) struct Tokio(runtime::Runtime);

impl Tokio {
    pub(crate) fn new(workers: usize) -> Result<Tokio, String> {
        let built = runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
        built.map(Tokio).map_err(|error| format!("tokio does not start: {error}"))
    }
}

impl Runtime for Tokio {
    type Task<T: Send + 'static> = JoinHandle<T>;

    fn spawn<F>(future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        task::spawn(future)
    }

    fn spawn_detached<F: Future<Output = ()> + Send + 'static>(future: F) {
        drop(task::spawn(future));
    }

    async fn join<T: Send + 'static>(task: JoinHandle<T>) -> T {
        task.await.expect("no task of a workload panics")
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        task::yield_now()
    }

    fn block_on<F: Future<Output = ()> + Send + 'static>(&self, main: F) {
        // The blocked thread is no worker; a task would otherwise begin on the slow path for strangers.
        self.0.block_on(async { task::spawn(main).await.expect("no workload panics") });
    }
}
