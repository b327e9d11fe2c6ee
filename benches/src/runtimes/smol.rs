//! smol: one global async-executor, run by as many threads as there are workers, as smol itself does it, and async-io
//! for timers and sockets.

use std::future::{self, Future};
use std::io;
use std::net::TcpListener;
use std::pin::pin;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use async_executor::{Executor, Task};
use async_io::{Async, Timer};
use futures_channel::oneshot;
use futures_lite::future::{block_on, or, poll_once, yield_now};

use super::Runtime;
use crate::serve;

static EXECUTOR: Executor<'static> = Executor::new();

/// The threads that run the executor, each with what ends it: a dropped sender.
pub(crate) struct Smol(Vec<(oneshot::Sender<()>, JoinHandle<()>)>);

impl Smol {
    pub(crate) fn new(workers: usize) -> Result<Smol, String> {
        let start = |index| {
            let (stop, stopped) = oneshot::channel::<()>();
            let stopped = async { stopped.await.unwrap_or_default() };
            let work = EXECUTOR.run(future::pending());
            // Each thread helps the reactor when it has nothing to run, as smol's own threads do.
            let body = move || async_io::block_on(or(stopped, work));
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

    fn spawn_from_outside<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        EXECUTOR.spawn(future).detach();
    }

    fn join<T: Send + 'static>(task: Task<T>) -> impl Future<Output = T> + Send {
        task
    }

    async fn cancel_all(tasks: Vec<Task<()>>) {
        let mut cancelling = Vec::new();
        for task in tasks {
            // The first poll cancels.
            let mut cancelled = Box::pin(task.cancel());
            if poll_once(&mut cancelled).await.is_none() {
                cancelling.push(cancelled);
            }
        }
        for cancelled in cancelling {
            cancelled.await;
        }
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        yield_now()
    }

    async fn sleep(duration: Duration) {
        Timer::after(duration).await;
    }

    fn timeout<F>(limit: Duration, future: F) -> impl Future<Output = Option<F::Output>> + Send
    where
        F: Future + Send,
        F::Output: Send,
    {
        let late = async move {
            Timer::after(limit).await;
            None
        };
        or(async { Some(future.await) }, late)
    }

    async fn rearm(times: usize) {
        let mut timer = pin!(Timer::after(HOUR));
        for _ in 0..times {
            timer.as_mut().get_mut().set_at(Instant::now() + HOUR);
            assert!(poll_once(timer.as_mut()).await.is_none(), "the deadline is far away");
        }
    }

    async fn serve_echo(listener: TcpListener, size: usize) {
        let listener = asynchronous(listener);
        while let Ok((stream, _)) = listener.accept().await {
            stream.get_ref().set_nodelay(true).expect("a socket has the option");
            Self::spawn_detached(serve::echo(stream, size));
        }
    }

    async fn serve_http(listener: TcpListener) {
        let listener = asynchronous(listener);
        while let Ok((stream, _)) = listener.accept().await {
            stream.get_ref().set_nodelay(true).expect("a socket has the option");
            Self::spawn_detached(serve::http(brigade::hyper::BrigadeIo::new(stream)));
        }
    }

    async fn accept_all(listener: TcpListener, accepted: impl Fn() + Send + Sync + 'static) {
        let listener = asynchronous(listener);
        while listener.accept().await.is_ok() {
            accepted();
        }
    }

    fn block_on<F>(&self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        block_on(EXECUTOR.spawn(main))
    }
}

fn asynchronous(listener: TcpListener) -> Async<TcpListener> {
    let made: io::Result<_> = Async::new(listener);
    made.expect("a listener can be registered")
}

const HOUR: Duration = Duration::from_secs(3600);
