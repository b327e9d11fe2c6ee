//! `gather`, `wait`, `as_completed`, `race` (A1–A7), `amap`.

pub mod gathering;
pub mod map_ending;
pub mod mapping;
pub mod racing;
pub mod waiting;
