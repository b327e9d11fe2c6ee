//! A group with knobs: `TaskGroup::builder()`.

use std::any::{TypeId, type_name};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use super::TaskGroup;
use super::output::{ChildOutput, GroupId};
use super::scope::GroupScope;
use super::station::Station;
use crate::sync::{Arc, AtomicU64, Ordering};

/// Opens a group with knobs; made by [`TaskGroup::builder`].
#[must_use = "a group is opened by `scope`"]
pub struct GroupBuilder<E> {
    name: Option<Arc<str>>,
    grace: Option<Duration>,
    error: PhantomData<fn() -> E>,
}

impl<E> GroupBuilder<E>
where
    E: fmt::Debug + Send + 'static,
{
    pub(super) fn new() -> GroupBuilder<E> {
        GroupBuilder { name: None, grace: None, error: PhantomData }
    }

    /// Gives the group a name, for errors and warnings.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> GroupBuilder<E> {
        self.name = Some(name.into());
        self
    }

    /// Bounds the time that handlers in the body and children get after the group was cancelled, has
    /// failed, or has got a request from outside: at its end they are aborted and named in a warning,
    /// and the group ends (law C13). Without it they get as long as they need.
    pub fn grace(mut self, limit: Duration) -> GroupBuilder<E> {
        self.grace = Some(limit);
        self
    }

    /// Opens the group; see [`TaskGroup::scope`].
    ///
    /// # Cancellation
    ///
    /// As [`TaskGroup::scope`].
    #[track_caller]
    pub fn scope<B, Fut, T>(self, body: B) -> GroupScope<Fut, E, T>
    where
        B: FnOnce(TaskGroup<E>) -> Fut,
        Fut: Future,
        Fut::Output: ChildOutput<E, Ok = T>,
        T: 'static,
    {
        let value = (TypeId::of::<T>(), type_name::<T>());
        let describe = |error: &E| format!("{error:?}");
        let station = Arc::new(Station::new(next_id(), self.name, Location::caller(), value, describe));
        let body = body(TaskGroup { station: station.clone() });
        GroupScope::new(body, station, self.grace)
    }
}

impl<E> fmt::Debug for GroupBuilder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupBuilder").field("name", &self.name).field("grace", &self.grace).finish()
    }
}

fn next_id() -> GroupId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // Relaxed: only uniqueness is asked for, nothing is published with the number.
    GroupId(NEXT.fetch_add(1, Ordering::Relaxed))
}
