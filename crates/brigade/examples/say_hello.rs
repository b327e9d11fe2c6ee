//! 1 · Say hello: a future is a recipe, and `run` cooks it.
//!
//! What to see: calling `say_hello()` prints nothing, only "created" appears. When the recipe is cooked, it
//! greets at once and says "Hello" one second later.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, TaskError, run, sleep};
use stage::println;
use std::time::Duration;

async fn say_hello() -> Result<(), BoxError> {
    println!("Greeting in one second...");
    sleep(Duration::from_secs(1)).await;
    println!("Hello");
    Ok(())
}

/// Writes the recipe down; nothing of it happens before somebody awaits it.
pub(crate) fn program() -> impl Future<Output = Result<(), BoxError>> + Send {
    let recipe = say_hello();
    println!("created");
    recipe
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
