//! The future behind every aggregate of futures: it holds what it was given until its first poll, and
//! its branches from then on.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use brigade_core::TaskOutput;
use pin_project_lite::pin_project;

use super::branch::Seat;
use super::round::{Round, Rule, Team};

/// What [`gather`](crate::gather()) and its kin take: a `Vec`, an array, or a tuple of up to twelve
/// futures or tasks, whose outputs are `()`, `!` or `Result<T, E>` with one error type.
///
/// It cannot be implemented outside this crate.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be gathered",
    label = "not a `Vec`, an array or a tuple of futures or tasks with outputs that tasks may have",
    note = "each branch must return `()` or `Result<T, E>`, all with one error type; use `gather_all` for \
            an iterator, and `.as_branch()` for a plain future beside tasks"
)]
pub trait Gatherable: Sized {
    /// The values in argument order: a tuple for a tuple, an array for an array.
    type Values;
    /// The same with results.
    type Results;
    /// The error type of all branches.
    type Error;
    #[doc(hidden)]
    type Team: GatherTeam<Values = Self::Values, Results = Self::Results, Error = Self::Error>;

    #[doc(hidden)]
    fn count(&self) -> usize;

    #[doc(hidden)]
    fn into_team(self, seats: Seats) -> Self::Team;
}

/// Branches whose outputs can be taken together.
#[doc(hidden)]
pub trait GatherTeam: Team {
    type Values;
    type Results;
    type Error;

    /// All values; every branch has ended with one.
    fn values(self: Pin<&mut Self>) -> Self::Values;

    /// All results; every branch has ended by itself.
    fn results(self: Pin<&mut Self>) -> Self::Results;

    /// The error of a branch that has ended with one.
    fn error(self: Pin<&mut Self>, index: usize) -> Self::Error;
}

/// Branches that can stand for one another: they have one type of output.
#[doc(hidden)]
pub trait RaceTeam: Team {
    type Output: TaskOutput;

    /// The output of a branch that has ended, as it is.
    fn output(self: Pin<&mut Self>, index: usize) -> Self::Output;

    /// The errors of all branches that have failed.
    fn failures(self: Pin<&mut Self>) -> Vec<<Self::Output as TaskOutput>::Err>;
}

/// Tells the branches apart in reports.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Seats {
    aggregate: &'static str,
    location: &'static Location<'static>,
}

impl Seats {
    pub(crate) fn at(self, index: usize) -> Seat {
        Seat { aggregate: self.aggregate, index, location: self.location }
    }
}

pin_project! {
    #[project = StageProjection]
    enum Stage<I, T> {
        Fresh { input: Option<I> },
        Running { #[pin] team: T, round: Round },
        Over,
    }
}

pin_project! {
    /// See the module. `T` is the team that `I` becomes; a parameter for the reason told at
    /// [`Branch`](super::branch::Branch).
    pub struct Crew<I, T> {
        #[pin]
        stage: Stage<I, T>,
        rule: Rule,
        seats: Seats,
    }
}

impl<I, T> Crew<I, T> {
    pub(crate) fn new(
        input: I,
        rule: Rule,
        aggregate: &'static str,
        location: &'static Location<'static>,
    ) -> Crew<I, T> {
        let stage = Stage::Fresh { input: Some(input) };
        Crew { stage, rule, seats: Seats { aggregate, location } }
    }

    /// The same before its first poll, with another rule and perhaps other branches.
    pub(crate) fn convert<J, U>(self, rule: Rule, convert: impl FnOnce(I) -> J) -> Crew<J, U> {
        let Stage::Fresh { input: Some(input) } = self.stage else {
            unreachable!("an aggregate that was polled is pinned and cannot be given away")
        };
        Crew { stage: Stage::Fresh { input: Some(convert(input)) }, rule, seats: self.seats }
    }

    /// Polls the branches; once the aggregate is decided or all have ended, `conclude` takes what it
    /// wants, and the rest is dropped.
    pub(crate) fn poll_with<R>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        conclude: impl FnOnce(Pin<&mut T>, Option<usize>) -> R,
    ) -> Poll<R>
    where
        I: Gatherable<Team = T>,
        T: Team,
    {
        let mut this = self.project();
        if let StageProjection::Fresh { input } = this.stage.as_mut().project() {
            let input = input.take().expect("the input is taken once, below");
            let round = Round::new(*this.rule, input.count());
            let team = input.into_team(*this.seats);
            this.stage.set(Stage::Running { team, round });
        }
        let StageProjection::Running { mut team, round } = this.stage.as_mut().project() else {
            panic!("an aggregate was polled after it had ended");
        };
        let hit = ready!(round.poll(team.as_mut(), cx));
        let result = conclude(team, hit);
        this.stage.set(Stage::Over);
        Poll::Ready(result)
    }
}

impl<I, T> fmt::Debug for Crew<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The branches may be suspended: nothing here may look at them.
        write!(f, "{} ({})", self.seats.aggregate, self.seats.location)
    }
}
