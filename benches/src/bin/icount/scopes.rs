//! What only Brigade has: scopes, linked tasks, groups, and its timers.

use std::convert::Infallible;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use brigade_combinators::{TaskGroup, gather, timeout};
use brigade_core::{catch_cancel, sleep, spawn, yield_now};

use crate::brigade::Brigade;
use crate::host::{CROWD, Host, crowd};

/// As `spawn_join`, but awaiting a borrowed handle, which links nothing.
pub(crate) fn watch(count: usize) {
    Brigade::run(async move {
        for _ in 0..count {
            let mut task = spawn(async {});
            (&mut task).await.expect("the task ends");
        }
    });
}

/// Spawns a task that never ends, lets it start, cancels it and waits for its end.
pub(crate) fn cancel_join(count: usize) {
    Brigade::run(async move {
        for _ in 0..count {
            let mut task = spawn(pending::<()>());
            yield_now().await;
            task.cancel();
            (&mut task).await.expect_err("the task was cancelled");
        }
    });
}

/// A scope around what is ready.
pub(crate) fn catch_ready(count: usize) {
    Brigade::run(async move {
        for _ in 0..count {
            catch_cancel(ready(())).await.expect("nobody cancels");
        }
    });
}

/// A scope around what suspends once.
pub(crate) fn catch_pending(count: usize) {
    Brigade::run(async move {
        for _ in 0..count {
            catch_cancel(yield_now()).await.expect("nobody cancels");
        }
    });
}

/// A poll inside a scope that is registered.
pub(crate) fn poll_in_catch(count: usize) {
    crowd::<Brigade, _>(move || async move {
        catch_cancel(yield_often(count)).await.expect("nobody cancels");
    });
}

/// A poll inside a timeout whose timer runs.
pub(crate) fn poll_in_timeout(count: usize) {
    crowd::<Brigade, _>(move || async move {
        timeout(FAR, yield_often(count)).await.expect("the deadline is far away");
    });
}

/// A poll inside a scope inside a timeout.
pub(crate) fn poll_in_both(count: usize) {
    crowd::<Brigade, _>(move || async move {
        let caught = timeout(FAR, catch_cancel(yield_often(count))).await;
        caught.expect("the deadline is far away").expect("nobody cancels");
    });
}

pub(crate) fn timeout_ready(count: usize) {
    Brigade::run(async move {
        for _ in 0..count {
            timeout(FAR, ready(())).await.expect("it is ready");
        }
    });
}

pub(crate) fn timeout_pending(count: usize) {
    Brigade::run(async move {
        for _ in 0..count {
            timeout(FAR, yield_now()).await.expect("the deadline is far away");
        }
    });
}

/// Inserts a timer and removes it.
pub(crate) fn timer(count: usize) {
    Brigade::run(async move {
        for _ in 0..count {
            let mut sleep = pin!(sleep(FAR));
            let waits = poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx).is_pending())).await;
            assert!(waits, "the deadline is far away");
        }
    });
}

/// Children of groups of a hundred, which end at once.
pub(crate) fn group_child(count: usize) {
    Brigade::run(async move {
        for _ in 0..count / CROWD {
            let children = TaskGroup::<Infallible>::scope(async |group| {
                (0..CROWD).for_each(|_| drop(group.spawn(async {})));
            });
            children.await.expect("no child fails");
        }
    });
}

/// Groups without children.
pub(crate) fn group_empty(count: usize) {
    Brigade::run(async move {
        for _ in 0..count {
            TaskGroup::<Infallible>::scope(async |_| {}).await.expect("nobody fails");
        }
    });
}

/// Branches that are ready, a hundred at a time.
pub(crate) fn gather_ready(count: usize) {
    gather_each(count, || async { Ok(()) });
}

/// Branches that suspend once, a hundred at a time.
pub(crate) fn gather_pending(count: usize) {
    gather_each(count, || async {
        yield_now().await;
        Ok(())
    });
}

fn gather_each<F>(count: usize, branch: fn() -> F)
where
    F: Future<Output = Result<(), Infallible>> + Send + 'static,
{
    Brigade::run(async move {
        for _ in 0..count / CROWD {
            let branches: Vec<F> = (0..CROWD).map(|_| branch()).collect();
            gather(branches).await.expect("no branch fails");
        }
    });
}

/// One task's part of `count` yields.
async fn yield_often(count: usize) {
    for _ in 0..count / CROWD {
        yield_now().await;
    }
}

const FAR: Duration = Duration::from_secs(3600);
