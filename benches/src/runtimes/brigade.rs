//! Brigade's executors, with their defaults but for the number of workers.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::TcpListener as StdListener;
use std::pin::{Pin, pin};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use brigade::hyper::BrigadeIo;
use brigade::net::TcpListener;
use brigade_core::backend::{Backend, Drive};
use brigade_core::{Handle, Instant, RunOptions, Task, run_main};
use brigade_executor::{CurrentThread, MultiThread};
use futures_channel::oneshot;
use pin_project_lite::pin_project;

use super::{Counts, Runtime};
use crate::serve;

/// A runtime whose main task only waits for the end, driven by a thread of its own, which is worker 0.
pub(crate) struct Brigade {
    handle: Handle,
    /// The backend that counts what its workers do, if it is the one that does.
    workers: Option<Arc<MultiThread>>,
    stop: Option<oneshot::Sender<()>>,
    driver: Option<JoinHandle<()>>,
}

impl Brigade {
    pub(crate) fn new(workers: usize) -> Result<Brigade, String> {
        let workers = MultiThread::new(workers).map_err(failed)?;
        let mut brigade = Brigade::drive(workers.clone())?;
        brigade.workers = Some(workers);
        Ok(brigade)
    }

    pub(crate) fn current_thread() -> Result<Brigade, String> {
        Brigade::drive(CurrentThread::new().map_err(failed)?)
    }

    fn drive<B: Backend + Drive>(backend: Arc<B>) -> Result<Brigade, String> {
        let handle = Handle::new(backend.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let main = async { stopped.await.unwrap_or_default() };
        let driven = handle.clone();
        let body =
            move || run_main(&driven, &*backend, RunOptions::new(), main).expect("waiting does not fail");
        let driver = thread::Builder::new().name("brigade-0".to_owned()).spawn(body).map_err(failed)?;
        Ok(Brigade { handle, workers: None, stop: Some(stop), driver: Some(driver) })
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
        brigade_core::spawn(Infallibly { future })
    }

    fn spawn_detached<F: Future<Output = ()> + Send + 'static>(future: F) {
        drop(brigade_core::spawn(future));
    }

    fn spawn_from_outside<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        drop(self.handle.spawn(future));
    }

    async fn join<T: Send + 'static>(task: Task<T, Infallible>) -> T {
        task.await.expect("no task of a workload panics")
    }

    async fn cancel_all(mut tasks: Vec<Task<(), Infallible>>) {
        for task in &tasks {
            task.cancel();
        }
        for task in &mut tasks {
            task.await.expect_err("the task was cancelled");
        }
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        brigade_core::yield_now()
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
        brigade_core::sleep(duration)
    }

    async fn timeout<F>(limit: Duration, future: F) -> Option<F::Output>
    where
        F: Future + Send,
        F::Output: Send,
    {
        brigade::timeout(limit, future).await.ok()
    }

    async fn rearm(times: usize) {
        let mut sleep = pin!(brigade_core::sleep(HOUR));
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
            Self::spawn_detached(serve::echo(stream, size));
        }
    }

    async fn serve_http(listener: StdListener) {
        let listener = asynchronous(listener);
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).expect("a socket has the option");
            Self::spawn_detached(serve::http(BrigadeIo::new(stream)));
        }
    }

    async fn accept_all(listener: StdListener, accepted: impl Fn() + Send + Sync + 'static) {
        let listener = asynchronous(listener);
        while listener.accept().await.is_ok() {
            accepted();
        }
    }

    fn counts(&self) -> Counts {
        let Some(counters) = self.workers.as_ref().map(|workers| workers.counters()) else {
            return Counts::default();
        };
        Counts { parks: Some(counters.parks), wakes: Some(counters.wakes), steals: Some(counters.steals) }
    }

    fn block_on<F>(&self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (done, ended) = mpsc::channel();
        drop(self.handle.spawn(async move { done.send(main.await).expect("the caller waits") }));
        ended.recv().expect("the workload ends")
    }
}

pin_project! {
    /// Gives the output as a result, as tasks return it, without a second copy of the future in an async block.
    struct Infallibly<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Infallibly<F> {
    type Output = Result<F::Output, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().future.poll(cx).map(Ok)
    }
}

fn failed(error: io::Error) -> String {
    format!("brigade does not start: {error}")
}

fn asynchronous(listener: StdListener) -> TcpListener {
    TcpListener::from_std(listener).expect("a listener can be registered")
}

const HOUR: Duration = Duration::from_secs(3600);
