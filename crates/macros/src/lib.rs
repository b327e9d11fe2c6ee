//! The attributes `#[brigade::main]` and `#[brigade::test]`, which the crate `brigade` re-exports.
//!
//! Both turn an `async fn` into a plain one that runs it. They write what a person would write by hand, a call of
//! `brigade::Runner` or of `brigade_testkit`, in absolute paths: nothing has to be imported, and there is nothing
//! that only the attributes can do.

use proc_macro::TokenStream;

mod function;
mod main_attribute;
mod options;
mod test_attribute;

/// Runs an `async fn main` on the default runtime, and makes the exit status of the process of its outcome.
///
/// The function returns `()`, `!` or a `Result<(), E>` whose error is `Debug`. A value is status 0. Anything else
/// is printed to standard error and is status 1; after a signal it is 128 plus the signal's number, as in
/// `Runner::exit_code`, which this attribute calls.
///
/// | option | meaning |
/// |---|---|
/// | `workers = 4` | how many threads run tasks; without it one for each processor |
/// | `current_thread` | everything runs on the thread of `main`, in strict order |
/// | `signals` | SIGINT and SIGTERM cancel `main` (law R2) |
/// | `grace = "10s"` | how long tasks may tidy up after `main` has ended: `"500ms"`, `"10s"`, `"2min"`, or seconds as a number |
///
/// For anything else call `brigade::Runner`, whose methods have the same names.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// #[brigade::main(workers = 2, signals, grace = "1s")]
/// async fn main() -> Result<(), brigade::BoxError> {
///     let task = brigade::spawn(async { Ok::<_, brigade::BoxError>("soup") });
///     brigade::sleep(Duration::from_millis(5)).await;
///     assert_eq!(task.await?, "soup");
///     Ok(())
/// }
/// ```
#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    let item = item.into();
    main_attribute::expand(options.into(), &item)
        .unwrap_or_else(|error| function::refuse(&item, &error))
        .into()
}

/// Makes a test of an `async fn`: on the simulation, in virtual time, and under many schedules if you like.
///
/// The function returns `()`, `!` or a `Result<(), E>` whose error is `Debug`. The test fails with its error, its
/// cancellation or its panic; `#[should_panic]` and `#[ignore]` work as usual.
///
/// The simulation is in `brigade-testkit`, which must be among your `dev-dependencies`. On it the function need not
/// be `Send`, sleeping costs no time, and a program that can never go on fails with a list of its tasks.
///
/// | option | meaning |
/// |---|---|
/// | `seeds = 100` | runs under so many schedules: in order, in reverse, at random, by priorities. A failure names its schedule, and `BRIGADE_SCHEDULE` set to that name runs that one alone |
/// | `backend = simulation` | the default |
/// | `backend = current_thread` | the default runtime on one thread, in real time |
/// | `backend = multi_thread` | the default runtime on all processors, in real time |
/// | `workers = 2` | with `backend = multi_thread`, how many threads |
///
/// # Examples
///
/// ```rust,test_harness
/// use std::time::Duration;
///
/// #[brigade::test]
/// async fn an_hour_passes_at_once() {
///     brigade::sleep(Duration::from_secs(3600)).await;
/// }
///
/// #[brigade::test(seeds = 20)]
/// async fn the_order_does_not_matter() -> Result<(), brigade::BoxError> {
///     let soup = brigade::spawn(async { Ok::<_, brigade::BoxError>(1) });
///     let salad = brigade::spawn(async { Ok::<_, brigade::BoxError>(2) });
///     assert_eq!(salad.await? + soup.await?, 3);
///     Ok(())
/// }
/// ```
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    let item = item.into();
    test_attribute::expand(options.into(), &item)
        .unwrap_or_else(|error| function::refuse(&item, &error))
        .into()
}
