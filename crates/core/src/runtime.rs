//! The runtime value: what all tasks of one program share, and how it ends.

pub(crate) mod handle;
pub(crate) mod main_task;
pub(crate) mod nesting;
pub(crate) mod reports;
pub(crate) mod shared;
pub(crate) mod shutdown;
