//! The oracle's scenario language: programs of tasks in JSON, run on a backend, compared with the traces
//! that CPython's asyncio produced.
//!
//! The language, the traces and the comparison are defined in `crates/testkit/oracle/README.md`. An
//! interpreter of it is an ordinary Brigade program, so it is written over the public interface alone.
//!
//! | file | story |
//! |---|---|
//! | `program` | a scenario as it stands in a corpus line |
//! | `world` | what the run shares: events, tasks, outcomes |
//! | `interpreter` | the statements that run other statements |
//! | `waiting` | the statements that wait for tasks |
//! | `trace` | the trace of a run, and the comparison |
//! | `model` | a second implementation of the laws, to compare with |
//! | `random` | programs made at random, and Brigade compared with the model on them |
//! | `corpus` | the given corpus, and what is disputed there |
//! | `shrink` | a program that shows a fault made small |
//! | `disturbed` | runs that are interrupted somewhere |

mod corpus;
mod disturbed;
mod interpreter;
mod model;
mod program;
mod random;
mod shrink;
mod trace;
mod waiting;
mod world;

use std::sync::Arc;

use brigade_core::backend::{Backend, Drive};
use brigade_core::{Handle, RunOptions, run_main};

pub use corpus::{DISPUTED, Dispute, Verdict, given_corpus, judge_given_line, judge_line};
pub use disturbed::{Disturbed, disturb_everywhere};
pub use model::{ModelOptions, Modelled, run_model};
pub use program::{Block, Mode, Scenario, Settle, Stmt, When};
pub use random::{Checked, check_random_programs, random_scenario};
pub use trace::{Difference, Trace};
pub use world::{Fault, Value};

/// Runs a scenario on a backend with virtual time, and returns its trace.
///
/// # Panics
///
/// As the backend does when the program can never go on.
pub fn run_scenario<B: Backend + Drive>(backend: &Arc<B>, scenario: &Scenario) -> Trace {
    let world = world::World::new();
    let handle = Handle::new(backend.clone());
    world.listen(&handle);
    let main = interpreter::task_body(world.clone(), "root".to_owned(), scenario.root.clone());
    let start = world.clone();
    let options = RunOptions::new().name("root").on_start(move |task| start.adopt("root", "root", task));
    let outcome = run_main(&handle, &**backend, options, main);
    drop(outcome);
    world.into_trace(&scenario.id)
}
