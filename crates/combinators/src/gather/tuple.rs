//! Branches of different types: tuples of one to twelve, which give tuples.

use std::pin::Pin;
use std::task::Waker;

use brigade_core::TaskOutput;
use brigade_core::scope::Request;
use pin_project_lite::pin_project;

use super::branch::{Branch, Form, Step};
use super::crew::{GatherTeam, Gatherable, RaceTeam, Seats};
use super::round::Team;

macro_rules! tuple {
    ($team:ident $count:literal: $($index:literal $branch:ident $F:ident),+) => {
        pin_project! {
            /// The branches of a tuple.
            #[doc(hidden)]
            #[derive(Debug)]
            pub struct $team<$($F: Future),+>
            where
                $($F::Output: TaskOutput,)+
            {
                $(#[pin] $branch: Branch<$F>,)+
            }
        }

        impl<$($F: Future),+> Team for $team<$($F),+>
        where
            $($F::Output: TaskOutput,)+
        {
            fn poll_branch(
                self: Pin<&mut Self>,
                index: usize,
                form: Form,
                waker: &Waker,
                request: Option<Request>,
            ) -> Step {
                let this = self.project();
                match index {
                    $($index => this.$branch.poll_branch(form, waker, request),)+
                    _ => unreachable!("a tuple has as many branches as fields"),
                }
            }
        }

        impl<Error, $($F: Future),+> GatherTeam for $team<$($F),+>
        where
            $($F::Output: TaskOutput<Err = Error>,)+
        {
            type Values = ($(<$F::Output as TaskOutput>::Ok,)+);
            type Results = ($(Result<<$F::Output as TaskOutput>::Ok, Error>,)+);
            type Error = Error;

            fn values(self: Pin<&mut Self>) -> Self::Values {
                let this = self.project();
                ($(this.$branch.take_value().expect("every branch has a value"),)+)
            }

            fn results(self: Pin<&mut Self>) -> Self::Results {
                let this = self.project();
                ($(this.$branch.take_part().expect("every branch has ended"),)+)
            }

            fn error(self: Pin<&mut Self>, index: usize) -> Error {
                let this = self.project();
                let error = match index {
                    $($index => this.$branch.take_part().and_then(Result::err),)+
                    _ => None,
                };
                error.expect("the branch has failed")
            }
        }

        impl<Output: TaskOutput, $($F: Future<Output = Output>),+> RaceTeam for $team<$($F),+> {
            type Output = Output;

            fn output(self: Pin<&mut Self>, index: usize) -> Output {
                let this = self.project();
                let output = match index {
                    $($index => this.$branch.take_whole(),)+
                    _ => None,
                };
                output.expect("the branch has ended")
            }

            fn value(self: Pin<&mut Self>, index: usize) -> Output::Ok {
                let this = self.project();
                let value = match index {
                    $($index => this.$branch.take_value(),)+
                    _ => None,
                };
                value.expect("the branch has a value")
            }

            fn failures(self: Pin<&mut Self>) -> Vec<Output::Err> {
                let this = self.project();
                let results = [$(this.$branch.take_part()),+];
                results.into_iter().flatten().filter_map(Result::err).collect()
            }
        }

        impl<Error, $($F: IntoFuture),+> Gatherable for ($($F,)+)
        where
            $($F::Output: TaskOutput<Err = Error>,)+
        {
            type Values = ($(<$F::Output as TaskOutput>::Ok,)+);
            type Results = ($(Result<<$F::Output as TaskOutput>::Ok, Error>,)+);
            type Error = Error;
            type Team = $team<$($F::IntoFuture),+>;

            fn count(&self) -> usize {
                $count
            }

            fn into_team(self, seats: Seats) -> Self::Team {
                let ($($branch,)+) = self;
                $team { $($branch: Branch::new($branch.into_future(), seats.at($index)),)+ }
            }
        }
    };
}

tuple!(Team1 1: 0 a A);
tuple!(Team2 2: 0 a A, 1 b B);
tuple!(Team3 3: 0 a A, 1 b B, 2 c C);
tuple!(Team4 4: 0 a A, 1 b B, 2 c C, 3 d D);
tuple!(Team5 5: 0 a A, 1 b B, 2 c C, 3 d D, 4 e E);
tuple!(Team6 6: 0 a A, 1 b B, 2 c C, 3 d D, 4 e E, 5 f F);
tuple!(Team7 7: 0 a A, 1 b B, 2 c C, 3 d D, 4 e E, 5 f F, 6 g G);
tuple!(Team8 8: 0 a A, 1 b B, 2 c C, 3 d D, 4 e E, 5 f F, 6 g G, 7 h H);
tuple!(Team9 9: 0 a A, 1 b B, 2 c C, 3 d D, 4 e E, 5 f F, 6 g G, 7 h H, 8 i I);
tuple!(Team10 10: 0 a A, 1 b B, 2 c C, 3 d D, 4 e E, 5 f F, 6 g G, 7 h H, 8 i I, 9 j J);
tuple!(Team11 11: 0 a A, 1 b B, 2 c C, 3 d D, 4 e E, 5 f F, 6 g G, 7 h H, 8 i I, 9 j J, 10 k K);
tuple!(Team12 12: 0 a A, 1 b B, 2 c C, 3 d D, 4 e E, 5 f F, 6 g G, 7 h H, 8 i I, 9 j J, 10 k K, 11 l L);
