//! 6 · Gather errors: all outcomes with `.return_errors()`, or fail fast without.
//!
//! What to see: first every outcome comes in order at two seconds, values and errors mixed. Then the same
//! without `.return_errors()`: the first error ends the gather one second later, and the branches that were
//! still running are cancelled. (CPython would leave them running.)

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, TaskError, gather_all, run, sleep};
use stage::println;
use std::time::Duration;

/// Says that its fetch was dropped before it had ended.
struct Watch {
    dish: &'static str,
    done: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.done {
            println!("{} cancelled", self.dish);
        }
    }
}

async fn fetch(dish: &'static str, millis: u64) -> Result<String, BoxError> {
    let mut watch = Watch { dish, done: false };
    sleep(Duration::from_millis(millis)).await;
    watch.done = true;
    if dish == "fish" { Err("the fish is off".into()) } else { Ok(format!("{dish} after {millis} ms")) }
}

/// Gathers two fetches that work and one that fails, in both ways.
pub(crate) async fn program() -> Result<(), BoxError> {
    let fetches = [fetch("soup", 2000), fetch("fish", 1000), fetch("salad", 1000)];
    for outcome in gather_all(fetches).return_errors().await {
        match outcome {
            Ok(dish) => println!("value: {dish}"),
            Err(error) => println!("error: {error}"),
        }
    }

    let fetches = [fetch("soup", 2000), fetch("fish", 1000), fetch("salad", 1500)];
    match gather_all(fetches).await {
        Ok(dishes) => println!("all there: {dishes:?}"),
        Err(error) => println!("gather failed: {error}"),
    }
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
