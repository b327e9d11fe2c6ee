//! Aggregates and time-outs: several at once, one of several, as long as it takes.

use std::panic::resume_unwind;

use brigade_combinators::*;
use brigade_core::*;
use brigade_testkit::Item;

use crate::kit::{Kit, at, deliver, ms, table};

table! {
    gather_tuples, gather_arrays_and_vectors, gathers_that_fail, gathers_of_tasks, waits, waits_by_reference,
    completion_streams, races, first_successes, timeouts, timeouts_that_move, retries, maps, maps_that_are_left,
    maps_that_fail,
}

async fn gather_tuples(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    let (first, second) = at(gather((kit.worker(2), kit.within(&outer, 3).as_branch()))).await?;
    first.deliver();
    second.deliver();
    let (first, (), second) =
        at(gather((kit.within(&outer, 1), async { Ok(()) }, kit.within(&outer, 2)))).await?;
    first.deliver();
    second.deliver();
    Ok(())
}

async fn gather_arrays_and_vectors(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    let pair = [2, 1].map(|millis| kit.within(&outer, millis));
    at(gather(pair)).await?.into_iter().for_each(Item::deliver);
    let nested = gather_all((1..3).map(|millis| gather([kit.within(&outer, millis), kit.within(&outer, 3)])));
    at(nested).await?.into_iter().flatten().for_each(Item::deliver);
    at(gather(vec![kit.worker(1), kit.worker(2)])).await?.into_iter().for_each(Item::deliver);
    Ok(())
}

async fn gathers_that_fail(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    let results = at(gather_all([kit.fail(4), kit.fail(1)]).return_errors()).await;
    assert!(results.iter().all(Result::is_err));
    drop(at(gather((kit.within(&outer, 9).finally(kit.tidy()), kit.fail(2)))).await);
    let absorbing = async {
        match catch_cancel(kit.within(&outer, 5)).await {
            Ok(item) => item,
            Err(token) => {
                at(kit.tidy()).await;
                token.uncancel();
                kit.within(&outer, 1).await
            }
        }
    };
    drop(at(gather((absorbing, kit.fail(2)))).await);
    Ok(())
}

async fn gathers_of_tasks(kit: Kit) -> Result<(), BoxError> {
    drop(at(gather(vec![kit.worker(3), kit.worker(1)]).leave_running()).await);
    drop(at(gather([kit.worker(9), spawn(kit.fail(1))])).await);
    drop(at(gather([kit.worker(9), spawn(kit.fail(1))]).leave_running()).await);
    drop(at(gather((kit.worker(2), spawn(kit.fail(1)))).return_errors()).await);
    Ok(())
}

async fn waits(kit: Kit) -> Result<(), BoxError> {
    let (done, pending) = at(wait(vec![kit.worker(5), kit.worker(2)]).first_completed()).await;
    for task in done {
        deliver(at(task).await);
    }
    drop(at(wait(pending).timeout(ms(1))).await);
    let failing = vec![kit.worker(4), spawn(kit.fail(1))];
    let (done, pending) = at(wait(failing).first_exception()).await;
    drop((done, at(wait(pending).all_completed()).await));
    Ok(())
}

async fn waits_by_reference(kit: Kit) -> Result<(), BoxError> {
    let mut tasks = [kit.worker(3), kit.worker(1)];
    drop(at(timeout(ms(2), wait(&mut tasks[..]))).await);
    at(wait(&mut tasks[..])).await;
    for task in tasks {
        deliver(at(task).await);
    }
    Ok(())
}

async fn completion_streams(kit: Kit) -> Result<(), BoxError> {
    let mut stream = as_completed(vec![kit.worker(3), kit.worker(1)]);
    while let Some(task) = at(stream.next()).await {
        deliver(at(task).await);
    }
    let mut tasks = [kit.worker(3), kit.worker(1)];
    let mut stream = as_completed(&mut tasks[..]);
    drop(at(timeout(ms(2), stream.next())).await);
    drop(stream);
    let [first, second] = tasks;
    drop(at(first).await);
    drop(second);
    Ok(())
}

