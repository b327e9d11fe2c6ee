//! What async-task polls: the user's future inside the task's outermost scope.
//!
//! One poll, with the laws behind each step:
//!
//! ```text
//! 1 abort requested ────────────────────────────────► finish: Cancelled(Aborted)          C14
//! 2 first poll and a request is there ──────────────► finish: Cancelled, never polled     C7
//! 3 poll the future inside the scope
//!     panic ─────────────────────────────────────────► finish: Panicked                    T10
//!     Ready ─────────────────────────────────────────► finish: by `settle_result`          C8
//!     Pending: 4 take requests, ask the scope
//!         Wait ──────────────────────────────────────► Pending, or 3 again if something was delivered
//!         Unwind ────────────────────────────────────► finish: Cancelled                   C3
//! ```
//!
//! INVARIANT Q1: `meta` points at the metadata in the header of the allocation in which this
//! future lives (async-task generates the future from a reference to it), so it is valid as long
//! as the future is.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;

use crate::cancel::account::{OWN, Request};
use crate::cancel::node::{Node, Verdict};
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::region::inside::Inside;
use crate::context::task_poll::TaskPoll;
use crate::runtime::reports;
use crate::task::error::{Panic, TaskError};
use crate::task::job;
use crate::task::meta::TaskMeta;
use crate::task::outcome::Out;
use crate::task::output::{Sink, TaskOutput};
use crate::task::reference::TaskRef;

pin_project! {
    /// See the module. `inner` is declared before `scope`: what is dropped inside still finds it.
    pub(crate) struct Root<F, S> {
        #[pin]
        inner: Option<F>,
        scope: Inside,
        sink: S,
        meta: MetaPointer,
    }
}

/// A pointer to the task's own metadata.
pub(crate) struct MetaPointer(NonNull<TaskMeta>);

// SAFETY: INVARIANT Q1; TaskMeta is Send and Sync.
unsafe impl Send for MetaPointer {}

impl MetaPointer {
    /// # Safety
    ///
    /// The result must not outlive the future that holds the pointer.
    unsafe fn get<'a>(&self) -> &'a TaskMeta {
        // SAFETY: INVARIANT Q1 and the caller's promise.
        unsafe { self.0.as_ref() }
    }
}

impl<F, S> Root<F, S> {
    /// The root of the task with this metadata, which async-task hands out while it builds the task.
    pub(crate) fn new(future: F, sink: S, meta: &TaskMeta) -> Root<F, S> {
        Root { inner: Some(future), scope: Inside::new(), sink, meta: MetaPointer(NonNull::from(meta)) }
    }
}

/// The task and the waker of the poll that is going on.
#[derive(Clone, Copy)]
struct Turn<'a> {
    meta: &'a TaskMeta,
    waker: &'a Waker,
}

impl Turn<'_> {
    fn task(self) -> TaskRef {
        TaskRef::from_parts(self.waker.clone(), NonNull::from(self.meta))
    }
}

type Outcome<O> = Result<<O as TaskOutput>::Ok, TaskError<<O as TaskOutput>::Err>>;

impl<F, S> Future for Root<F, S>
where
    F: Future,
    F::Output: TaskOutput,
    S: Sink<<F::Output as TaskOutput>::Ok, <F::Output as TaskOutput>::Err>,
{
    type Output = Out<<F::Output as TaskOutput>::Ok, S::Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: INVARIANT Q1: used in this call only, during which the future is alive. By projection: a shared
        // reference to `Root` would end the borrows that the suspended future holds into itself.
        let meta = unsafe { self.as_mut().project().meta.get() };
        let (poll, at) = (TaskPoll::new(meta, cx.waker()), Turn { meta, waker: cx.waker() });
        let _entered = poll.enter();
        if meta.word.is_asked() {
            if let Some(reason) = self.as_mut().reason_not_to_poll(meta) {
                return Poll::Ready(self.cancelled(at, reason));
            }
        }
        meta.set_running();
        loop {
            // Written so that `Pending` is made here: moving an answer that is nearly always empty costs more
            // than the rest of the loop.
            match self.as_mut().pass(&poll, at) {
                Poll::Pending if poll.repoll_wanted() => {}
                Poll::Pending => return Poll::Pending,
                ready => return ready,
            }
            poll.start_delivering();
        }
    }
}

