//! A supervised connection: when it is lost it is started again, until its supervisor gives up.
//!
//! What to see: the reader relies on the connection, so it is stopped before every restart, and its cleanup holds
//! the restart. The pauses grow. The third loss within a minute is one too many: the supervisor ends with
//! all three, and that is an error of the group around it, which ends everything else.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::{Backoff, BoxError, CancelExt as _, GroupError, Restart, Supervisor, TaskGroup, sleep};
use stage::println;
use std::future::pending;
use std::time::Duration;

async fn connection(attempt: u32) -> Result<(), BoxError> {
    println!("connection: up, attempt {attempt}");
    sleep(Duration::from_millis(200)).await;
    println!("connection: lost");
    Err(format!("the harbour hung up, attempt {attempt}").into())
}

async fn reader() {
    println!("reader: reads");
    let save = async || {
        sleep(Duration::from_millis(50)).await;
        println!("reader: the page is saved");
    };
    pending::<()>().on_cancel(save()).await;
}

async fn kitchen() {
    pending::<()>().on_cancel(async { println!("kitchen: closes") }).await;
}

/// Runs a connection that is lost for good in the end.
pub(crate) async fn program() -> Result<(), BoxError> {
    let mut attempt = 0;
    let link = Supervisor::rest_for_one()
        .budget(2, Duration::from_secs(60))
        .backoff(Backoff::new(Duration::from_millis(100)))
        .child("connection", Restart::Permanent, move || {
            attempt += 1;
            connection(attempt)
        })
        .child("reader", Restart::Permanent, reader);

    let outcome = TaskGroup::<BoxError>::scope(async |group| {
        group.spawn(kitchen());
        group.spawn_named("link", link.run());
        Ok(())
    });

    let errors = outcome.await.expect_err("the connection cannot be kept");
    let link = errors.first().and_then(|child| child.downcast_ref::<GroupError<BoxError>>());
    for lost in link.into_iter().flatten() {
        println!("{}: {}", lost.name(), lost.error());
    }
    Ok(())
}

#[brigade::main]
async fn main() -> Result<(), BoxError> {
    program().await
}