async fn races(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    deliver(at(race((kit.within(&outer, 3).finally(kit.tidy()), kit.within(&outer, 1)))).await);
    drop(at(race(vec![kit.worker(4), kit.worker(2)])).await);
    drop(at(race([kit.fail(2), kit.fail(1)])).await);
    Ok(())
}

async fn first_successes(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    drop(at(first_success([kit.fail(1), kit.fail(3)])).await);
    let mixed = (kit.fail(1), kit.within(&outer, 2), kit.within(&outer, 5).on_cancel(kit.tidy()));
    deliver(at(first_success(mixed)).await);
    deliver(at(first_success([spawn(kit.fail(1)), kit.worker(2), kit.worker(9)])).await);
    Ok(())
}

async fn timeouts(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    if let Ok(item) = at(timeout(ms(5), kit.within(&outer, 2))).await {
        deliver(item);
    }
    drop(at(timeout(ms(3), kit.within(&outer, 9))).await);
    drop(at(timeout_at(Instant::now() + ms(2), kit.within(&outer, 9).finally(kit.tidy()))).await);
    drop(at(wait_for(kit.worker(9), ms(4))).await);
    drop(at(move_on_after(ms(2), timeout(ms(2), kit.within(&outer, 7)))).await);
    drop(at(timeout(ms(2), kit.within(&outer, 9).finally(at(sleep(ms(30))))).grace(ms(3))).await);
    Ok(())
}

async fn timeouts_that_move(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    let moved = Timeout::scope(ms(2), async |timeout: Timeout| {
        timeout.reschedule(Instant::now() + ms(6))?;
        let item = at(kit.within(&outer, 4)).await;
        timeout.reschedule(Instant::now() + ms(1))?;
        at(sleep(ms(3))).await;
        item
    });
    if let Ok(item) = at(moved).await {
        deliver(item);
    }
    Ok(())
}

async fn retries(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    let mut calls = 0;
    let backoff = Backoff::new(ms(2)).attempts(4);
    let attempts = retry(backoff, || {
        calls += 1;
        let (last, fail, work) = (calls == 3, kit.fail(1), kit.within(&outer, 1));
        async move { if last { work.await } else { fail.await } }
    });
    deliver(at(attempts).await);
    let hopeless = retry_if(Backoff::new(ms(1)).attempts(4), || kit.fail(1), |_| false);
    drop(at(hopeless).await);
    Ok(())
}

async fn maps(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    for unordered in [false, true] {
        let map = amap_iter([3, 1, 2, 1], |millis| kit.work(millis)).limit(2).rate(3, ms(2)).read_ahead(3);
        let map = if unordered { map.unordered() } else { map };
        let map = map.scope(async |mut results| {
            while let Some(item) = at(results.next()).await {
                let _inner = outer.below();
                at(yield_now()).await;
                item.deliver();
            }
            Ok(())
        });
        drop(at(map).await);
    }
    Ok(())
}

async fn maps_that_are_left(kit: Kit) -> Result<(), BoxError> {
    let map = amap_iter(0..9, |n| kit.work(1 + n % 3).on_cancel(kit.tidy())).limit(3);
    let map = map.scope(async |mut results| {
        if let Some(item) = at(results.next()).await {
            item.deliver();
        }
        drop(at(timeout(ms(1), results.next())).await);
        drop(results);
        at(sleep(ms(1))).await;
        Ok(())
    });
    drop(at(map).await);
    let dropped = amap_iter(0..9, |n| kit.work(n).on_cancel(kit.tidy())).grace(ms(1)).collect();
    drop(at(timeout(ms(3), dropped)).await);
    Ok(())
}

async fn maps_that_fail(kit: Kit) -> Result<(), BoxError> {
    let map = amap_iter(0..6, |n| {
        let (work, fail) = (kit.work(n).on_cancel(kit.tidy()), kit.fail(2));
        async move { if n == 3 { fail.await } else { work.await } }
    });
    drop(at(map.limit(3).collect()).await);
    let clumsy = amap_iter(0..3, |n| {
        if n == 2 {
            // Without the hook, which would tell of it in every run.
            resume_unwind(Box::new("the map cannot call this"));
        }
        kit.work(n)
    });
    drop(at(clumsy.collect()).await);
    Ok(())
}