impl<F, S> Root<F, S>
where
    F: Future,
    F::Output: TaskOutput,
    S: Sink<<F::Output as TaskOutput>::Ok, <F::Output as TaskOutput>::Err>,
{
    /// Steps 3 and 4, once.
    #[inline]
    fn pass(
        mut self: Pin<&mut Self>,
        poll: &TaskPoll<'_>,
        at: Turn<'_>,
    ) -> Poll<Out<<F::Output as TaskOutput>::Ok, S::Error>> {
        let mut cx = Context::from_waker(at.waker);
        let inner = || self.as_mut().poll_inner(poll, &mut cx);
        let polled = catch_unwind(AssertUnwindSafe(inner));
        match polled {
            Ok(Poll::Pending) => self.after_pending(at),
            Ok(Poll::Ready(output)) => {
                let outcome = self.as_mut().settle_result(at.meta, output.into_result());
                Poll::Ready(self.finish(at, outcome))
            }
            Err(payload) => {
                let _ = self.as_mut().drop_inner();
                Poll::Ready(self.panicked(at, payload))
            }
        }
    }

    #[inline]
    fn poll_inner(self: Pin<&mut Self>, poll: &TaskPoll<'_>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        match this.inner.as_pin_mut() {
            Some(inner) => this.scope.enter_outermost(poll, cx, |cx| inner.poll(cx)),
            None => Poll::Pending,
        }
    }

    /// Step 4. Plain tasks end here without a lock.
    fn after_pending(
        mut self: Pin<&mut Self>,
        at: Turn<'_>,
    ) -> Poll<Out<<F::Output as TaskOutput>::Ok, S::Error>> {
        let meta = at.meta;
        meta.set_suspended();
        let this = self.as_mut().project();
        if let Some(node) = this.scope.node() {
            meta.node.get_or_init(|| node.clone());
        }
        if this.scope.is_quiet() && !meta.word.has_requests() {
            return Poll::Pending;
        }
        let request = meta.take_request();
        let reason = request.as_ref().map(|request| request.reason.clone());
        match this.scope.after_pending(request, at.waker) {
            Verdict::Wait => Poll::Pending,
            Verdict::Unwind { .. } => {
                let reason = unsettled_reason(this.scope).or(reason);
                Poll::Ready(self.cancelled(at, reason.unwrap_or_else(unknown_reason)))
            }
        }
    }

    /// Law C8: a request that is undelivered, unsettled or resumed decides against a value.
    fn settle_result(
        mut self: Pin<&mut Self>,
        meta: &TaskMeta,
        result: Result<<F::Output as TaskOutput>::Ok, <F::Output as TaskOutput>::Err>,
    ) -> Outcome<F::Output> {
        if let Err(payload) = self.as_mut().drop_inner() {
            reports::panic_outside("a finished future was dropped", payload);
        }
        let request = meta.word.transition_to_ending().then(|| meta.take_request()).flatten();
        let unsettled = unsettled_reason(self.as_mut().project().scope);
        match (result, unsettled.or(request.map(|Request { reason, .. }| reason))) {
            (Err(error), _) => Err(TaskError::Failed(error)),
            (Ok(value), None) => Ok(value),
            (Ok(value), Some(reason)) => match catch_unwind(AssertUnwindSafe(|| drop(value))) {
                Ok(()) => Err(TaskError::Cancelled(reason.ended(meta))),
                Err(payload) => Err(TaskError::Panicked(Panic::new(payload, meta.name()))),
            },
        }
    }

    fn cancelled(
        mut self: Pin<&mut Self>,
        at: Turn<'_>,
        reason: CancelReason,
    ) -> Out<<F::Output as TaskOutput>::Ok, S::Error> {
        match self.as_mut().drop_inner() {
            Ok(()) => self.finish(at, Err(TaskError::Cancelled(reason.ended(at.meta)))),
            Err(payload) => self.panicked(at, payload),
        }
    }

    fn panicked(
        self: Pin<&mut Self>,
        at: Turn<'_>,
        payload: Box<dyn Any + Send>,
    ) -> Out<<F::Output as TaskOutput>::Ok, S::Error> {
        self.finish(at, Err(TaskError::Panicked(Panic::new(payload, at.meta.name()))))
    }

    /// The last step of the last poll: the outcome goes through the sink, and the job's epilogue is
    /// told to publish it.
    fn finish(
        self: Pin<&mut Self>,
        at: Turn<'_>,
        outcome: Outcome<F::Output>,
    ) -> Out<<F::Output as TaskOutput>::Ok, S::Error> {
        if !at.meta.word.is_ending() {
            let _ = at.meta.word.transition_to_ending();
        }
        let this = self.project();
        this.scope.finish();
        let outcome = this.sink.map(outcome, &|| at.task());
        let out = Out::new::<S, <F::Output as TaskOutput>::Err>(outcome, || at.task());
        job::finishing(at.meta, out.ending());
        out
    }

    /// Drops the user's future with the task still current but no scope in reach, so that nothing
    /// in a destructor can register (law T8).
    fn drop_inner(self: Pin<&mut Self>) -> Result<(), Box<dyn Any + Send>> {
        let mut inner = self.project().inner;
        catch_unwind(AssertUnwindSafe(|| inner.set(None)))
    }

    /// Steps 1 and 2.
    #[cold]
    fn reason_not_to_poll(mut self: Pin<&mut Self>, meta: &TaskMeta) -> Option<CancelReason> {
        if meta.word.abort_requested() {
            return Some(self.as_mut().abort_reason(meta));
        }
        if meta.started() { None } else { meta.take_request().map(|request| request.reason) }
    }

    fn abort_reason(self: Pin<&mut Self>, meta: &TaskMeta) -> CancelReason {
        let unsettled = unsettled_reason(self.project().scope);
        let given = meta.late().more.as_mut().and_then(|more| more.reason.take());
        given.or(unsettled).unwrap_or_else(unknown_reason)
    }
}

/// The reason of a request of the root's own that has not been absorbed.
#[inline]
fn unsettled_reason(scope: &Inside) -> Option<CancelReason> {
    scope.node().and_then(|node| unsettled_reason_in(node))
}

fn unsettled_reason_in(node: &Node) -> Option<CancelReason> {
    let state = node.lock();
    let account = state.account(OWN);
    if account.is_clear() { None } else { account.reason.clone() }
}

fn unknown_reason() -> CancelReason {
    CancelReason::new(CancelKind::Aborted)
}
