//! The conformance suite: the meaning of the laws, as tests that run on every backend (law B5).
//!
//! A trait can say what shape a backend has; what it must *do* is said here. One line in a backend's own
//! tests, [`conformance!`](crate::conformance!), runs everything:
//!
//! ```text
//! conformance/kitchen.rs    a fresh runtime for each run; reports, warnings, a watchdog against hangs
//! conformance/list.rs       every test by name, once
//! conformance/task/…        the laws, one room for each family, one file for each theme
//! ```
//!
//! Order is forced by gates; no test sleeps to order events. Exact times are compared only where time is
//! virtual, elsewhere they are lower bounds. A test that cannot be asked of a backend (an order that it does
//! not promise, a tie of two real clocks) returns early and says why in its name or in a comment.

#![allow(
    clippy::missing_panics_doc,
    reason = "a test panics when its law is broken; that is its whole purpose"
)]

pub mod aggregate;
pub mod backend;
pub mod cancel;
pub mod cases;
pub mod group;
mod kitchen;
mod list;
mod prelude;
pub mod run;
pub mod task;
pub mod timeout;

pub use kitchen::Kitchen;

/// Makes a module with one test for each law of the suite, for one backend.
///
/// `$make` is an expression that makes a fresh backend: an `Arc<B>` where `B` implements
/// [`Backend`](brigade_core::backend::Backend) and [`Drive`](brigade_core::backend::Drive). It is
/// evaluated for every run. With the word `fifo` at the end the backend promises to run ready tasks in
/// order on one thread, and the tests hold it to that.
///
/// # Examples
///
/// ```
/// use brigade_testkit::{Simulation, conformance};
///
/// conformance!(simulation, Simulation::new(), fifo);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! conformance {
    ($name:ident, $make:expr) => {
        $crate::conformance!(@ $name, $make, false);
    };
    ($name:ident, $make:expr, fifo) => {
        $crate::conformance!(@ $name, $make, true);
    };
    (@ $name:ident, $make:expr, $fifo:literal) => {
        mod $name {
            #[allow(unused_imports, reason = "the constructor may name things of the module around")]
            use super::*;

            fn kitchen() -> $crate::conformance::Kitchen {
                $crate::conformance::Kitchen::new(|| $make, $fifo)
            }

            $crate::__conformance_list!(__conformance_tests, kitchen);
        }
    };
}

/// One `#[test]` for each entry of the list.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    ($kitchen:ident $($group:ident::$file:ident { $($test:ident)* })*) => {
        $($(
            #[test]
            fn $test() {
                $crate::conformance::$group::$file::$test(&$kitchen());
            }
        )*)*
    };
}

/// A constant with every entry of the list.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_names {
    ($name:ident $($group:ident::$file:ident { $($test:ident)* })*) => {
        /// Every test of the suite with the label of its law, as in its name: `("t2", "law_t2_four_outcomes")`.
        pub const $name: &[(&str, &str)] = &[$($((label(stringify!($test)), stringify!($test))),*),*];
    };
}

crate::__conformance_list!(__conformance_names, LAWS);

/// The second word of a test's name: `t2` of `law_t2_four_outcomes`, `010` of `case_010_late_cancel`.
const fn label(name: &str) -> &str {
    let (_, from_label) = name.as_bytes().split_at(after_underscore(name.as_bytes()));
    let (label, _) = from_label.split_at(after_underscore(from_label) - 1);
    match std::str::from_utf8(label) {
        Ok(label) => label,
        Err(_) => name,
    }
}

const fn after_underscore(text: &[u8]) -> usize {
    let mut at = 0;
    while text[at] != b'_' {
        at += 1;
    }
    at + 1
}
