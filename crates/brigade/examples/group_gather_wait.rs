//! 14 · Group, gather, wait: which one when.
//!
//! What to see: the same jobs of one second in three ways. Take a *group* when the number of tasks is open or
//! they start one another; *gather* when you want these results in this order; *wait* when you want to decide
//! yourself what happens to those that are not done.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, TaskError, TaskGroup, gather_all, run, sleep, spawn, wait};
use stage::println;
use std::time::Duration;

const JOBS: [&str; 3] = ["wash", "cut", "cook"];

async fn job(name: &'static str) -> Result<String, BoxError> {
    sleep(Duration::from_secs(1)).await;
    Ok(format!("{name} done"))
}

async fn with_group() -> Result<Vec<String>, BoxError> {
    let tasks =
        TaskGroup::<BoxError>::scope(async |group| Ok(JOBS.map(|name| group.spawn(job(name))))).await?;
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await?); // the group has ended, so this does not suspend
    }
    Ok(results)
}

async fn with_gather() -> Result<Vec<String>, BoxError> {
    gather_all(JOBS.map(job)).await
}

async fn with_wait() -> Result<Vec<String>, BoxError> {
    let tasks = Vec::from(JOBS.map(|name| spawn(job(name))));
    let (done, pending) = wait(tasks).timeout(Duration::from_secs(5)).await;
    assert!(pending.is_empty(), "five seconds are enough");
    gather_all(done).await.map_err(Into::into)
}

/// Does the same jobs in three ways and shows the outputs side by side.
pub(crate) async fn program() -> Result<(), BoxError> {
    let group = with_group().await?;
    println!("group is ready");
    let gather = with_gather().await?;
    println!("gather is ready");
    let wait = with_wait().await?;
    println!("wait is ready");

    println!("{:<10} | {:<10} | {:<10}", "group", "gather", "wait");
    for ((group, gather), wait) in group.iter().zip(&gather).zip(&wait) {
        println!("{group:<10} | {gather:<10} | {wait:<10}");
    }
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
