//! What a supervisor is told before it runs: its children, and the rules.

use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::time::Duration;

use super::super::error::GroupError;
use super::super::output::ChildOutput;
use super::super::spawn::Label;
use super::super::{GroupBuilder, TaskGroup};
use super::post::Post;
use super::watch::Watch;
use crate::backoff::Backoff;
use crate::sync::Arc;

/// Starts children again when they end: Erlang's supervisor, as a group (law G9).
///
/// It is built with its children and [run](Supervisor::run) as a child of some group, perhaps of another
/// supervisor. `E` is the error type of the children; [`BoxError`](brigade_core::BoxError) if in doubt.
///
/// *Which children* begin again when one has ended says the strategy: that one
/// ([`one_for_one`](Supervisor::one_for_one)), all ([`one_for_all`](Supervisor::one_for_all)), or that one
/// and those named after it ([`rest_for_one`](Supervisor::rest_for_one)). Those that still run are cancelled
/// before, from the last backwards, each when the one before has ended with its cleanup; then they are
/// started in order.
///
/// *Whether* a child begins again says its [`Restart`]. A child that was cancelled by somebody else is no
/// failure and stays ended. *How soon* says the [backoff](Supervisor::backoff), and *how often* the
/// [budget](Supervisor::budget). When that is used up, the other children are cancelled from the last
/// backwards, and the supervisor fails with the failures that used it up.
///
/// Every failure is told: one that is answered by a restart as a warning, that of a
/// [temporary](Restart::Temporary) child as a failure that nobody observed (law T6), and those that lead to
/// the end, or happen during it, in the error.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::{Backoff, Restart, Supervisor, TaskGroup};
/// use brigade_core::{BoxError, sleep};
///
/// brigade_testkit::simulate(async {
///     let outcome = TaskGroup::<BoxError>::scope(async |group| {
///         let lines = Supervisor::one_for_one()
///             .budget(2, Duration::from_secs(60))
///             .backoff(Backoff::new(Duration::from_secs(1)))
///             .child("line", Restart::Permanent, || async {
///                 sleep(Duration::from_secs(5)).await;
///                 Err::<(), BoxError>("hung up".into())
///             });
///         group.spawn_named("lines", lines.run());
///         Ok(())
///     });
///     let errors = outcome.await.unwrap_err();
///     assert!(errors.to_string().contains("3 errors"), "{errors}");
/// }).unwrap();
/// ```
#[must_use = "a supervisor does nothing until it runs: `group.spawn(supervisor.run())`"]
pub struct Supervisor<E: 'static> {
    pub(super) strategy: Strategy,
    pub(super) name: Option<Arc<str>>,
    pub(super) restarts: usize,
    pub(super) window: Duration,
    pub(super) backoff: Option<Backoff>,
    pub(super) grace: Option<Duration>,
    pub(super) children: Vec<Spec<E>>,
}

/// Whether a child of a [`Supervisor`] begins again after its end. One that was cancelled by somebody else
/// never does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restart {
    /// However it ended: with a value, an error or a panic.
    Permanent,
    /// After an error or a panic. One that ended with a value is done; but it begins again together with
    /// others, if the strategy says so.
    Transient,
    /// Never: not even together with others, by which it is cancelled like the rest.
    Temporary,
}

/// Who is restarted with a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Strategy {
    OneForOne,
    OneForAll,
    RestForOne,
}

/// One child.
pub(super) struct Spec<E> {
    pub(super) label: Label,
    pub(super) restart: Restart,
    pub(super) make: Make<E>,
}

pub(super) type Make<E> = Box<dyn FnMut() -> ChildFuture<E> + Send>;

pub(super) type ChildFuture<E> = Pin<Box<dyn Future<Output = Result<(), E>> + Send>>;

