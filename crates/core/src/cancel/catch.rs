//! `catch_cancel`: the `except CancelledError` of Brigade (laws C4–C6).

use std::fmt;
use std::future::{Future, pending};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::cancel::account::Level;
use crate::cancel::node::Verdict;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::region::{LinkMode, Scope};
use crate::cancel::settle::{Settle, Token};
use crate::context;
use crate::time::instant::Instant;

/// Awaits `future` and gives its output, or, when a cancellation is delivered inside it, drops it and
/// gives a [`Cancelled`] (law C4).
///
/// The code around goes on in the same task and may await; it then resumes the cancellation or
/// absorbs it:
///
/// ```
/// # async fn transfer() {} async fn rollback() {}
/// # async fn example() {
/// match brigade_core::catch_cancel(transfer()).await {
///     Ok(()) => {}
///     Err(cancelled) => {
///         rollback().await;
///         cancelled.resume().await
///     }
/// }
/// # }
/// ```
///
/// # Cancellation
///
/// This is the construct that receives it. The innermost one that is awaited inside the cancelled
/// scope gets the request first (law C3).
pub fn catch_cancel<F: Future>(future: F) -> CatchCancel<F> {
    CatchCancel { inner: Some(future), scope: Scope::new(), over: false }
}

pin_project! {
    /// The future of [`catch_cancel`].
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct CatchCancel<F> {
        #[pin]
        inner: Option<F>,
        scope: Scope,
        over: bool,
    }
}

impl<F: Future> Future for CatchCancel<F> {
    type Output = Result<F::Output, Cancelled>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.as_mut().project();
        let Some(inner) = this.inner.as_mut().as_pin_mut() else {
            assert!(*this.over, "`catch_cancel` was polled after its end");
            return Poll::Pending;
        };
        if let Poll::Ready(output) = this.scope.enter(cx, Instant::FAR_FUTURE, |cx| inner.poll(cx)) {
            this.inner.set(None);
            this.scope.finish();
            return Poll::Ready(Ok(output));
        }
        match this.scope.after_pending(None, LinkMode::Receiver, cx.waker()) {
            Verdict::Wait => Poll::Pending,
            Verdict::Unwind { .. } => match self.give_up() {
                Some(cancelled) => Poll::Ready(Err(cancelled)),
                None => Poll::Pending,
            },
        }
    }
}

impl<F> CatchCancel<F> {
    /// Whether a request was delivered here.
    pub(crate) fn is_requested(&self) -> bool {
        self.scope.is_requested()
    }

    /// Drops the inner future for the request that was delivered.
    pub(crate) fn give_up(self: Pin<&mut Self>) -> Option<Cancelled> {
        let mut this = self.project();
        *this.over = true;
        this.inner.set(None);
        this.scope.take_token().map(|token| Cancelled { token: Some(token) })
    }
}

impl<F> fmt::Debug for CatchCancel<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CatchCancel")
    }
}

/// A cancellation that was caught and has to be settled (law C4).
///
/// **Dropping it resumes**: a cancellation cannot be swallowed by accident. It is neither an error nor
/// displayable, so that `?` cannot carry it off.
#[must_use = "dropping a caught cancellation resumes it; call `resume().await` or `uncancel()`"]
pub struct Cancelled {
    token: Option<Token>,
}

impl Cancelled {
    /// Why, who and where.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the token is taken only by what consumes the value")]
    pub fn reason(&self) -> &CancelReason {
        self.token.as_ref().expect("the token is there until it is settled").reason()
    }

    /// Goes on with the cancellation; never returns.
    ///
    /// # Cancellation
    ///
    /// The next enclosing `catch_cancel` in the cancelled scope receives it; if there is none the scope
    /// is dropped here (law C5). Where the scope no longer exists, the current task is cancelled
    /// instead (law C9).
    pub async fn resume(self) -> ! {
        self.resume_now();
        pending().await
    }

    /// Resumes; the caller answers `Pending` from here on.
    pub(crate) fn resume_now(mut self) {
        if let Some(token) = self.token.take() {
            let reason = token.reason().clone();
            if !token.settle(Settle::Resume) {
                cancel_current_task(&reason);
            }
        }
    }

    /// Absorbs every request that was delivered to this catch so far; asyncio's `uncancel` (law C6).
    pub fn uncancel(mut self) {
        if let Some(token) = self.token.take() {
            token.settle(Settle::Absorb);
        }
    }
}

/// Cancels the current task for a request whose scope is gone. The task is being polled, and looks
/// for requests when the poll answers `Pending`.
fn cancel_current_task(reason: &CancelReason) {
    let reason = reason.with_kind(CancelKind::ParentCancelled);
    context::with_task(|task| task.map(|task| task.request(Level::Soft, reason, false)));
}

impl fmt::Debug for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancelled").field(&self.token).finish()
    }
}
