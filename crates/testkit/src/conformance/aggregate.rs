//! `gather`, `wait`, `as_completed`, `race` (A1–A7).

pub mod gathering;
pub mod racing;
pub mod waiting;
