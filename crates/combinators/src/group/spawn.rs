//! Spawning into a group, and what happens when it takes nobody (laws G4, G8).

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;

use brigade_core::scope::{Sink, SpawnOptions, prepare, prepare_local, stillborn, warn};
use brigade_core::{CancelKind, CancelReason, Handle, Task, TaskRef};

use super::TaskGroup;
use super::limit::{Entry, Turn};
use super::output::{Child, ChildOutput, Closed, InGroup, Raised};
use super::policy::Phase;
use super::ready::SpawnReady;
use super::roster::{Refused, Reserved};
use super::sink::{self, ToGroup};
use super::start::{Ready, Start};
use super::station::Station;
use crate::sync::Arc;

/// The task that a future with this output becomes.
pub(super) type ChildTask<F, E> = Task<<<F as Future>::Output as ChildOutput<E>>::Ok, InGroup>;

/// A child with a name; made by [`TaskGroup::child`].
#[must_use = "a child is spawned by `spawn`, `try_spawn` or `spawn_local`"]
pub struct ChildBuilder<'a, E: 'static> {
    group: &'a TaskGroup<E>,
    name: Option<Arc<str>>,
    service: bool,
}

impl<'a, E> ChildBuilder<'a, E>
where
    E: fmt::Debug + Send + 'static,
{
    pub(super) fn new(group: &'a TaskGroup<E>) -> ChildBuilder<'a, E> {
        ChildBuilder { group, name: None, service: false }
    }

    /// Gives the child a name; names need not be unique (law T7).
    pub fn name(mut self, name: impl Into<Arc<str>>) -> ChildBuilder<'a, E> {
        self.name = Some(name.into());
        self
    }

    /// Makes it a service; see [`TaskGroup::spawn_service`].
    pub fn service(mut self) -> ChildBuilder<'a, E> {
        self.service = true;
        self
    }

    /// Spawns the child; see [`TaskGroup::spawn`].
    ///
    /// # Panics
    ///
    /// As [`TaskGroup::spawn`].
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> ChildTask<F, E>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        let order = self.order(Entry::Queue);
        match order.launch(future) {
            Ok(task) => task,
            Err(closed) => order.refuse(closed.future),
        }
    }

    /// Spawns the child, or gives the future back; see [`TaskGroup::try_spawn`].
    ///
    /// # Errors
    ///
    /// As [`TaskGroup::try_spawn`].
    ///
    /// # Panics
    ///
    /// As [`TaskGroup::spawn`].
    #[track_caller]
    pub fn try_spawn<F>(self, future: F) -> Result<ChildTask<F, E>, Closed<F>>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        self.order(Entry::NowOrNever).launch(future)
    }

    /// The same for a combinator that spawns in the name of its caller.
    pub(crate) fn try_spawn_at<F>(
        self,
        location: &'static Location<'static>,
        future: F,
    ) -> Result<ChildTask<F, E>, Closed<F>>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        let label = Label { name: self.name, location };
        Order { group: self.group, label, entry: Entry::NowOrNever }.launch(future)
    }

    /// Waits for a slot and spawns the child then; see [`TaskGroup::spawn_ready`].
    ///
    /// # Cancellation
    ///
    /// As [`TaskGroup::spawn_ready`].
    #[track_caller]
    pub fn spawn_ready<F>(self, future: F) -> SpawnReady<F, E>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        let entry = if self.service { Entry::Service } else { Entry::WithSlot };
        SpawnReady::new(self.group.clone(), self.order(entry).label, future)
    }

    /// Spawns the child and waits until it says that it is ready; see [`TaskGroup::start`].
    ///
    /// # Cancellation
    ///
    /// As [`TaskGroup::start`].
    ///
    /// # Panics
    ///
    /// As [`TaskGroup::spawn`].
    #[track_caller]
    pub fn start<V, B, F>(self, child: B) -> Start<V, <F::Output as ChildOutput<E>>::Ok>
    where
        V: Send + 'static,
        B: FnOnce(Ready<V>) -> F,
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        let (ready, said) = Ready::new();
        Start::new(self.spawn(child(ready)), said)
    }

    /// Spawns a child that is not `Send`; see [`TaskGroup::spawn_local`].
    ///
    /// # Panics
    ///
    /// As [`TaskGroup::spawn_local`].
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> ChildTask<F, E>
    where
        F: Future + 'static,
        F::Output: ChildOutput<E>,
    {
        let order = self.order(Entry::Queue);
        match order.launch_local(future) {
            Ok(task) => task,
            Err(closed) => order.refuse(closed.future),
        }
    }

    #[track_caller]
    fn order(self, entry: Entry) -> Order<'a, E> {
        let entry = if self.service { Entry::Service } else { entry };
        let label = Label { name: self.name, location: Location::caller() };
        Order { group: self.group, label, entry }
    }
}

