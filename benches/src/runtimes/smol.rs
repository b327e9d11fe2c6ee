//! smol: one global async-executor, run by as many threads as there are workers, as smol itself does it.

use std::future::{self, Future};
use std::thread::{self, JoinHandle};

use async_executor::{Executor, Task};
use futures_channel::oneshot;
use futures_lite::future::{block_on, or, yield_now};

use super::Runtime;

static EXECUTOR: Executor<'static> = Executor::new();

/// The threads that run the executor, each with what ends it: a dropped sender.
pub(crate) struct Smol(Vec<(oneshot::Sender<()>, JoinHandle<()>)>);

impl Smol {
    pub(crate) fn new(workers: usize) -> Result<Smol, String> {
        let start = |index| {
            let (stop, stopped) = oneshot::channel::<()>();
            let stopped = async { stopped.await.unwrap_or_default() };
            let work = EXECUTOR.run(future::pending());
            let body = move || block_on(or(stopped, work));
            let thread = thread::Builder::new().name(format!("smol-{index}")).spawn(body);
            Ok((stop, thread.map_err(|error| format!("smol does not start: {error}"))?))
        };
        (0..workers).map(start).collect::<Result<_, String>>().map(Smol)
    }
}

impl Drop for Smol {
    fn drop(&mut self) {
        for (stop, thread) in self.0.drain(..) {
            drop(stop);
            thread.join().expect("a thread of the executor does not panic");
        }
    }
}

impl Runtime for Smol {
    type Task<T: Send + 'static> = Task<T>;

    fn spawn<F>(future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        EXECUTOR.spawn(future)
    }

    fn spawn_detached<F: Future<Output = ()> + Send + 'static>(future: F) {
        EXECUTOR.spawn(future).detach();
    }

    fn join<T: Send + 'static>(task: Task<T>) -> impl Future<Output = T> + Send {
        task
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        yield_now()
    }

    fn block_on<F: Future<Output = ()> + Send + 'static>(&self, main: F) {
        block_on(EXECUTOR.spawn(main));
    }
}
