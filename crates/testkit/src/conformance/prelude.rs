//! The words that all tests of the suite use.

use std::fmt;
use std::thread;

pub(crate) use std::convert::Infallible;
pub(crate) use std::future::{Future, IntoFuture, pending, poll_fn, ready};
pub(crate) use std::panic::catch_unwind;
pub(crate) use std::pin::{Pin, pin};
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::task::{Context, Poll, Wake, Waker};
pub(crate) use std::time::Duration;

pub(crate) use brigade_combinators::*;
pub(crate) use brigade_core::*;

pub(crate) use super::kitchen::Kitchen;
pub(crate) use crate::{Gate, Item, Probe, Trace};

/// How deep or long the tests of T12 go.
pub(crate) const DEEP: usize = if cfg!(miri) { 100 } else { 100_000 };

/// How often a race is tried.
pub(crate) const ROUNDS: usize = if cfg!(miri) { 10 } else { 300 };

/// The error of the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Burnt(pub(crate) &'static str);

impl fmt::Display for Burnt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "burnt {}", self.0)
    }
}

impl std::error::Error for Burnt {}

/// [`brigade_core::spawn`] of a boxed future: one instance for each output type instead of one for each of
/// the suite's hundreds of futures, which halves the time that the suite takes to compile.
#[track_caller]
pub(crate) fn spawn<F>(future: F) -> Task<<F::Output as TaskOutput>::Ok, <F::Output as TaskOutput>::Err>
where
    F: Future + Send + 'static,
    F::Output: TaskOutput<Ok: Send, Err: Send>,
{
    let boxed: Pin<Box<dyn Future<Output = F::Output> + Send>> = Box::pin(future);
    brigade_core::spawn(boxed)
}

/// [`brigade_core::spawn_local`] of a boxed future.
#[track_caller]
pub(crate) fn spawn_local<F>(future: F) -> Task<<F::Output as TaskOutput>::Ok, <F::Output as TaskOutput>::Err>
where
    F: Future + 'static,
    F::Output: TaskOutput,
{
    let boxed: Pin<Box<dyn Future<Output = F::Output>>> = Box::pin(future);
    brigade_core::spawn_local(boxed)
}

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A future that announces itself and then waits for ever.
pub(crate) async fn parked(ready: Gate) -> Result<(), Burnt> {
    ready.open();
    pending().await
}

/// Lets other tasks run until `condition` holds. Not for things that need virtual time to pass.
pub(crate) async fn until(mut condition: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(20), "the condition never came true");
        thread::yield_now();
        yield_now().await;
    }
}

/// Lets other tasks run for a while: enough turns for anything that is ready to be over on a FIFO backend.
pub(crate) async fn turns(count: usize) {
    for _ in 0..count {
        yield_now().await;
    }
}

/// Polls once with the waker of the caller.
pub(crate) async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

/// Suspends once, then gives its value: ready in the poll in which a request is looked at.
pub(crate) async fn ready_when_polled_again<T>(value: T) -> T {
    let mut polled = false;
    poll_fn(|_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }).await;
    value
}

/// Counts how often a future is polled.
pub(crate) async fn counting<F: Future>(counter: Gate, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        counter.open();
        future.as_mut().poll(cx)
    })
    .await
}

/// Writes a word into a trace when it is dropped.
pub(crate) struct OnDrop(pub(crate) Trace, pub(crate) &'static str);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.add(self.1);
    }
}

/// Panics when it is dropped, unless the thread panics already.
pub(crate) struct PanicOnDrop(pub(crate) &'static str);

impl Drop for PanicOnDrop {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("{}", self.0);
        }
    }
}

/// A place in which a task finds something that its spawner puts there later.
pub(crate) struct Slot<T>(Arc<Mutex<Option<T>>>);

impl<T> Slot<T> {
    pub(crate) fn new() -> Slot<T> {
        Slot(Arc::default())
    }

    pub(crate) fn put(&self, value: T) {
        let old = self.0.lock().expect("nobody panics here").replace(value);
        drop(old);
    }

    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().expect("nobody panics here").take()
    }
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Slot<T> {
        Slot(self.0.clone())
    }
}

/// The first entry of a group's error.
#[track_caller]
pub(crate) fn first<E>(errors: &GroupError<E>) -> &ChildError<E> {
    errors.first().expect("there is an entry")
}

/// The first failure in a group's error.
#[track_caller]
pub(crate) fn first_failure<E: fmt::Debug + 'static>(errors: GroupError<E>) -> E {
    failed::<(), E>(Err(errors.into_first().expect("there is an entry").into_error()))
}

/// The reason of a task that ended cancelled.
#[track_caller]
pub(crate) fn cancelled<T, E: fmt::Debug + 'static>(outcome: Result<T, TaskError<E>>) -> CancelReason {
    match outcome {
        Err(TaskError::Cancelled(reason)) => reason,
        Ok(_) => panic!("a value instead of a cancellation"),
        Err(error) => panic!("not cancelled but {error:?}"),
    }
}

/// The error of a task that failed.
#[track_caller]
pub(crate) fn failed<T, E: fmt::Debug + 'static>(outcome: Result<T, TaskError<E>>) -> E {
    match outcome {
        Err(TaskError::Failed(error)) => error,
        Ok(_) => panic!("a value instead of a failure"),
        Err(error) => panic!("not failed but {error:?}"),
    }
}

/// The panic of a task that panicked.
#[track_caller]
pub(crate) fn panicked<T, E: fmt::Debug + 'static>(outcome: Result<T, TaskError<E>>) -> Panic {
    match outcome {
        Err(TaskError::Panicked(panic)) => panic,
        Ok(_) => panic!("a value instead of a panic"),
        Err(error) => panic!("no panic but {error:?}"),
    }
}

/// The value of a task that ended well.
#[track_caller]
pub(crate) fn value<T, E: fmt::Debug + 'static>(outcome: Result<T, TaskError<E>>) -> T {
    match outcome {
        Ok(value) => value,
        Err(error) => panic!("no value but {error:?}"),
    }
}
