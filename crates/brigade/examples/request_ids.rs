//! Request numbers: a task-local is found by all code below the block that binds it, also in other tasks.
//!
//! What to see: nobody passes the number along, and yet every line knows its request, since tasks and blocking
//! closures inherit what was bound where they were spawned. Two requests at once do not mix.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, TaskGroup, TaskLocal, sleep, spawn_blocking};
use stage::println;
use std::time::Duration;

static REQUEST: TaskLocal<u32> = TaskLocal::new();

fn log(text: &str) {
    match REQUEST.get() {
        Some(number) => println!("[request {number}] {text}"),
        None => println!("[no request] {text}"),
    }
}

async fn query() -> Result<(), BoxError> {
    sleep(Duration::from_millis(30)).await;
    log("the database answered");
    Ok(())
}

/// Knows nothing of numbers.
async fn handle() -> Result<(), BoxError> {
    log("accepted");
    TaskGroup::<BoxError>::scope(async |group| {
        group.spawn(query());
        Ok(())
    })
    .await?;
    spawn_blocking(|| log("the page is drawn, on a thread for blocking work")).await?;
    Ok(())
}

/// Serves two requests at once.
pub(crate) async fn program() -> Result<(), BoxError> {
    TaskGroup::<BoxError>::scope(async |group| {
        for number in [7, 8] {
            group.spawn(REQUEST.bind(number, handle()));
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    })
    .await?;
    log("both are served");
    Ok(())
}

#[brigade::main]
async fn main() -> Result<(), BoxError> {
    program().await
}
