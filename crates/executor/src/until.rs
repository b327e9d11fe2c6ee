//! The future until which a backend is driven: polled on the driving thread, at once and when it was woken.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

/// A future with a flag that says when it should be polled.
pub(crate) struct Until<'a> {
    future: Pin<&'a mut dyn Future<Output = ()>>,
    bell: Arc<Bell>,
    waker: Waker,
}

impl<'a> Until<'a> {
    /// `alert` makes the driving thread ask again before it sleeps, or wakes it; it is called on any thread.
    pub(crate) fn new(
        future: Pin<&'a mut dyn Future<Output = ()>>,
        alert: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let bell = Arc::new(Bell { rung: AtomicBool::new(true), alert: Box::new(alert) });
        Self { future, waker: bell.clone().into(), bell }
    }

    /// Polls the future if it was woken.
    ///
    /// # Panics
    ///
    /// If the runtime is `closed` although the future is not ready.
    #[inline]
    pub(crate) fn is_ready(&mut self, closed: bool) -> bool {
        // Acquire: pairs with the exchange in `wake_by_ref`.
        let rung = self.bell.rung.load(Ordering::Acquire);
        (rung || closed) && self.poll(closed)
    }

    fn poll(&mut self, closed: bool) -> bool {
        // AcqRel: pairs with the exchange in `wake_by_ref`; a wake-up from now on asks for another poll.
        self.bell.rung.swap(false, Ordering::AcqRel);
        let ready = self.future.as_mut().poll(&mut Context::from_waker(&self.waker)).is_ready();
        assert!(ready || !closed, "the runtime was closed while it was being driven");
        ready
    }
}

struct Bell {
    rung: AtomicBool,
    alert: Box<dyn Fn() + Send + Sync>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // AcqRel: pairs with the exchange in `poll`.
        let rung = self.rung.swap(true, Ordering::AcqRel);
        if !rung {
            (self.alert)();
        }
    }
}

impl fmt::Debug for Until<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Until").field("rung", &self.bell.rung).finish_non_exhaustive()
    }
}
