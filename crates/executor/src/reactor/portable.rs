//! Waiting by `polling` alone, on every system that it knows.
//!
//! On Linux this costs three to five system calls for each wait, which is why `linux.rs` is there. It passes the same
//! tests: `BRIGADE_REACTOR=portable` chooses it.

use std::io;
use std::time::Duration;

use polling::{Events, Poller};

use super::driver::Ready;

/// The events of one wait.
#[derive(Debug)]
pub(crate) struct Portable(Events);

impl Portable {
    pub(crate) fn new() -> Self {
        Self(Events::new())
    }

    /// Waits for events, a notification, or the end of `timeout`.
    pub(crate) fn wait(&mut self, poller: &Poller, timeout: Option<Duration>) -> io::Result<()> {
        self.0.clear();
        poller.wait(&mut self.0, timeout).map(drop)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Ready> + '_ {
        self.0.iter().map(|event| Ready {
            key: event.key,
            readable: event.readable,
            writable: event.writable,
            // `polling` does not tell on every system, so nobody may ask (`Reactor::tells_ends`).
            ended: false,
        })
    }
}
