//! `gather`: several futures or tasks at once, results in argument order (laws A1, A2).
//!
//! Files, from the inside out: [`branch`] (one future in a scope of its own), [`round`] (the engine: whom
//! to poll, when to stop the others, requests from outside), [`crew`] (the future that holds both),
//! [`vec`], [`array`], [`tuple`] (what can be gathered), [`as_branch`], [`followed`].

pub(crate) mod array;
mod as_branch;
pub(crate) mod branch;
pub(crate) mod crew;
mod followed;
pub(crate) mod round;
pub(crate) mod tuple;
pub(crate) mod vec;

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use brigade_core::{Task, TaskError};
use pin_project_lite::pin_project;

use self::crew::{Crew, GatherTeam};
use self::followed::Followed;
use self::round::Rule;
use self::vec::Row;

pub use self::as_branch::{AsBranch, BranchExt};
pub use self::crew::Gatherable;

/// Runs several futures or tasks at once: a `Vec`, an array or a tuple of them. Returns all values in
/// argument order (a tuple for a tuple), or the first error (laws A1, A2).
///
/// Branches return `()`, `!` or `Result<T, E>`, all with one error type; beside tasks, whose error type
/// is `TaskError<E>`, a plain future joins by [`.as_branch()`](BranchExt::as_branch). Futures are polled
/// in place, by this task, so they may borrow; all start in the first poll, in order. A branch is polled
/// only when it was woken. Nothing to gather is `Ok` at once.
///
/// [`.return_errors()`](Gather::return_errors) runs all to the end, whatever they return.
///
/// # Cancellation
///
/// - *A branch fails*: the others are asked to end, once; tasks among them are cancelled. `gather` waits
///   until all have ended, and then returns the first error. Errors of the others are reported (law
///   T6), under the name of this task, the word `gather` and the index of the branch.
/// - *A request from outside* reaches every branch, and so does each further explicit one. A branch in
///   which nothing handles it is dropped; tasks are cancelled and waited for. When all have ended the
///   request goes on unwinding, unless every branch that got it absorbed it. If an error was already
///   being returned, that is returned, and the request goes back to the scope around (law C9).
/// - *It is dropped*: the branches are dropped, tasks among them are cancelled and adopted by the
///   runtime (law C16).
///
/// # Panics
///
/// A branch that panics lets its panic out of `gather` at once, and the other branches are dropped.
///
/// # Examples
///
/// ```
/// use brigade_combinators::gather;
/// use brigade_core::BoxError;
///
/// async fn user(id: u32) -> Result<String, BoxError> { Ok(format!("user {id}")) }
/// async fn posts(_user: u32) -> Result<Vec<u32>, BoxError> { Ok(vec![1, 2]) }
///
/// brigade_testkit::simulate(async {
///     let (user, posts) = gather((user(7), posts(7))).await?;
///     assert_eq!((user.as_str(), posts.len()), ("user 7", 2));
///     Ok::<_, BoxError>(())
/// }).unwrap();
/// ```
#[track_caller]
pub fn gather<I: Gatherable>(branches: I) -> Gather<I, I::Team, Result<I::Values, I::Error>> {
    let crew = Crew::new(branches, Rule::FirstError, "gather", Location::caller());
    Gather { crew, poll: |crew, cx| crew.poll_with(cx, first_error) }
}

/// The same for an iterator over futures or tasks.
///
/// # Cancellation
///
/// As for [`gather()`].
///
/// # Panics
///
/// As for [`gather()`].
///
/// # Examples
///
/// ```
/// use brigade_combinators::gather_all;
/// use brigade_core::BoxError;
///
/// brigade_testkit::simulate(async {
///     let words = ["fish", "rice"];
///     let lengths = gather_all(words.iter().map(async |word| Ok::<_, BoxError>(word.len()))).await?;
///     assert_eq!(lengths, [4, 4]);
///     Ok::<_, BoxError>(())
/// }).unwrap();
/// ```
#[track_caller]
pub fn gather_all<I, F>(branches: I) -> Gather<Vec<F>, TeamOf<F>, GatheredOf<F>>
where
    I: IntoIterator<Item = F>,
    Vec<F>: Gatherable,
{
    gather(branches.into_iter().collect())
}

type TeamOf<F> = <Vec<F> as Gatherable>::Team;
type GatheredOf<F> = Result<<Vec<F> as Gatherable>::Values, <Vec<F> as Gatherable>::Error>;

