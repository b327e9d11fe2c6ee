//! Cancellation: requests, delivery, tokens, links, shields and cleanups (C1–C17).

pub mod cleanups;
pub mod delivery;
pub mod grace;
pub mod hard;
pub mod levels;
pub mod links;
pub mod meetings;
pub mod never_lost;
pub mod requests;
pub mod shields;
pub mod tokens;
