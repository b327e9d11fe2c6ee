//! Many futures inside one task: `gather` against `futures` and `futures-concurrency`, all on Brigade's executor, which has
//! little to do here, so that the libraries alone are compared.

use std::convert::Infallible;

use brigade::gather;
use futures_concurrency::future::Join;
use futures_lite::future::yield_now;
use futures_lite::{Stream, StreamExt};
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;

use crate::contest::{Contender, TIME, Workload};
use crate::runtimes::{Runtime, Runtimes};

pub(super) fn all(runtimes: &Runtimes) -> Vec<Workload<'_>> {
    vec![
        gathering("gather_10k", runtimes, woken),
        Workload { quick: &[], ..gathering("gather_10k_ready", runtimes, ready) },
    ]
}

type Output = Result<u64, Infallible>;

/// A branch that suspends once and is woken at once.
async fn woken(index: u64) -> Output {
    yield_now().await;
    Ok(index)
}

async fn ready(index: u64) -> Output {
    Ok(index)
}

fn gathering<'a, F>(
    name: &'static str,
    Runtimes { brigade, .. }: &'a Runtimes,
    branch: fn(u64) -> F,
) -> Workload<'a>
where
    F: Future<Output = Output> + Send + 'static,
{
    let branches = move || (0..BRANCHES as u64).map(branch);
    let contenders = vec![
        Contender::timed("brigade", BRANCHES, move || {
            let branches = branches().collect::<Vec<_>>();
            brigade.block_on(async {
                check(gather(branches).await.expect("no branch fails").into_iter().sum())
            });
        }),
        Contender::timed("futures", BRANCHES, move || {
            let branches = branches();
            brigade.block_on(async { check(join_all(branches).await.into_iter().map(value).sum()) });
        }),
        Contender::timed("futures-unordered", BRANCHES, move || {
            let branches: FuturesUnordered<F> = branches().collect();
            brigade.block_on(async { check(total(branches).await) });
        }),
        Contender::timed("futures-concurrency", BRANCHES, move || {
            let branches = branches().collect::<Vec<_>>();
            brigade.block_on(async { check(branches.join().await.into_iter().map(value).sum()) });
        }),
    ];
    Workload {
        name,
        metrics: TIME,
        contenders,
        quick: &["futures", "futures-unordered", "futures-concurrency"],
    }
}

const BRANCHES: usize = 10_000;

async fn total(mut branches: impl Stream<Item = Output> + Unpin) -> u64 {
    let mut total = 0;
    while let Some(output) = branches.next().await {
        total += value(output);
    }
    total
}

fn value(output: Output) -> u64 {
    match output {
        Ok(value) => value,
    }
}

fn check(total: u64) {
    let branches = BRANCHES as u64;
    assert_eq!(total, branches * (branches - 1) / 2, "every branch gives its index");
}
