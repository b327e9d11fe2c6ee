//! Every future of the library, cancelled and aborted at every await, alone and in pairs.

use std::time::Duration;

use brigade_combinators::*;
use brigade_core::*;
use brigade_testkit::scenario::{Scenario, disturb_everywhere};
use brigade_testkit::{Gate, Interrupted, Item, Probe, interrupt_everywhere};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A task that works a little and gives its item.
fn worker(probe: &Probe, millis: u64) -> Task<Item, BoxError> {
    let item = probe.item();
    spawn(work(item, millis))
}

async fn work(item: Item, millis: u64) -> Result<Item, BoxError> {
    yield_now().await;
    sleep(ms(millis)).await;
    Ok(item)
}

async fn fail(millis: u64) -> Result<Item, BoxError> {
    sleep(ms(millis)).await;
    Err("it fails".into())
}

/// Interrupts a program that gets a ledger, and sees that every item was delivered or dropped.
fn everywhere<F>(name: &str, program: impl Fn(Probe) -> F)
where
    F: Future<Output = Result<(), BoxError>> + 'static,
{
    let probe = Probe::new();
    let Interrupted { points, runs, met } = interrupt_everywhere(
        || {
            let ledger = probe.clone();
            let main = program(ledger.clone());
            async move {
                Handle::current().set_unobserved_hook(|_| {});
                drop(ledger);
                main.await
            }
        },
        || assert!(probe.is_balanced(), "{} items are lost", probe.alive()),
    );
    eprintln!("{name}: {points} points, {runs} runs, {met} interruptions met a task");
    assert!(met > points, "most interruptions meet a task");
}

#[test]
fn joins_watches_and_shared_handles() {
    everywhere("joins", |probe| async move {
        worker(&probe, 3).await?.deliver();
        let mut watched = worker(&probe, 2);
        watched.finished().await;
        (&mut watched).await?.deliver();
        let shared = spawn(async { Ok::<_, BoxError>(5) }).shared();
        let other = shared.clone();
        let waiter = spawn(async move { other.await.map_err(|_| "shared") });
        assert_eq!(shared.await.unwrap_or(5), 5);
        let _ = waiter.await;
        Ok(())
    });
}

#[test]
fn groups() {
    everywhere("groups", |probe| async move {
        let group = TaskGroup::<BoxError>::scope(async |group| {
            let (first, second) = (group.spawn(work(probe.item(), 2)), group.spawn(work(probe.item(), 4)));
            let deeper = group.clone();
            let item = probe.item();
            group.spawn(async move {
                deeper.spawn(work(item, 1));
                yield_now().await;
            });
            first.await?.deliver();
            second.await?.deliver();
            Ok(())
        });
        group.await?;
        Ok(())
    });
}

#[test]
fn groups_that_fail_and_groups_that_are_cancelled() {
    everywhere("failing groups", |probe| async move {
        let failing = TaskGroup::<BoxError>::scope(async |group| {
            group.spawn(work(probe.item(), 9).finally(sleep(ms(2))));
            group.spawn(fail(3));
            group.spawn(shield(work(probe.item(), 5)));
            sleep(ms(20)).await;
            Ok(())
        });
        drop(failing.await);
        let ended = TaskGroup::<BoxError>::scope(async |group| {
            group.spawn(work(probe.item(), 9).on_cancel(sleep(ms(1))));
            yield_now().await;
            group.cancel();
            Ok(())
        });
        drop(ended.await);
        Ok(())
    });
}

#[test]
fn nested_groups_and_timeouts() {
    everywhere("nested", |probe| async move {
        let outer = TaskGroup::<BoxError>::scope(async |outer| {
            let item = probe.item();
            outer.spawn(async move {
                let inner = TaskGroup::<BoxError>::scope(async move |inner| {
                    inner.spawn(work(item, 8));
                    timeout(ms(4), sleep(ms(30))).await.ok();
                    Ok(())
                });
                inner.await.map_err(BoxError::from)
            });
            let limited = timeout(ms(6), outer.spawn(work(probe.item(), 50))).await;
            drop(limited);
            Ok(())
        });
        drop(outer.await);
        Ok(())
    });
}

#[test]
fn timeouts() {
    everywhere("timeouts", |probe| async move {
        if let Ok(item) = timeout(ms(5), work(probe.item(), 2)).await {
            item?.deliver();
        }
        drop(timeout(ms(3), work(probe.item(), 9)).await);
        drop(wait_for(worker(&probe, 9), ms(4)).await);
        drop(move_on_after(ms(2), timeout(ms(2), work(probe.item(), 7))).await);
        let moved = Timeout::scope(ms(2), async |timeout: Timeout| {
            timeout.reschedule(Instant::now() + ms(6))?;
            work(probe.item(), 4).await
        });
        if let Ok(item) = moved.await {
            item?.deliver();
        }
        Ok(())
    });
}

