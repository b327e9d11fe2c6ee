//! The chapters in `docs/` whose programs are tests: what a chapter shows compiles and runs.

#[doc = include_str!("../../../docs/cancellation.md")]
pub mod cancellation {}

#[doc = include_str!("../../../docs/supervision.md")]
pub mod supervision {}

#[doc = include_str!("../../../docs/testing.md")]
pub mod testing {}