/// How a crew is polled. Chosen where the bounds are known, so that `impl Future` needs none: a proof that
/// a task is `Send` must not depend on them (see [`Branch`](branch::Branch)).
pub(crate) type Poller<I, T, R> = fn(Pin<&mut Crew<I, T>>, &mut Context<'_>) -> Poll<R>;

pin_project! {
    /// The future of [`gather()`] and [`gather_all`]; `R` is its output.
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct Gather<I, T, R> {
        #[pin]
        crew: Crew<I, T>,
        poll: Poller<I, T, R>,
    }
}

impl<I: Gatherable, R> Gather<I, I::Team, R> {
    /// Runs all branches to their end, whatever they return, and gives all results in argument order.
    ///
    /// # Cancellation
    ///
    /// A failing branch does not touch the others. A request from outside reaches every branch, as for
    /// [`gather()`]; if it goes on unwinding, errors of branches are reported.
    ///
    /// # Examples
    ///
    /// ```
    /// use brigade_combinators::gather_all;
    ///
    /// brigade_testkit::simulate(async {
    ///     let halves = [4, 5].map(async |n: u32| if n % 2 == 0 { Ok(n / 2) } else { Err("odd") });
    ///     assert_eq!(gather_all(halves).return_errors().await, [Ok(2), Err("odd")]);
    /// }).unwrap();
    /// ```
    pub fn return_errors(self) -> ReturnErrors<I, I::Team, I::Results> {
        let crew = self.crew.convert(Rule::Never, |input| input);
        ReturnErrors { crew, poll: |crew, cx| crew.poll_with(cx, |team, _| team.results()) }
    }
}

impl<I, T, R> Future for Gather<I, T, R> {
    type Output = R;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let this = self.project();
        (this.poll)(this.crew, cx)
    }
}

fn first_error<T: GatherTeam>(team: Pin<&mut T>, failed: Option<usize>) -> Result<T::Values, T::Error> {
    match failed {
        None => Ok(team.values()),
        Some(index) => Err(team.error(index)),
    }
}

pin_project! {
    /// The future of [`Gather::return_errors`].
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct ReturnErrors<I, T, R> {
        #[pin]
        crew: Crew<I, T>,
        poll: Poller<I, T, R>,
    }
}

impl<I, T, R> Future for ReturnErrors<I, T, R> {
    type Output = R;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let this = self.project();
        (this.poll)(this.crew, cx)
    }
}

impl<T, E, U, R> Gather<Vec<Task<T, E>>, U, R>
where
    T: 'static,
    E: std::fmt::Debug + 'static,
{
    /// CPython's way: returns the first error at once, and leaves the other tasks running. For tasks
    /// only, since a future that nobody polls does not run.
    ///
    /// # Cancellation
    ///
    /// A failing task does not touch the others; an error of theirs that comes later is reported as
    /// that of any task whose handle is gone (law T6). A request from outside cancels all tasks and waits
    /// for them. Dropping it leaves all tasks running.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use brigade_combinators::gather;
    /// use brigade_core::{sleep, spawn};
    ///
    /// brigade_testkit::simulate(async {
    ///     let fails = spawn(async { Err::<(), _>("no fish") });
    ///     let slow = spawn(async { sleep(Duration::from_secs(1)).await; Ok(()) });
    ///     let watch = slow.to_ref();
    ///     assert!(gather(vec![fails, slow]).leave_running().await.is_err());
    ///     assert!(!watch.done());
    ///     watch.finished().await;
    ///     assert!(!watch.cancelled());
    /// }).unwrap();
    /// ```
    pub fn leave_running(self) -> LeaveRunning<T, E> {
        let follow = |tasks: Vec<Task<T, E>>| tasks.into_iter().map(Followed::new).collect();
        LeaveRunning { crew: self.crew.convert(Rule::FirstErrorAlone, follow) }
    }
}

impl<T, E, U, R, const N: usize> Gather<[Task<T, E>; N], U, R>
where
    T: 'static,
    E: std::fmt::Debug + 'static,
{
    /// As for a `Vec` of tasks.
    ///
    /// # Cancellation
    ///
    /// As for a `Vec` of tasks.
    pub fn leave_running(self) -> LeaveRunning<T, E> {
        let follow = |tasks: [Task<T, E>; N]| tasks.into_iter().map(Followed::new).collect();
        LeaveRunning { crew: self.crew.convert(Rule::FirstErrorAlone, follow) }
    }
}

pin_project! {
    /// The future of [`Gather::leave_running`].
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct LeaveRunning<T, E>
    where
        T: 'static,
        E: 'static,
    {
        #[pin]
        crew: Crew<Vec<Followed<T, E>>, Row<Followed<T, E>, Result<T, TaskError<E>>>>,
    }
}

impl<T, E: std::fmt::Debug> Future for LeaveRunning<T, E> {
    type Output = Result<Vec<T>, TaskError<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().crew.poll_with(cx, first_error)
    }
}
