//! Futures of the core: tasks and their handles, time, scopes, handlers and cleanups, locals, blocking jobs.

use brigade_combinators::{move_on_after, timeout};
use brigade_core::*;
use brigade_testkit::{Gate, Item};

use crate::kit::{Kit, at, deliver, ms, table};

table! {
    joins, shared_handles, handles_that_are_dropped, sleeps_and_intervals, gates,
    handlers, handlers_with_a_grace, cleanups, cleanups_that_fail, brackets, shields, nested_scopes, locals,
    blocking_jobs,
}

async fn joins(kit: Kit) -> Result<(), BoxError> {
    let _guard = kit.guard();
    deliver(at(kit.worker(3)).await);
    let mut watched = kit.worker(2);
    at(watched.finished()).await;
    deliver(at(&mut watched).await);
    let reference = kit.worker(1).to_ref();
    at(reference.finished()).await;
    let local = spawn_local(kit.work(1));
    deliver(at(local).await);
    drop(at(spawn(kit.fail(1))).await);
    Ok(())
}

async fn shared_handles(kit: Kit) -> Result<(), BoxError> {
    let held = kit.worker(2);
    let shared = spawn(async move {
        deliver(at(held).await);
        Ok::<_, BoxError>(5)
    });
    let shared = shared.shared();
    let other = shared.clone();
    let waiter = spawn(async move { at(other).await.map_err(|_| "shared") });
    let first = at(shared).await;
    let second = at(waiter).await;
    drop((first, second));
    Ok(())
}

async fn handles_that_are_dropped(kit: Kit) -> Result<(), BoxError> {
    let guarded = kit.worker(60).cancel_on_drop();
    drop(kit.worker(5));
    at(sleep(ms(2))).await;
    drop(guarded);
    let linked = kit.worker(9);
    // A join that is dropped after its first poll cancels, and the runtime adopts.
    drop(at(timeout(ms(1), linked)).await);
    Ok(())
}

async fn sleeps_and_intervals(kit: Kit) -> Result<(), BoxError> {
    let guard = kit.guard();
    at(sleep(ms(2))).await;
    at(sleep_until(Instant::now() + ms(2))).await;
    at(yield_now()).await;
    let mut pace = interval(ms(3));
    for _ in 0..3 {
        let _inner = guard.below();
        at(pace.tick()).await;
    }
    Ok(())
}

async fn gates(kit: Kit) -> Result<(), BoxError> {
    let gate = Gate::new();
    let opener = spawn({
        let (gate, work) = (gate.clone(), kit.work(1));
        async move {
            deliver(at(work).await);
            gate.open();
        }
    });
    drop(at(timeout(ms(50), gate.wait())).await);
    drop(at(opener).await);
    Ok(())
}

async fn handlers(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    match catch_cancel(kit.within(&outer, 2)).await {
        Ok(item) => deliver(item),
        Err(token) => {
            at(kit.tidy()).await;
            token.uncancel();
        }
    }
    match catch_cancel(kit.within(&outer, 2)).await {
        Ok(item) => deliver(item),
        Err(token) => {
            let _handler = outer.below();
            at(kit.tidy()).await;
            token.resume().await
        }
    }
    if let Err(token) = catch_cancel(kit.within(&outer, 2)).await {
        at(kit.tidy()).await;
        drop(token);
        at(yield_now()).await;
    }
    Ok(())
}

async fn handlers_with_a_grace(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    let stubborn = async {
        let _inner = outer.below();
        match catch_cancel(kit.within(&outer, 9)).await {
            Ok(item) => deliver(item),
            Err(token) => {
                at(sleep(ms(60))).await;
                token.uncancel();
            }
        }
    };
    drop(at(timeout(ms(3), stubborn).grace(ms(4))).await);
    let work = kit.within(&outer, 4).finally(kit.tidy());
    match catch_cancel(work).grace(ms(1)).await {
        Ok(item) => deliver(item),
        Err(token) => token.resume().await,
    }
    Ok(())
}

async fn cleanups(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    deliver(at(kit.within(&outer, 2).finally(kit.tidy())).await);
    deliver(at(kit.within(&outer, 2).on_cancel(kit.tidy())).await);
    deliver(at(kit.within(&outer, 2).finally(kit.tidy()).finally(kit.tidy())).await);
    drop(at(kit.fail(1).finally(kit.tidy())).await);
    drop(at(timeout(ms(1), kit.within(&outer, 5).finally(kit.tidy()))).await);
    Ok(())
}

async fn cleanups_that_fail(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    let clumsy = || {
        let tidy = kit.tidy();
        async move {
            tidy.await;
            Err::<(), BoxError>("the cleanup fails".into())
        }
    };
    deliver(at(kit.within(&outer, 2).finally(clumsy())).await);
    deliver(at(kit.fail(2).finally(clumsy())).await);
    drop(at(timeout(ms(1), kit.within(&outer, 5).on_cancel(clumsy()))).await);
    Ok(())
}

async fn brackets(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    let bracketed = bracket(
        kit.item(),
        async |_: &mut Item| {
            let _inner = outer.below();
            at(sleep(ms(2))).await;
            Ok::<_, BoxError>(())
        },
        async |item: Item| {
            at(yield_now()).await;
            item.deliver();
        },
    );
    at(bracketed).await
}

async fn shields(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    deliver(at(shield(kit.within(&outer, 3))).await);
    deliver(at(shield(kit.worker(2).into_future())).await);
    drop(at(timeout(ms(1), shield(kit.within(&outer, 3)))).await);
    drop(at(shield(timeout(ms(1), kit.within(&outer, 3)))).await);
    Ok(())
}

async fn nested_scopes(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    let inner = async {
        let middle = outer.below();
        let innermost = catch_cancel(kit.within(&middle, 5)).await;
        match innermost {
            Ok(item) => item,
            Err(token) => {
                at(kit.tidy()).await;
                token.resume().await
            }
        }
    };
    let around = shield(timeout(ms(3), inner)).on_cancel(kit.tidy());
    drop(at(move_on_after(ms(9), around)).await);
    Ok(())
}

async fn locals(kit: Kit) -> Result<(), BoxError> {
    static NUMBER: TaskLocal<u32> = TaskLocal::new();
    let outer = kit.guard();
    let bound = NUMBER.bind(7, async {
        deliver(at(kit.within(&outer, 2)).await);
        let child = spawn(async {
            at(yield_now()).await;
            assert_eq!(NUMBER.get(), Some(7));
        });
        drop(at(child).await);
        Locals::capture()
    });
    let locals = at(bound).await;
    deliver(at(locals.bind(kit.within(&outer, 1))).await);
    assert_eq!(NUMBER.get(), None);
    Ok(())
}

async fn blocking_jobs(kit: Kit) -> Result<(), BoxError> {
    let job = |item: Item| spawn_blocking(move || Ok::<_, BoxError>(item));
    deliver(at(job(kit.item())).await);
    let watched = job(kit.item());
    at(watched.finished()).await;
    deliver(at(watched).await);
    drop(at(timeout(ms(1), job(kit.item()))).await);
    Ok(())
}
