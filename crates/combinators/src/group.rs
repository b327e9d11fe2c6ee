//! Task groups: children that end before their group does (laws G1–G10).
//!
//! ```text
//!   TaskGroup ──spawn──► Station ◄──── Block ◄── ToGroup (errors), Owner (ends) ── children
//!                           ▲
//!                           │ requests for the body, the last child's end
//!                       GroupScope: body in a Scope, Desk: what is left when the body is gone
//! ```
//!
//! Files: [`spawn`], [`ready`], [`start`] and [`builder`] (the ways in), [`station`] (what all share), [`state`]
//! and [`roster`] (what it keeps under its lock), [`block`] and [`tally`] (what a child touches when it ends),
//! [`limit`] (slots and the queue), [`policy`] and [`policies`] (who is cancelled when), [`sink`] and [`output`] (a
//! child's way out), [`scope`] and [`desk`] (the group's future), [`error`], [`tree`] and [`flat_drop`] (what it
//! returns). Built upon these: [`keyed`] (children by key) and [`supervisor`] (children that are started again).

mod block;
mod builder;
mod desk;
mod error;
mod flat_drop;
mod keyed;
mod limit;
mod output;
mod policies;
mod policy;
mod ready;
mod roster;
mod scope;
mod sink;
mod spawn;
mod start;
mod state;
mod station;
mod supervisor;
mod tally;
mod tree;

use std::any::{TypeId, type_name};
use std::fmt;

use brigade_core::{CancelKind, CancelReason};

use self::policy::Phase;
use self::spawn::ChildTask;
use self::station::Station;
use crate::sync::Arc;

pub use self::builder::GroupBuilder;
pub use self::error::{ChildError, GroupError};
pub use self::keyed::{Deduplicated, Keyed};
pub use self::output::{ChildOutput, Closed, GroupId, InGroup};
pub use self::policies::{ChildEnd, Next, Policy};
pub use self::ready::SpawnReady;
pub use self::scope::GroupScope;
pub use self::spawn::ChildBuilder;
pub use self::start::{Ready, Start, StartError};
pub use self::supervisor::{Restart, RestartsExhausted, Supervisor};

/// A group of tasks that ends only when all of them have ended: asyncio's `TaskGroup` (law G1).
///
/// This is the handle by which children are spawned. It is cheap to clone, into children as well. `E` is
/// the error type of the children and the body; [`BoxError`](brigade_core::BoxError) if in doubt.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::TaskGroup;
/// use brigade_core::{BoxError, sleep};
///
/// let total = brigade_testkit::simulate(async {
///     let orders = vec![3, 1, 2];
///     let total = TaskGroup::<BoxError>::scope(async |kitchen| {
///         let mut dishes = Vec::new();
///         for &minutes in &orders {
///             // The body may borrow; children are `'static` and run in parallel.
///             dishes.push(kitchen.spawn(async move {
///                 sleep(Duration::from_secs(60 * minutes)).await;
///                 Ok(minutes)
///             }));
///         }
///         let mut total = 0;
///         for dish in dishes {
///             total += dish.await?;
///         }
///         Ok(total)
///     });
///     Ok::<_, BoxError>(total.await?)
/// });
/// assert_eq!(total.unwrap(), 6);
/// ```
pub struct TaskGroup<E: 'static> {
    station: Arc<Station<E>>,
}

