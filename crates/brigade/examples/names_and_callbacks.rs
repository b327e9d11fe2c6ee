//! 11 · Names and callbacks: who is there, who started whom, and who tells me when it is over.
//!
//! What to see: a tree of the live tasks with name, state and the line that spawned each. The callback runs
//! once, after the outcome of the task is readable.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, Builder, TaskError, TaskId, TaskRef, all_tasks, current_task, run, sleep};
use stage::println;
use std::time::Duration;

async fn chef() -> Result<&'static str, BoxError> {
    println!("{} opens the kitchen", current_task().expect("a task runs this").name());
    let grill = Builder::new().name("grill").spawn(sleep(Duration::from_secs(1)));
    let salad = Builder::new().name("salad").spawn(sleep(Duration::from_secs(1)));
    grill.await?;
    salad.await?;
    Ok("dinner is served")
}

fn print_tree(tasks: &[TaskRef], parent: Option<TaskId>, depth: usize) {
    for task in tasks.iter().filter(|task| task.parent() == parent) {
        let (indent, line) = (2 * depth, task.location().line());
        println!("{:indent$}{} ({:?}, line {line})", "", task.name(), task.state());
        print_tree(tasks, Some(task.id()), depth + 1);
    }
}

/// Prints the tree of the tasks, and waits for a callback.
pub(crate) async fn program() -> Result<(), BoxError> {
    let task = Builder::new().name("chef").spawn(chef());
    let _id = task.on_done(|chef| println!("callback: {} is done: {:?}", chef.name(), chef.state()));

    sleep(Duration::from_millis(500)).await;
    let mut tasks = all_tasks();
    tasks.sort_by_key(TaskRef::id);
    println!("{} tasks", tasks.len());
    print_tree(&tasks, None, 0);

    sleep(Duration::from_millis(600)).await;
    println!("{} task is left", all_tasks().len());
    println!("result: {}", task.await?);
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
