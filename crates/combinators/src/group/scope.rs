//! The future of a group: it runs the body, and waits for everybody (laws G1, G5, G6).
//!
//! ```text
//!              value, error, panic                      no child left
//!   (body) ──────────────────────────► (ending) ───────────────────────► 5 conclude
//!     │  1 a request is delivered in      ▲  │
//!     │    the body, unwinds through it   │  │ 4 a request from outside: the children are
//!     └── 2 own (a child failed, cancel) ─┤  └──  cancelled once, and the group unwinds ──┐
//!     └── 3 from outside: held, children ─┘                                               │
//!         are cancelled once                      errors ─► returned, request handed back ┴ else resumed
//! ```
//!
//! While the body is there the group's scope is the receiver, so that a handler in the body may still
//! absorb the request (law C3). Afterwards the group itself is; that part is in [`super::desk`].

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use brigade_core::scope::{Level, LinkMode, Place, Request, Scope, Verdict, abort_inside};
use brigade_core::{Instant, budget};
use pin_project_lite::pin_project;

use super::desk::{Desk, Stage};
use super::error::GroupError;
use super::output::ChildOutput;
use super::station::Station;
use crate::sync::Arc;

pin_project! {
    /// The future of [`TaskGroup::scope`](crate::TaskGroup::scope).
    #[must_use = "futures do nothing unless polled"]
    pub struct GroupScope<F, E, T>
    where
        E: 'static,
        T: 'static,
    {
        // Declared before `scope`: tokens inside it settle while the scope still exists.
        #[pin]
        body: Option<F>,
        scope: Scope,
        desk: Desk<E, T>,
        poll_body: PollBody<F, E, T>,
    }
}

/// How the body is polled. Chosen where the bounds are known, so that `impl Future` needs none: a proof
/// that a task is `Send` must not depend on them, since it is made with lifetimes erased.
type PollBody<F, E, T> = fn(Pin<&mut F>, &mut Context<'_>) -> Poll<Result<T, E>>;

impl<F, E, T> GroupScope<F, E, T> {
    pub(super) fn new(body: F, station: Arc<Station<E>>, grace: Option<Duration>) -> GroupScope<F, E, T>
    where
        F: Future,
        F::Output: ChildOutput<E, Ok = T>,
    {
        GroupScope {
            body: Some(body),
            scope: Scope::new(),
            desk: Desk::new(station, grace),
            poll_body: |body, cx| body.poll(cx).map(ChildOutput::into_child_result),
        }
    }
}

impl<F, E, T> Future for GroupScope<F, E, T> {
    type Output = Result<T, GroupError<E>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let desk = self.as_mut().project().desk;
        match desk.stage {
            Stage::Resumed => return Poll::Pending,
            Stage::Done => panic!("a group was polled after it had ended"),
            Stage::Fresh => {
                ready!(budget::poll_proceed(cx));
                desk.stage = Stage::Body;
            }
            _ => {}
        }
        if desk.stage == Stage::Body {
            ready!(self.as_mut().poll_body(cx));
        }
        let this = self.project();
        this.desk.poll_end(this.scope, cx)
    }
}

impl<F, E, T> GroupScope<F, E, T> {
    /// Ready once the body is gone.
    fn poll_body(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.as_mut().project();
        let body = this.body.as_mut().as_pin_mut().expect("the body is there until its stage ends");
        let poll_body = *this.poll_body;
        if this.desk.station.lock().enter_body(Place::here()) {
            this.scope.expect_request();
        }
        let polled = this
            .scope
            .enter(cx, Instant::FAR_FUTURE, |cx| catch_unwind(AssertUnwindSafe(|| poll_body(body, cx))));
        match polled {
            Ok(Poll::Pending) => return self.body_waits(cx),
            Ok(Poll::Ready(output)) => {
                this.body.set(None);
                // A token of the group's own request inside the value would outlive its scope: then
                // the body has not come to an end with a value (law C9).
                if this.scope.own_unsettled() {
                    drop(output);
                } else {
                    this.desk.body_ended(output);
                }
            }
            Err(payload) => this.desk.body_panicked(payload),
        }
        this.desk.stage = Stage::Ending;
        self.as_mut().drop_body();
        let this = self.project();
        this.scope.finish();
        Poll::Ready(())
    }

    /// Edges 1 to 3.
    fn body_waits(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.as_mut().project();
        let own = this.desk.station.listen(cx.waker());
        let own = own.map(|reason| Request { level: Level::Soft, reason });
        let external = match this.scope.after_pending(own, LinkMode::Receiver, cx.waker()) {
            Verdict::Unwind { external } => external,
            Verdict::Wait if this.desk.grace_is_over(this.scope, cx) => this.scope.is_requested(),
            Verdict::Wait => return Poll::Pending,
        };
        this.desk.stage = if external { Stage::Passing } else { Stage::Ending };
        self.as_mut().drop_body();
        let this = self.project();
        if external {
            this.desk.unwind(this.scope.reason().cloned());
        } else {
            this.scope.finish();
        }
        Poll::Ready(())
    }

    /// A destructor in the body that panics is the body's panic (law G3).
    fn drop_body(self: Pin<&mut Self>) {
        let mut this = self.project();
        let mut drop_it = || catch_unwind(AssertUnwindSafe(|| this.body.set(None)));
        let dropped = if this.desk.overrun { abort_inside(drop_it) } else { drop_it() };
        if let Err(payload) = dropped {
            this.desk.body_panicked(payload);
        }
    }
}

impl<F, E, T> fmt::Debug for GroupScope<F, E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The body may be suspended: nothing here may look at it.
        self.desk.fmt(f)
    }
}
