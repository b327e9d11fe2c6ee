//! The workloads that Brigade, async-task alone and tokio have in common, written once.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// What a workload needs of a runtime with one thread.
pub(crate) trait Host {
    type Task: Send;

    /// Runs `main` as a task to its end.
    fn run(main: impl Future<Output = ()> + Send + 'static);

    fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Self::Task;

    fn join(task: Self::Task) -> impl Future<Output = ()> + Send;

    fn detach(task: Self::Task);

    fn yield_now() -> impl Future<Output = ()> + Send;
}

/// How many tasks are in the queue at once, so that what a scheduler does per round is shared by many.
pub(crate) const CROWD: usize = 100;

/// Spawns a task and awaits it, one by one. Every await suspends.
pub(crate) fn spawn_join<H: Host>(count: usize) {
    H::run(async move {
        for _ in 0..count {
            H::join(H::spawn(async {})).await;
        }
    });
}

/// Spawns tasks whose handles are dropped at once.
pub(crate) fn spawn_detached<H: Host>(count: usize) {
    H::run(async move {
        for _ in 0..count / CROWD {
            (0..CROWD).for_each(|_| H::detach(H::spawn(async {})));
            H::yield_now().await;
        }
    });
}

/// Polls of tasks that wake themselves.
pub(crate) fn yields<H: Host>(count: usize) {
    crowd::<H, _>(move || async move {
        for _ in 0..count / CROWD {
            H::yield_now().await;
        }
    });
}

/// Two tasks that wake each other in turn.
pub(crate) fn wake<H: Host>(count: usize) {
    let (left, right) = (Place::default(), Place::default());
    H::run(async move {
        let other = H::spawn(hand_over(right.clone(), left.clone(), count / 2));
        hand_over(left, right, count / 2).await;
        H::join(other).await;
    });
}

/// Runs the body in as many tasks as there are in a crowd.
pub(crate) fn crowd<H: Host, F: Future<Output = ()> + Send + 'static>(body: impl Fn() -> F + Send + 'static) {
    H::run(async move {
        let tasks: Vec<_> = (0..CROWD).map(|_| H::spawn(body())).collect();
        for task in tasks {
            H::join(task).await;
        }
    });
}

/// Where a task waits to be woken.
type Place = Arc<Mutex<Option<Waker>>>;

/// Wakes who waits there, and waits here, `times` times.
async fn hand_over(here: Place, there: Place, times: usize) {
    for _ in 0..times {
        let mut waited = false;
        poll_fn(|cx| {
            if waited {
                return Poll::Ready(());
            }
            waited = true;
            *here.lock().expect("nobody panics here") = Some(cx.waker().clone());
            wake_up(&there);
            Poll::Pending
        })
        .await;
    }
    wake_up(&there);
}

fn wake_up(place: &Place) {
    let waker = place.lock().expect("nobody panics here").take();
    if let Some(waker) = waker {
        waker.wake();
    }
}
