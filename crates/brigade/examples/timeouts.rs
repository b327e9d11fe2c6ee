//! 9 · Timeouts: five ways to stop waiting.
//!
//! What to see: each timeout drops the slow operation (its guard says so), returns a `TimedOut` value, and
//! the program goes on. Of two nested timeouts only the one that expired tells of it. A timeout around a
//! group returns when the children of the group are gone.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, Instant, TaskError, TaskGroup, Timeout, run, sleep, timeout, wait_for};
use stage::println;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Says that the slow operation is gone.
struct Guard(&'static str);

impl Drop for Guard {
    fn drop(&mut self) {
        println!("{}: dropped", self.0);
    }
}

async fn slow_operation(place: &'static str) {
    let _guard = Guard(place);
    sleep(10 * SECOND).await;
}

/// Times a slow operation out in five ways.
pub(crate) async fn program() -> Result<(), BoxError> {
    if timeout(SECOND, slow_operation("timeout")).await.is_err() {
        println!("timeout: timed out");
    }

    if wait_for(slow_operation("wait_for"), SECOND).await.is_err() {
        println!("wait_for: timed out");
    }

    let rescheduled = Timeout::scope(SECOND, async |deadline| {
        deadline.reschedule(Instant::now() + 2 * SECOND)?;
        slow_operation("rescheduled").await;
        Ok::<_, BoxError>(())
    });
    if rescheduled.await.is_err() {
        println!("rescheduled: timed out after two seconds");
    }

    let nested = timeout(2 * SECOND, timeout(SECOND, slow_operation("nested")));
    match nested.await {
        Ok(Err(_)) => println!("nested: the inner one timed out"),
        Err(_) => println!("nested: the outer one timed out"),
        Ok(Ok(())) => println!("nested: nobody timed out"),
    }

    let group = TaskGroup::<BoxError>::scope(async |group| {
        group.spawn(slow_operation("child of a group"));
        Ok(())
    });
    if timeout(SECOND, group).await.is_err() {
        println!("group: timed out, its child is gone");
    }
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
