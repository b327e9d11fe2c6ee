//! 10 · Task states: look at a task without taking its result.
//!
//! What to see: four tasks before and after they end in the four ways in which a task can end. None of the
//! reads consumes the result: awaiting the task still returns it. (Rust's own message about the panic goes to
//! standard error; the panic is caught at the task's boundary and becomes its outcome.)

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, Builder, Task, TaskError, run, sleep};
use stage::println;
use std::time::Duration;

async fn dish(name: &'static str) -> Result<u32, BoxError> {
    let millis = if name == "cancelled" { 10_000 } else { 50 };
    sleep(Duration::from_millis(millis)).await;
    match name {
        "failed" => Err("burnt".into()),
        "panicked" => panic!("the pan is on fire"),
        _ => Ok(42),
    }
}

fn print_table(title: &str, tasks: &[Task<u32, BoxError>]) {
    println!("{title}");
    for task in tasks {
        let result = task.result().map_or("-".to_owned(), |result| match result {
            Ok(value) => value.to_string(),
            Err(_) => "error".to_owned(),
        });
        let error = task.error().map_or("-".to_owned(), ToString::to_string);
        println!(
            "{:<9} | done {:<5} | cancelled {:<5} | {:?} | result {result} | error {error}",
            task.name(),
            task.done(),
            task.cancelled(),
            task.state(),
        );
    }
}

/// Prints the states of four tasks before and after 100 ms, then awaits them.
pub(crate) async fn program() -> Result<(), BoxError> {
    let names = ["value", "failed", "cancelled", "panicked"];
    let tasks = names.map(|name| Builder::new().name(name).spawn(dish(name)));
    print_table("before", &tasks);

    tasks[2].cancel();
    sleep(Duration::from_millis(100)).await;
    print_table("after", &tasks);

    for task in tasks {
        let name = task.name();
        match task.await {
            Ok(value) => println!("await {name}: value {value}"),
            Err(TaskError::Failed(error)) => println!("await {name}: error {error}"),
            Err(TaskError::Cancelled(reason)) => println!("await {name}: cancelled, {:?}", reason.kind()),
            Err(TaskError::Panicked(panic)) => println!("await {name}: panic, {}", panic.message()),
        }
    }
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
