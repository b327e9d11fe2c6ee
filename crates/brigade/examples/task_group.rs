//! 4 · Task group: nobody is left behind, and no error is lost.
//!
//! What to see: worker 2 fails at two seconds. Worker 3 is cancelled (its `Drop` says so), the group waits
//! until it is gone, and returns every error with the name of the task. "All tasks completed" never appears,
//! and main goes on.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, TaskError, TaskGroup, run, sleep};
use stage::println;
use std::fmt;
use std::time::Duration;

#[derive(Debug)]
struct ValueError(&'static str);

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for ValueError {}

/// Says that its worker did not come to its end.
struct Apron {
    worker: u64,
    done: bool,
}

impl Drop for Apron {
    fn drop(&mut self) {
        if !self.done {
            println!("Worker {} was cancelled", self.worker);
        }
    }
}

async fn worker(number: u64) -> Result<(), BoxError> {
    let mut apron = Apron { worker: number, done: false };
    sleep(Duration::from_secs(number)).await;
    apron.done = true;
    if number == 2 {
        println!("Worker 2 fails");
        return Err(Box::new(ValueError("the oven is cold")));
    }
    println!("Worker {number} finished");
    Ok(())
}

/// Runs three workers in a group, of which the second fails.
pub(crate) async fn program() -> Result<(), BoxError> {
    let outcome = TaskGroup::<BoxError>::scope(async |group| {
        for number in 1..=3 {
            group.spawn_named(format!("worker-{number}"), worker(number));
        }
        Ok(())
    })
    .await;

    match outcome {
        Ok(()) => println!("All tasks completed"),
        Err(errors) => {
            let (bad_values, rest) = errors.split::<ValueError>(); // except* ValueError
            for child in &bad_values {
                println!("{} failed: {}", child.name(), child.error());
            }
            println!("other errors: {}", rest.len());
        }
    }
    println!("Main goes on");
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
