//! Tells when the last of many tasks has arrived.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_channel::oneshot;

pub(crate) struct Countdown {
    left: AtomicUsize,
    done: Mutex<Option<oneshot::Sender<()>>>,
}

impl Countdown {
    /// The receiver is told when `count` have arrived.
    pub(crate) fn new(count: usize) -> (Arc<Countdown>, oneshot::Receiver<()>) {
        let (done, ended) = oneshot::channel();
        let countdown = Countdown { left: AtomicUsize::new(count), done: Some(done).into() };
        (Arc::new(countdown), ended)
    }

    pub(crate) fn arrive(&self) {
        // AcqRel: pairs with itself in the tasks that came before, whose work the last one answers for.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let done = self.done.lock().expect("nobody panics with the lock").take();
            done.expect("only one is the last").send(()).expect("the workload waits");
        }
    }
}
