//! tokio's current-thread runtime, for comparison. Its rows are shown, and never fail the check.

use std::future::{Future, poll_fn, ready};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::task::{self, JoinHandle};
use tokio::time::{sleep, timeout};

use crate::host::Host;

pub(crate) struct Tokio;

impl Host for Tokio {
    type Task = JoinHandle<()>;

    fn run(main: impl Future<Output = ()> + Send + 'static) {
        let runtime = Builder::new_current_thread().enable_all().build().expect("there are descriptors");
        let main = async { task::spawn(main).await.expect("no workload panics") };
        runtime.block_on(main);
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        task::spawn(future)
    }

    async fn join(task: JoinHandle<()>) {
        task.await.expect("no task of a workload panics");
    }

    fn detach(task: JoinHandle<()>) {
        drop(task);
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        task::yield_now()
    }
}

pub(crate) fn timeout_ready(count: usize) {
    Tokio::run(async move {
        for _ in 0..count {
            timeout(FAR, ready(())).await.expect("it is ready");
        }
    });
}

pub(crate) fn timeout_pending(count: usize) {
    Tokio::run(async move {
        for _ in 0..count {
            timeout(FAR, task::yield_now()).await.expect("the deadline is far away");
        }
    });
}

/// Inserts a timer and removes it.
pub(crate) fn timer(count: usize) {
    Tokio::run(async move {
        for _ in 0..count {
            let mut sleep = pin!(sleep(FAR));
            let waits = poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx).is_pending())).await;
            assert!(waits, "the deadline is far away");
        }
    });
}

const FAR: Duration = Duration::from_secs(3600);
