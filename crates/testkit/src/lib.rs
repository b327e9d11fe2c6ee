//! Tools for proving that a Brigade runtime obeys the laws.
//!
//! For the tests of any program:
//!
//! - [`Simulation`]: the deterministic backend with virtual time, and [`simulate`], its one-line form.
//! - [`explore`]: a program under many schedules; a failure names its schedule and can be replayed.
//! - [`interrupt_everywhere`]: a program with every task cancelled and aborted at every await, and a panic at each that
//!   is [`breakable`].
//! - [`assert_cancel_point`], [`assert_no_cancel_point`]: where a function can be cancelled.
//! - [`Gate`], [`Probe`], [`Guards`], [`Trace`]: force an order, count lives, watch the order in which they end, compare
//!   a whole story.
//!
//! For those who build a runtime:
//!
//! - [`conformance!`]: the suite that every backend must pass; one line in a backend's tests.
//! - [`scenario`]: the oracle's programs, the reference model, and random programs to compare them on.
//!
//! The laws are in `docs/semantics.md`; each is named by at least one test of the suite ([`LAWS`]).

mod backend;
mod blocking;
mod cancel_points;
mod clock;
pub mod conformance;
mod dump;
mod explore;
mod gate;
mod guards;
mod interrupt;
mod probe;
pub mod scenario;
mod schedule;
mod thread_mark;
mod trace;

use std::future::Future;

use brigade_core::{Handle, RunOptions, TaskError, TaskOutput, run_main_local};

pub use backend::Simulation;
pub use cancel_points::{assert_cancel_point, assert_no_cancel_point};
pub use conformance::LAWS;
pub use explore::{Explored, Explorer, explore};
pub use gate::{Gate, Wait};
pub use guards::{Guard, Guards};
pub use interrupt::{Interrupted, Interrupter, Interruption, breakable, interrupt_everywhere};
pub use probe::{Item, Probe};
pub use schedule::{Choice, Policy, UnknownPolicy};
pub use trace::{Event, Trace};

/// Runs `main` on a new [`Simulation`] and returns its outcome.
///
/// `main` need not be `Send`. Time is virtual: sleeping costs nothing.
///
/// # Cancellation
///
/// When `main` ends, the tasks that the root owns are cancelled and waited for, as in every run (law R1).
///
/// # Errors
///
/// The outcome of `main`: its error, a cancellation, or a panic.
///
/// # Panics
///
/// When the program can never go on, with a list of the live tasks.
///
/// # Examples
///
/// ```
/// use brigade_core::{Instant, sleep};
/// use std::time::Duration;
///
/// brigade_testkit::simulate(async {
///     sleep(Duration::from_secs(3600)).await;
///     assert_eq!(Instant::now(), Instant::ZERO + Duration::from_secs(3600));
/// })
/// .expect("main ends with a value");
/// ```
pub fn simulate<F>(
    main: F,
) -> Result<<F::Output as TaskOutput>::Ok, TaskError<<F::Output as TaskOutput>::Err>>
where
    F: Future + 'static,
    F::Output: TaskOutput,
{
    let simulation = Simulation::new();
    let handle = Handle::new(simulation.clone());
    run_main_local(&handle, &*simulation, RunOptions::new(), main)
}
