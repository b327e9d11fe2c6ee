//! tokio's runtimes as `#[tokio::main]` makes them, but for the number of workers: with sockets and timers, which the
//! other runtimes have, too.

use std::future::{Future, poll_fn};
use std::net::TcpListener as StdListener;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{self, Builder};
use tokio::task::{self, JoinHandle};
use tokio::time::{self, Instant};

use super::{Counts, Runtime};
use crate::serve;

pub(crate) struct Tokio(runtime::Runtime);

impl Tokio {
    pub(crate) fn new(workers: usize) -> Result<Tokio, String> {
        Tokio::build(Builder::new_multi_thread().worker_threads(workers))
    }

    /// Runs only inside `block_on`, on the thread that calls it.
    pub(crate) fn current_thread() -> Result<Tokio, String> {
        Tokio::build(&mut Builder::new_current_thread())
    }

    fn build(builder: &mut Builder) -> Result<Tokio, String> {
        builder.enable_all().build().map(Tokio).map_err(|error| format!("tokio does not start: {error}"))
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

    fn spawn_from_outside<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        drop(self.0.spawn(future));
    }

    async fn join<T: Send + 'static>(task: JoinHandle<T>) -> T {
        task.await.expect("no task of a workload panics")
    }

    async fn cancel_all(tasks: Vec<JoinHandle<()>>) {
        for task in &tasks {
            task.abort();
        }
        for task in tasks {
            task.await.expect_err("the task was aborted");
        }
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        task::yield_now()
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
        time::sleep(duration)
    }

    async fn timeout<F>(limit: Duration, future: F) -> Option<F::Output>
    where
        F: Future + Send,
        F::Output: Send,
    {
        time::timeout(limit, future).await.ok()
    }

    async fn rearm(times: usize) {
        let mut sleep = pin!(time::sleep(HOUR));
        for _ in 0..times {
            sleep.as_mut().reset(Instant::now() + HOUR);
            let waits = poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx).is_pending())).await;
            assert!(waits, "the deadline is far away");
        }
    }

    async fn serve_echo(listener: StdListener, size: usize) {
        let listener = asynchronous(listener);
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).expect("a socket has the option");
            Self::spawn_detached(echo(stream, size));
        }
    }

    async fn serve_http(listener: StdListener) {
        let listener = asynchronous(listener);
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).expect("a socket has the option");
            Self::spawn_detached(serve::http(TokioIo::new(stream)));
        }
    }

    async fn accept_all(listener: StdListener, accepted: impl Fn() + Send + Sync + 'static) {
        let listener = asynchronous(listener);
        while listener.accept().await.is_ok() {
            accepted();
        }
    }

    /// Its other counters belong to builds with `tokio_unstable`.
    fn counts(&self) -> Counts {
        let metrics = self.0.metrics();
        let parks = (0..metrics.num_workers()).map(|worker| metrics.worker_park_count(worker)).sum();
        Counts { parks: Some(parks), ..Counts::default() }
    }

    fn block_on<F>(&self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // The blocked thread is no worker; a task would otherwise begin on the slow path for strangers.
        self.0.block_on(async { task::spawn(main).await.expect("no workload panics") })
    }
}

/// Written for tokio's own traits, which its streams have; see `serve::echo`.
async fn echo(mut stream: TcpStream, size: usize) {
    let mut buffer = vec![0; size];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

fn asynchronous(listener: StdListener) -> TcpListener {
    listener.set_nonblocking(true).expect("a socket has the option");
    TcpListener::from_std(listener).expect("a listener can be registered")
}

const HOUR: Duration = Duration::from_secs(3600);
