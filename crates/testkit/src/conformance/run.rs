//! Running, shutting down, and blocking jobs (R1–R6).

pub mod after;
pub mod blocking;
pub mod ending;