impl<E> fmt::Debug for ChildBuilder<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How a child is called, and where it was spawned.
#[derive(Clone)]
pub(super) struct Label {
    pub(super) name: Option<Arc<str>>,
    pub(super) location: &'static Location<'static>,
}

/// One spawn.
pub(super) struct Order<'a, E: 'static> {
    pub(super) group: &'a TaskGroup<E>,
    pub(super) label: Label,
    pub(super) entry: Entry,
}

impl<E> Order<'_, E>
where
    E: fmt::Debug + Send + 'static,
{
    pub(super) fn launch<F>(&self, future: F) -> Result<ChildTask<F, E>, Closed<F>>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        self.launch_into(future, sink)
    }

    /// The same with a way of its own for the child's outcome.
    pub(super) fn launch_into<F, S>(
        &self,
        future: F,
        sink: impl FnOnce(&Reserved<E>) -> S,
    ) -> Result<ChildTask<F, E>, Closed<F>>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
        S: Sink<<F::Output as ChildOutput<E>>::Ok, Raised<E>, Error = InGroup> + Send,
    {
        let place = match Place::reserve(self.group, self.entry) {
            Ok(place) => place,
            Err(why) => return Err(Closed { future, full: why == Refused::Full }),
        };
        let child = Child::new(future, place.turn(&self.group.station));
        match prepare(&self.runtime(), self.options(&place.at), child, sink(&place.at)) {
            Ok(prepared) => {
                place.keep(prepared.task_ref());
                Ok(prepared.start())
            }
            Err((child, _)) => Err(Closed { future: child.into_inner(), full: false }),
        }
    }

    #[track_caller]
    fn launch_local<F>(&self, future: F) -> Result<ChildTask<F, E>, Closed<F>>
    where
        F: Future + 'static,
        F::Output: ChildOutput<E>,
    {
        let place = match Place::reserve(self.group, self.entry) {
            Ok(place) => place,
            Err(why) => return Err(Closed { future, full: why == Refused::Full }),
        };
        let child = Child::new(future, place.turn(&self.group.station));
        match prepare_local(&self.runtime(), self.options(&place.at), child, sink(&place.at)) {
            Ok(prepared) => {
                place.keep(prepared.task_ref());
                Ok(prepared.start())
            }
            Err((child, _)) => Err(Closed { future: child.into_inner(), full: false }),
        }
    }

    /// Never a silently lost task, never a panic: the task that comes back has been cancelled before
    /// it began.
    pub(super) fn refuse<F>(self, future: F) -> ChildTask<F, E>
    where
        F: Future + 'static,
        F::Output: ChildOutput<E>,
    {
        let station = &self.group.station;
        let kind = match station.lock().phase {
            Phase::Open => CancelKind::Shutdown,
            Phase::Ending(_) | Phase::Over => CancelKind::GroupClosed,
        };
        if kind == CancelKind::GroupClosed {
            let name = self.label.name.as_deref().unwrap_or("(unnamed)");
            let (place, group) = (self.label.location, &station.source);
            warn(format!("task `{name}` (spawned at {place}) never runs: {group} takes no more children"));
        }
        let Label { name, location } = self.label;
        let options = SpawnOptions { name, location, owner: None };
        let sink = sink::Refused(station.clone());
        stillborn(options, Child::new(future, None), sink, CancelReason::new(kind))
    }

    fn options(&self, place: &Reserved<E>) -> SpawnOptions {
        let owner = Some((place.block.clone() as Arc<_>, place.index));
        let Label { name, location } = self.label.clone();
        SpawnOptions { name, location, owner }
    }

    fn runtime(&self) -> Cow<'_, Handle> {
        let known = self.group.station.runtime.as_ref().map(Cow::Borrowed);
        known
            .or_else(|| Handle::try_current().map(Cow::Owned))
            .expect("a child can only be spawned on a runtime: open the group inside a task, or call `run`")
    }
}

fn sink<E>(place: &Reserved<E>) -> ToGroup<E> {
    ToGroup { block: place.block.clone(), index: place.index }
}

/// A reserved place; given up again if building the child panics.
struct Place<E: 'static> {
    at: Reserved<E>,
    taken: bool,
}

impl<E: 'static> Place<E> {
    fn reserve(group: &TaskGroup<E>, entry: Entry) -> Result<Place<E>, Refused> {
        group.station.reserve(entry).map(|at| Place { at, taken: false })
    }

    /// What the child has to wait for.
    fn turn(&self, station: &Arc<Station<E>>) -> Option<Turn<E>> {
        self.at.ticket.map(|ticket| Turn::new(station.clone(), ticket))
    }

    /// The child takes it.
    fn keep(mut self, task: TaskRef) {
        self.taken = true;
        self.at.block.seat(self.at.index, task);
    }
}

impl<E: 'static> Drop for Place<E> {
    fn drop(&mut self) {
        if !self.taken {
            self.at.block.leave(self.at.index);
        }
    }
}
