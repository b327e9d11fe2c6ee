//! Two-phase cancel: a scope's grace, after which what is left is aborted (law C13).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use crate::cancel::catch::{Cancelled, CatchCancel};
use crate::context;
use crate::runtime::handle::Handle;
use crate::runtime::reports::warn;
use crate::time::instant::Instant;
use crate::time::timer::DeadlineTimer;

/// The time that handlers and children of a scope get after the request (law C13).
///
/// A construct asks [`poll_expired`](Grace::poll_expired) whenever it waits with a request delivered; the
/// first time begins the grace. When it is over, the construct drops what is left inside
/// [`abort_inside`].
#[derive(Debug)]
pub struct Grace {
    limit: Duration,
    until: Option<Instant>,
    timer: DeadlineTimer,
}

impl Grace {
    /// A grace that has not begun.
    #[must_use]
    pub const fn new(limit: Duration) -> Grace {
        Grace { limit, until: None, timer: DeadlineTimer::new() }
    }

    /// How long it is.
    #[must_use]
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// The request was absorbed: the next one gets a grace of its own.
    pub fn reset(&mut self) {
        self.until = None;
        self.timer.disarm();
    }

    /// Begins the grace at the first call; tells whether it is over, else has `cx` woken then. Outside a
    /// runtime there is no clock, and it never ends.
    pub fn poll_expired(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(runtime) = Handle::try_current() else { return false };
        let now = runtime.backend().now();
        let until = *self.until.get_or_insert(now + self.limit);
        if now >= until {
            self.timer.disarm();
            return true;
        }
        self.timer.poll_arm(until, cx.waker());
        false
    }
}

/// Runs `drop_it`, which drops what did not end within a grace: linked tasks inside are aborted instead
/// of cancelled, and named in a warning.
pub fn abort_inside<R>(drop_it: impl FnOnce() -> R) -> R {
    let _aborting = context::enter_aborting();
    drop_it()
}

/// Whether the destructors that run here run because a grace is over; see [`abort_inside`].
#[must_use]
pub fn is_aborting() -> bool {
    context::is_aborting()
}

pin_project! {
    /// The future of [`CatchCancel::grace`].
    ///
    /// # Cancellation
    ///
    /// As for [`catch_cancel`](crate::catch_cancel); handlers and tasks inside get the grace, then they
    /// are aborted.
    #[must_use = "futures do nothing unless they are awaited"]
    #[derive(Debug)]
    pub struct CatchWithGrace<F> {
        #[pin]
        catch: CatchCancel<F>,
        grace: Grace,
    }
}

impl<F: Future> CatchCancel<F> {
    /// Gives handlers and awaited tasks inside this much time after a request; then they are aborted and
    /// named in a warning, and the catch returns (law C13).
    pub fn grace(self, limit: Duration) -> CatchWithGrace<F> {
        CatchWithGrace { catch: self, grace: Grace::new(limit) }
    }
}

impl<F: Future> Future for CatchWithGrace<F> {
    type Output = Result<F::Output, Cancelled>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Poll::Ready(output) = this.catch.as_mut().poll(cx) {
            return Poll::Ready(output);
        }
        if !this.catch.is_requested() {
            // None was made, or it was absorbed inside.
            this.grace.reset();
            return Poll::Pending;
        }
        if !this.grace.poll_expired(cx) {
            return Poll::Pending;
        }
        let limit = this.grace.limit();
        let cancelled = abort_inside(|| this.catch.as_mut().give_up());
        match cancelled {
            Some(cancelled) => {
                warn(format!(
                    "code inside a catch_cancel did not end within its grace of {limit:?}; it was aborted"
                ));
                Poll::Ready(Err(cancelled))
            }
            None => Poll::Pending,
        }
    }
}
