//! 2 · Background work: `spawn` a task, do something else, then await the task.
//!
//! What to see: the task works while main works, so the whole takes two seconds and not three. The error of
//! the task, if it had one, would come out of the `?`.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, TaskError, run, sleep, spawn};
use stage::println;
use std::time::Duration;

async fn background_work() -> Result<&'static str, BoxError> {
    println!("Starting background work...");
    sleep(Duration::from_secs(2)).await;
    println!("Background work finished.");
    Ok("Success")
}

/// Starts the work, does its own, and collects the result.
pub(crate) async fn program() -> Result<(), BoxError> {
    let task = spawn(background_work());
    println!("Task created. Main continues to run.");
    sleep(Duration::from_secs(1)).await;
    println!("Main did some other work.");
    let result = task.await?;
    println!("Task completed with result: {result}");
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
