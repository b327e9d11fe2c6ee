//! What a backend owes, asked directly (B1–B5).

pub mod contract;
pub mod timers;
