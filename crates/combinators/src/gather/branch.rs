//! One branch of an aggregate: a future polled in place, in a scope of its own.
//!
//! The aggregate is the only one who asks a branch to end, so a branch's scope is isolated: requests
//! from outside arrive at the aggregate, which passes them on as the branch's own.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use brigade_core::scope::{BranchScope, OwnFate, Request, Turn, Verdict, report_unobserved};
use brigade_core::{TaskOutput, current_task};
use pin_project_lite::pin_project;

use crate::never::Never;

/// What a poll of a branch has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It waits.
    Waiting {
        /// It has absorbed every request that it got.
        clear: bool,
        /// It has not, but no handler is running.
        idle: bool,
    },
    /// It ended by itself; its output is kept.
    Ended {
        /// With an error.
        failed: bool,
        /// What had become of the requests that it got.
        fate: OwnFate,
    },
    /// It was dropped because of a request.
    Unwound,
}

/// An output as a result.
pub(crate) type Parts<O> = Result<<O as TaskOutput>::Ok, <O as TaskOutput>::Err>;

/// An output that can be kept as it is until somebody wants to know more.
#[doc(hidden)]
pub trait BranchOutput: TaskOutput {
    /// Whether it is an error.
    fn is_failure(&self) -> bool;
}

impl BranchOutput for () {
    fn is_failure(&self) -> bool {
        false
    }
}

impl BranchOutput for Never {
    fn is_failure(&self) -> bool {
        *self
    }
}

impl<T, E: fmt::Debug + 'static> BranchOutput for Result<T, E> {
    fn is_failure(&self) -> bool {
        self.is_err()
    }
}

pin_project! {
    /// A branch whose future `F` has the output `O`.
    ///
    /// No field's type is a projection of a parameter: whether a future that holds a branch is `Send` is
    /// decided with lifetimes erased, where `'static`, which projections of tasks need, cannot be proved.
    pub struct Branch<F, O> {
        // Declared before `scope`: tokens inside it settle while the scope still exists.
        #[pin]
        future: Option<F>,
        scope: BranchScope,
        polled: Turn,
        kept: Kept<O>,
    }
}

impl<F, O> Branch<F, O>
where
    F: Future<Output = O>,
    O: BranchOutput,
{
    pub(crate) fn new(future: F, seat: Seat) -> Branch<F, O> {
        let kept = Kept { output: None, seat, report: report::<O> };
        Branch { future: Some(future), scope: BranchScope::new(), polled: Turn::default(), kept }
    }

    /// Polls the branch once, and hands it `request` if that poll is pending: a request never
    /// pre-empts a result (law C2).
    pub(crate) fn poll_branch(self: Pin<&mut Self>, waker: &Waker, request: Option<Request>) -> Step {
        let mut this = self.project();
        let Some(future) = this.future.as_mut().as_pin_mut() else { return Step::Unwound };
        let mut cx = Context::from_waker(waker);
        if request.is_some() {
            this.scope.expect_request();
        }
        // It was polled in this turn, and waits at the suspension point at which the request is due (law C2).
        let waits = request.is_some() && this.polled.is_delivering();
        *this.polled = Turn::if_pressed();
        let polled = match waits {
            true => Poll::Pending,
            false => this.scope.enter(&mut cx, |cx| future.poll(cx)),
        };
        if let Poll::Ready(output) = polled {
            this.future.set(None);
            let (failed, fate) = (BranchOutput::is_failure(&output), this.scope.own_fate());
            this.kept.output = Some(output);
            this.scope.finish();
            return Step::Ended { failed, fate };
        }
        match this.scope.after_pending(request, waker) {
            Verdict::Wait if waits => {
                // What woke it in this turn is looked at in the next one.
                waker.wake_by_ref();
                Step::Waiting { clear: this.scope.absorbed(), idle: this.scope.is_idle() }
            }
            Verdict::Wait => Step::Waiting { clear: this.scope.absorbed(), idle: this.scope.is_idle() },
            Verdict::Unwind { .. } => {
                this.future.set(None);
                this.scope.finish();
                Step::Unwound
            }
        }
    }

    /// The output, if the branch has ended by itself.
    pub(crate) fn take_output(self: Pin<&mut Self>) -> Option<O> {
        self.project().kept.output.take()
    }

    /// The output as a result.
    pub(crate) fn take_result(self: Pin<&mut Self>) -> Option<Parts<O>> {
        self.take_output().map(TaskOutput::into_result)
    }

    /// The value of a branch that ended with one.
    pub(crate) fn take_value(self: Pin<&mut Self>) -> Option<O::Ok> {
        self.take_result().and_then(Result::ok)
    }

    /// The error of a branch that ended with one.
    pub(crate) fn take_error(self: Pin<&mut Self>) -> Option<O::Err> {
        self.take_result().and_then(Result::err)
    }
}

impl<F, O> fmt::Debug for Branch<F, O> {
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
/// An error that is never taken is reported when it is dropped (laws A2, T6): the error of a branch that
/// fails while it is cancelled, or of a loser.
struct Kept<O> {
    output: Option<O>,
    seat: Seat,
    report: fn(O, Seat),
}

impl<O> Drop for Kept<O> {
    fn drop(&mut self) {
        if let Some(output) = self.output.take() {
            (self.report)(output, self.seat);
        }
    }
}

fn report<O: TaskOutput>(output: O, seat: Seat) {
    let Err(error) = output.into_result() else { return };
    let Seat { aggregate, index, location } = seat;
    let task = current_task().map_or_else(|| "(no task)".into(), |task| task.name());
    report_unobserved(&format!("{task}.{aggregate}[{index}]"), O::describe(&error), location);
}