impl<E> Supervisor<E>
where
    E: fmt::Debug + Send + 'static,
{
    /// A child that ends is started again; the others are left alone.
    pub fn one_for_one() -> Supervisor<E> {
        Supervisor::new(Strategy::OneForOne)
    }

    /// When one is started again, all are: for children that share a state.
    pub fn one_for_all() -> Supervisor<E> {
        Supervisor::new(Strategy::OneForAll)
    }

    /// When one is started again, so are those named after it: for children that rely on those before.
    pub fn rest_for_one() -> Supervisor<E> {
        Supervisor::new(Strategy::RestForOne)
    }

    fn new(strategy: Strategy) -> Supervisor<E> {
        Supervisor {
            strategy,
            name: None,
            restarts: 3,
            window: Duration::from_secs(5),
            backoff: None,
            grace: None,
            children: Vec::new(),
        }
    }

    /// Gives the supervisor a name, for errors and warnings.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Supervisor<E> {
        self.name = Some(name.into());
        self
    }

    /// At most so many restarts, of all children together, within a window that ends now: what was longer
    /// ago is forgotten. One that is due beyond that ends the supervisor. Children that are restarted only
    /// together with another do not count. The default is 3 within 5 seconds.
    ///
    /// Pauses take time: a window not longer than the pauses of the [backoff](Supervisor::backoff) is
    /// never used up.
    pub fn budget(mut self, restarts: usize, window: Duration) -> Supervisor<E> {
        self.restarts = restarts;
        self.window = window;
        self
    }

    /// How long a child stays ended before it is started again, counted from its end; without it, not at
    /// all. Each child has pauses of its own. They begin anew when it has run for at least the window of the
    /// [budget](Supervisor::budget). A backoff with a budget of its own gives up as well, and
    /// that ends the supervisor.
    pub fn backoff(mut self, backoff: Backoff) -> Supervisor<E> {
        self.backoff = Some(backoff);
        self
    }

    /// Bounds the time that a child gets to end when it is stopped for a restart, and that all get when the
    /// supervisor ends: then they are aborted and named in a warning (law C13). Without it they get as
    /// long as they need.
    pub fn grace(mut self, limit: Duration) -> Supervisor<E> {
        self.grace = Some(limit);
        self
    }

    /// Adds a child. `make` is called for the first start, and again for every restart.
    ///
    /// Its errors and panics, also those of `make`, are failures and go to the supervisor. They are reported
    /// with this name and the place of this call.
    #[track_caller]
    pub fn child<M, F>(mut self, name: impl Into<Arc<str>>, restart: Restart, mut make: M) -> Supervisor<E>
    where
        M: FnMut() -> F + Send + 'static,
        F: Future + Send + 'static,
        F::Output: ChildOutput<E>,
    {
        let label = Label { name: Some(name.into()), location: Location::caller() };
        let make = move || -> ChildFuture<E> {
            match catch_unwind(AssertUnwindSafe(&mut make)) {
                Ok(future) => Box::pin(async move { future.await.into_child_result().map(drop) }),
                Err(payload) => Box::pin(async move { resume_unwind(payload) }),
            }
        };
        self.children.push(Spec { label, restart, make: Box::new(make) });
        self
    }

    /// Starts the children in order, and starts them again by the rules, until none is left that runs or
    /// will run.
    ///
    /// `G` is the error type of whoever awaits it: in `group.spawn(supervisor.run())` that of the group, which
    /// has to be made of a [`GroupError<E>`](GroupError). `BoxError` can; an enum of yours needs a `From`.
    ///
    /// # Cancellation
    ///
    /// A pause ends at once, and nothing is started from then on: a cancellation always wins over a restart.
    /// The children are cancelled from the last to the first, each when the one before has ended, and
    /// waited for; then the request goes on unwinding. If children failed while they were stopped, that is
    /// returned instead, and the request goes back to the scope around (laws G5, C9). Dropping the future
    /// leaves the children to the runtime, which ends them in the same order (law C16).
    ///
    /// # Errors
    ///
    /// The failures that used up the budget, for which [`GroupError::exhausted`] has the account; in the
    /// order in which they happened, followed by those of children that failed while they were stopped.
    ///
    /// # Panics
    ///
    /// When it is polled outside a runtime.
    #[track_caller]
    pub fn run<G>(self) -> impl Future<Output = Result<(), G>> + Send + use<E, G>
    where
        G: From<GroupError<E>>,
    {
        let mut group: GroupBuilder<E> = TaskGroup::builder();
        if let Some(name) = &self.name {
            group = group.name(name.clone());
        }
        if let Some(grace) = self.grace {
            group = group.grace(grace);
        }
        let post = Post::new();
        let mut source = None;
        let scope = group.scope(|group| {
            source = Some(group.station.source.clone());
            let watch = Watch::new(group, post.clone(), self);
            async move {
                watch.run().await;
                Ok(())
            }
        });
        async move {
            let outcome = scope.await;
            let Some(exhausted) = post.take_account() else { return outcome.map_err(G::from) };
            let empty = || GroupError {
                group: source.expect("the scope has called its body"),
                children: Vec::new(),
                cancelled: false,
                exhausted: None,
            };
            let mut errors = outcome.err().unwrap_or_else(empty);
            errors.exhausted = Some(exhausted);
            Err(errors.into())
        }
    }
}

impl<E: 'static> fmt::Debug for Supervisor<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor")
            .field("strategy", &self.strategy)
            .field("name", &self.name)
            .field("children", &self.children.len())
            .finish_non_exhaustive()
    }
}
