//! 8 · Cancel with cleanup: a cancelled task may await while it tidies up.
//!
//! What to see: the task works in steps of one second and is cancelled in the middle of the third. `bracket`
//! drops the work, then awaits the cleanup, which takes 200 ms, and only then is the task done: main learns
//! of it when the resource has been released.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, TaskError, bracket, run, sleep, spawn};
use stage::println;
use std::time::Duration;

struct Stove {
    dishes: u32,
}

async fn cook(stove: &mut Stove) -> Result<(), BoxError> {
    loop {
        println!("step {}", stove.dishes);
        sleep(Duration::from_secs(1)).await;
        stove.dishes += 1;
    }
}

async fn clean(stove: Stove) {
    println!("cancelled, cleaning up");
    sleep(Duration::from_millis(200)).await;
    println!("released after {} dishes", stove.dishes);
}

/// Cancels a task that holds a resource, and waits until it has given it back.
pub(crate) async fn program() -> Result<(), BoxError> {
    let task = spawn(bracket(Stove { dishes: 0 }, cook, clean));
    sleep(Duration::from_millis(2500)).await;
    task.cancel();
    match task.await {
        Err(TaskError::Cancelled(reason)) => println!("main confirms: cancelled ({:?})", reason.kind()),
        other => println!("main did not expect {other:?}"),
    }
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
