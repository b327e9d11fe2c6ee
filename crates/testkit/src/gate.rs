//! Gates: how a test forces an order without sleeping.
//!
//! A [`Gate`] is a foreign future on purpose. It uses nothing of the library but the waker that it is polled
//! with, so it registers nowhere, spends no budget, and proves that strangers' futures are at home here.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A counter that can be waited for: closed at first, opened by [`Gate::open`] from anywhere.
///
/// Clones are the same gate. Each [`Gate::open`] adds one; [`Gate::wait`] waits for the first,
/// [`Gate::reached`] for the n-th.
///
/// # Examples
///
/// ```
/// use brigade_core::spawn;
/// use brigade_testkit::{Gate, simulate};
///
/// simulate(async {
///     let (ready, go) = (Gate::new(), Gate::new());
///     let cook = spawn({
///         let (ready, go) = (ready.clone(), go.clone());
///         async move {
///             ready.open();
///             go.wait().await;
///         }
///     });
///     ready.wait().await;
///     assert!(!cook.done());
///     go.open();
///     cook.await
/// })
/// .expect("nobody fails");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Gate {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    opened: usize,
    waiting: Vec<Waker>,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Gate {
        Gate::default()
    }

    /// Opens the gate by one and wakes who waits. Callable from any thread.
    pub fn open(&self) {
        let mut inner = self.lock();
        inner.opened += 1;
        let waiting = std::mem::take(&mut inner.waiting);
        drop(inner);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// How often the gate was opened.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().opened
    }

    /// Whether the gate was opened at all.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.count() > 0
    }

    /// Waits until the gate is open.
    ///
    /// # Cancellation
    ///
    /// A cancellation ends the wait; the gate does not change.
    pub fn wait(&self) -> Wait {
        self.reached(1)
    }

    /// Waits until the gate was opened `count` times.
    ///
    /// # Cancellation
    ///
    /// A cancellation ends the wait; the gate does not change.
    pub fn reached(&self, count: usize) -> Wait {
        Wait { gate: self.clone(), count }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The future of [`Gate::wait`] and [`Gate::reached`].
#[derive(Debug)]
#[must_use = "a gate is waited for by `.await`"]
pub struct Wait {
    gate: Gate,
    count: usize,
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.gate.lock();
        if inner.opened >= self.count {
            return Poll::Ready(());
        }
        if !inner.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            inner.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}
