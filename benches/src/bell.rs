//! A bell that one side rings and one task listens to: measures how long a wake-up takes.

use std::future::poll_fn;
use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;

pub(crate) struct Bell {
    start: Instant,
    /// When it was rung, in nanoseconds since the start; zero when it was heard.
    rung: AtomicU64,
    waker: AtomicWaker,
}

impl Bell {
    pub(crate) fn new() -> Bell {
        Bell { start: Instant::now(), rung: AtomicU64::new(0), waker: AtomicWaker::new() }
    }

    pub(crate) fn ring(&self) {
        // Release: pairs with the exchange in `listen`.
        self.rung.store(self.now(), Ordering::Release);
        self.waker.wake();
    }

    /// Whether it was heard since it was last rung.
    pub(crate) fn was_heard(&self) -> bool {
        // Acquire: pairs with the exchange in `listen`.
        self.rung.load(Ordering::Acquire) == 0
    }

    /// Waits until it rings, and returns for how many nanoseconds it has been ringing.
    pub(crate) async fn listen(&self) -> f64 {
        poll_fn(|cx| {
            self.waker.register(cx.waker());
            // AcqRel: pairs with the store in `ring` and the load in `was_heard`.
            match self.rung.swap(0, Ordering::AcqRel) {
                0 => Poll::Pending,
                at => Poll::Ready((self.now() - at) as f64),
            }
        })
        .await
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

/// Keeps the calling thread busy.
pub(crate) fn work(duration: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < duration {
        hint::spin_loop();
    }
}
