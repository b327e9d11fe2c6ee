//! Waiting for a slot before a child is spawned: `TaskGroup::spawn_ready` (law G8).

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use brigade_core::budget;

use super::TaskGroup;
use super::limit::{Claim, Entry};
use super::output::{ChildOutput, Closed};
use super::spawn::{ChildTask, Label, Order};

/// The future of [`TaskGroup::spawn_ready`](crate::TaskGroup::spawn_ready).
#[must_use = "the child is spawned when this is awaited"]
pub struct SpawnReady<F, E: 'static> {
    group: TaskGroup<E>,
    label: Label,
    /// `None` once it was spawned or given back.
    future: Option<F>,
    claim: Claim<E>,
    fresh: bool,
}

impl<E> TaskGroup<E>
where
    E: fmt::Debug + Send + 'static,
{
    /// Waits until one of the slots of the group's [limit](crate::GroupBuilder::limit) is free, and spawns
    /// the child then (law G8): so that a producer is no faster than its children. Those who wait here
    /// and those whom [`spawn`](TaskGroup::spawn) has queued are served in the order in which they came.
    ///
    /// It gives the child's handle, or the future if the group takes no more children. Without a limit
    /// there is nothing to wait for.
    ///
    /// # Cancellation
    ///
    /// The place in the queue is given up, and the future is dropped unpolled, with everything in it.
    /// A slot that was just given to it goes to the next.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use brigade_combinators::TaskGroup;
    /// use brigade_core::{BoxError, Instant, sleep};
    ///
    /// brigade_testkit::simulate(async {
    ///     let start = Instant::now();
    ///     TaskGroup::<BoxError>::builder().limit(2).scope(async |kitchen| {
    ///         for _ in 0..6 {
    ///             kitchen.spawn_ready(async { sleep(Duration::from_secs(60)).await }).await?;
    ///         }
    ///         Ok(())
    ///     }).await?;
    ///     assert_eq!(start.elapsed(), Duration::from_secs(3 * 60));
    ///     Ok::<_, BoxError>(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn spawn_ready<F>(&self, future: F) -> SpawnReady<F, E>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        self.child().spawn_ready(future)
    }
}

impl<F, E> SpawnReady<F, E> {
    pub(super) fn new(group: TaskGroup<E>, label: Label, future: F) -> SpawnReady<F, E> {
        let claim = Claim::new(group.station.clone());
        SpawnReady { group, label, future: Some(future), claim, fresh: true }
    }

    /// The future that was not spawned; `None` if it was.
    pub fn into_inner(mut self) -> Option<F> {
        self.future.take()
    }
}

/// The child's future is moved, never polled, in here.
impl<F, E> Unpin for SpawnReady<F, E> {}

impl<F, E> Future for SpawnReady<F, E>
where
    E: fmt::Debug + Send + 'static,
    F: Future + Send + 'static,
    F::Output: ChildOutput<E>,
{
    type Output = Result<ChildTask<F, E>, Closed<F>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.fresh {
            ready!(budget::poll_proceed(cx));
            this.fresh = false;
        }
        let open = ready!(this.claim.poll(cx));
        let future = this.future.take().expect("`spawn_ready` was polled after it had ended");
        if !open {
            return Poll::Ready(Err(Closed { future, full: false }));
        }
        this.claim.hand_over();
        let order = Order { group: &this.group, label: this.label.clone(), entry: Entry::WithSlot };
        Poll::Ready(order.launch(future))
    }
}

impl<F, E: 'static> fmt::Debug for SpawnReady<F, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnReady").field("group", &self.group).finish_non_exhaustive()
    }
}
