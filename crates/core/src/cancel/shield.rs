//! `shield`: postponing a cancellation until something is complete (law C11).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::cancel::receiver::Receiver;
use crate::context::{self, frame};

/// Awaits `future` to its end even if a cancellation is delivered meanwhile, returns its value, and
/// hands the request back to its scope, where it is delivered at the next suspension point (law C11).
///
/// It never detaches anything. It protects lexically: what is spawned into a group opened inside it is
/// protected, what is spawned into a group outside is not. Deadlines outside are invisible inside.
///
/// # Cancellation
///
/// Postponed until `future` is complete. An abort drops it.
pub fn shield<F: Future>(future: F) -> Shield<F> {
    Shield { inner: future, receiver: Receiver::new() }
}

pin_project! {
    /// The future of [`shield`].
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct Shield<F> {
        #[pin]
        inner: F,
        receiver: Receiver,
    }
}

impl<F: Future> Future for Shield<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        match frame::enter_shielded(|| this.inner.poll(cx)) {
            Poll::Ready(output) => {
                this.receiver.hand_back_unmet();
                // What came too late to be delivered here, or was there before, is handed back as well.
                context::with_task(|task| task.map(|task| task.word.soften_requests()));
                Poll::Ready(output)
            }
            Poll::Pending => {
                // A request stays with the receiver until the end.
                let _ = this.receiver.poll_request(cx.waker());
                Poll::Pending
            }
        }
    }
}

impl<F> fmt::Debug for Shield<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shield")
    }
}
