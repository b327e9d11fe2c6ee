//! Branches of different types: tuples of one to twelve, which give tuples.

use std::pin::Pin;
use std::task::Waker;

use brigade_core::TaskOutput;
use brigade_core::scope::Request;
use pin_project_lite::pin_project;

use super::branch::{BranchOutput, Seated, Step};
use super::crew::{GatherTeam, Gatherable, RaceTeam, Seats};
use super::round::Team;

macro_rules! tuple {
    ($team:ident $count:literal: $($index:literal $branch:ident $F:ident $O:ident),+) => {
        pin_project! {
            /// The branches of a tuple, with their outputs.
            #[doc(hidden)]
            #[derive(Debug)]
            pub struct $team<$($F, $O),+> {
                $(#[pin] $branch: Seated<$F, $O>,)+
            }
        }

        impl<$($F, $O),+> Team for $team<$($F, $O),+>
        where
            $($F: Future<Output = $O>, $O: BranchOutput,)+
        {
            fn poll_branch(self: Pin<&mut Self>, index: usize, waker: &Waker) -> Step {
                let this = self.project();
                match index {
                    $($index => this.$branch.branch().poll_branch(waker),)+
                    _ => unreachable!("a tuple has as many branches as fields"),
                }
            }

            fn ask_branch(
                self: Pin<&mut Self>,
                index: usize,
                waker: &Waker,
                request: Request,
                waits: bool,
            ) -> Step {
                let this = self.project();
                match index {
                    $($index => this.$branch.branch().ask_branch(waker, request, waits),)+
                    _ => unreachable!("a tuple has as many branches as fields"),
                }
            }
        }

        impl<Error, $($F, $O),+> GatherTeam for $team<$($F, $O),+>
        where
            $($F: Future<Output = $O>, $O: BranchOutput<Err = Error>,)+
        {
            type Values = ($($O::Ok,)+);
            type Results = ($(Result<$O::Ok, Error>,)+);
            type Error = Error;

            fn values(self: Pin<&mut Self>) -> Self::Values {
                let this = self.project();
                ($(this.$branch.branch().take_value().expect("every branch has a value"),)+)
            }

            fn results(self: Pin<&mut Self>) -> Self::Results {
                let this = self.project();
                ($(this.$branch.branch().take_result().expect("every branch has ended"),)+)
            }

            fn error(self: Pin<&mut Self>, index: usize) -> Error {
                let this = self.project();
                let error = match index {
                    $($index => this.$branch.branch().take_error(),)+
                    _ => None,
                };
                error.expect("the branch has failed")
            }
        }

        impl<Output, $($F),+> RaceTeam for $team<$($F, tuple!(@each $F Output)),+>
        where
            Output: BranchOutput,
            $($F: Future<Output = Output>,)+
        {
            type Output = Output;

            fn output(self: Pin<&mut Self>, index: usize) -> Output {
                let this = self.project();
                let output = match index {
                    $($index => this.$branch.branch().take_output(),)+
                    _ => None,
                };
                output.expect("the branch has ended")
            }

            fn failures(self: Pin<&mut Self>) -> Vec<Output::Err> {
                let this = self.project();
                let errors = [$(this.$branch.branch().take_error()),+];
                errors.into_iter().flatten().collect()
            }
        }

        impl<Error, $($F: IntoFuture),+> Gatherable for ($($F,)+)
        where
            $($F::Output: BranchOutput<Err = Error>,)+
        {
            type Values = ($(<$F::Output as TaskOutput>::Ok,)+);
            type Results = ($(Result<<$F::Output as TaskOutput>::Ok, Error>,)+);
            type Error = Error;
            type Team = $team<$($F::IntoFuture, $F::Output),+>;

            fn count(&self) -> usize {
                $count
            }

            fn into_team(self, seats: Seats) -> Self::Team {
                let ($($branch,)+) = self;
                $team { $($branch: Seated::new($branch.into_future(), seats.at($index)),)+ }
            }
        }
    };
    (@each $F:ident $Output:ident) => { $Output };
}

tuple!(Team1 1: 0 a A AOut);
tuple!(Team2 2: 0 a A AOut, 1 b B BOut);
tuple!(Team3 3: 0 a A AOut, 1 b B BOut, 2 c C COut);
tuple!(Team4 4: 0 a A AOut, 1 b B BOut, 2 c C COut, 3 d D DOut);
tuple!(Team5 5: 0 a A AOut, 1 b B BOut, 2 c C COut, 3 d D DOut, 4 e E EOut);
tuple!(Team6 6: 0 a A AOut, 1 b B BOut, 2 c C COut, 3 d D DOut, 4 e E EOut, 5 f F FOut);
tuple!(Team7 7: 0 a A AOut, 1 b B BOut, 2 c C COut, 3 d D DOut, 4 e E EOut, 5 f F FOut, 6 g G GOut);
tuple!(Team8 8: 0 a A AOut, 1 b B BOut, 2 c C COut, 3 d D DOut, 4 e E EOut, 5 f F FOut, 6 g G GOut, 7 h H HOut);
tuple!(Team9 9: 0 a A AOut, 1 b B BOut, 2 c C COut, 3 d D DOut, 4 e E EOut, 5 f F FOut, 6 g G GOut, 7 h H HOut, 8 i I IOut);
tuple!(Team10 10: 0 a A AOut, 1 b B BOut, 2 c C COut, 3 d D DOut, 4 e E EOut, 5 f F FOut, 6 g G GOut, 7 h H HOut, 8 i I IOut, 9 j J JOut);
tuple!(Team11 11: 0 a A AOut, 1 b B BOut, 2 c C COut, 3 d D DOut, 4 e E EOut, 5 f F FOut, 6 g G GOut, 7 h H HOut, 8 i I IOut, 9 j J JOut, 10 k K KOut);
tuple!(Team12 12: 0 a A AOut, 1 b B BOut, 2 c C COut, 3 d D DOut, 4 e E EOut, 5 f F FOut, 6 g G GOut, 7 h H HOut, 8 i I IOut, 9 j J JOut, 10 k K KOut, 11 l L LOut);
