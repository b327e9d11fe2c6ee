//! The part that all timeouts share: a scope that makes one request to itself when its deadline has
//! come.
//!
//! ```text
//!            poll inside the scope                      ┌─ ready: the value wins (D3), unless a token of
//!   (running) ────────────────────► enter ──────────────┤         this expiry is alive inside it
//!                                                       └─ pending ──► after_pending
//!        not due: arm the timer, wait ◄──────────────────────────────────┤
//!        due: request (Deadline) to the own scope, once ─────────────────┤
//!        verdict Unwind, own   ──► TimedOut                              │
//!        verdict Unwind, outer ──► resume outside, never TimedOut (D4) ◄─┘
//! ```
//!
//! Neither the clock's lock nor a timer is touched before the first `Pending`.

use std::task::Context;
use std::time::Duration;

use brigade_core::scope::{
    DeadlineTimer, Grace, Level, LinkMode, Polled, Request, Scope, Verdict, abort_inside, enclosing_deadline,
    is_foreign, warn,
};
use brigade_core::{CancelKind, CancelReason, Instant};

/// When a timeout shall expire, as its caller said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Never,
    After(Duration),
    At(Instant),
}

impl Limit {
    pub(crate) fn after(duration: Option<Duration>) -> Limit {
        duration.map_or(Limit::Never, Limit::After)
    }

    pub(crate) fn at(instant: Option<Instant>) -> Limit {
        instant.map_or(Limit::Never, Limit::At)
    }

    /// The deadline of a timeout that starts now.
    pub(crate) fn start(self) -> Instant {
        match self {
            Limit::Never => Instant::FAR_FUTURE,
            Limit::After(duration) => Instant::now().saturating_add(duration),
            Limit::At(instant) => instant,
        }
    }

    pub(crate) fn duration(self) -> Option<Duration> {
        match self {
            Limit::After(duration) => Some(duration),
            Limit::Never | Limit::At(_) => None,
        }
    }
}

/// How the inner future's value is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It is the result.
    Value,
    /// A token of the expiry is alive, so the expiry is the result (law D3's exception).
    Expired,
}

/// How a timeout ends whose inner future has to be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Not yet.
    Wait,
    /// It has expired: drop the inner future by [`Expiry::drop_inner`] and return.
    Expired,
    /// A request from outside unwinds through it: drop the inner future, and resume.
    Unwound,
}

/// The scope, the timer and the state of one timeout.
#[derive(Debug)]
pub(crate) struct Expiry {
    scope: Scope,
    timer: DeadlineTimer,
    fired: bool,
    /// What the code inside gets after a request (law C13); boxed, since few have one.
    grace: Option<Box<Grace>>,
    /// The grace is over: what is left inside is aborted.
    overrun: bool,
}

impl Expiry {
    #[inline]
    pub(crate) fn new() -> Expiry {
        Expiry { scope: Scope::new(), timer: DeadlineTimer::new(), fired: false, grace: None, overrun: false }
    }

    pub(crate) fn set_grace(&mut self, limit: Duration) {
        self.grace = Some(Box::new(Grace::new(limit)));
    }

    /// Whether the request of the deadline was made.
    pub(crate) fn fired(&self) -> bool {
        self.fired
    }

    /// Polls the inner future in the scope.
    #[inline]
    pub(crate) fn enter<R: Polled>(
        &mut self,
        cx: &mut Context<'_>,
        deadline: Instant,
        poll: impl FnOnce(&mut Context<'_>) -> R,
    ) -> R {
        let deadline = if self.fired { Instant::FAR_FUTURE } else { deadline };
        self.scope.enter(cx, deadline, poll)
    }

    /// Whether the deadline fires in this turn: it has come, and no enclosing deadline of this task
    /// that is not later will expire instead, or has done so in this very turn (law D4).
    pub(crate) fn is_due(&mut self, deadline: Instant) -> bool {
        let due = !self.fired && counts(deadline) && Instant::now() >= deadline;
        let late = due && self.scope.is_asked_now();
        if late {
            // Its timer may have gone off: it is looked at again in the next turn.
            self.timer.disarm();
        }
        due && !late
    }

    /// The inner future is pending: makes the request if the deadline `fires`, arms the timer for it
    /// if it is still to come, and takes in what the scope around delivers.
    pub(crate) fn after_pending(&mut self, deadline: Instant, fires: bool, cx: &mut Context<'_>) -> Waiting {
        let own = fires.then(|| {
            self.fired = true;
            Request { level: Level::Soft, reason: CancelReason::new(CancelKind::Deadline) }
        });
        // A branch of an aggregate is not polled when the deadline around it fires or is moved: it looks by itself (law D4).
        match !self.fired && (counts(deadline) || is_foreign(cx.waker())) {
            true => self.timer.poll_arm(deadline, cx.waker()),
            false => self.timer.disarm(),
        }
        match self.scope.after_pending(own, LinkMode::Transparent, cx.waker()) {
            Verdict::Wait => {
                // Timeouts inside have looked at this deadline while it was still to come (law D4).
                if fires {
                    cx.waker().wake_by_ref();
                }
                self.poll_grace(cx)
            }
            Verdict::Unwind { external: false } if self.fired => Waiting::Expired,
            Verdict::Unwind { .. } => Waiting::Unwound,
        }
    }

    /// Something inside handles a request, or waits for those who do: that is bounded by the grace.
    fn poll_grace(&mut self, cx: &mut Context<'_>) -> Waiting {
        let Some(grace) = &mut self.grace else { return Waiting::Wait };
        let external = self.scope.is_requested();
        if !external && !self.scope.own_unsettled() {
            grace.reset();
            return Waiting::Wait;
        }
        if !grace.poll_expired(cx) {
            return Waiting::Wait;
        }
        self.overrun = true;
        warn(format!(
            "code inside a timeout did not end within its grace of {:?}; it was aborted",
            grace.limit()
        ));
        if external { Waiting::Unwound } else { Waiting::Expired }
    }

    /// Drops the inner future, as an abort if its grace is over.
    pub(crate) fn drop_inner(&self, drop_it: impl FnOnce()) {
        match self.overrun {
            true => abort_inside(drop_it),
            false => drop_it(),
        }
    }

    /// The inner future has ended by itself, and is gone.
    #[inline]
    pub(crate) fn ended(&self) -> Ended {
        if self.scope.own_unsettled() { Ended::Expired } else { Ended::Value }
    }

    /// The timeout returns.
    #[inline]
    pub(crate) fn finish(&mut self) {
        self.timer.disarm();
        self.scope.finish();
    }

    /// The unwinding goes on outside; the timeout answers `Pending` from here on.
    pub(crate) fn resume(&mut self) {
        self.timer.disarm();
        self.scope.resume();
    }
}

fn counts(deadline: Instant) -> bool {
    deadline < enclosing_deadline()
}
