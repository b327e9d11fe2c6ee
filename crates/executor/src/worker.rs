//! One worker of the multi-thread backend: its loop, what it does when it has nothing to do, and how others wake it.

pub(crate) mod context;
pub(crate) mod counts;
pub(crate) mod main_loop;
pub(crate) mod pace;
pub(crate) mod park;
pub(crate) mod tempo;
