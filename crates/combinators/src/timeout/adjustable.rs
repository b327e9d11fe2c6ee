//! A timeout that the code inside it can move: `Timeout::scope`.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use brigade_core::scope::{movable_depth, move_deadline, with_movable_deadline};
use brigade_core::{Instant, TaskId, current_task};
use pin_project_lite::pin_project;

use super::error::{RescheduleError, TimedOut};
use super::expiry::{Ended, Expiry, Limit, Waiting};
use crate::sync::{Arc, Mutex, lock, wake_safely};

/// The handle of a timeout whose deadline can be moved (law D1); a cheap reference that can be cloned
/// and sent.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::Timeout;
/// use brigade_core::{Instant, sleep};
///
/// let outcome = brigade_testkit::simulate(async {
///     let work = Timeout::scope(Duration::from_secs(1), async |timeout: Timeout| {
///         timeout.reschedule(Instant::now() + Duration::from_secs(3)).expect("not expired");
///         sleep(Duration::from_secs(2)).await;
///         "done after all"
///     });
///     Ok::<_, brigade_core::BoxError>(work.await?)
/// });
/// assert_eq!(outcome.unwrap(), "done after all");
/// ```
#[derive(Clone)]
pub struct Timeout {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    limit: Limit,
    /// The deadline, once the scope has started or the handle was used; `FAR_FUTURE` is never.
    deadline: Option<Instant>,
    rescheduled: bool,
    fired: bool,
    ended: bool,
    /// The task in which the code inside is being polled right now.
    polled_by: Option<TaskId>,
    /// The how-manieth of the movable deadlines there this one is.
    depth: u32,
    /// Who polls the scope.
    waker: Option<Waker>,
}

impl Timeout {
    /// Runs `body` with a deadline that it can move: `body` gets the handle by value. `None` never
    /// expires until it is rescheduled. The time begins at the first poll.
    ///
    /// Returns what `body` returned, or [`TimedOut`], as [`timeout`](crate::timeout()) does.
    ///
    /// # Cancellation
    ///
    /// As for [`timeout`](crate::timeout()): expiry is a request to the code inside, and the scope ends
    /// when that has ended; a request from outside passes through and is never turned into
    /// [`TimedOut`].
    #[track_caller]
    pub fn scope<B, Fut>(limit: impl Into<Option<Duration>>, body: B) -> TimeoutScope<Fut>
    where
        B: FnOnce(Timeout) -> Fut,
        Fut: Future,
    {
        let shared = Shared {
            limit: Limit::after(limit.into()),
            deadline: None,
            rescheduled: false,
            fired: false,
            ended: false,
            polled_by: None,
            depth: 0,
            waker: None,
        };
        let timeout = Timeout { shared: Arc::new(Mutex::new(shared)) };
        let inner = Some(body(timeout.clone()));
        TimeoutScope {
            inner,
            expiry: Expiry::new(),
            unwound: false,
            guard: Guard(timeout),
            location: Location::caller(),
        }
    }

    /// Moves the deadline; `None` disarms it. One in the past expires at the next suspension point.
    ///
    /// # Errors
    ///
    /// The timeout has expired, or its scope has ended; nothing changes.
    pub fn reschedule(&self, at: impl Into<Option<Instant>>) -> Result<(), RescheduleError> {
        let at = at.into().unwrap_or(Instant::FAR_FUTURE);
        let mut shared = lock(&self.shared);
        if shared.fired {
            return Err(RescheduleError::EXPIRED);
        }
        if shared.ended {
            return Err(RescheduleError::ENDED);
        }
        shared.deadline = Some(at);
        shared.rescheduled = true;
        let (waker, polled_by, depth) = (shared.waker.clone(), shared.polled_by, shared.depth);
        drop(shared);
        if polled_by.is_some() && polled_by == current_task().map(|task| task.id()) {
            move_deadline(depth, at);
        }
        // Timeouts inside look at this deadline, too (law D4), so all of them are asked again.
        if let Some(waker) = waker {
            wake_safely(waker);
        }
        Ok(())
    }

    /// The deadline; `None` if it never expires, or has not started.
    #[must_use]
    pub fn when(&self) -> Option<Instant> {
        lock(&self.shared).deadline.filter(|deadline| *deadline != Instant::FAR_FUTURE)
    }

    /// Whether the deadline has come and the code inside was asked to end.
    #[must_use]
    pub fn expired(&self) -> bool {
        lock(&self.shared).fired
    }

