//! Branches of one type, as many as there are: `Vec`, and the storage that arrays use, too.

use std::pin::Pin;
use std::task::Waker;

use brigade_core::TaskOutput;
use brigade_core::scope::Request;

use super::branch::{Branch, Form, Step};
use super::crew::{GatherTeam, Gatherable, RaceTeam, Seats};
use super::round::Team;
use crate::slots::element;

type Value<F> = <<F as Future>::Output as TaskOutput>::Ok;
type Failure<F> = <<F as Future>::Output as TaskOutput>::Err;

/// A row of branches of one type.
#[doc(hidden)]
#[derive(Debug)]
pub struct Row<F: Future>(Pin<Box<[Branch<F>]>>)
where
    F::Output: TaskOutput;

impl<F: Future> Row<F>
where
    F::Output: TaskOutput,
{
    pub(crate) fn new(futures: impl IntoIterator<Item = F>, seats: Seats) -> Row<F> {
        let seated = futures.into_iter().enumerate();
        Row(Box::into_pin(seated.map(|(index, future)| Branch::new(future, seats.at(index))).collect()))
    }

    pub(crate) fn branch(&mut self, index: usize) -> Pin<&mut Branch<F>> {
        element(self.0.as_mut(), index)
    }

    pub(crate) fn take_values(&mut self) -> impl Iterator<Item = Value<F>> {
        (0..self.0.len()).map(|index| self.branch(index).take_value().expect("every branch has a value"))
    }

    pub(crate) fn take_results(&mut self) -> impl Iterator<Item = Result<Value<F>, Failure<F>>> {
        (0..self.0.len()).map(|index| self.branch(index).take_part().expect("every branch has ended"))
    }

    pub(crate) fn take_error(&mut self, index: usize) -> Failure<F> {
        let error = self.branch(index).take_part().and_then(Result::err);
        error.expect("the branch has failed")
    }
}

impl<F: Future> Team for Row<F>
where
    F::Output: TaskOutput,
{
    fn poll_branch(
        self: Pin<&mut Self>,
        index: usize,
        form: Form,
        waker: &Waker,
        request: Option<Request>,
    ) -> Step {
        self.get_mut().branch(index).poll_branch(form, waker, request)
    }
}

impl<F: Future> GatherTeam for Row<F>
where
    F::Output: TaskOutput,
{
    type Values = Vec<Value<F>>;
    type Results = Vec<Result<Value<F>, Failure<F>>>;
    type Error = Failure<F>;

    fn values(self: Pin<&mut Self>) -> Self::Values {
        self.get_mut().take_values().collect()
    }

    fn results(self: Pin<&mut Self>) -> Self::Results {
        self.get_mut().take_results().collect()
    }

    fn error(self: Pin<&mut Self>, index: usize) -> Self::Error {
        self.get_mut().take_error(index)
    }
}

impl<F: Future> RaceTeam for Row<F>
where
    F::Output: TaskOutput,
{
    type Output = F::Output;

    fn output(self: Pin<&mut Self>, index: usize) -> F::Output {
        self.get_mut().branch(index).take_whole().expect("the branch has ended")
    }

    fn value(self: Pin<&mut Self>, index: usize) -> Value<F> {
        self.get_mut().branch(index).take_value().expect("the branch has a value")
    }

    fn failures(self: Pin<&mut Self>) -> Vec<Failure<F>> {
        self.get_mut().take_results().filter_map(Result::err).collect()
    }
}

impl<F: IntoFuture> Gatherable for Vec<F>
where
    F::Output: TaskOutput,
{
    type Values = Vec<Value<F::IntoFuture>>;
    type Results = Vec<Result<Value<F::IntoFuture>, Failure<F::IntoFuture>>>;
    type Error = Failure<F::IntoFuture>;
    type Team = Row<F::IntoFuture>;

    fn count(&self) -> usize {
        self.len()
    }

    fn into_team(self, seats: Seats) -> Self::Team {
        Row::new(self.into_iter().map(IntoFuture::into_future), seats)
    }
}
