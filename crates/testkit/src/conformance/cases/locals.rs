//! Case 105: task-locals, where they are read and who inherits them.

use crate::conformance::prelude::*;

static ORDER: TaskLocal<u32> = TaskLocal::new();

/// Children, callbacks and blocking jobs inherit what is bound where they are made; nothing flows back.
pub fn case_105_task_locals_are_inherited(kitchen: &Kitchen) {
    kitchen.run(async {
        assert_eq!(ORDER.get(), None);
        let inside = ORDER.bind(7, async {
            let child = spawn(async {
                let inherited = ORDER.get();
                ORDER.bind(8, async { assert_eq!(ORDER.get(), Some(8)) }).await;
                yield_now().await;
                Ok::<_, Burnt>((inherited, ORDER.get()))
            });
            assert_eq!(value(child.await), (Some(7), Some(7)));
            let job = spawn_blocking(|| Ok::<_, Burnt>(ORDER.get()));
            assert_eq!(value(job.await), Some(7));
            let (seen, called) = (Slot::new(), Gate::new());
            let (slot, count) = (seen.clone(), called.clone());
            let task = spawn(async {});
            task.on_done(move |_| {
                slot.put(ORDER.get());
                count.open();
            });
            called.wait().await;
            value(task.await);
            let in_group = TaskGroup::<Burnt>::scope(async |group| {
                Ok(value(group.spawn(async { Ok(ORDER.get()) }).await))
            });
            assert_eq!(in_group.await.expect("nobody fails"), Some(7));
            (ORDER.get(), seen.take().expect("the callback ran"))
        });
        assert_eq!(inside.await, (Some(7), Some(7)));
        assert_eq!(ORDER.get(), None);
    });
}

/// The value is readable in `Drop` of the scoped future, also when it is cancelled or shut down.
pub fn case_105_task_locals_in_drop(kitchen: &Kitchen) {
    struct Look(Slot<Option<u32>>);
    impl Drop for Look {
        fn drop(&mut self) {
            self.0.put(ORDER.get());
        }
    }
    let at_shutdown = Slot::new();
    let last = Look(at_shutdown.clone());
    kitchen.run(async move {
        let (seen, ready) = (Slot::new(), Gate::new());
        let (look, gate) = (Look(seen.clone()), ready.clone());
        let task = spawn(ORDER.bind(9, async move {
            let _look = look;
            parked(gate).await
        }));
        ready.wait().await;
        task.cancel();
        cancelled(task.await);
        assert_eq!(seen.take(), Some(Some(9)));
        let ready = Gate::new();
        let gate = ready.clone();
        drop(spawn(ORDER.bind(10, async move {
            let _last = last;
            parked(gate).await
        })));
        ready.wait().await;
    });
    assert_eq!(at_shutdown.take(), Some(Some(10)));
}

/// Two tasks keep their own values apart while they take turns.
pub fn case_105_task_locals_are_kept_apart(kitchen: &Kitchen) {
    kitchen.run(async {
        let tasks: Vec<_> = (0..20)
            .map(|n| {
                spawn(ORDER.bind(n, async move {
                    for _ in 0..5 {
                        yield_now().await;
                        assert_eq!(ORDER.get(), Some(n));
                    }
                }))
            })
            .collect();
        for task in tasks {
            value(task.await);
        }
    });
}
