//! Nothing recurses in proportion to the number or the depth of tasks (law T12).

#[path = "kit/pool.rs"]
mod pool;

use brigade_core::{BoxError, Task, spawn};

const DEPTH: usize = if cfg!(miri) { 100 } else { 100_000 };

/// A result that owns a handle whose result owns a handle …
struct Nested {
    #[expect(dead_code, reason = "held to be dropped")]
    inner: Option<Task<Nested, BoxError>>,
}

async fn wrap(inner: Option<Task<Nested, BoxError>>) -> Result<Nested, BoxError> {
    if let Some(task) = &inner {
        task.finished().await;
    }
    Ok(Nested { inner })
}

fn chain() -> Task<Nested, BoxError> {
    let mut task = spawn(wrap(None));
    for _ in 1..DEPTH {
        task = spawn(wrap(Some(task)));
    }
    task
}

#[test]
fn law_t12_dropping_a_handle_of_nested_results() {
    pool::run(async {
        let outermost = chain();
        outermost.finished().await;
        drop(outermost);
    })
    .unwrap();
}

#[test]
fn law_t12_dropping_a_taken_value_of_nested_results() {
    pool::run(async {
        let value = chain().await.unwrap();
        drop(value);
    })
    .unwrap();
}

#[test]
fn law_t12_dropping_a_peeked_result_of_nested_results() {
    pool::run(async {
        let outermost = chain();
        outermost.finished().await;
        assert!(outermost.result().unwrap().is_ok());
        drop(outermost);
    })
    .unwrap();
}

#[test]
fn law_t12_nested_results_that_nobody_awaits() {
    pool::run(async {
        let outermost = chain();
        let reference = outermost.to_ref();
        drop(outermost);
        reference.finished().await;
    })
    .unwrap();
}

#[test]
fn law_t12_a_chain_of_linked_joins_is_cancelled() {
    pool::run(async {
        let mut task = spawn(async { std::future::pending::<Result<(), BoxError>>().await });
        for _ in 1..DEPTH {
            let inner = task;
            task = spawn(async move { Ok(inner.await?) });
        }
        brigade_core::yield_now().await;
        task.cancel();
        assert!(task.await.unwrap_err().is_cancelled());
    })
    .unwrap();
}

#[test]
fn law_t12_a_chain_of_linked_joins_is_shut_down() {
    // Some end as cancelled, some as failed with the cancellation of the task that they awaited: both
    // chains are dropped flat.
    let outermost = pool::run(async {
        brigade_core::Handle::current().set_unobserved_hook(|report| assert!(!report.message().is_empty()));
        let mut task = spawn(async { std::future::pending::<Result<(), BoxError>>().await });
        for _ in 1..DEPTH {
            let inner = task;
            task = spawn(async move { Ok(inner.await?) });
        }
        Ok::<_, BoxError>(task.to_ref())
    })
    .unwrap();
    assert!(outermost.done());
}
