//! The identity of a task.

use std::fmt;
use std::num::NonZeroU64;

/// The number of a task, unique within its runtime and never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(NonZeroU64);

impl TaskId {
    pub(crate) fn new(number: u64) -> TaskId {
        TaskId(NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN))
    }

    /// The number itself, for logs and maps.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({})", self.0)
    }
}
