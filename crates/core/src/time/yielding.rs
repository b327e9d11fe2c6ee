//! Letting others run (law D7).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Suspends once, so that other tasks run and a request for cancellation can be delivered; asyncio's
/// `sleep(0)`.
///
/// # Cancellation
///
/// It is a suspension point, and nothing else.
pub fn yield_now() -> YieldNow {
    YieldNow { suspended: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct YieldNow {
    suspended: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.suspended {
            return Poll::Ready(());
        }
        self.suspended = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
