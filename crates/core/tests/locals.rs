//! Task-locals: bound by a block, inherited where tasks, closures and callbacks are made.

#[path = "kit/pool.rs"]
mod pool;

use std::sync::{Arc, Mutex};

use brigade_core::{BoxError, Locals, TaskLocal, spawn, spawn_blocking, yield_now};

static WHO: TaskLocal<&'static str> = TaskLocal::new();
static LEVEL: TaskLocal<u32> = TaskLocal::new();

#[test]
fn bound_by_a_block_and_by_the_innermost_one() {
    pool::run(async {
        assert_eq!(WHO.get(), None);
        let seen = WHO.bind("outer", async {
            yield_now().await;
            let inner = WHO.bind("inner", async { WHO.get() }).await;
            (WHO.get(), inner, LEVEL.get())
        });
        assert_eq!(seen.await, (Some("outer"), Some("inner"), None));
        assert_eq!(WHO.get(), None);
    })
    .unwrap();
}

#[test]
fn tasks_inherit_what_was_bound_where_they_were_spawned() {
    pool::run(async {
        let task =
            WHO.bind("parent", async { spawn(async { Ok::<_, BoxError>((WHO.get(), LEVEL.get())) }) }).await;
        let nested =
            LEVEL.bind(3, async { spawn(async { spawn(async { Ok::<_, BoxError>(LEVEL.get()) }).await }) });
        assert_eq!(task.await.unwrap(), (Some("parent"), None));
        assert_eq!(nested.await.await.unwrap(), Some(3));
    })
    .unwrap();
}

#[test]
fn a_block_ends_with_the_poll_and_never_leaks_into_other_tasks() {
    pool::run(async {
        let bound = spawn(WHO.bind("one", async {
            for _ in 0..10 {
                assert_eq!(WHO.get(), Some("one"));
                yield_now().await;
            }
        }));
        for _ in 0..10 {
            assert_eq!(WHO.get(), None);
            yield_now().await;
        }
        bound.await.unwrap();
    })
    .unwrap();
}

#[test]
fn closures_and_callbacks_inherit() {
    pool::run(async {
        let seen = Arc::new(Mutex::new(None));
        let note = seen.clone();
        let closure = WHO
            .bind("caller", async {
                let task = spawn_blocking(|| Ok::<_, BoxError>(WHO.get()));
                task.on_done(move |_| *note.lock().unwrap() = WHO.get());
                task
            })
            .await;
        assert_eq!(closure.await.unwrap(), Some("caller"));
        yield_now().await;
        while seen.lock().unwrap().is_none() {
            yield_now().await;
        }
        assert_eq!(*seen.lock().unwrap(), Some("caller"));
    })
    .unwrap();
}

#[test]
fn captured_and_entered_elsewhere() {
    let captured = WHO.bind_sync("here", Locals::capture);
    assert_eq!(WHO.get(), None);
    assert_eq!(captured.run(|| WHO.get()), Some("here"));
    pool::run(async move {
        assert_eq!(captured.bind(async { WHO.get() }).await, Some("here"));
    })
    .unwrap();
}

#[test]
fn many_blocks_are_dropped_flat() {
    let mut locals = Locals::default();
    for level in 0..if cfg!(miri) { 100 } else { 100_000 } {
        locals = locals.run(|| LEVEL.bind_sync(level, Locals::capture));
    }
    assert!(locals.run(|| LEVEL.get()).is_some());
    drop(locals);
}

static FRAGILE: TaskLocal<Arc<Fragile>> = TaskLocal::new();

struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("the value breaks");
    }
}

/// Law T10: a task may be the last one that holds a value. Its destructor may panic; the worker goes on.
#[test]
fn a_panic_in_the_drop_of_a_value_harms_nobody() {
    pool::run(async {
        let task = FRAGILE.bind(Arc::new(Fragile), async {
            spawn(async {
                yield_now().await;
                Ok::<_, BoxError>(FRAGILE.get().is_some_and(|value| Arc::into_inner(value).is_none()))
            })
        });
        assert!(task.await.await.unwrap());
        assert!(spawn(async { Ok::<_, BoxError>(true) }).await.unwrap());
    })
    .unwrap();
}
