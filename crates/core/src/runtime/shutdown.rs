//! How a runtime ends (laws R1, R5, C13).
//!
//! ```text
//!  Open ──1 begin──► Closing ──2 all ended──────────────────────────► Closed
//!                       │ 3 the grace is over: abort what is left         ▲
//!                       └──────────► Closed, waiting ──4 all ended, or ───┘
//!                                                        `LAST` is over
//! ```
//!
//! Edge 1 is `begin`, 2 to 4 are `Ending::poll`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::cancel::account::Level;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::runtime::handle::Handle;
use crate::runtime::reports::warn_on;
use crate::runtime::shared::Phase;
use crate::sync::Ordering;
use crate::task::reference::TaskRef;
use crate::time::instant::Instant;
use crate::time::sleep::Sleep;

/// How long aborted tasks may take to be dropped; only one that blocks its worker needs that long.
const LAST: Duration = Duration::from_secs(1);

/// Edge 1, in the moment in which main ends: no more tasks for the root, and those that it owns are
/// cancelled. One that has not started never starts (law C7).
pub(crate) fn begin(handle: &Handle) {
    handle.shared().advance(Phase::Closing);
    let reason = CancelReason::new(CancelKind::Shutdown);
    for task in handle.all_tasks() {
        if !task.meta().is_owned {
            task.request(Level::Soft, reason.clone());
        }
    }
}

/// Waits for the end of everything, at most for the grace and [`LAST`].
pub(crate) struct Ending {
    handle: Handle,
    grace: Duration,
    timer: Sleep,
    aborted: bool,
}

impl Ending {
    pub(crate) fn new(handle: Handle, grace: Duration) -> Ending {
        let deadline = handle.backend().now() + grace;
        Ending { timer: Sleep::on(handle.clone(), deadline), handle, grace, aborted: false }
    }

    /// Edge 3.
    fn abort_all(&mut self) {
        self.aborted = true;
        self.handle.shared().advance(Phase::Closed);
        for task in self.handle.all_tasks() {
            self.say(&task, "did not end within the grace", "it was aborted");
            task.abort_for(CancelReason::new(CancelKind::Aborted));
        }
    }

    fn give_up(&self) {
        for task in self.handle.all_tasks() {
            self.say(&task, "blocks its thread", "it is left behind");
        }
        for name in self.handle.shared().blocking_names() {
            let text = format!("blocking closure `{name}` is still running at the end; it is left behind");
            warn_on(Some(&self.handle), text);
        }
    }

    fn say(&self, task: &TaskRef, what: &str, then: &str) {
        let grace = self.grace;
        let (name, place, state) = (task.name(), task.location(), task.state());
        let text =
            format!("task `{name}` ({state:?}, spawned at {place}) {what} of {grace:?} at the end; {then}");
        warn_on(Some(&self.handle), text);
    }

    fn grace_is_over(&self) -> bool {
        // Acquire: pairs with the Release in `Handle::end_grace`.
        self.handle.shared().grace_over.load(Ordering::Acquire)
    }
}

impl Future for Ending {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.handle.shared().wait(cx.waker());
        loop {
            if this.handle.shared().is_idle() {
                this.handle.shared().advance(Phase::Closed);
                return Poll::Ready(());
            }
            if this.aborted && this.handle.shared().registry.is_empty() {
                // Blocking closures cannot be aborted, and the grace is over.
                this.give_up();
                return Poll::Ready(());
            }
            let time_is_up = Pin::new(&mut this.timer).poll(cx).is_ready();
            if this.aborted && time_is_up {
                this.give_up();
                return Poll::Ready(());
            }
            if this.aborted || !(time_is_up || this.grace_is_over()) {
                return Poll::Pending;
            }
            this.abort_all();
            let last: Instant = this.handle.backend().now() + LAST;
            Pin::new(&mut this.timer).reset(last);
        }
    }
}
