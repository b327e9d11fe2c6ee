//! Brigade's work-stealing executor, with its defaults but for the number of workers.

use std::convert::Infallible;
use std::future::Future;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use brigade_core::{Handle, RunOptions, Task, run_main};
use brigade_executor::MultiThread;
use futures_channel::oneshot;

use super::Runtime;

/// A runtime whose main task only waits for the end, driven by a thread of its own, which is worker 0.
pub(crate) struct Brigade {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    driver: Option<JoinHandle<()>>,
}

impl Brigade {
    pub(crate) fn new(workers: usize) -> Result<Brigade, String> {
        let failed = |error| format!("brigade does not start: {error}");
        let executor = MultiThread::new(workers).map_err(failed)?;
        let handle = Handle::new(executor.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let main = async { stopped.await.unwrap_or_default() };
        let driven = handle.clone();
        let body =
            move || run_main(&driven, &*executor, RunOptions::new(), main).expect("waiting does not fail");
        let driver = thread::Builder::new().name("brigade-0".to_owned()).spawn(body).map_err(failed)?;
        Ok(Brigade { handle, stop: Some(stop), driver: Some(driver) })
    }
}

impl Drop for Brigade {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(driver) = self.driver.take() {
            driver.join().expect("the driving thread does not panic");
        }
    }
}

impl Runtime for Brigade {
    type Task<T: Send + 'static> = Task<T, Infallible>;

    fn spawn<F>(future: F) -> Task<F::Output, Infallible>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        brigade_core::spawn(async { Ok(future.await) })
    }

    fn spawn_detached<F: Future<Output = ()> + Send + 'static>(future: F) {
        drop(brigade_core::spawn(future));
    }

    async fn join<T: Send + 'static>(task: Task<T, Infallible>) -> T {
        task.await.expect("no task of a workload panics")
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        brigade_core::yield_now()
    }

    fn block_on<F: Future<Output = ()> + Send + 'static>(&self, main: F) {
        let (done, ended) = mpsc::channel();
        drop(self.handle.spawn(async move {
            main.await;
            done.send(()).expect("the caller waits");
        }));
        ended.recv().expect("the workload ends");
    }
}
