//! 7 · First mirror: take the first of several tasks that ends, and cancel the others.
//!
//! What to see: `wait` never cancels and never consumes. It gives the handles back as `(done, pending)`, and
//! this program decides what becomes of them. All is over when the fastest mirror has answered.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{BoxError, Builder, TaskError, run, sleep, wait};
use stage::println;
use std::time::Duration;

async fn download(millis: u64) -> Result<String, BoxError> {
    sleep(Duration::from_millis(millis)).await;
    Ok(format!("file of the mirror that takes {millis} ms"))
}

/// Asks three mirrors, takes the first answer, cancels the rest and waits until the rest is gone.
pub(crate) async fn program() -> Result<(), BoxError> {
    let mut mirrors = Vec::new();
    for (name, millis) in [("berlin", 500), ("tokyo", 2000), ("paris", 800)] {
        mirrors.push(Builder::new().name(name).spawn(download(millis)));
    }

    let (done, pending) = wait(mirrors).first_completed().await;
    for mirror in done {
        println!("{}: {}", mirror.name(), mirror.await?);
    }

    println!("{} pending", pending.len());
    for mirror in &pending {
        mirror.cancel_with("another mirror was faster");
    }
    for mirror in pending {
        let name = mirror.name();
        match mirror.await {
            Err(TaskError::Cancelled(reason)) => {
                println!("{name}: cancelled, {}", reason.text().unwrap_or("-"))
            }
            other => println!("{name}: {other:?}"),
        }
    }
    println!("cleanup complete");
    Ok(())
}

fn main() -> Result<(), TaskError<BoxError>> {
    run(program())
}
