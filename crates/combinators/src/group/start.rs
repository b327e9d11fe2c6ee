//! Children that say when they are ready: `TaskGroup::start`, Trio's `nursery.start` (law G9).

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use brigade_core::scope::Level;
use brigade_core::{CancelKind, CancelReason, Finished, Task, TaskError};

use super::TaskGroup;
use super::output::{ChildOutput, InGroup};
use crate::sync::{Arc, Mutex, lock, wake_safely};

/// The future of [`TaskGroup::start`](crate::TaskGroup::start).
#[must_use = "dropping it before the child is ready cancels the child"]
pub struct Start<V, T: 'static> {
    /// `None` once the child is ready or has ended.
    child: Option<Task<T, InGroup>>,
    end: Finished,
    said: Arc<Said<V>>,
}

/// By this a child says that it is ready; see [`TaskGroup::start`](crate::TaskGroup::start).
pub struct Ready<V> {
    said: Arc<Said<V>>,
}

/// Why [`TaskGroup::start`](crate::TaskGroup::start) has no value.
///
/// A body that hands it on by `?`, bare or boxed, adds no second entry to the group's errors if the child
/// has failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The child ended before it was ready: as failed, cancelled or panicked.
    Ended(TaskError<InGroup>),
    /// The child of this name ended with a value and never said that it was ready.
    NeverReady(Arc<str>),
}

impl<E> TaskGroup<E>
where
    E: fmt::Debug + Send + 'static,
{
    /// Spawns a child and waits until it says, by [`Ready::ready`], that it is ready; gives the value that
    /// it has said, a port or a handle perhaps, while the child goes on (law G9). The child is spawned
    /// at once, not when the future is awaited.
    ///
    /// It is an error if the child ends before it has said so. Services start in this way by
    /// `group.child().service().start(..)`.
    ///
    /// # Cancellation
    ///
    /// A child that is not ready yet is cancelled (`ParentCancelled`), and the group waits for it. The same
    /// happens if the future is dropped. One that is ready is left alone.
    ///
    /// # Panics
    ///
    /// As [`spawn`](TaskGroup::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use brigade_combinators::TaskGroup;
    /// use brigade_core::{BoxError, sleep};
    ///
    /// brigade_testkit::simulate(async {
    ///     TaskGroup::<BoxError>::scope(async |group| {
    ///         let port: u16 = group.start(async |ready| {
    ///             sleep(Duration::from_millis(20)).await;
    ///             ready.ready(8080);
    ///             sleep(Duration::from_secs(1)).await;
    ///             Ok(())
    ///         }).await?;
    ///         assert_eq!(port, 8080);
    ///         Ok(())
    ///     }).await
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn start<V, B, F>(&self, child: B) -> Start<V, <F::Output as ChildOutput<E>>::Ok>
    where
        V: Send + 'static,
        B: FnOnce(Ready<V>) -> F,
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        self.child().start(child)
    }
}

impl<V> Ready<V> {
    pub(super) fn new() -> (Ready<V>, Arc<Said<V>>) {
        let said = Arc::new(Said(Mutex::new(Note { value: None, waker: None })));
        (Ready { said: said.clone() }, said)
    }

    /// The child is ready, and gives this to whoever has started it.
    pub fn ready(self, value: V) {
        let mut note = lock(&self.said.0);
        let former = note.value.replace(value);
        let waker = note.waker.take();
        drop(note);
        drop(former);
        waker.into_iter().for_each(wake_safely);
    }
}

impl<V, T> Start<V, T> {
    pub(super) fn new(child: Task<T, InGroup>, said: Arc<Said<V>>) -> Start<V, T> {
        Start { end: child.finished(), child: Some(child), said }
    }

    /// The child ended before it was ready.
    fn ended(&mut self) -> StartError {
        let mut child = self.child.take().expect("`start` was polled after it had ended");
        match child.try_take() {
            Some(Err(error)) => StartError::Ended(error),
            _ => StartError::NeverReady(child.name()),
        }
    }
}

/// Nothing in here is pinned.
impl<V, T> Unpin for Start<V, T> {}

impl<V, T: 'static> Future for Start<V, T> {
    type Output = Result<V, StartError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // The end comes first, so that a value that was said before it is seen.
        let ended = Pin::new(&mut self.end).poll(cx).is_ready();
        if let Some(value) = self.said.poll(cx.waker()) {
            self.child = None;
            return Poll::Ready(Ok(value));
        }
        if ended { Poll::Ready(Err(self.ended())) } else { Poll::Pending }
    }
}

impl<V, T: 'static> Drop for Start<V, T> {
    fn drop(&mut self) {
        if let Some(child) = &self.child {
            child.to_ref().request(Level::Soft, CancelReason::new(CancelKind::ParentCancelled));
        }
    }
}

/// What a child has said to whoever has started it.
pub(super) struct Said<V>(Mutex<Note<V>>);

struct Note<V> {
    value: Option<V>,
    waker: Option<Waker>,
}

impl<V> Said<V> {
    fn poll(&self, waker: &Waker) -> Option<V> {
        let fresh = waker.clone();
        let mut note = lock(&self.0);
        let value = note.value.take();
        let retired = note.waker.replace(fresh);
        drop(note);
        drop(retired);
        value
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Ended(error) => write!(f, "it ended before it was ready: {error}"),
            StartError::NeverReady(name) => write!(f, "`{name}` ended without saying that it was ready"),
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StartError::Ended(error) => Some(error),
            StartError::NeverReady(_) => None,
        }
    }
}

impl<V> fmt::Debug for Ready<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ready")
    }
}

impl<V, T: 'static> fmt::Debug for Start<V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start").field("child", &self.child.as_ref().map(|child| child.name())).finish()
    }
}
