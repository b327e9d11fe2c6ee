//! One branch of an aggregate: a future polled in place, in a scope of its own.
//!
//! The aggregate is the only one who asks a branch to end, so a branch's scope is isolated: requests
//! from outside arrive at the aggregate, which passes them on as the branch's own.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use brigade_core::scope::{LinkMode, Request, Scope, Verdict, report_unobserved};
use brigade_core::{Instant, TaskOutput, current_task};
use pin_project_lite::pin_project;

/// What a poll of a branch has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It waits. `clear`: it has absorbed every request that it got.
    Waiting {
        /// See the variant.
        clear: bool,
    },
    /// It ended by itself; its output is kept.
    Ended {
        /// With an error.
        failed: bool,
        /// It had absorbed every request that it got.
        clear: bool,
    },
    /// It was dropped because of a request.
    Unwound,
}

/// An output as a result.
pub(crate) type Parts<O> = Result<<O as TaskOutput>::Ok, <O as TaskOutput>::Err>;

/// In which form outputs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As results: the aggregate cares for errors.
    Parts,
    /// As they are: the aggregate returns an output whatever it is.
    Whole,
}

pin_project! {
    /// A branch.
    pub struct Branch<F: Future>
    where
        F::Output: TaskOutput,
    {
        // Declared before `scope`: tokens inside it settle while the scope still exists.
        #[pin]
        future: Option<F>,
        scope: Scope,
        kept: Kept<F::Output>,
    }
}

impl<F: Future> Branch<F>
where
    F::Output: TaskOutput,
{
    pub(crate) fn new(future: F, seat: Seat) -> Branch<F> {
        Branch { future: Some(future), scope: Scope::new(), kept: Kept { output: Output::None, seat } }
    }

    /// Polls the branch once, and hands it `request` if that poll is pending: a request never
    /// pre-empts a result (law C2).
    pub(crate) fn poll_branch(
        self: Pin<&mut Self>,
        form: Form,
        waker: &Waker,
        request: Option<Request>,
    ) -> Step {
        let mut this = self.project();
        let Some(future) = this.future.as_mut().as_pin_mut() else { return Step::Unwound };
        let mut cx = Context::from_waker(waker);
        if let Poll::Ready(output) = this.scope.enter(&mut cx, Instant::FAR_FUTURE, |cx| future.poll(cx)) {
            this.future.set(None);
            let clear = this.scope.absorbed();
            let failed = this.kept.put(output, form);
            this.scope.finish();
            return Step::Ended { failed, clear };
        }
        match this.scope.after_pending(request, LinkMode::Isolated, waker) {
            Verdict::Wait => Step::Waiting { clear: this.scope.absorbed() },
            Verdict::Unwind { .. } => {
                this.future.set(None);
                this.scope.finish();
                Step::Unwound
            }
        }
    }

    /// The output as a result, if the branch has ended by itself.
    pub(crate) fn take_part(self: Pin<&mut Self>) -> Option<Parts<F::Output>> {
        match std::mem::replace(&mut self.project().kept.output, Output::None) {
            Output::None => None,
            Output::Whole(output) => Some(output.into_result()),
            Output::Parts(result) => Some(result),
        }
    }

    /// The value of a branch that ended with one.
    pub(crate) fn take_value(self: Pin<&mut Self>) -> Option<<F::Output as TaskOutput>::Ok> {
        self.take_part().and_then(Result::ok)
    }

    /// The output as it is, if it was kept in that form.
    pub(crate) fn take_whole(self: Pin<&mut Self>) -> Option<F::Output> {
        match std::mem::replace(&mut self.project().kept.output, Output::None) {
            Output::Whole(output) => Some(output),
            _ => None,
        }
    }
}

impl<F: Future> fmt::Debug for Branch<F>
where
    F::Output: TaskOutput,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The future may be suspended: nothing here may look at it.
        f.write_str("Branch")
    }
}

/// Which branch of which aggregate it is, for the report of an error that nobody gets to see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    pub(crate) aggregate: &'static str,
    pub(crate) index: usize,
    pub(crate) location: &'static Location<'static>,
}

/// The output of a branch until the aggregate takes it.
///
/// An error that is never taken is reported in the place of the branch when it is dropped (laws A2,
/// T6): the error of a branch that fails while it is cancelled, or of a loser.
struct Kept<O: TaskOutput> {
    output: Output<O>,
    seat: Seat,
}

enum Output<O: TaskOutput> {
    None,
    Whole(O),
    Parts(Parts<O>),
}

impl<O: TaskOutput> Kept<O> {
    /// Whether it is an error; `false` if it is kept as a whole.
    fn put(&mut self, output: O, form: Form) -> bool {
        self.output = match form {
            Form::Whole => Output::Whole(output),
            Form::Parts => Output::Parts(output.into_result()),
        };
        matches!(self.output, Output::Parts(Err(_)))
    }
}

impl<O: TaskOutput> Drop for Kept<O> {
    fn drop(&mut self) {
        let error = match std::mem::replace(&mut self.output, Output::None) {
            Output::None | Output::Parts(Ok(_)) => return,
            Output::Parts(Err(error)) => error,
            Output::Whole(output) => match output.into_result() {
                Ok(_) => return,
                Err(error) => error,
            },
        };
        let Seat { aggregate, index, location } = self.seat;
        let task = current_task().map_or_else(|| "(no task)".into(), |task| task.name());
        report_unobserved(&format!("{task}.{aggregate}[{index}]"), O::describe(&error), location);
    }
}
