//! Task groups (G1–G7, G10).

pub mod cancelling;
pub mod ending;
pub mod errors;
pub mod spawning;
