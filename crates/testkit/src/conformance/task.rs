//! Tasks: what they return, their states, their names, their ends (T1–T13).

pub mod callbacks;
pub mod depth;
pub mod joining;
pub mod names;
pub mod outcomes;
pub mod panics;
pub mod spawning;
pub mod states;
pub mod unobserved;
