//! Branches of one type whose number the compiler knows: arrays, which give arrays.

use std::pin::Pin;
use std::task::Waker;

use brigade_core::TaskOutput;
use brigade_core::scope::Request;

use super::branch::{Form, Step};
use super::crew::{GatherTeam, Gatherable, RaceTeam, Seats};
use super::round::Team;
use super::vec::Row;

type Value<F> = <<F as Future>::Output as TaskOutput>::Ok;
type Failure<F> = <<F as Future>::Output as TaskOutput>::Err;

/// A row of exactly `N` branches.
#[doc(hidden)]
#[derive(Debug)]
pub struct FixedRow<F: Future, const N: usize>(Row<F>)
where
    F::Output: TaskOutput;

impl<F: Future, const N: usize> Team for FixedRow<F, N>
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
        self.get_mut().0.branch(index).poll_branch(form, waker, request)
    }
}

impl<F: Future, const N: usize> GatherTeam for FixedRow<F, N>
where
    F::Output: TaskOutput,
{
    type Values = [Value<F>; N];
    type Results = [Result<Value<F>, Failure<F>>; N];
    type Error = Failure<F>;

    fn values(self: Pin<&mut Self>) -> Self::Values {
        let mut values = self.get_mut().0.take_values();
        std::array::from_fn(|_| values.next().expect("there are exactly N branches"))
    }

    fn results(self: Pin<&mut Self>) -> Self::Results {
        let mut results = self.get_mut().0.take_results();
        std::array::from_fn(|_| results.next().expect("there are exactly N branches"))
    }

    fn error(self: Pin<&mut Self>, index: usize) -> Self::Error {
        self.get_mut().0.take_error(index)
    }
}

impl<F: Future, const N: usize> RaceTeam for FixedRow<F, N>
where
    F::Output: TaskOutput,
{
    type Output = F::Output;

    fn output(self: Pin<&mut Self>, index: usize) -> F::Output {
        Pin::new(&mut self.get_mut().0).output(index)
    }

    fn value(self: Pin<&mut Self>, index: usize) -> Value<F> {
        Pin::new(&mut self.get_mut().0).value(index)
    }

    fn failures(self: Pin<&mut Self>) -> Vec<Failure<F>> {
        Pin::new(&mut self.get_mut().0).failures()
    }
}

impl<F: IntoFuture, const N: usize> Gatherable for [F; N]
where
    F::Output: TaskOutput,
{
    type Values = [Value<F::IntoFuture>; N];
    type Results = [Result<Value<F::IntoFuture>, Failure<F::IntoFuture>>; N];
    type Error = Failure<F::IntoFuture>;
    type Team = FixedRow<F::IntoFuture, N>;

    fn count(&self) -> usize {
        N
    }

    fn into_team(self, seats: Seats) -> Self::Team {
        FixedRow(Row::new(self.into_iter().map(IntoFuture::into_future), seats))
    }
}
