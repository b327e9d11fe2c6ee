//! A group with knobs: `TaskGroup::builder()`.

use std::any::{TypeId, type_name};
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use super::TaskGroup;
use super::error::Source;
use super::output::{ChildOutput, GroupId};
use super::policies::{FirstSuccess, Policy, Supervise};
use super::scope::GroupScope;
use super::station::{Plan, Station};
use crate::sync::{Arc, AtomicU64, Ordering};

/// Opens a group with knobs; made by [`TaskGroup::builder`].
#[must_use = "a group is opened by `scope`"]
pub struct GroupBuilder<E: 'static> {
    name: Option<Arc<str>>,
    grace: Option<Duration>,
    limit: Option<usize>,
    policy: Option<Box<dyn Policy<E>>>,
}

impl<E> GroupBuilder<E>
where
    E: fmt::Debug + Send + 'static,
{
    pub(super) fn new() -> GroupBuilder<E> {
        GroupBuilder { name: None, grace: None, limit: None, policy: None }
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

    /// At most `n` children run at once (law G8). Beyond that [`spawn`](TaskGroup::spawn) queues, first
    /// come, first served: what comes back is a task like any other, suspended in front of its future. If it is
    /// cancelled there, or its group ends, the future is dropped unpolled.
    /// [`spawn_ready`](TaskGroup::spawn_ready) waits for a slot, [`try_spawn`](TaskGroup::try_spawn)
    /// refuses. A child has its slot until it has ended. Services and the body need none.
    ///
    /// # Panics
    ///
    /// If `n` is zero: no child could ever run.
    pub fn limit(mut self, n: usize) -> GroupBuilder<E> {
        assert!(n > 0, "a group with the limit 0 could never run a child; give it at least 1");
        self.limit = Some(n);
        self
    }

    /// The first failure cancels everybody else (laws G2, G9). This is the default.
    pub fn fail_fast(mut self) -> GroupBuilder<E> {
        self.policy = None;
        self
    }

    /// A child that fails is recorded, and its siblings and the body go on; the group returns the errors
    /// when all have ended (law G9). A body that fails ends its group all the same.
    pub fn supervise(self) -> GroupBuilder<E> {
        self.policy(Supervise)
    }

    /// The first child that succeeds ends the other children, and makes the failures before it void; if
    /// none succeeds, the group returns the errors of all (law G9).
    ///
    /// The body goes on: it learns from the handles who succeeded, or the winner calls
    /// [`finish`](TaskGroup::finish). For futures of one type there is
    /// [`first_success`](crate::first_success()).
    pub fn first_success(self) -> GroupBuilder<E> {
        self.policy(FirstSuccess::default())
    }

    /// A policy of your own.
    pub fn policy(mut self, policy: impl Policy<E>) -> GroupBuilder<E> {
        self.policy = Some(Box::new(policy));
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
        let station = Arc::new(Station::new(Plan {
            id: next_id(),
            source: Source { name: self.name, location: Location::caller() },
            value: (TypeId::of::<T>(), type_name::<T>()),
            limit: self.limit,
            policy: self.policy,
            describe: |error| format!("{error:?}"),
        }));
        let body = body(TaskGroup { station: station.clone() });
        GroupScope::new(body, station, self.grace)
    }
}

impl<E: 'static> fmt::Debug for GroupBuilder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupBuilder")
            .field("name", &self.name)
            .field("grace", &self.grace)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

fn next_id() -> GroupId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // Relaxed: only uniqueness is asked for, nothing is published with the number.
    GroupId(NEXT.fetch_add(1, Ordering::Relaxed))
}
