//! Which job runs next: the queues, and the protocol by which workers search, sleep and are woken.

pub(crate) mod idle;
pub(crate) mod inject;
pub(crate) mod local;
pub(crate) mod pinned;
