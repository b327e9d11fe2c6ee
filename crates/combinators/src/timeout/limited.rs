//! A future with a deadline that stays where it was put.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use brigade_core::Instant;
use pin_project_lite::pin_project;

use super::error::TimedOut;
use super::expiry::{Ended, Expiry, Limit, Waiting};

pin_project! {
    /// The future of [`timeout`](crate::timeout()), [`timeout_at`](crate::timeout_at) and
    /// [`wait_for`](crate::wait_for).
    #[must_use = "futures do nothing unless polled"]
    pub struct Limited<F> {
        // Declared before `expiry`: tokens inside it settle while the scope still exists.
        #[pin]
        inner: Option<F>,
        expiry: Expiry,
        limit: Limit,
        deadline: Instant,
        state: State,
        location: &'static Location<'static>,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not polled yet. `lazily`: an inner future that has no time left is not even started (law D5).
    Fresh {
        lazily: bool,
    },
    Running,
    /// A cancellation unwinds through it; it will be dropped.
    Unwound,
    Done,
}

impl<F> Limited<F> {
    pub(crate) fn new(inner: F, limit: Limit, lazily: bool, location: &'static Location<'static>) -> Self {
        Limited {
            inner: Some(inner),
            expiry: Expiry::new(),
            limit,
            deadline: Instant::FAR_FUTURE,
            state: State::Fresh { lazily },
            location,
        }
    }

    /// Bounds the time that handlers and awaited tasks inside get after a request: at its end they are
    /// aborted and named in a warning, and the timeout returns (law C13). Without it they get as long as
    /// they need.
    ///
    /// # Cancellation
    ///
    /// It counts from the first request, be it the expiry or one from outside, and anew after one that
    /// was absorbed.
    pub fn grace(mut self, limit: Duration) -> Limited<F> {
        self.expiry.set_grace(limit);
        self
    }
}

impl<F: Future> Future for Limited<F> {
    type Output = Result<F::Output, TimedOut>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.as_mut().start() {
            return Poll::Ready(Err(self.expired()));
        }
        let mut this = self.as_mut().project();
        if *this.state == State::Unwound {
            return Poll::Pending;
        }
        let inner = this.inner.as_mut().as_pin_mut().expect("a timeout is not polled after it has ended");
        match this.expiry.enter(cx, *this.deadline, |cx| inner.poll(cx)) {
            Poll::Ready(value) => Poll::Ready(self.conclude(value)),
            Poll::Pending => {
                ready!(self.as_mut().poll_expiry(cx));
                Poll::Ready(Err(self.expired()))
            }
        }
    }
}

impl<F> Limited<F> {
    /// Reads the clock once, in the first poll. `false`: there is no time left to start at all.
    #[inline]
    fn start(self: Pin<&mut Self>) -> bool {
        let mut this = self.project();
        let State::Fresh { lazily } = *this.state else { return true };
        *this.deadline = this.limit.start();
        *this.state = State::Running;
        let starts = match this.limit {
            _ if !lazily => true,
            Limit::Never => true,
            Limit::After(duration) => !duration.is_zero(),
            Limit::At(instant) => *instant > Instant::now(),
        };
        if !starts {
            *this.state = State::Done;
            this.inner.set(None);
        }
        starts
    }

    #[inline]
    fn conclude<T>(self: Pin<&mut Self>, value: T) -> Result<T, TimedOut> {
        let mut this = self.project();
        *this.state = State::Done;
        this.inner.set(None);
        let (deadline, limit, location) = (*this.deadline, *this.limit, *this.location);
        match this.expiry.ended() {
            Ended::Value => {
                this.expiry.finish();
                Ok(value)
            }
            Ended::Expired => {
                // The token goes first: it settles in a scope that still exists.
                drop(value);
                this.expiry.finish();
                Err(TimedOut::new(deadline, limit.duration(), location))
            }
        }
    }

    /// Ready once the timeout has expired and its inner future is gone.
    fn poll_expiry(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let fires = this.expiry.is_due(*this.deadline);
        match this.expiry.after_pending(*this.deadline, fires, cx) {
            Waiting::Wait => Poll::Pending,
            Waiting::Expired => {
                *this.state = State::Done;
                this.expiry.drop_inner(|| this.inner.set(None));
                this.expiry.finish();
                Poll::Ready(())
            }
            Waiting::Unwound => {
                *this.state = State::Unwound;
                this.expiry.drop_inner(|| this.inner.set(None));
                this.expiry.resume();
                Poll::Pending
            }
        }
    }

    fn expired(self: Pin<&mut Self>) -> TimedOut {
        let this = self.project();
        TimedOut::new(*this.deadline, this.limit.duration(), this.location)
    }
}

impl<F> fmt::Debug for Limited<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limited")
            .field("limit", &self.limit)
            .field("state", &self.state)
            .field("location", &format_args!("{}", self.location))
            .finish_non_exhaustive()
    }
}

pin_project! {
    /// The future of [`move_on_after`](crate::move_on_after).
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct MoveOnAfter<F> {
        #[pin]
        pub(crate) limited: Limited<F>,
    }
}

impl<F> MoveOnAfter<F> {
    /// As [`Limited::grace`].
    ///
    /// # Cancellation
    ///
    /// As [`Limited::grace`].
    pub fn grace(self, limit: Duration) -> MoveOnAfter<F> {
        MoveOnAfter { limited: self.limited.grace(limit) }
    }
}

impl<F: Future> Future for MoveOnAfter<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().limited.poll(cx).map(Result::ok)
    }
}
