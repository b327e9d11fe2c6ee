//! Two-phase cancel: after the grace of a timeout or a group, what is left is aborted and named (law C13).

#[path = "kit/ms.rs"]
mod ms;

use std::sync::{Arc, Mutex};

use brigade_combinators::{InGroup, TaskGroup, Timeout, move_on_after, timeout};
use brigade_core::{BoxError, CancelKind, Handle, Task, TaskError, catch_cancel, sleep, spawn};
use brigade_testkit::simulate;
use ms::{ms, now};

/// Needs `cleanup` milliseconds when it is cancelled.
async fn slow_to_end(cleanup: u64) -> Result<(), BoxError> {
    let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
    sleep(ms(cleanup)).await;
    cancelled.resume().await
}

fn collect_warnings() -> Arc<Mutex<Vec<String>>> {
    let warnings = Arc::<Mutex<Vec<String>>>::default();
    let log = warnings.clone();
    Handle::current().set_warning_hook(move |warning| {
        log.lock().expect("nobody panics with it").push(warning.message().to_owned());
    });
    warnings
}

#[test]
fn law_c13_a_timeout_aborts_what_does_not_end_within_its_grace() {
    simulate(async {
        let warnings = collect_warnings();
        assert!(timeout(ms(10), slow_to_end(5)).grace(ms(20)).await.is_err());
        assert_eq!((now(), warnings.lock().unwrap().len()), (15, 0), "it ended in time");
        assert!(timeout(ms(10), slow_to_end(500)).grace(ms(20)).await.is_err());
        assert_eq!(now(), 45);
        assert!(warnings.lock().unwrap()[0].contains("grace of 20ms"));
        assert!(move_on_after(ms(10), slow_to_end(500)).grace(ms(5)).await.is_none());
        let scope = Timeout::scope(ms(10), async |_timeout| slow_to_end(500).await);
        assert!(scope.grace(ms(5)).await.is_err());
        assert_eq!(now(), 75);
    })
    .unwrap();
}

#[test]
fn law_c13_tasks_that_are_awaited_inside_are_aborted_and_named() {
    simulate(async {
        let warnings = collect_warnings();
        let task = spawn(slow_to_end(500));
        task.set_name("stubborn");
        let watch = task.to_ref();
        assert!(timeout(ms(10), task).grace(ms(20)).await.is_err());
        watch.finished().await;
        assert!(watch.cancelled() && now() == 30);
        assert!(warnings.lock().unwrap().iter().any(|warning| warning.contains("`stubborn`")));
    })
    .unwrap();
}

#[test]
fn law_c13_an_external_request_gets_the_grace_of_the_timeout_too_and_unwinds() {
    simulate(async {
        let task = spawn(async {
            timeout(ms(900), slow_to_end(500)).grace(ms(20)).await??;
            Ok::<_, BoxError>(())
        });
        sleep(ms(10)).await;
        task.cancel();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(now(), 30);
    })
    .unwrap();
}

#[test]
fn law_c13_one_that_was_absorbed_gives_the_grace_back() {
    simulate(async {
        let absorbed = timeout(ms(10), async {
            let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return };
            sleep(ms(15)).await;
            cancelled.uncancel();
            sleep(ms(100)).await;
        });
        assert_eq!(absorbed.grace(ms(20)).await, Ok(()));
        assert_eq!(now(), 125);
    })
    .unwrap();
}

#[test]
fn law_c13_a_group_aborts_children_and_body_after_its_grace() {
    simulate(async {
        let warnings = collect_warnings();
        let mut child: Option<Task<(), InGroup>> = None;
        let outcome = TaskGroup::<BoxError>::builder().name("kitchen").grace(ms(20)).scope(async |group| {
            child = Some(group.spawn_named("stubborn", slow_to_end(500)));
            group.spawn_named("prompt", slow_to_end(5));
            let fails = group.clone();
            group.spawn(async move {
                sleep(ms(10)).await;
                drop(fails);
                Err::<(), BoxError>("burnt".into())
            });
            slow_to_end(500).await
        });
        let errors = outcome.await.unwrap_err();
        assert_eq!((errors.len(), now()), (1, 30));
        let TaskError::Cancelled(reason) = child.unwrap().await.unwrap_err() else {
            panic!("the child was aborted");
        };
        assert_eq!(reason.kind(), CancelKind::Aborted);
        let warnings = warnings.lock().unwrap();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("`stubborn`") && warnings[0].contains("`kitchen`"), "{warnings:?}");
    })
    .unwrap();
}

#[test]
fn law_c13_a_request_from_outside_unwinds_the_group_after_its_grace() {
    simulate(async {
        let task = spawn(async {
            let group = TaskGroup::<BoxError>::builder().grace(ms(20)).scope(async |group| {
                group.spawn(slow_to_end(500));
                Ok(())
            });
            group.await?;
            Ok::<_, BoxError>(())
        });
        sleep(ms(10)).await;
        task.cancel();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(now(), 30);
    })
    .unwrap();
}

#[test]
fn law_c13_a_group_inside_a_timeout_whose_grace_is_over_aborts_its_children() {
    simulate(async {
        let warnings = collect_warnings();
        let group = TaskGroup::<BoxError>::scope(async |group| {
            group.spawn_named("stubborn", slow_to_end(500));
            Ok(())
        });
        assert!(timeout(ms(10), group).grace(ms(20)).await.is_err());
        sleep(ms(1)).await;
        assert!(brigade_core::all_tasks().iter().all(|task| &*task.name() == "main"));
        assert!(warnings.lock().unwrap().iter().any(|warning| warning.contains("`stubborn`")));
    })
    .unwrap();
}