impl<E> TaskGroup<E>
where
    E: fmt::Debug + Send + 'static,
{
    /// Opens a group: `body` gets it by value and runs in the caller's task. Returns the body's value,
    /// or every error of children and body, once all of them have ended (laws G1–G3).
    ///
    /// The first failure, be it an error or a panic, of a child or the body, cancels the others, once. A
    /// child that ends as cancelled is no failure.
    ///
    /// # Cancellation
    ///
    /// - *A request from outside* is delivered inside the body first, where a handler may absorb it.
    ///   When it has unwound the body, or if the group already waits at its end, the children are
    ///   cancelled, once; the group waits for them and unwinds further. If there were errors, they are
    ///   returned instead, and the request goes back to the scope around (laws G5, C9).
    /// - *A failure* is a request to the other children and to the body (law G2). A handler in the body
    ///   may absorb it and go on; the errors are returned all the same.
    /// - *Dropping the future* half-way cancels the children and leaves them to the runtime, which waits
    ///   for them at its end (laws C16, G10).
    #[track_caller]
    pub fn scope<B, Fut, T>(body: B) -> GroupScope<Fut, E, T>
    where
        B: FnOnce(TaskGroup<E>) -> Fut,
        Fut: Future,
        Fut::Output: ChildOutput<E, Ok = T>,
        T: 'static,
    {
        TaskGroup::builder().scope(body)
    }

    /// A group with knobs.
    pub fn builder() -> GroupBuilder<E> {
        GroupBuilder::new()
    }

    /// Spawns a child. It works from the body, from children, and wherever a clone of the handle is, as
    /// long as the group is open, also while it waits at its end (law G4).
    ///
    /// A group that was cancelled, has failed, or has ended takes nobody: then the task that comes back
    /// is already cancelled (`GroupClosed`), the future is dropped without being polled, and a warning
    /// with name and place is given. [`try_spawn`](TaskGroup::try_spawn) gives the future back instead.
    ///
    /// The child's own handle gives its value; of an error it only tells that the group has it
    /// ([`InGroup`]). The handle may be dropped.
    ///
    /// # Panics
    ///
    /// If the group was opened outside a runtime, and this is outside one, too.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> ChildTask<F, E>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        self.child().spawn(future)
    }

    /// The same with a name for the child.
    ///
    /// # Panics
    ///
    /// As [`spawn`](TaskGroup::spawn).
    #[track_caller]
    pub fn spawn_named<F>(&self, name: impl Into<Arc<str>>, future: F) -> ChildTask<F, E>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        self.child().name(name).spawn(future)
    }

    /// Spawns a child, or gives the future back (laws G4, G8).
    ///
    /// # Errors
    ///
    /// The group takes no more children, its runtime has ended, or every slot of its
    /// [limit](GroupBuilder::limit) is taken, for which [`Closed::is_full`] holds.
    ///
    /// # Panics
    ///
    /// As [`spawn`](TaskGroup::spawn).
    #[track_caller]
    pub fn try_spawn<F>(&self, future: F) -> Result<ChildTask<F, E>, Closed<F>>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        self.child().try_spawn(future)
    }

    /// Spawns a service: a child that does not hold the group open (law G9). When the body and the
    /// ordinary children have ended, the services are cancelled in reverse order of spawn, each after
    /// the one before has ended: so what was spawned first can be relied on until the end.
    ///
    /// Else it is a child like any other: a failure of it ends the group, and it gets no slot and needs
    /// none. Also when the group fails or is cancelled the services end after all others.
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
    ///         group.spawn_service(async {
    ///             loop {
    ///                 sleep(Duration::from_secs(1)).await;
    ///                 println!("still here");
    ///             }
    ///         });
    ///         group.spawn(async { sleep(Duration::from_secs(3)).await });
    ///         Ok(())
    ///     }).await
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn spawn_service<F>(&self, future: F) -> ChildTask<F, E>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        self.child().service().spawn(future)
    }

    /// Spawns a child that is not `Send`. It stays on the calling worker.
    ///
    /// # Panics
    ///
    /// As [`spawn`](TaskGroup::spawn); and if the calling thread is not a worker that can host tasks
    /// which are not `Send`.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> ChildTask<F, E>
    where
        F: Future + 'static,
        F::Output: ChildOutput<E>,
    {
        self.child().spawn_local(future)
    }

    /// A child with knobs: `group.child().name("parser").spawn(..)`.
    pub fn child(&self) -> ChildBuilder<'_, E> {
        ChildBuilder::new(self)
    }

    /// Ends the group without failure: children and body are cancelled (law G6).
    ///
    /// The scope then returns the body's value if the body had come to its end, also by absorbing this
    /// request; errors if there were any; else a [`GroupError`] for which
    /// [`is_cancelled`](GroupError::is_cancelled) holds. A cancellation from outside still unwinds.
    /// On a group that is ending or has ended it does nothing.
    #[track_caller]
    pub fn cancel(&self) {
        self.station.cancel(CancelReason::new(CancelKind::GroupCancelled), None);
    }

    /// The same with a text for people, kept in the [`CancelReason`].
    #[track_caller]
    pub fn cancel_with(&self, text: impl Into<String>) {
        self.station.cancel(CancelReason::with_text(CancelKind::GroupCancelled, text), None);
    }

    /// Ends the group with this value: as [`cancel`](TaskGroup::cancel), but the scope returns `value`
    /// (law G6). If the body has ended with a value before, or `finish` was called before, that value
    /// counts, and this one is dropped. Errors and a cancellation from outside come first all the same.
    ///
    /// # Panics
    ///
    /// If `value` is not of the type that the scope returns, which the handle of a group does not know.
    /// Literals need their suffix: `finish(7)` is an `i32`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use brigade_combinators::TaskGroup;
    /// use brigade_core::{BoxError, sleep};
    ///
    /// let first = brigade_testkit::simulate(async {
    ///     let first = TaskGroup::<BoxError>::scope(async |group| {
    ///         for seconds in [3_u64, 1, 2] {
    ///             let finder = group.clone();
    ///             group.spawn(async move {
    ///                 sleep(Duration::from_secs(seconds)).await;
    ///                 finder.finish(seconds);
    ///                 Ok(())
    ///             });
    ///         }
    ///         sleep(Duration::from_secs(60)).await;
    ///         Ok(0_u64)
    ///     });
    ///     Ok::<_, BoxError>(first.await?)
    /// });
    /// assert_eq!(first.unwrap(), 1);
    /// ```
    #[track_caller]
    pub fn finish<V: Send + 'static>(&self, value: V) {
        let (wanted, name) = self.station.value;
        assert!(
            wanted == TypeId::of::<V>(),
            "`TaskGroup::finish` was given a `{}`, but the scope returns a `{name}`",
            type_name::<V>(),
        );
        let reason = CancelReason::new(CancelKind::GroupCancelled);
        self.station.cancel(reason, Some(Box::new(value)));
    }

    /// The number of the group, unique within the program.
    #[must_use]
    pub fn id(&self) -> GroupId {
        self.station.id
    }

    /// The name that the group was given.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.station.source.name.as_deref()
    }

    /// How many children have not ended.
    #[must_use]
    pub fn len(&self) -> usize {
        self.station.len()
    }

    /// Whether every child has ended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the group still takes children (law G4).
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.station.lock().phase == Phase::Open
    }
}

impl<E> Clone for TaskGroup<E> {
    fn clone(&self) -> TaskGroup<E> {
        TaskGroup { station: self.station.clone() }
    }
}

impl<E: 'static> fmt::Debug for TaskGroup<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskGroup")
            .field("id", &self.station.id)
            .field("name", &self.station.source.name)
            .field("children", &self.station.len())
            .finish_non_exhaustive()
    }
}
