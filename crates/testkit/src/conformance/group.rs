//! Task groups (G1–G10).

pub mod cancelling;
pub mod ending;
pub mod errors;
pub mod escalation;
pub mod keyed;
pub mod limit;
pub mod policies;
pub mod services;
pub mod spawning;
pub mod supervision;
