//! Branches of one type, as many as there are: `Vec`, and the storage that arrays use, too.

use std::pin::Pin;
use std::task::Waker;

use brigade_core::TaskOutput;
use brigade_core::scope::Request;

use super::branch::{Branch, BranchOutput, Parts, Report, Step, report};
use super::crew::{GatherTeam, Gatherable, RaceTeam, Seats};
use super::round::Team;
use crate::slots::element;

type Value<O> = <O as TaskOutput>::Ok;
type Failure<O> = <O as TaskOutput>::Err;

/// A row of branches of one type.
#[doc(hidden)]
#[derive(Debug)]
pub struct Row<F, O> {
    branches: Pin<Box<[Branch<F, O>]>>,
    seats: Seats,
    report: Report<O>,
}

impl<F, O> Row<F, O>
where
    F: Future<Output = O>,
    O: BranchOutput,
{
    pub(crate) fn new(futures: impl IntoIterator<Item = F>, seats: Seats) -> Row<F, O> {
        let branches = Box::into_pin(futures.into_iter().map(Branch::new).collect());
        Row { branches, seats, report: report::<O> }
    }

    pub(crate) fn take_values(&mut self) -> impl Iterator<Item = Value<O>> {
        (0..self.branches.len())
            .map(|index| self.branch(index).take_value().expect("every branch has a value"))
    }

    pub(crate) fn take_results(&mut self) -> impl Iterator<Item = Parts<O>> {
        (0..self.branches.len())
            .map(|index| self.branch(index).take_result().expect("every branch has ended"))
    }
}

impl<F, O> Row<F, O> {
    fn branch(&mut self, index: usize) -> Pin<&mut Branch<F, O>> {
        element(self.branches.as_mut(), index)
    }
}

impl<F, O> Drop for Row<F, O> {
    fn drop(&mut self) {
        for index in 0..self.branches.len() {
            if let Some(output) = self.branch(index).take_output() {
                (self.report)(output, self.seats.at(index));
            }
        }
    }
}

impl<F, O> Team for Row<F, O>
where
    F: Future<Output = O>,
    O: BranchOutput,
{
    fn poll_branch(self: Pin<&mut Self>, index: usize, waker: &Waker) -> Step {
        self.get_mut().branch(index).poll_branch(waker)
    }

    fn ask_branch(self: Pin<&mut Self>, index: usize, waker: &Waker, request: Request, waits: bool) -> Step {
        self.get_mut().branch(index).ask_branch(waker, request, waits)
    }
}

impl<F, O> GatherTeam for Row<F, O>
where
    F: Future<Output = O>,
    O: BranchOutput,
{
    type Values = Vec<Value<O>>;
    type Results = Vec<Parts<O>>;
    type Error = Failure<O>;

    fn values(self: Pin<&mut Self>) -> Self::Values {
        self.get_mut().take_values().collect()
    }

    fn results(self: Pin<&mut Self>) -> Self::Results {
        self.get_mut().take_results().collect()
    }

    fn error(self: Pin<&mut Self>, index: usize) -> Self::Error {
        self.get_mut().branch(index).take_error().expect("the branch has failed")
    }
}

impl<F, O> RaceTeam for Row<F, O>
where
    F: Future<Output = O>,
    O: BranchOutput,
{
    type Output = O;

    fn output(self: Pin<&mut Self>, index: usize) -> O {
        self.get_mut().branch(index).take_output().expect("the branch has ended")
    }

    fn failures(self: Pin<&mut Self>) -> Vec<Failure<O>> {
        let row = self.get_mut();
        (0..row.branches.len()).filter_map(|index| row.branch(index).take_error()).collect()
    }
}

impl<F: IntoFuture> Gatherable for Vec<F>
where
    F::Output: BranchOutput,
{
    type Values = Vec<Value<F::Output>>;
    type Results = Vec<Parts<F::Output>>;
    type Error = Failure<F::Output>;
    type Team = Row<F::IntoFuture, F::Output>;

    fn count(&self) -> usize {
        self.len()
    }

    fn into_team(self, seats: Seats) -> Self::Team {
        Row::new(self.into_iter().map(IntoFuture::into_future), seats)
    }
}
