//! Mistakes with `#[brigade::main]` and `#[brigade::test]`, each with a twin that compiles. What the messages say
//! is tested where they are made.

/// A main that is not async.
///
/// ```compile_fail
/// #[brigade::main]
/// fn main() {}
/// ```
///
/// ```
/// #[brigade::main]
/// async fn main() {}
/// ```
pub mod main_that_is_not_async {}

/// Nobody would give the arguments.
///
/// ```compile_fail
/// #[brigade::main]
/// async fn main(arguments: Vec<String>) {
///     drop(arguments);
/// }
/// ```
///
/// ```
/// #[brigade::main]
/// async fn main() {
///     drop(std::env::args().collect::<Vec<String>>());
/// }
/// ```
pub mod main_with_arguments {}

/// An option that there is not; the twin is the one that was meant.
///
/// ```compile_fail
/// #[brigade::main(threads = 2)]
/// async fn main() {}
/// ```
///
/// ```
/// #[brigade::main(workers = 2)]
/// async fn main() {}
/// ```
pub mod unknown_option {}

/// A value of the wrong kind.
///
/// ```compile_fail
/// #[brigade::main(grace = "a while")]
/// async fn main() {}
/// ```
///
/// ```
/// #[brigade::main(grace = "10s")]
/// async fn main() {}
/// ```
pub mod wrong_value {}

/// A value that nobody would take.
///
/// ```compile_fail,E0277
/// #[brigade::main]
/// async fn main() -> Result<u32, brigade::BoxError> {
///     Ok(42)
/// }
/// ```
///
/// ```
/// #[brigade::main]
/// async fn main() -> Result<(), brigade::BoxError> {
///     Ok(())
/// }
/// ```
pub mod value_of_a_main {}

/// Schedules are explored on the simulation only.
///
/// ```compile_fail,test_harness
/// #[brigade::test(seeds = 10, backend = multi_thread)]
/// async fn soup() {}
/// ```
///
/// ```test_harness
/// #[brigade::test(seeds = 10, backend = simulation)]
/// async fn soup() {}
/// ```
pub mod seeds_on_a_real_backend {}
