//! The fourteen programs in one table, for `tour` and for the tests.
#![allow(dead_code, reason = "the examples' own `main`s are not called from here")]
#![allow(clippy::duplicate_mod, reason = "every example has its own stage, so programs can run side by side")]

pub(crate) mod script;

#[path = "../background_work.rs"]
pub(crate) mod background_work;
#[path = "../cancel_with_cleanup.rs"]
pub(crate) mod cancel_with_cleanup;
#[path = "../first_mirror.rs"]
pub(crate) mod first_mirror;
#[path = "../forgotten_task.rs"]
pub(crate) mod forgotten_task;
#[path = "../gather_errors.rs"]
pub(crate) mod gather_errors;
#[path = "../gather_results.rs"]
pub(crate) mod gather_results;
#[path = "../graceful_shutdown.rs"]
pub(crate) mod graceful_shutdown;
#[path = "../group_gather_wait.rs"]
pub(crate) mod group_gather_wait;
#[path = "../names_and_callbacks.rs"]
pub(crate) mod names_and_callbacks;
#[path = "../say_hello.rs"]
pub(crate) mod say_hello;
#[path = "../task_group.rs"]
pub(crate) mod task_group;
#[path = "../task_states.rs"]
pub(crate) mod task_states;
#[path = "../timeouts.rs"]
pub(crate) mod timeouts;
#[path = "../web_requests.rs"]
pub(crate) mod web_requests;

use brigade::BoxError;
use script::Script;
use std::pin::Pin;
use std::time::Duration;

/// A program, and what it must show.
#[derive(Debug)]
pub(crate) struct Program {
    /// The name of its file.
    pub(crate) name: &'static str,
    /// What it teaches, in one line.
    pub(crate) teaches: &'static str,
    /// What it must print, and when.
    pub(crate) script: Script,
    /// How it is run.
    pub(crate) play: Play,
    /// Takes the lines that it printed in this process.
    pub(crate) take: fn() -> Vec<(Duration, String)>,
}

/// What a program needs.
#[derive(Debug)]
pub(crate) enum Play {
    /// Nothing but a runtime: it runs on every backend, and in virtual time.
    Anywhere(fn() -> BoxFuture),
    /// Sockets, so real time. The argument divides all its times.
    Sockets(fn(u32) -> BoxFuture),
    /// Signals, so a process of its own.
    Process,
}

/// A program, ready to run.
pub(crate) type BoxFuture = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>;

macro_rules! programs {
    ($($name:ident, $script:ident, $play:expr, $teaches:literal;)*) => {
        /// All programs, in the order of the tour.
        pub(crate) const PROGRAMS: [Program; 14] = [$(Program {
            name: stringify!($name),
            teaches: $teaches,
            script: script::$script,
            play: $play,
            take: $name::stage::take,
        }),*];
    };
}

programs! {
    say_hello, SAY_HELLO, Play::Anywhere(|| Box::pin(say_hello::program())),
        "a future is a recipe: nothing happens before it is cooked";
    background_work, BACKGROUND_WORK, Play::Anywhere(|| Box::pin(background_work::program())),
        "spawn a task, do something else, await the task";
    web_requests, WEB_REQUESTS, Play::Sockets(|speed| Box::pin(web_requests::demo(HALF_SECOND / speed))),
        "many requests take as long as the slowest, not as long as the sum";
    task_group, TASK_GROUP, Play::Anywhere(|| Box::pin(task_group::program())),
        "one failure cancels the group, and every error is told";
    gather_results, GATHER_RESULTS, Play::Anywhere(|| Box::pin(gather_results::program())),
        "results come in the order of the arguments";
    gather_errors, GATHER_ERRORS, Play::Anywhere(|| Box::pin(gather_errors::program())),
        "all outcomes with return_errors, or fail fast without";
    first_mirror, FIRST_MIRROR, Play::Anywhere(|| Box::pin(first_mirror::program())),
        "take the first that is done, cancel the others";
    cancel_with_cleanup, CANCEL_WITH_CLEANUP, Play::Anywhere(|| Box::pin(cancel_with_cleanup::program())),
        "a cancelled task may await while it tidies up";
    timeouts, TIMEOUTS, Play::Anywhere(|| Box::pin(timeouts::program())),
        "five ways to stop waiting, and who timed out is told";
    task_states, TASK_STATES, Play::Anywhere(|| Box::pin(task_states::program())),
        "look at a task without taking its result";
    names_and_callbacks, NAMES_AND_CALLBACKS, Play::Anywhere(|| Box::pin(names_and_callbacks::program())),
        "who is there, who started whom, and when it is over";
    forgotten_task, FORGOTTEN_TASK, Play::Anywhere(|| Box::pin(forgotten_task::program())),
        "fire and forget, and nothing is lost";
    graceful_shutdown, GRACEFUL_SHUTDOWN, Play::Process,
        "a signal: stop accepting, tidy up, name who did not make it";
    group_gather_wait, GROUP_GATHER_WAIT, Play::Anywhere(|| Box::pin(group_gather_wait::program())),
        "group, gather or wait: which one when";
}

const HALF_SECOND: Duration = Duration::from_millis(500);
