//! 12 · Forgotten task: fire and forget, and nothing is lost all the same.
//!
//! What to see: nobody awaits the first task, so its failure is reported, once, with its name and the line
//! that spawned it. The second would take ten seconds; when main ends at 500 ms it is cancelled, and `run`
//! returns only after its cleanup of 100 ms.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, Builder, CancelExt as _, Handle, TaskError, run, sleep, spawn};
use stage::println;
use std::time::Duration;

async fn order_eggs() -> Result<(), BoxError> {
    sleep(Duration::from_millis(100)).await;
    Err("no eggs today".into())
}

async fn simmer() {
    sleep(Duration::from_secs(10)).await;
    println!("never printed");
}

async fn turn_off() {
    println!("soup: cancelled, turning the stove off");
    sleep(Duration::from_millis(100)).await;
    println!("soup: the stove is off");
}

/// Starts two tasks, keeps no handle, and ends before the second.
pub(crate) async fn program() -> Result<(), BoxError> {
    Handle::current().set_unobserved_hook(|failure| {
        let line = failure.location().line();
        println!("reported: {} (spawned in line {line}): {}", failure.task_name(), failure.message());
    });

    Builder::new().name("eggs").spawn(order_eggs());
    spawn(simmer().on_cancel(turn_off()));

    sleep(Duration::from_millis(500)).await;
    println!("main ends");
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
