//! Children by key: a new one replaces the former one of its key, or is dropped because that one runs
//! (law G9).
//!
//! ```text
//!   replace:  former ──cancelled──► cleans up ──ends──┐
//!             new    ──spawned────► waits ────────────┴──► its future begins
//! ```
//!
//! INVARIANT Y1: under the lock of the keys a child is entered together with being spawned, so of two
//! that come at the same time with one key, one sees the other. Of the user's code only `Hash` and `Eq` of the
//! key and the group's `Policy::on_spawn` run under it.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use brigade_core::scope::Level;
use brigade_core::{CancelKind, CancelReason, Finished, Task, TaskRef};
use pin_project_lite::pin_project;

use super::TaskGroup;
use super::limit::{Entry, is_cancelled};
use super::output::{ChildOutput, InGroup};
use super::spawn::{ChildTask, Label, Order};
use crate::sync::{Arc, Mutex, lock};

/// The children of a group by key: of one key at most one runs at any time. Made by
/// [`TaskGroup::keyed`].
///
/// It is a view of the group: what is spawned through it is a child like any other, with the group's limit,
/// policy and end. A key is taken from the spawn of its child until that has ended, cleanup included, and is
/// then forgotten. Clones share their keys; two views of one group do not know each other's.
///
/// `Hash` and `Eq` of the keys, and [`Policy::on_spawn`](crate::Policy::on_spawn) of the group, must not use
/// the view that calls them.
pub struct Keyed<K, E: 'static> {
    group: TaskGroup<E>,
    book: Arc<Book<K>>,
    naming: Option<Arc<Naming<K>>>,
}

/// What [`Keyed::get_or_spawn`] found under its key.
#[derive(Debug)]
pub enum Deduplicated<T: 'static> {
    /// Nobody: this child was spawned.
    New(Task<T, InGroup>),
    /// This child, which has not ended. The future that was given is gone, unpolled.
    Running(TaskRef),
}

impl<E> TaskGroup<E>
where
    E: fmt::Debug + Send + 'static,
{
    /// A view of the group in which children have keys; see [`Keyed`].
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
    ///         let tables = group.keyed();
    ///         let first = tables.replace("window", async { sleep(Duration::from_secs(60)).await });
    ///         // The guest at the window orders something else.
    ///         let second = tables.replace("window", async { Ok("soup") });
    ///         assert_eq!(second.await?, "soup");
    ///         assert!(first.cancelled());
    ///         Ok(())
    ///     }).await
    /// }).unwrap();
    /// ```
    #[must_use]
    pub fn keyed<K>(&self) -> Keyed<K, E>
    where
        K: Eq + Hash + Send + Sync + 'static,
    {
        Keyed { group: self.clone(), book: Arc::new(Book(Mutex::default())), naming: None }
    }
}

