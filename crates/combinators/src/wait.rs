//! `wait`: until some or all of several tasks have ended, without touching their results (law A3).
//!
//! Files: [`tasks`] (what it takes), [`watchers`] (shared with `as_completed`).

pub(crate) mod tasks;
pub(crate) mod watchers;

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use brigade_core::scope::DeadlineTimer;
use brigade_core::{Ending, Instant, TaskState, budget};

use self::watchers::Watchers;

pub use self::tasks::{TaskHandle, TaskSet};

/// Waits for tasks, and returns `(done, pending)`, both in argument order; asyncio's `wait`.
///
/// It takes a `Vec` of tasks and gives the handles back, or `&mut` tasks and gives borrows: that form
/// survives being dropped half-way. It waits for all of them unless told otherwise by
/// [`first_completed`](Wait::first_completed) or [`first_exception`](Wait::first_exception), and no longer
/// than its [`timeout`](Wait::timeout). No result is consumed, and none counts as observed (law T6).
/// Nothing to wait for returns at once, both empty.
///
/// # Cancellation
///
/// It never cancels a task. A request from outside ends the waiting; tasks that were given by value go on
/// (law T5), but their handles are gone.
///
/// # Panics
///
/// If the current task is among them (law T11).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::wait;
/// use brigade_core::{sleep, spawn};
///
/// brigade_testkit::simulate(async {
///     let mirrors = [500, 2000, 800].map(|ms| spawn(sleep(Duration::from_millis(ms))));
///     let (done, pending) = wait(mirrors).first_completed().await;
///     assert_eq!((done.len(), pending.len()), (1, 2));
///     for mirror in pending {
///         mirror.cancel();
///         mirror.finished().await;
///     }
/// }).unwrap();
/// ```
pub fn wait<S: TaskSet>(tasks: S) -> Wait<S::Handle> {
    let handles = tasks.into_handles();
    Wait {
        watchers: Watchers::new(&handles),
        handles,
        until: Until::AllCompleted,
        limit: None,
        deadline: Instant::FAR_FUTURE,
        timer: DeadlineTimer::new(),
        stage: Stage::Fresh,
    }
}

/// The future of [`wait`].
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct Wait<H> {
    handles: Vec<H>,
    watchers: Watchers,
    until: Until,
    limit: Option<Duration>,
    deadline: Instant,
    timer: DeadlineTimer,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Until {
    AllCompleted,
    FirstCompleted,
    FirstException,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Fresh,
    Waiting,
    Done,
}

impl<H> Unpin for Wait<H> {}

impl<H: TaskHandle> Wait<H> {
    /// Until all have ended; asyncio's `ALL_COMPLETED`, the default.
    pub fn all_completed(mut self) -> Wait<H> {
        self.until = Until::AllCompleted;
        self
    }

    /// Until one has ended, however; asyncio's `FIRST_COMPLETED`.
    pub fn first_completed(mut self) -> Wait<H> {
        self.until = Until::FirstCompleted;
        self
    }

    /// Until one has failed or panicked, or all have ended; asyncio's `FIRST_EXCEPTION`. A cancelled task
    /// does not count.
    pub fn first_exception(mut self) -> Wait<H> {
        self.until = Until::FirstException;
        self
    }

    /// No longer than this, from the first poll on; `None` is for ever. When the time is over `wait`
    /// returns what there is.
    pub fn timeout(mut self, limit: impl Into<Option<Duration>>) -> Wait<H> {
        self.limit = limit.into();
        self
    }

    /// Whether a task that has ended ends the waiting.
    fn is_enough(&self, index: usize) -> bool {
        match self.until {
            Until::AllCompleted => false,
            Until::FirstCompleted => true,
            Until::FirstException => {
                matches!(self.handles[index].task_state(), TaskState::Done(Ending::Failed | Ending::Panicked))
            }
        }
    }
}

impl<H: TaskHandle> Future for Wait<H> {
    type Output = (Vec<H>, Vec<H>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        assert!(this.stage != Stage::Done, "`wait` was polled after it had ended");
        if this.stage == Stage::Fresh {
            ready!(budget::poll_proceed(cx));
            if let Some(limit) = this.limit {
                this.deadline = Instant::now().saturating_add(limit);
            }
            this.stage = Stage::Waiting;
        }
        let ended = this.watchers.take_ended(cx.waker());
        let enough = ended.into_iter().any(|index| this.is_enough(index)) || this.watchers.running() == 0;
        let late = !enough && this.deadline != Instant::FAR_FUTURE && Instant::now() >= this.deadline;
        if !enough && !late {
            this.timer.poll_arm(this.deadline, cx.waker());
            return Poll::Pending;
        }
        this.timer.disarm();
        this.stage = Stage::Done;
        let handles = std::mem::take(&mut this.handles).into_iter();
        Poll::Ready(handles.partition(|handle| matches!(handle.task_state(), TaskState::Done(_))))
    }
}
