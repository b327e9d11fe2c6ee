//! Waiting for the end of a task without touching its value (law C10).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::budget;
use crate::task::meta::TaskMeta;
use crate::task::reference::TaskRef;

/// Waits until a task has ended; see [`TaskRef::finished`].
///
/// # Cancellation
///
/// Watching makes no link: a cancelled watcher leaves the task alone.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Finished {
    task: TaskRef,
    key: Option<usize>,
}

impl Finished {
    pub(crate) fn new(task: TaskRef) -> Finished {
        Finished { task, key: None }
    }
}

impl Future for Finished {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        forbid_self_await(this.task.meta());
        if this.task.done() {
            return budget::poll_proceed(cx);
        }
        match this.task.meta().watch(&mut this.key, cx.waker()) {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }
}

impl Drop for Finished {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.task.meta().unwatch(key);
        }
    }
}

/// A task that waited for its own end would hang for ever (law T11).
pub(crate) fn forbid_self_await(awaited: &TaskMeta) {
    let itself = crate::context::with_task(|task| task.is_some_and(|task| std::ptr::eq(task, awaited)));
    assert!(
        !itself,
        "task `{}` (spawned at {}) awaits itself; it would never end",
        awaited.name(),
        awaited.location
    );
}

impl TaskMeta {
    /// Keeps `waker` for the end of the task; `false` if the task is done.
    fn watch(&self, key: &mut Option<usize>, waker: &Waker) -> bool {
        let fresh = waker.clone();
        let mut late = self.late();
        if !self.word.transition_to_watched() {
            *key = None;
            return false;
        }
        let watchers = &mut late.more().watchers;
        let known = key.and_then(|key| watchers.get_mut(key));
        let former = match known {
            Some(known) => Some(std::mem::replace(known, fresh)),
            None => {
                *key = Some(watchers.insert(fresh));
                None
            }
        };
        drop(late);
        drop(former);
        true
    }

    fn unwatch(&self, key: usize) {
        let mut late = self.late();
        let former = late.more.as_mut().and_then(|more| more.watchers.try_remove(key));
        drop(late);
        drop(former);
    }
}
