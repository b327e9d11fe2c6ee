//! The type `!` on stable, for implementations of this crate's traits.
//!
//! It is the same type as [`brigade_core::Never`]. But to see that an implementation for `!` and one for
//! `()` are disjoint the compiler has to look through the projection, which it does only within a crate.

/// What a function that never returns returns.
pub(crate) type Never = <fn() -> ! as Returns>::Type;

/// Helps to name [`Never`].
#[doc(hidden)]
pub trait Returns {
    /// The return type of a function.
    type Type;
}

impl<R> Returns for fn() -> R {
    type Type = R;
}
