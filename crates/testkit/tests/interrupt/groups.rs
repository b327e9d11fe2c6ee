//! Groups: children, limits, services, starts, policies, keys, supervisors.

use std::cell::RefCell;

use brigade_combinators::{Backoff, Closed, GroupError, Ready, Restart, Supervisor, TaskGroup, timeout};
use brigade_core::*;
use brigade_testkit::Item;

use crate::kit::{Kit, at, deliver, ms, table};

table! {
    children, children_of_children, a_failing_child, a_failing_body, groups_that_are_cancelled,
    groups_that_are_finished, limits, services, starts, policies, nested_groups, groups_with_a_grace, keys,
    supervisors, groups_that_are_dropped, local_children,
}

thread_local! {
    static OPENED: RefCell<Vec<TaskGroup<BoxError>>> = const { RefCell::new(Vec::new()) };
}

/// Remembers a group: after the run it must have ended.
fn note(group: &TaskGroup<BoxError>) {
    OPENED.with_borrow_mut(|opened| opened.push(group.clone()));
}

/// How many of the groups of a run have not ended.
pub(crate) fn still_open() -> usize {
    OPENED.take().iter().filter(|group| group.is_open() || !group.is_empty()).count()
}

type Outcome<T> = Result<T, GroupError<BoxError>>;

async fn children(kit: Kit) -> Result<(), BoxError> {
    let outer = kit.guard();
    let group: Outcome<()> = TaskGroup::scope(async |group: TaskGroup<BoxError>| {
        note(&group);
        let (first, second) = (group.spawn(kit.work(2)), group.spawn_named("second", kit.work(4)));
        deliver(at(kit.within(&outer, 3)).await);
        deliver(at(first).await);
        deliver(at(second).await);
        drop(group.spawn(kit.work(3)));
        Ok(())
    })
    .await;
    drop(group);
    at(yield_now()).await;
    Ok(())
}

async fn children_of_children(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::scope(async |group| {
        note(&group);
        let (deeper, work, last) = (group.clone(), kit.work(1), kit.work(4));
        group.spawn(async move {
            drop(deeper.spawn(work));
            at(yield_now()).await;
            let deepest = deeper.clone();
            drop(deeper.spawn(async move {
                at(sleep(ms(1))).await;
                drop(deepest.try_spawn(last).map_err(Closed::into_future));
            }));
        });
        Ok(())
    });
    drop(at(group).await);
    Ok(())
}

async fn a_failing_child(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::scope(async |group| {
        note(&group);
        drop(group.spawn(kit.work(9).finally(kit.tidy())));
        drop(group.spawn(kit.fail(3)));
        drop(group.spawn(shield(kit.work(5))));
        at(sleep(ms(20))).await;
        Ok(())
    });
    drop(at(group).await);
    Ok(())
}

async fn a_failing_body(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::scope(async |group| {
        note(&group);
        drop(group.spawn(kit.work(9).on_cancel(kit.tidy())));
        drop(group.spawn(kit.work(1)));
        at(kit.fail(3)).await.map(Item::deliver)
    });
    drop(at(group).await);
    Ok(())
}

async fn groups_that_are_cancelled(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::scope(async |group| {
        note(&group);
        drop(group.spawn(kit.work(9).on_cancel(kit.tidy())));
        at(yield_now()).await;
        group.cancel();
        drop(group.spawn(kit.work(1)));
        let caught = catch_cancel(at(sleep(ms(5)))).await;
        if let Err(token) = caught {
            at(kit.tidy()).await;
            token.uncancel();
        }
        Ok(())
    });
    drop(at(group).await);
    Ok(())
}

async fn groups_that_are_finished(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::scope(async |group| {
        note(&group);
        for millis in [3, 1, 2] {
            let (finder, work) = (group.clone(), kit.work(millis));
            drop(group.spawn(async move {
                finder.finish(work.await?);
                Ok(())
            }));
        }
        at(kit.work(60)).await
    });
    deliver(at(group).await);
    Ok(())
}

async fn limits(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::builder().limit(2).scope(async |group| {
        note(&group);
        for millis in [3, 1, 2] {
            drop(group.spawn(kit.work(millis)));
        }
        drop(group.try_spawn(kit.work(1)));
        let ready = at(group.spawn_ready(kit.work(1))).await;
        if let Ok(child) = ready {
            deliver(at(child).await);
        }
        // One that leaves the queue before its turn.
        drop(at(timeout(ms(1), group.spawn_ready(kit.work(1)))).await);
        let queued = group.spawn(kit.work(2));
        queued.cancel();
        drop(at(queued).await);
        Ok(())
    });
    drop(at(group).await);
    Ok(())
}

async fn services(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::scope(async |group| {
        note(&group);
        for _ in 0..2 {
            let (tidy, guard) = (kit.tidy(), kit.guard());
            let service = async move {
                let _guard = guard;
                loop {
                    at(sleep(ms(1))).await;
                }
            };
            drop(group.spawn_service(service.on_cancel(tidy).on_cancel(kit.tidy())));
        }
        deliver(at(group.spawn(kit.work(2))).await);
        drop(group.spawn(kit.work(3)));
        Ok(())
    });
    drop(at(group).await);
    Ok(())
}

