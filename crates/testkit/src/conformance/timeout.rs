//! Timeouts and time (D1–D8).

pub mod clock;
pub mod expiry;
pub mod forms;