#[test]
fn gathers() {
    everywhere("gather", |probe| async move {
        let (first, second) = gather((worker(&probe, 2), work(probe.item(), 3).as_branch())).await?;
        first.deliver();
        second.deliver();
        let results = gather_all([fail(4), fail(1)]).return_errors().await;
        assert!(results.iter().all(Result::is_err));
        drop(gather((work(probe.item(), 9).finally(sleep(ms(2))), fail(2))).await);
        drop(gather(vec![worker(&probe, 3), worker(&probe, 1)]).leave_running().await);
        Ok(())
    });
}

#[test]
fn waits_streams_and_races() {
    everywhere("wait", |probe| async move {
        let (done, pending) = wait(vec![worker(&probe, 5), worker(&probe, 2)]).first_completed().await;
        for task in done {
            task.await?.deliver();
        }
        drop(wait(pending).timeout(ms(1)).await);
        let mut stream = as_completed(vec![worker(&probe, 3), worker(&probe, 1)]);
        while let Some(task) = stream.next().await {
            task.await?.deliver();
        }
        race((work(probe.item(), 3), work(probe.item(), 1))).await?.deliver();
        drop(race(vec![worker(&probe, 4), worker(&probe, 2)]).await);
        drop(first_success([fail(1), fail(3)]).await);
        Ok(())
    });
}

#[test]
fn handlers_cleanups_and_brackets() {
    everywhere("cleanups", |probe| async move {
        let caught = catch_cancel(work(probe.item(), 2)).await;
        match caught {
            Ok(item) => item?.deliver(),
            Err(token) => {
                sleep(ms(2)).await;
                token.uncancel();
            }
        }
        work(probe.item(), 2).finally(sleep(ms(2))).await?.deliver();
        let bracketed = bracket(
            probe.item(),
            async |_: &mut Item| {
                sleep(ms(2)).await;
                Ok::<_, BoxError>(())
            },
            async |item: Item| {
                yield_now().await;
                item.deliver();
            },
        );
        bracketed.await?;
        shield(work(probe.item(), 3)).await?.deliver();
        Ok(())
    });
}

#[test]
fn intervals_gates_and_handles_that_cancel() {
    everywhere("others", |probe| async move {
        let mut pace = interval(ms(3));
        for _ in 0..3 {
            pace.tick().await;
        }
        let gate = Gate::new();
        let guarded = worker(&probe, 60).cancel_on_drop();
        let opener = spawn({
            let gate = gate.clone();
            async move { gate.open() }
        });
        let waited = timeout(ms(50), gate.wait()).await;
        drop((waited, guarded, opener));
        drop(worker(&probe, 5));
        Ok(())
    });
}

/// The tool can fail: a program that loses an item when it is cancelled is found.
#[test]
fn a_leak_is_found() {
    let probe = Probe::new();
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        interrupt_everywhere(
            || {
                let item = probe.item();
                async move {
                    let kept = std::mem::ManuallyDrop::new(item);
                    yield_now().await;
                    std::mem::ManuallyDrop::into_inner(kept).deliver();
                }
            },
            || assert!(probe.is_balanced(), "an item was lost"),
        )
    }));
    let panic = found.expect_err("the leak is found");
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.contains("an item was lost") && text.contains("after step"), "{text}");
}

/// Every program of the hand-written corpus, and a share of the random ones (all of them with `INTERRUPT=all`):
/// cancelled and aborted at every await, sampled pairs, a panic before every statement.
#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn the_corpus() {
    let share = if std::env::var("INTERRUPT").is_ok_and(|what| what == "all") { 1 } else { 40 };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/corpus/given");
    let (mut programs, mut points, mut statements, mut runs) = (0, 0, 0, 0);
    let mut findings = Vec::new();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for (file, share) in
        [("conformance.jsonl", share.min(4)), ("random-1.jsonl", share), ("random-2.jsonl", share)]
    {
        let text = std::fs::read_to_string(folder.join(file)).expect("the corpus is part of the crate");
        for line in text.lines().step_by(share) {
            let scenario = Scenario::parse(line).expect("a line of the corpus is a scenario");
            let disturbed = disturb_everywhere(&scenario, 20);
            programs += 1;
            points += disturbed.points;
            statements += disturbed.statements;
            runs += disturbed.runs;
            findings.extend(disturbed.findings);
        }
    }
    std::panic::set_hook(hook);
    println!("{programs} programs, {points} awaits, {statements} statements, {runs} runs");
    assert!(findings.is_empty(), "{} findings\n{}", findings.len(), findings.join("\n"));
}
