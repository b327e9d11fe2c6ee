//! Where there are no signals: asking for them is an error, and nothing else is different.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use brigade_core::{Handle, TaskRef};

use crate::reactor::driver::Reactor;

/// Cannot be made here.
#[derive(Debug)]
pub(crate) enum Signals {}

impl Signals {
    pub(crate) fn listen(_reactor: &Arc<Reactor>, _handle: &Handle, _grace: Duration) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "signals are not supported on this system"))
    }

    pub(crate) fn attach(&self) -> impl FnOnce(&TaskRef) + 'static + use<> {
        match *self {}
        #[expect(unreachable_code, reason = "gives the closure its type")]
        |_: &TaskRef| ()
    }

    pub(crate) fn received(&self) -> Option<i32> {
        match *self {}
    }
}
