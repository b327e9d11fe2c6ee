//! One branch of an aggregate: a future polled in place, in a scope of its own.
//!
//! The aggregate is the only one who asks a branch to end, so a branch's scope is isolated: requests
//! from outside arrive at the aggregate, which passes them on as the branch's own.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use brigade_core::scope::{BranchScope, OwnFate, Request, Verdict, report_unobserved};
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
        state: State<F, O>,
        scope: BranchScope,
    }
}

pin_project! {
    /// The output takes the place of the future.
    #[project = StateProjection]
    #[project_replace = StateOwned]
    enum State<F, O> {
        Running { #[pin] future: F },
        Ended { output: O },
        Gone,
    }
}

impl<F, O> Branch<F, O>
where
    F: Future<Output = O>,
    O: BranchOutput,
{
    pub(crate) fn new(future: F) -> Branch<F, O> {
        Branch { state: State::Running { future }, scope: BranchScope::new() }
    }

    /// Polls the branch once.
    pub(crate) fn poll_branch(self: Pin<&mut Self>, waker: &Waker) -> Step {
        let mut this = self.project();
        let StateProjection::Running { future } = this.state.as_mut().project() else { return Step::Unwound };
        let mut cx = Context::from_waker(waker);
        match this.scope.enter(&mut cx, |cx| future.poll(cx)) {
            Poll::Ready(output) => end(this.state, this.scope, output),
            Poll::Pending => wait(this.state, this.scope, waker, None),
        }
    }

    /// The same, and hands it `request` if that poll is pending: a request never pre-empts a result (law C2). If it
    /// `waits`, it was polled in this turn, and stands at the suspension point at which the request is due.
    pub(crate) fn ask_branch(self: Pin<&mut Self>, waker: &Waker, request: Request, waits: bool) -> Step {
        let mut this = self.project();
        let StateProjection::Running { future } = this.state.as_mut().project() else { return Step::Unwound };
        this.scope.expect_request();
        if !waits {
            let mut cx = Context::from_waker(waker);
            if let Poll::Ready(output) = this.scope.enter(&mut cx, |cx| future.poll(cx)) {
                return end(this.state, this.scope, output);
            }
        }
        let step = wait(this.state, this.scope, waker, Some(request));
        if waits && step != Step::Unwound {
            // What woke it in this turn is looked at in the next one.
            waker.wake_by_ref();
        }
        step
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

/// The branch has ended by itself.
fn end<F, O: BranchOutput>(mut state: Pin<&mut State<F, O>>, scope: &mut BranchScope, output: O) -> Step {
    let failed = output.is_failure();
    // The future goes before the scope is asked: its tokens may settle only now.
    state.set(State::Ended { output });
    let fate = scope.own_fate();
    scope.finish();
    Step::Ended { failed, fate }
}

/// The branch has answered that it waits.
fn wait<F, O>(
    mut state: Pin<&mut State<F, O>>,
    scope: &mut BranchScope,
    waker: &Waker,
    request: Option<Request>,
) -> Step {
    match scope.after_pending(request, waker) {
        Verdict::Wait => Step::Waiting { clear: scope.absorbed(), idle: scope.is_idle() },
        Verdict::Unwind { .. } => {
            state.set(State::Gone);
            scope.finish();
            Step::Unwound
        }
    }
}

impl<F, O> Branch<F, O> {
    /// The output, if the branch has ended by itself.
    pub(crate) fn take_output(self: Pin<&mut Self>) -> Option<O> {
        let mut state = self.project().state;
        if !matches!(state.as_mut().project(), StateProjection::Ended { .. }) {
            return None;
        }
        match state.project_replace(State::Gone) {
            StateOwned::Ended { output } => Some(output),
            _ => None,
        }
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

/// Reports an output that is dropped without being taken; chosen where the bounds are known, since destructors have
/// none.
pub(crate) type Report<O> = fn(O, Seat);

/// An error that is never taken is reported (laws A2, T6): the error of a branch that fails while it is cancelled, or of
/// a loser.
pub(crate) fn report<O: TaskOutput>(output: O, seat: Seat) {
    let Err(error) = output.into_result() else { return };
    let Seat { aggregate, index, location } = seat;
    let task = current_task().map_or_else(|| "(no task)".into(), |task| task.name());
    report_unobserved(&format!("{task}.{aggregate}[{index}]"), O::describe(&error), location);
}

pin_project! {
    /// A branch that knows its seat: one of a tuple.
    pub struct Seated<F, O> {
        #[pin]
        branch: Branch<F, O>,
        seat: Seat,
        report: Report<O>,
    }

    impl<F, O> PinnedDrop for Seated<F, O> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if let Some(output) = this.branch.take_output() {
                (this.report)(output, *this.seat);
            }
        }
    }
}

impl<F, O> Seated<F, O>
where
    F: Future<Output = O>,
    O: BranchOutput,
{
    pub(crate) fn new(future: F, seat: Seat) -> Seated<F, O> {
        Seated { branch: Branch::new(future), seat, report: report::<O> }
    }

    pub(crate) fn branch(self: Pin<&mut Self>) -> Pin<&mut Branch<F, O>> {
        self.project().branch
    }
}

impl<F, O> fmt::Debug for Seated<F, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.branch.fmt(f)
    }
}
