//! `race` and `first_success`: one of several is enough (law A5).

use std::error::Error;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use brigade_core::TaskOutput;
use pin_project_lite::pin_project;

use crate::gather::Poller;
use crate::gather::crew::{Crew, Gatherable, RaceTeam};
use crate::gather::round::Rule;

/// What [`race`] and [`first_success`] take: a `Vec`, an array, or a tuple of up to twelve futures or
/// tasks with one type of output: `()`, `!` or `Result<T, E>`.
///
/// It cannot be implemented outside this crate.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot race",
    label = "not a `Vec`, an array or a tuple of futures or tasks with one type of output",
    note = "each branch must return `()` or `Result<T, E>`, all the same type"
)]
pub trait Racers: Gatherable<Team: RaceTeam<Output = <Self as Racers>::Output>> {
    /// What each of them returns.
    type Output: TaskOutput;
}

impl<I> Racers for I
where
    I: Gatherable,
    I::Team: RaceTeam,
{
    type Output = <I::Team as RaceTeam>::Output;
}

/// Runs several futures or tasks at once, and returns what the first to end returned, value or error.
///
/// # Cancellation
///
/// - *One ends*: the losers are asked to end, once, and `race` waits until they have; tasks among them are
///   cancelled. Errors of losers are reported (law T6), their values are dropped.
/// - *A request from outside* reaches every branch, as for [`gather`](crate::gather()); if the race was
///   decided already its result is returned, and the request goes back to the scope around.
/// - *It is dropped*: the branches are dropped, tasks among them are cancelled and adopted by the runtime.
///
/// # Panics
///
/// If there is nobody to race. A branch that panics lets its panic out at once.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::race;
/// use brigade_core::{BoxError, sleep};
///
/// async fn mirror(ms: u64) -> Result<u64, BoxError> {
///     sleep(Duration::from_millis(ms)).await;
///     Ok(ms)
/// }
///
/// let fastest = brigade_testkit::simulate(async { race([mirror(500), mirror(2000), mirror(800)]).await });
/// assert_eq!(fastest.unwrap(), 500);
/// ```
#[track_caller]
pub fn race<I: Racers>(branches: I) -> Race<I, I::Team, <I as Racers>::Output> {
    assert!(branches.count() > 0, "`race` needs at least one branch: nobody can be first of none");
    let crew = Crew::new(branches, Rule::FirstEnd, "race", Location::caller());
    Race { crew, poll: |crew, cx| crew.poll_with(cx, first_end) }
}

/// Runs several futures or tasks at once, and returns the first value; if all fail, all errors, in
/// argument order. Of nothing it returns no errors.
///
/// # Cancellation
///
/// As for [`race`], except that a branch that fails decides nothing, and that errors of the others are
/// not reported once there is a value.
///
/// # Panics
///
/// A branch that panics lets its panic out at once.
///
/// # Examples
///
/// ```
/// use brigade_combinators::first_success;
///
/// brigade_testkit::simulate(async {
///     let found = first_success([Err("no fish"), Ok(7)].map(async |outcome: Result<i32, _>| outcome)).await;
///     assert_eq!(found.unwrap(), 7);
///     let nothing = first_success([async { Err::<(), _>("no rice") }]).await;
///     assert_eq!(nothing.unwrap_err().errors(), ["no rice"]);
/// }).unwrap();
/// ```
#[track_caller]
pub fn first_success<I: Racers>(branches: I) -> FirstSuccess<I, I::Team, SuccessOf<I>> {
    let crew = Crew::new(branches, Rule::FirstValue, "first_success", Location::caller());
    FirstSuccess { crew, poll: |crew, cx| crew.poll_with(cx, first_value) }
}

type SuccessOf<I> =
    Result<<<I as Racers>::Output as TaskOutput>::Ok, AllFailed<<<I as Racers>::Output as TaskOutput>::Err>>;

fn first_end<T: RaceTeam>(team: Pin<&mut T>, first: Option<usize>) -> T::Output {
    team.output(first.expect("a race ends when its first branch has ended"))
}

fn first_value<T: RaceTeam>(
    mut team: Pin<&mut T>,
    first: Option<usize>,
) -> Result<<T::Output as TaskOutput>::Ok, AllFailed<<T::Output as TaskOutput>::Err>> {
    let first = first.map(|index| team.as_mut().output(index).into_result());
    // If there is a value the errors were expected, so they are not reported.
    let errors = team.failures();
    match first {
        None => Err(AllFailed { errors }),
        Some(first) => first.map_err(|error| AllFailed { errors: vec![error] }),
    }
}

pin_project! {
    /// The future of [`race`]; `R` is its output.
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct Race<I, T, R> {
        #[pin]
        crew: Crew<I, T>,
        poll: Poller<I, T, R>,
    }
}

impl<I, T, R> Future for Race<I, T, R> {
    type Output = R;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let this = self.project();
        (this.poll)(this.crew, cx)
    }
}

pin_project! {
    /// The future of [`first_success`]; `R` is its output.
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct FirstSuccess<I, T, R> {
        #[pin]
        crew: Crew<I, T>,
        poll: Poller<I, T, R>,
    }
}

impl<I, T, R> Future for FirstSuccess<I, T, R> {
    type Output = R;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let this = self.project();
        (this.poll)(this.crew, cx)
    }
}

/// Every branch of a [`first_success`] has failed; holds all errors in argument order.
#[derive(Clone, PartialEq, Eq)]
pub struct AllFailed<E> {
    errors: Vec<E>,
}

impl<E> AllFailed<E> {
    /// The errors in argument order.
    #[must_use]
    pub fn errors(&self) -> &[E] {
        &self.errors
    }

    /// The same by value.
    #[must_use]
    pub fn into_errors(self) -> Vec<E> {
        self.errors
    }
}

impl<E: fmt::Display> fmt::Display for AllFailed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.errors.len() {
            0 => f.write_str("there was nothing to succeed"),
            count => write!(f, "all {count} branches failed"),
        }?;
        self.errors.iter().enumerate().try_for_each(|(index, error)| write!(f, "\n  {index}: {error}"))
    }
}

impl<E: fmt::Debug> fmt::Debug for AllFailed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AllFailed").field(&self.errors).finish()
    }
}

impl<E: fmt::Debug + fmt::Display> Error for AllFailed<E> {}
