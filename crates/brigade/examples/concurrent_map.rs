//! Many pages, few at a time: a concurrent map with a limit and a rate.
//!
//! What to see: never more than three requests run at once, and never more than four start within a second; the
//! pages come in the order in which they were asked for; and leaving the loop early cancels what still runs,
//! which tidies up before the map is over.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::prelude::*;
use brigade::{BoxError, amap_iter, sleep};
use stage::println;
use std::time::Duration;

/// Takes between 300 and 700 milliseconds.
async fn fetch(page: u64) -> Result<String, BoxError> {
    println!("  page {page}: asked for");
    sleep(Duration::from_millis(300 + 200 * (page % 3))).await;
    Ok(format!("page {page}"))
}

pub(crate) async fn program() -> Result<(), BoxError> {
    let pages = amap_iter(1.., |page| {
        fetch(page).on_cancel(async move { println!("  page {page}: not needed any more") })
    });
    let found = pages.limit(3).read_ahead(5).rate(4, Duration::from_secs(1)).scope(async |mut pages| {
        while let Some(page) = pages.next().await {
            println!("got {page}");
            if page == "page 6" {
                return Ok(page);
            }
        }
        Err(BoxError::from("not found"))
    });
    println!("found on {}", found.await?);
    Ok(())
}

#[brigade::main]
async fn main() -> Result<(), BoxError> {
    program().await
}