async fn starts(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::scope(async |group| {
        note(&group);
        let (before, after) = (kit.work(2), kit.work(3));
        let started = group.start(async move |ready: Ready<Item>| {
            ready.ready(before.await?);
            after.await
        });
        if let Ok(item) = at(started).await {
            item.deliver();
        }
        let (never, work) = (kit.fail(2), kit.work(1));
        let failed = group.start(async move |ready: Ready<u32>| {
            deliver(work.await);
            drop(ready);
            never.await
        });
        drop(at(timeout(ms(9), failed)).await);
        Ok(())
    });
    drop(at(group).await);
    Ok(())
}

async fn policies(kit: Kit) -> Result<(), BoxError> {
    let supervised = TaskGroup::<BoxError>::builder().supervise().scope(async |group| {
        note(&group);
        drop(group.spawn(kit.fail(1)));
        deliver(at(group.spawn(kit.work(3))).await);
        Ok(())
    });
    drop(at(supervised).await);
    let first = TaskGroup::<BoxError>::builder().first_success().scope(async |group| {
        note(&group);
        drop(group.spawn(kit.fail(1)));
        drop(group.spawn(kit.work(2)));
        drop(group.spawn(kit.work(9).on_cancel(kit.tidy())));
        Ok(())
    });
    drop(at(first).await);
    Ok(())
}

async fn nested_groups(kit: Kit) -> Result<(), BoxError> {
    let outer = TaskGroup::<BoxError>::scope(async |outer| {
        note(&outer);
        let (work, tidy) = (kit.work(8), kit.tidy());
        drop(outer.spawn(async move {
            let inner = TaskGroup::<BoxError>::scope(async move |inner| {
                note(&inner);
                drop(inner.spawn(work.on_cancel(tidy)));
                timeout(ms(4), at(sleep(ms(30)))).await.ok();
                Ok(())
            });
            inner.await.map_err(BoxError::from)
        }));
        drop(at(timeout(ms(6), outer.spawn(kit.work(50)))).await);
        let protected = TaskGroup::<BoxError>::scope(async |inner| {
            note(&inner);
            deliver(at(inner.spawn(kit.work(2))).await);
            Ok(())
        });
        drop(at(shield(protected)).await);
        Ok(())
    });
    drop(at(outer).await);
    Ok(())
}

async fn groups_with_a_grace(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::builder().grace(ms(2)).scope(async |group| {
        note(&group);
        drop(group.spawn(kit.work(9).finally(at(sleep(ms(60))))));
        drop(group.spawn(shield(kit.work(30))));
        drop(group.spawn(kit.fail(1)));
        let caught = catch_cancel(at(sleep(ms(9)))).await;
        if caught.is_err() {
            at(sleep(ms(50))).await;
        }
        Ok(())
    });
    drop(at(group).await);
    Ok(())
}

async fn keys(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::scope(async |group| {
        note(&group);
        let places = group.keyed();
        drop(places.replace("a", kit.work(9).on_cancel(kit.tidy())));
        at(yield_now()).await;
        let newer = places.replace("a", kit.work(2));
        let same = places.get_or_spawn("a", kit.work(5));
        deliver(at(newer).await);
        at(same.to_ref().finished()).await;
        Ok(())
    });
    drop(at(group).await);
    Ok(())
}

async fn supervisors(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::scope(async |group| {
        note(&group);
        let (first, second) = (kit.clone(), kit.clone());
        let supervisor = Supervisor::one_for_all()
            .budget(2, ms(50))
            .backoff(Backoff::new(ms(1)))
            .child("a", Restart::Permanent, move || {
                let (work, tidy) = (first.work(9), first.tidy());
                async move { work.on_cancel(tidy).await.map(Item::deliver) }
            })
            .child("b", Restart::Transient, move || {
                let fail = second.fail(4);
                async move { fail.await.map(Item::deliver) }
            });
        drop(group.spawn(supervisor.run()));
        at(sleep(ms(12))).await;
        Ok(())
    });
    drop(at(timeout(ms(90), group)).await);
    Ok(())
}

/// By a time-out that nobody handles, and by a branch that panics or is dropped (law C16).
async fn groups_that_are_dropped(kit: Kit) -> Result<(), BoxError> {
    let group = |millis| {
        let kit = kit.clone();
        TaskGroup::<BoxError>::scope(async move |group| {
            note(&group);
            drop(group.spawn(kit.work(millis).on_cancel(kit.tidy())));
            at(sleep(ms(millis))).await;
            Ok(())
        })
    };
    drop(at(timeout(ms(2), group(9))).await);
    let mut half_way = Box::pin(group(5));
    drop(at(timeout(ms(1), half_way.as_mut())).await);
    drop(half_way);
    at(sleep(ms(1))).await;
    Ok(())
}

async fn local_children(kit: Kit) -> Result<(), BoxError> {
    let group = TaskGroup::<BoxError>::scope(async |group| {
        note(&group);
        deliver(at(group.spawn_local(kit.work(2))).await);
        drop(group.child().name("last").spawn_local(kit.work(3)));
        Ok(())
    });
    drop(at(group).await);
    Ok(())
}
