//! Branches of one type whose number the compiler knows: arrays, which give arrays.

use std::pin::Pin;
use std::task::Waker;

use brigade_core::TaskOutput;
use brigade_core::scope::Request;

use super::branch::{BranchOutput, Parts, Step};
use super::crew::{GatherTeam, Gatherable, RaceTeam, Seats};
use super::round::Team;
use super::vec::Row;

type Value<O> = <O as TaskOutput>::Ok;
type Failure<O> = <O as TaskOutput>::Err;

/// A row of exactly `N` branches.
#[doc(hidden)]
#[derive(Debug)]
pub struct FixedRow<F, O, const N: usize>(Row<F, O>);

impl<F, O, const N: usize> FixedRow<F, O, N> {
    fn row(self: Pin<&mut Self>) -> Pin<&mut Row<F, O>> {
        Pin::new(&mut self.get_mut().0)
    }
}

impl<F, O, const N: usize> Team for FixedRow<F, O, N>
where
    F: Future<Output = O>,
    O: BranchOutput,
{
    fn poll_branch(self: Pin<&mut Self>, index: usize, waker: &Waker) -> Step {
        self.row().poll_branch(index, waker)
    }

    fn ask_branch(self: Pin<&mut Self>, index: usize, waker: &Waker, request: Request, waits: bool) -> Step {
        self.row().ask_branch(index, waker, request, waits)
    }
}

impl<F, O, const N: usize> GatherTeam for FixedRow<F, O, N>
where
    F: Future<Output = O>,
    O: BranchOutput,
{
    type Values = [Value<O>; N];
    type Results = [Parts<O>; N];
    type Error = Failure<O>;

    fn values(self: Pin<&mut Self>) -> Self::Values {
        let mut values = self.get_mut().0.take_values();
        std::array::from_fn(|_| values.next().expect("there are exactly N branches"))
    }

    fn results(self: Pin<&mut Self>) -> Self::Results {
        let mut results = self.get_mut().0.take_results();
        std::array::from_fn(|_| results.next().expect("there are exactly N branches"))
    }

    fn error(self: Pin<&mut Self>, index: usize) -> Self::Error {
        self.row().error(index)
    }
}

impl<F, O, const N: usize> RaceTeam for FixedRow<F, O, N>
where
    F: Future<Output = O>,
    O: BranchOutput,
{
    type Output = O;

    fn output(self: Pin<&mut Self>, index: usize) -> O {
        self.row().output(index)
    }

    fn failures(self: Pin<&mut Self>) -> Vec<Failure<O>> {
        self.row().failures()
    }
}

impl<F: IntoFuture, const N: usize> Gatherable for [F; N]
where
    F::Output: BranchOutput,
{
    type Values = [Value<F::Output>; N];
    type Results = [Parts<F::Output>; N];
    type Error = Failure<F::Output>;
    type Team = FixedRow<F::IntoFuture, F::Output, N>;

    fn count(&self) -> usize {
        N
    }

    fn into_team(self, seats: Seats) -> Self::Team {
        FixedRow(Row::new(self.into_iter().map(IntoFuture::into_future), seats))
    }
}
