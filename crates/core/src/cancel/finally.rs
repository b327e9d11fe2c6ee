//! Cleanup that may await: `finally` and `on_cancel` (law C12).

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::cancel::catch::{Cancelled, CatchCancel, catch_cancel};
use crate::cancel::shield::{Shield, shield};
use crate::context;
use crate::runtime::reports::report_unobserved;
use crate::task::output::{Never, describe};

/// Cleanup for any future (law C12).
pub trait CancelExt: Future + Sized {
    /// Awaits `cleanup` after this future however it ends: with a value, an error or a cancellation
    /// (not a panic or an abort).
    ///
    /// A cleanup returns `()`, `!` or `Result<(), E>`. Its error becomes the outcome if there was no
    /// other error, else it is reported (law T6).
    ///
    /// # Cancellation
    ///
    /// Delivered in this future; the cleanup runs shielded, and the unwinding goes on after it.
    #[track_caller]
    fn finally<C>(self, cleanup: C) -> Finally<Self, C>
    where
        C: Future<Output: Cleanup<Self::Output>>,
    {
        Finally {
            work: catch_cancel(self),
            cleanup: shield(cleanup),
            ended: None,
            unwinding: false,
            location: Location::caller(),
        }
    }

    /// Awaits `cleanup` only after a cancellation, and resumes by itself.
    ///
    /// # Cancellation
    ///
    /// As [`finally`](CancelExt::finally).
    #[track_caller]
    fn on_cancel<C>(self, cleanup: C) -> OnCancel<Self, C>
    where
        C: Future<Output: Cleanup<Self::Output>>,
    {
        OnCancel { inner: self.finally(cleanup) }
    }
}

impl<F: Future> CancelExt for F {}

/// What a cleanup may return, beside work with the output `O`: `()`, `!` or `Result<(), E>`.
#[diagnostic::on_unimplemented(
    message = "a cleanup must return `()` or `Result<(), E>` with the error type of the work, not `{Self}`"
)]
pub trait Cleanup<O> {
    /// The outcome of work and cleanup together; `None` if the cancellation shall go on.
    #[doc(hidden)]
    fn merge(self, work: Option<O>, location: &'static Location<'static>) -> Option<O>;
}

impl<O> Cleanup<O> for () {
    fn merge(self, work: Option<O>, _: &'static Location<'static>) -> Option<O> {
        work
    }
}

impl<O> Cleanup<O> for Never {
    fn merge(self, _: Option<O>, _: &'static Location<'static>) -> Option<O> {
        self
    }
}

impl<T, E: fmt::Debug + 'static> Cleanup<Result<T, E>> for Result<(), E> {
    fn merge(self, work: Option<Result<T, E>>, location: &'static Location<'static>) -> Option<Result<T, E>> {
        match (work, self) {
            (work, Ok(())) => work,
            (Some(Err(first)), Err(second)) => {
                let name = context::with_task(|task| task.map(|task| task.name()));
                let name = name.as_deref().unwrap_or("cleanup");
                report_unobserved(name, format!("a cleanup failed: {}", describe(&second)), location);
                Some(Err(first))
            }
            (_, Err(error)) => Some(Err(error)),
        }
    }
}

pin_project! {
    /// The future of [`CancelExt::finally`].
    ///
    /// # Cancellation
    ///
    /// See there.
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct Finally<F: Future, C> {
        #[pin]
        work: CatchCancel<F>,
        #[pin]
        cleanup: Shield<C>,
        ended: Option<Result<F::Output, Cancelled>>,
        unwinding: bool,
        location: &'static Location<'static>,
    }
}

impl<F, C> Finally<F, C>
where
    F: Future,
    C: Future<Output: Cleanup<F::Output>>,
{
    /// Polls the cleanup, after the work has ended.
    fn poll_cleanup(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let Poll::Ready(output) = this.cleanup.poll(cx) else { return Poll::Pending };
        let (work, cancelled) = match this.ended.take() {
            Some(Ok(work)) => (Some(work), None),
            Some(Err(cancelled)) => (None, Some(cancelled)),
            None => (None, None),
        };
        // Where the cleanup failed, the dropped token brings the request back (law C4).
        match output.merge(work, this.location) {
            Some(output) => Poll::Ready(output),
            None => {
                *this.unwinding = true;
                cancelled.into_iter().for_each(Cancelled::resume_now);
                Poll::Pending
            }
        }
    }
}

impl<F, C> Future for Finally<F, C>
where
    F: Future,
    C: Future<Output: Cleanup<F::Output>>,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.as_mut().project();
        if *this.unwinding {
            return Poll::Pending;
        }
        if this.ended.is_none() {
            match this.work.as_mut().poll(cx) {
                Poll::Ready(ended) => *this.ended = Some(ended),
                Poll::Pending => return Poll::Pending,
            }
        }
        self.poll_cleanup(cx)
    }
}

impl<F: Future, C> fmt::Debug for Finally<F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Finally")
    }
}

pin_project! {
    /// The future of [`CancelExt::on_cancel`].
    ///
    /// # Cancellation
    ///
    /// See there.
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct OnCancel<F: Future, C> {
        #[pin]
        inner: Finally<F, C>,
    }
}

impl<F, C> Future for OnCancel<F, C>
where
    F: Future,
    C: Future<Output: Cleanup<F::Output>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut inner = self.project().inner;
        let mut this = inner.as_mut().project();
        if this.ended.is_none() && !*this.unwinding {
            match this.work.as_mut().poll(cx) {
                Poll::Ready(Ok(output)) => return Poll::Ready(output),
                Poll::Ready(Err(cancelled)) => *this.ended = Some(Err(cancelled)),
                Poll::Pending => return Poll::Pending,
            }
        }
        inner.poll(cx)
    }
}

impl<F: Future, C> fmt::Debug for OnCancel<F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnCancel")
    }
}
