//! T12: nothing recurses in proportion to the number or the depth of tasks.

use crate::conformance::prelude::*;

type Link = Pin<Box<dyn Future<Output = Result<usize, Burnt>> + Send>>;

/// A task that spawns the next one and awaits it, `depth` times; the last one opens `bottom` and does `end`.
fn chain(depth: usize, bottom: Gate, go: Gate) -> Link {
    Box::pin(async move {
        if depth == 0 {
            bottom.open();
            go.wait().await;
            return Ok(0);
        }
        let next = spawn(chain(depth - 1, bottom, go));
        // In a shutdown all of them are cancelled, and one may still see that the next one was.
        Ok(next.await.map_or(0, |below| below + 1))
    })
}

/// A chain of tasks, each awaiting the next, completes from its far end.
pub fn law_t12_a_deep_chain_completes(kitchen: &Kitchen) {
    kitchen.run(async {
        let (bottom, go) = (Gate::new(), Gate::new());
        let top = spawn(chain(DEEP, bottom.clone(), go.clone()));
        bottom.wait().await;
        go.open();
        assert_eq!(value(top.await), DEEP);
    });
}

/// Cancelling the first of the chain cancels all of it, and it ends from the far end.
pub fn law_t12_a_deep_chain_is_cancelled(kitchen: &Kitchen) {
    kitchen.run(async {
        let (bottom, go) = (Gate::new(), Gate::new());
        let top = spawn(chain(DEEP, bottom.clone(), go.clone()));
        bottom.wait().await;
        top.cancel();
        cancelled(top.await);
        assert_eq!(all_tasks().len(), 1, "the waiter ends last");
    });
}

/// Aborting the first of the chain cancels the rest one after the other.
pub fn law_t12_a_deep_chain_is_aborted(kitchen: &Kitchen) {
    kitchen.run(async {
        let (bottom, go) = (Gate::new(), Gate::new());
        let top = spawn(chain(DEEP, bottom.clone(), go.clone()));
        bottom.wait().await;
        let children = all_tasks().into_iter().filter(|task| task.parent() == Some(top.id()));
        let second = children.last().expect("the second of the chain");
        top.abort();
        assert_eq!(cancelled(top.await).kind(), CancelKind::Aborted);
        second.finished().await;
        assert!(second.cancelled());
        assert_eq!(all_tasks().len(), 1, "it ends last");
    });
}

/// The shutdown ends a deep chain as well.
pub fn law_t12_a_deep_chain_is_shut_down(kitchen: &Kitchen) {
    kitchen.run(async {
        let bottom = Gate::new();
        drop(spawn(chain(DEEP, bottom.clone(), Gate::new())));
        bottom.wait().await;
    });
}

/// A group in a child of a group in a child of a group …
fn nest(depth: usize, bottom: Gate) -> Pin<Box<dyn Future<Output = Result<(), Burnt>> + Send>> {
    Box::pin(async move {
        if depth == 0 {
            bottom.open();
            return pending().await;
        }
        let group = TaskGroup::<Burnt>::scope(async move |group| {
            group.spawn(nest(depth - 1, bottom));
            Ok(())
        });
        group.await.map_err(|errors| {
            drop(errors);
            Burnt("nest")
        })
    })
}

/// A hierarchy of groups is cancelled from outside and drops.
pub fn law_t12_a_deep_hierarchy_of_groups_is_cancelled(kitchen: &Kitchen) {
    kitchen.run(async {
        let bottom = Gate::new();
        let top = spawn(nest(DEEP, bottom.clone()));
        bottom.wait().await;
        top.cancel();
        cancelled(top.await);
        assert_eq!(all_tasks().len(), 1);
    });
}

/// A result that owns a handle whose result owns a handle …
struct Nested(#[allow(dead_code, reason = "it is there to be dropped")] Option<Task<Nested, Burnt>>);

/// Dropping nested results does not recurse.
pub fn law_t12_nested_results_drop_flat(kitchen: &Kitchen) {
    kitchen.run(async {
        let mut inner = None;
        for _ in 0..DEEP {
            let below = inner.take();
            let task = spawn(async move { Ok::<_, Burnt>(Nested(below)) });
            task.finished().await;
            inner = Some(task);
        }
        drop(inner);
    });
}

/// Many tasks in one place: spawned, cancelled at once, and gone.
pub fn law_t12_many_siblings_are_cancelled(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let tasks: Vec<_> = (0..DEEP / 10)
            .map(|_| {
                let ready = ready.clone();
                spawn(async move {
                    ready.open();
                    pending::<Result<(), Burnt>>().await
                })
            })
            .collect();
        ready.reached(DEEP / 10).await;
        for task in &tasks {
            task.cancel();
        }
        for task in tasks {
            cancelled(task.await);
        }
    });
}

/// A waker chain: each task wakes the next when it is dropped. None of that nests.
pub fn law_t12_drops_that_wake_do_not_nest(kitchen: &Kitchen) {
    struct Domino(Gate);
    impl Drop for Domino {
        fn drop(&mut self) {
            self.0.open();
        }
    }
    kitchen.run(async {
        let first = Gate::new();
        let mut before = first.clone();
        let mut last = None;
        for _ in 0..DEEP / 10 {
            let next = Gate::new();
            let (domino, gate) = (Domino(next.clone()), before);
            last = Some(spawn(async move {
                let _domino = domino;
                gate.wait().await;
            }));
            before = next;
        }
        first.open();
        value(last.expect("there is one").await);
    });
}