    /// Notes who polls; gives the deadline.
    fn enter(&self, waker: &Waker) -> Instant {
        let mut retired = None;
        let mut shared = lock(&self.shared);
        if !shared.waker.as_ref().is_some_and(|old| old.will_wake(waker)) {
            retired = shared.waker.replace(waker.clone());
        }
        shared.polled_by = current_task().map(|task| task.id());
        shared.depth = movable_depth() + 1;
        let limit = shared.limit;
        let deadline = *shared.deadline.get_or_insert_with(|| limit.start());
        drop(shared);
        drop(retired);
        deadline
    }

    /// The code inside was polled; gives the deadline, which it may have moved.
    fn leave(&self) -> Instant {
        let mut shared = lock(&self.shared);
        shared.polled_by = None;
        shared.deadline.unwrap_or(Instant::FAR_FUTURE)
    }

    /// Makes the expiry final, unless the deadline was moved since it was found to be due.
    fn fire(&self, deadline: Instant) -> bool {
        let mut shared = lock(&self.shared);
        shared.fired |= shared.deadline == Some(deadline);
        shared.fired
    }

    fn timed_out(&self, location: &'static Location<'static>) -> TimedOut {
        let shared = lock(&self.shared);
        let duration = shared.limit.duration().filter(|_| !shared.rescheduled);
        TimedOut::new(shared.deadline.unwrap_or(Instant::FAR_FUTURE), duration, location)
    }
}

impl fmt::Debug for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout").field("when", &self.when()).field("expired", &self.expired()).finish()
    }
}

/// Tells the handles that the scope has ended, however it ends.
struct Guard(Timeout);

impl Drop for Guard {
    fn drop(&mut self) {
        let mut shared = lock(&self.0.shared);
        shared.ended = true;
        let waker = shared.waker.take();
        drop(shared);
        drop(waker);
    }
}

pin_project! {
    /// The future of [`Timeout::scope`].
    #[must_use = "futures do nothing unless polled"]
    pub struct TimeoutScope<F> {
        // Declared before `expiry`: tokens inside it settle while the scope still exists.
        #[pin]
        inner: Option<F>,
        expiry: Expiry,
        unwound: bool,
        guard: Guard,
        location: &'static Location<'static>,
    }
}

impl<F: Future> Future for TimeoutScope<F> {
    type Output = Result<F::Output, TimedOut>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.as_mut().project();
        if *this.unwound {
            return Poll::Pending;
        }
        let deadline = this.guard.0.enter(cx.waker());
        let inner = this.inner.as_mut().as_pin_mut().expect("a timeout is not polled after it has ended");
        let expiry = this.expiry;
        let polled = with_movable_deadline(|| expiry.enter(cx, deadline, |cx| inner.poll(cx)));
        let deadline = this.guard.0.leave();
        match polled {
            Poll::Ready(value) => Poll::Ready(self.conclude(value)),
            Poll::Pending => {
                ready!(self.as_mut().poll_expiry(deadline, cx));
                let this = self.project();
                Poll::Ready(Err(this.guard.0.timed_out(this.location)))
            }
        }
    }
}

impl<F> TimeoutScope<F> {
    /// As [`Limited::grace`](crate::Limited::grace).
    ///
    /// # Cancellation
    ///
    /// As [`Limited::grace`](crate::Limited::grace).
    pub fn grace(mut self, limit: Duration) -> TimeoutScope<F> {
        self.expiry.set_grace(limit);
        self
    }

    fn conclude<T>(self: Pin<&mut Self>, value: T) -> Result<T, TimedOut> {
        let mut this = self.project();
        lock(&this.guard.0.shared).ended = true;
        this.inner.set(None);
        let ended = this.expiry.ended();
        let result = match ended {
            Ended::Value => Ok(value),
            Ended::Expired => {
                // The token goes first: it settles in a scope that still exists.
                drop(value);
                Err(this.guard.0.timed_out(this.location))
            }
        };
        this.expiry.finish();
        result
    }

    /// Ready once the timeout has expired and the body is gone.
    fn poll_expiry(self: Pin<&mut Self>, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let fires = this.expiry.is_due(deadline) && this.guard.0.fire(deadline);
        match this.expiry.after_pending(deadline, fires, cx) {
            Waiting::Wait => Poll::Pending,
            Waiting::Expired => {
                this.expiry.drop_inner(|| this.inner.set(None));
                this.expiry.finish();
                Poll::Ready(())
            }
            Waiting::Unwound => {
                *this.unwound = true;
                this.expiry.drop_inner(|| this.inner.set(None));
                this.expiry.resume();
                Poll::Pending
            }
        }
    }
}

impl<F> fmt::Debug for TimeoutScope<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeoutScope")
            .field("timeout", &self.guard.0)
            .field("fired", &self.expiry.fired())
            .field("location", &format_args!("{}", self.location))
            .finish_non_exhaustive()
    }
}
