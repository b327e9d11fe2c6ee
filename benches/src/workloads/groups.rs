//! Groups of tasks that are waited for together: `TaskGroup` against tokio's `JoinSet` and tokio-util's `TaskTracker`,
//! which do less: neither cancels the others when one fails, nor collects errors. On smol, which has no groups, a `Vec`.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use brigade::TaskGroup;
use tokio::task::JoinSet;
use tokio_util::task::TaskTracker;

use crate::contest::{Contender, TIME, Workload};
use crate::runtimes::{Runtime, Runtimes, Smol};

pub(super) fn all(runtimes: &Runtimes) -> Vec<Workload<'_>> {
    vec![
        group("group_100k", 100_000, runtimes),
        Workload { quick: &[], ..group("group_10k", 10_000, runtimes) },
    ]
}

/// Opens a group, spawns children that end at once, and waits for all.
fn group<'a>(name: &'static str, children: usize, runtimes: &'a Runtimes) -> Workload<'a> {
    let Runtimes { brigade, brigade_ct, tokio, tokio_ct, smol, .. } = runtimes;
    let contenders = vec![
        Contender::timed("brigade", children, move || brigade.block_on(task_group(children))),
        Contender::timed("tokio", children, move || tokio.block_on(join_set(children))),
        Contender::timed("task-tracker", children, move || tokio.block_on(task_tracker(children))),
        Contender::timed("smol", children, move || smol.block_on(tasks(children))),
        Contender::timed("brigade-ct", children, move || brigade_ct.block_on(task_group(children))),
        Contender::timed("tokio-ct", children, move || tokio_ct.block_on(join_set(children))),
    ];
    Workload { name, metrics: TIME, contenders, quick: &["tokio"] }
}

async fn task_group(children: usize) {
    let ran = Ran::default();
    let group = TaskGroup::<Infallible>::scope(async |group| {
        (0..children).for_each(|_| drop(group.spawn(ran.child())));
    });
    group.await.expect("no child fails");
    ran.check(children);
}

async fn join_set(children: usize) {
    let ran = Ran::default();
    let mut set = JoinSet::new();
    for _ in 0..children {
        set.spawn(ran.child());
    }
    while let Some(ended) = set.join_next().await {
        ended.expect("no child panics");
    }
    ran.check(children);
}

async fn task_tracker(children: usize) {
    let ran = Ran::default();
    let tracker = TaskTracker::new();
    for _ in 0..children {
        drop(tracker.spawn(ran.child()));
    }
    tracker.close();
    tracker.wait().await;
    ran.check(children);
}

async fn tasks(children: usize) {
    let ran = Ran::default();
    let tasks: Vec<_> = (0..children).map(|_| Smol::spawn(ran.child())).collect();
    for task in tasks {
        task.await;
    }
    ran.check(children);
}

/// Counts children.
#[derive(Clone, Default)]
struct Ran(Arc<AtomicUsize>);

impl Ran {
    fn child(&self) -> impl Future<Output = ()> + Send + 'static {
        let ran = self.clone();
        async move {
            // Relaxed: the end of the group orders all of them before the look at the sum.
            ran.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn check(&self, children: usize) {
        // Relaxed: see `child`.
        assert_eq!(self.0.load(Ordering::Relaxed), children);
    }
}
