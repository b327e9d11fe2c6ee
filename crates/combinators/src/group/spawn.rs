//! Spawning into a group, and what happens when it takes nobody (law G4).

use std::fmt;
use std::panic::Location;

use brigade_core::scope::{SpawnOptions, prepare, prepare_local, stillborn, warn};
use brigade_core::{CancelKind, CancelReason, Handle, Task};

use super::TaskGroup;
use super::output::{Child, ChildOutput, Closed, InGroup};
use super::policy::Phase;
use super::sink::ToGroup;
use crate::sync::Arc;

/// The task that a future with this output becomes.
pub(super) type ChildTask<F, E> = Task<<<F as Future>::Output as ChildOutput<E>>::Ok, InGroup>;

/// A child with a name; made by [`TaskGroup::child`].
#[must_use = "a child is spawned by `spawn`, `try_spawn` or `spawn_local`"]
pub struct ChildBuilder<'a, E: 'static> {
    group: &'a TaskGroup<E>,
    name: Option<Arc<str>>,
}

impl<'a, E> ChildBuilder<'a, E>
where
    E: fmt::Debug + Send + 'static,
{
    pub(super) fn new(group: &'a TaskGroup<E>) -> ChildBuilder<'a, E> {
        ChildBuilder { group, name: None }
    }

    /// Gives the child a name; names need not be unique (law T7).
    pub fn name(mut self, name: impl Into<Arc<str>>) -> ChildBuilder<'a, E> {
        self.name = Some(name.into());
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
        let order = self.order();
        match order.launch(future) {
            Ok(task) => task,
            Err(future) => order.refuse(future),
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
        self.order().launch(future).map_err(|future| Closed { future })
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
        let order = self.order();
        match order.launch_local(future) {
            Ok(task) => task,
            Err(future) => order.refuse(future),
        }
    }

    #[track_caller]
    fn order(self) -> Order<'a, E> {
        Order { group: self.group, name: self.name, location: Location::caller() }
    }
}

impl<E> fmt::Debug for ChildBuilder<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

/// One spawn.
struct Order<'a, E: 'static> {
    group: &'a TaskGroup<E>,
    name: Option<Arc<str>>,
    location: &'static Location<'static>,
}

impl<E> Order<'_, E>
where
    E: fmt::Debug + Send + 'static,
{
    fn launch<F>(&self, future: F) -> Result<ChildTask<F, E>, F>
    where
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        let runtime = self.runtime();
        let Some(key) = self.group.station.reserve() else { return Err(future) };
        match prepare(&runtime, self.options(key), Child::new(future), self.sink()) {
            Ok(prepared) => {
                self.group.station.seat(key, prepared.task_ref());
                Ok(prepared.start())
            }
            Err((child, _)) => {
                self.group.station.release(key);
                Err(child.into_inner())
            }
        }
    }

    #[track_caller]
    fn launch_local<F>(&self, future: F) -> Result<ChildTask<F, E>, F>
    where
        F: Future + 'static,
        F::Output: ChildOutput<E>,
    {
        let runtime = self.runtime();
        let Some(place) = Place::reserve(self.group) else { return Err(future) };
        match prepare_local(&runtime, self.options(place.key), Child::new(future), self.sink()) {
            Ok(prepared) => {
                self.group.station.seat(place.keep(), prepared.task_ref());
                Ok(prepared.start())
            }
            Err((child, _)) => Err(child.into_inner()),
        }
    }

    /// Never a silently lost task, never a panic: the task that comes back has been cancelled before
    /// it began.
    fn refuse<F>(self, future: F) -> ChildTask<F, E>
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
            let name = self.name.as_deref().unwrap_or("(unnamed)");
            let (place, group) = (self.location, &station.source);
            warn(format!("task `{name}` (spawned at {place}) never runs: {group} takes no more children"));
        }
        let options = SpawnOptions { name: self.name.clone(), location: self.location, owner: None };
        stillborn(options, Child::new(future), self.sink(), CancelReason::new(kind))
    }

    fn options(&self, key: usize) -> SpawnOptions {
        let owner = Some((self.group.station.clone() as Arc<_>, key));
        SpawnOptions { name: self.name.clone(), location: self.location, owner }
    }

    fn sink(&self) -> ToGroup<E> {
        ToGroup { station: self.group.station.clone() }
    }

    fn runtime(&self) -> Handle {
        let known = self.group.station.runtime.clone().or_else(Handle::try_current);
        known.expect("a child can only be spawned on a runtime: open the group inside a task, or call `run`")
    }
}

/// A reserved place; given up again if building the child panics.
struct Place<'a, E: 'static> {
    group: &'a TaskGroup<E>,
    key: usize,
}

impl<'a, E: 'static> Place<'a, E> {
    fn reserve(group: &'a TaskGroup<E>) -> Option<Place<'a, E>> {
        group.station.reserve().map(|key| Place { group, key })
    }

    /// The child takes it.
    fn keep(self) -> usize {
        let key = self.key;
        std::mem::forget(self);
        key
    }
}

impl<E: 'static> Drop for Place<'_, E> {
    fn drop(&mut self) {
        self.group.station.release(self.key);
    }
}
