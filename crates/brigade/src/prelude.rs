//! The extension traits, unnamed, so that `use brigade::prelude::*` brings methods and no names.

pub use brigade_combinators::BranchExt as _;
pub use brigade_core::CancelExt as _;