impl<K, E> Keyed<K, E>
where
    K: Eq + Hash + Send + Sync + 'static,
    E: fmt::Debug + Send + 'static,
{
    /// The same keys, with names for the children that are spawned through this handle: by default they
    /// are called as all tasks are (law T7).
    #[must_use]
    pub fn named(mut self, naming: impl Fn(&K) -> String + Send + Sync + 'static) -> Keyed<K, E> {
        self.naming = Some(Arc::new(naming));
        self
    }

    /// Spawns a child in the place of the one that has this key: that one is cancelled, once, and `future`
    /// begins when it has ended, its cleanup included.
    ///
    /// It returns at once; the waiting is done by the new child. So it makes no difference to either of them
    /// what becomes of the caller, and a child may replace itself. The new child is spawned, and has the
    /// key, from now on. If it is cancelled or itself replaced while it waits, its future is dropped
    /// unpolled, and who comes next waits for the first one as well. An outcome that the former child has
    /// in spite of the cancellation is its own: an error is an error of the group.
    ///
    /// A group that takes no more children refuses as [`TaskGroup::spawn`] does; the former child is then
    /// left to the group.
    ///
    /// # Panics
    ///
    /// As [`TaskGroup::spawn`].
    #[track_caller]
    pub fn replace<F>(&self, key: K, future: F) -> ChildTask<F, E>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        let reason = CancelReason::with_text(CancelKind::Explicit, "another child has taken its key");
        let (order, key) = (self.order(&key), Arc::new(key));
        let mut holders = lock(&self.book.0);
        let former = living(holders.get(&*key));
        let child = AfterFormer { waits: former.iter().map(TaskRef::finished).collect(), future };
        let task = match order.launch(child) {
            Ok(task) => task,
            Err(closed) => {
                drop(holders);
                return order.refuse(closed.future);
            }
        };
        let latest = former.last().cloned();
        let now = former.into_iter().chain([task.to_ref()]).collect();
        let gone = holders.insert(key.clone(), now);
        drop(holders);
        drop(gone);
        self.free_at_end(key, &task);
        if let Some(former) = latest {
            former.request(Level::Soft, reason);
        }
        task
    }

    /// Spawns a child unless one with this key has not ended: then `future` is dropped unpolled, and that
    /// child is named. Also a child that was cancelled and cleans up has not ended, nor has one that waits for
    /// its predecessor or a slot.
    ///
    /// A group that takes no more children refuses as [`TaskGroup::spawn`] does.
    ///
    /// # Panics
    ///
    /// As [`TaskGroup::spawn`].
    ///
    /// # Examples
    ///
    /// ```
    /// use brigade_combinators::{Deduplicated, TaskGroup};
    /// use brigade_core::{BoxError, yield_now};
    ///
    /// brigade_testkit::simulate(async {
    ///     TaskGroup::<BoxError>::scope(async |group| {
    ///         let refreshes = group.keyed();
    ///         let first = refreshes.get_or_spawn("menu", async { yield_now().await });
    ///         let again = refreshes.get_or_spawn("menu", async { unreachable!() });
    ///         assert!(matches!(again, Deduplicated::Running(task) if task == first.to_ref()));
    ///         Ok(())
    ///     }).await
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn get_or_spawn<F>(&self, key: K, future: F) -> Deduplicated<<F::Output as ChildOutput<E>>::Ok>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        let (order, key) = (self.order(&key), Arc::new(key));
        let mut holders = lock(&self.book.0);
        if let Some(running) = living(holders.get(&*key)).pop() {
            drop(holders);
            return Deduplicated::Running(running);
        }
        let task = match order.launch(future) {
            Ok(task) => task,
            Err(closed) => {
                drop(holders);
                return Deduplicated::New(order.refuse(closed.future));
            }
        };
        let gone = holders.insert(key.clone(), vec![task.to_ref()]);
        drop(holders);
        drop(gone);
        self.free_at_end(key, &task);
        Deduplicated::New(task)
    }

    /// The child that has this key, if it has not ended.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<TaskRef> {
        living(lock(&self.book.0).get(key)).pop()
    }

    /// How many keys are taken.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.book.0).len()
    }

    /// Whether no key is taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[track_caller]
    fn order(&self, key: &K) -> Order<'_, E> {
        let name = self.naming.as_ref().map(|naming| naming(key).into());
        let label = Label { name, location: Location::caller() };
        Order { group: &self.group, label, entry: Entry::Queue }
    }

    /// A child that has ended leaves nothing behind (law G7).
    fn free_at_end<T>(&self, key: Arc<K>, task: &Task<T, InGroup>) {
        let book = self.book.clone();
        task.on_done(move |_| book.tidy(&key));
    }
}

impl<T> Deduplicated<T> {
    /// The child that has the key.
    #[must_use]
    pub fn to_ref(&self) -> TaskRef {
        match self {
            Deduplicated::New(task) => task.to_ref(),
            Deduplicated::Running(task) => task.clone(),
        }
    }

    /// The new child, if one was spawned.
    #[must_use]
    pub fn into_new(self) -> Option<Task<T, InGroup>> {
        match self {
            Deduplicated::New(task) => Some(task),
            Deduplicated::Running(_) => None,
        }
    }
}

impl<K, E> Clone for Keyed<K, E> {
    fn clone(&self) -> Keyed<K, E> {
        Keyed { group: self.group.clone(), book: self.book.clone(), naming: self.naming.clone() }
    }
}

impl<K, E: 'static> fmt::Debug for Keyed<K, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed").field("group", &self.group).finish_non_exhaustive()
    }
}

type Naming<K> = dyn Fn(&K) -> String + Send + Sync;

/// Who has which key: the children of a key that have not ended, the one that has it at the end, before
/// it those for which it waits.
struct Book<K>(Mutex<HashMap<Arc<K>, Vec<TaskRef>>>);

impl<K: Eq + Hash> Book<K> {
    /// Forgets who has ended.
    fn tidy(&self, key: &K) {
        let mut holders = lock(&self.0);
        let Some(tasks) = holders.get_mut(key) else { return };
        tasks.retain(|task| !task.done());
        let gone = if tasks.is_empty() { holders.remove_entry(key) } else { None };
        drop(holders);
        drop(gone);
    }
}

fn living(tasks: Option<&Vec<TaskRef>>) -> Vec<TaskRef> {
    tasks.into_iter().flatten().filter(|task| !task.done()).cloned().collect()
}

pin_project! {
    /// A child's future, after the end of those that had its key before.
    struct AfterFormer<F> {
        waits: Vec<Finished>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for AfterFormer<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if !this.waits.is_empty() {
            this.waits.retain_mut(|former| Pin::new(former).poll(cx).is_pending());
            // The end of the former and a cancellation may come in one turn; then the future must not begin
            // (law C7), and the request ends the task after this poll.
            if !this.waits.is_empty() || is_cancelled() {
                return Poll::Pending;
            }
        }
        this.future.poll(cx)
    }
}
