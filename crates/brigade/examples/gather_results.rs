//! 5 · Gather results: wait for several things at once, get the results in the order of the arguments.
//!
//! What to see: the fetches end in the order comments, users, posts; the results come in the order in which
//! they were asked for, as soon as the slowest is there. Nothing is spawned: the futures run in place, may
//! borrow, and may have different types.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, TaskError, gather, run, sleep};
use stage::println;
use std::time::Duration;

async fn fetch<T>(what: &str, seconds: u64, result: T) -> Result<T, BoxError> {
    println!("Fetching {what}...");
    sleep(Duration::from_secs(seconds)).await;
    println!("Fetched {what}");
    Ok(result)
}

/// Gathers three fetches of 2, 3 and 1 seconds.
pub(crate) async fn program() -> Result<(), BoxError> {
    let names = [String::from("users"), String::from("posts"), String::from("comments")];
    let (users, posts, comment) = gather((
        fetch(&names[0], 2, 7),
        fetch(&names[1], 3, vec!["soup".to_owned(), "bread".to_owned()]),
        fetch(&names[2], 1, "salty".to_owned()),
    ))
    .await?;
    println!("Results: {users} users, posts {posts:?}, comment {comment:?}");
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
