//! Groups: who is cancelled when, who is waited for, and what the scope returns (laws G1–G7, G10).

#[path = "kit/ms.rs"]
mod ms;

use std::sync::{Arc, Mutex};

use brigade_combinators::{GroupError, InGroup, TaskGroup, timeout};
use brigade_core::{
    BoxError, CancelKind, Handle, TaskError, catch_cancel, current_task, shield, sleep, spawn, yield_now,
};
use brigade_testkit::{Gate, Probe, simulate};
use ms::{ms, now};

type Log = Arc<Mutex<Vec<String>>>;

/// Says when and that it is dropped.
struct Guard(Log, &'static str);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.lock().expect("no test panics with it").push(format!("{} dropped", self.1));
    }
}

async fn fails(after: u64) -> Result<(), BoxError> {
    sleep(ms(after)).await;
    Err(format!("failed at {after}").into())
}

async fn works(after: u64) -> Result<u64, BoxError> {
    sleep(ms(after)).await;
    Ok(after)
}

fn names(errors: &GroupError<BoxError>) -> Vec<String> {
    errors.iter().map(|child| child.error().to_string()).collect()
}

#[test]
fn law_g1_the_body_gets_values_and_the_group_waits_for_children_nobody_awaits() {
    simulate(async {
        let factor = 2;
        let value = TaskGroup::<BoxError>::scope(async |group| {
            let awaited = group.spawn(works(10));
            group.spawn(works(50));
            Ok(awaited.await? * factor)
        });
        assert_eq!(value.await.unwrap(), 20);
        assert_eq!(now(), 50);
    })
    .unwrap();
}

#[test]
fn law_g1_a_childs_own_error_adds_no_second_entry_bare_or_boxed() {
    simulate(async {
        let boxed = TaskGroup::<BoxError>::scope(async |group| {
            let child = group.spawn(fails(0));
            // The group's request is delivered at a suspension; the outcome is there first.
            child.finished().await;
            child.await?;
            Ok(())
        });
        assert_eq!(names(&boxed.await.unwrap_err()), ["failed at 0"]);

        let bare = TaskGroup::<TaskError<InGroup>>::scope(async |group| {
            let outer = group.clone();
            let child = group.spawn(async move {
                let grandchild = outer.spawn(async { panic!("burnt") as Result<(), TaskError<InGroup>> });
                grandchild.await
            });
            child.await
        });
        let errors = bare.await.unwrap_err();
        assert_eq!(errors.len(), 2, "the panic, and the child that handed it on: {errors}");
        assert!(errors.iter().all(|child| !child.is_body()), "{errors}");
    })
    .unwrap();
}

#[test]
fn law_g1_an_error_of_an_outer_groups_child_is_an_error_of_the_inner_body() {
    simulate(async {
        let errors = TaskGroup::<BoxError>::scope(async |outer| {
            let child = outer.spawn(async { Err::<(), BoxError>("outer child".into()) });
            let inner = TaskGroup::<BoxError>::scope(async |_inner| {
                shield(child.finished()).await;
                child.await?;
                Ok(())
            });
            shield(inner).await?;
            Ok(())
        });
        let errors = errors.await.unwrap_err();
        assert_eq!(errors.len(), 2, "{errors}");
        assert!(errors.iter().last().unwrap().is_body());
    })
    .unwrap();
}

#[test]
fn law_g2_the_first_failure_cancels_the_others_and_the_body_once() {
    let log = Log::default();
    let guards = log.clone();
    simulate(async move {
        let outcome = TaskGroup::<BoxError>::scope(async |group| {
            let _body = Guard(guards.clone(), "body");
            let guard = Guard(guards.clone(), "sibling");
            group.spawn(async move {
                let _guard = guard;
                let caught = catch_cancel(sleep(ms(1000))).await;
                let Err(cancelled) = caught else { return Ok(()) };
                assert_eq!(cancelled.reason().kind(), CancelKind::SiblingFailed);
                sleep(ms(5)).await;
                cancelled.resume().await
            });
            group.spawn(fails(10));
            group.spawn(fails(10));
            sleep(ms(1000)).await;
            Ok(())
        });
        assert_eq!(names(&outcome.await.unwrap_err()), ["failed at 10", "failed at 10"]);
        assert_eq!(now(), 15);
    })
    .unwrap();
    assert_eq!(*log.lock().unwrap(), ["body dropped", "sibling dropped"]);
}

#[test]
fn law_g2_a_child_that_is_cancelled_alone_is_no_failure() {
    simulate(async {
        let value = TaskGroup::<BoxError>::scope(async |group| {
            let lazy = group.spawn(works(1000));
            group.spawn(works(30));
            sleep(ms(1)).await;
            lazy.cancel();
            assert!(lazy.await.unwrap_err().is_cancelled());
            Ok("fine")
        });
        assert_eq!(value.await.unwrap(), "fine");
        assert_eq!(now(), 30);
    })
    .unwrap();
}

#[test]
fn law_g3_errors_in_completion_order_the_bodys_last_panics_with_payload() {
    simulate(async {
        let outcome = TaskGroup::<BoxError>::scope(async |group| {
            group.spawn_named("second", async {
                let Err(_cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
                Err("while cancelled".into())
            });
            group.spawn_named("first", async {
                sleep(ms(5)).await;
                std::panic::panic_any(7_u8)
            });
            let Err(_cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
            Err("body".into())
        });
        let errors = outcome.await.unwrap_err();
        let told: Vec<_> = errors.iter().map(|child| (child.name().to_owned(), child.is_body())).collect();
        let expected = [("first", false), ("second", false), ("main", true)];
        assert_eq!(told, expected.map(|(name, is_body)| (name.to_owned(), is_body)));
        let first = errors.into_first().unwrap();
        assert!(first.location().file().ends_with("groups.rs"));
        let TaskError::Panicked(panic) = first.into_error() else { panic!("a panic is an entry") };
        assert_eq!(*panic.take_payload().unwrap().downcast::<u8>().unwrap(), 7);
    })
    .unwrap();
}

#[test]
fn law_g3_a_panic_of_the_body_and_of_its_destructors_is_an_entry() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("bomb");
        }
    }
    simulate(async {
        let body = TaskGroup::<BoxError>::scope(async |group| {
            group.spawn(works(1000));
            yield_now().await;
            panic!("body")
        });
        let errors = body.await.map(drop).unwrap_err();
        assert_eq!(names(&errors), ["task `main` panicked: body"]);

        let dropped = TaskGroup::<BoxError>::scope(async |group| {
            let _bomb = Bomb;
            group.spawn(fails(1));
            sleep(ms(1000)).await;
            Ok(())
        });
        let errors = dropped.await.unwrap_err();
        assert_eq!(names(&errors), ["failed at 1", "task `main` panicked: bomb"]);
    })
    .unwrap();
}

#[test]
fn law_g4_children_are_spawned_while_the_group_waits_at_its_end() {
    simulate(async {
        let value = TaskGroup::<BoxError>::scope(async |group| {
            let deeper = group.clone();
            group.spawn(async move {
                sleep(ms(10)).await;
                deeper.spawn(works(10));
                Ok(())
            });
            Ok("body")
        });
        assert_eq!((value.await.unwrap(), now()), ("body", 20));
    })
    .unwrap();
}

#[test]
fn law_g4_a_closed_group_gives_a_cancelled_task_and_warns_once() {
    let warnings = Log::default();
    let log = warnings.clone();
    simulate(async move {
        Handle::current()
            .set_warning_hook(move |warning| log.lock().unwrap().push(warning.message().to_owned()));
        let mut kept = None;
        TaskGroup::<BoxError>::scope(async |group| {
            kept = Some(group.clone());
            Ok(())
        })
        .await
        .unwrap();
        let group = kept.unwrap();
        let probe = Probe::new();
        let item = probe.item();
        let late = async move {
            item.deliver();
            Ok(())
        };
        let closed = group.try_spawn(late).unwrap_err();
        let task = group.spawn_named("late", closed.into_future());
        assert!(task.done() && task.cancelled());
        assert_eq!((probe.delivered(), probe.dropped()), (0, 1), "it is dropped unpolled");
        let TaskError::Cancelled(reason) = task.await.unwrap_err() else { panic!("it is cancelled") };
        assert_eq!(reason.kind(), CancelKind::GroupClosed);
    })
    .unwrap();
    let warnings = warnings.lock().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("`late`") && warnings[0].contains("groups.rs"), "{warnings:?}");
}

#[test]
fn law_g5_a_handler_in_the_body_absorbs_and_the_children_go_on() {
    simulate(async {
        let task = spawn(async {
            let value = TaskGroup::<BoxError>::scope(async |group| {
                let child = group.spawn(works(100));
                if let Err(cancelled) = catch_cancel(sleep(ms(50))).await {
                    cancelled.uncancel();
                }
                Ok(child.await?)
            });
            Ok::<_, BoxError>(value.await?)
        });
        sleep(ms(10)).await;
        task.cancel();
        assert_eq!(task.await.unwrap(), 100);
        assert_eq!(now(), 100);
    })
    .unwrap();
}

#[test]
fn law_g5_children_are_cancelled_when_the_unwinding_reaches_the_group() {
    let log = Log::default();
    let guards = log.clone();
    simulate(async move {
        let task = spawn(async move {
            TaskGroup::<BoxError>::scope(async |group| {
                let guard = Guard(guards.clone(), "child");
                group.spawn(async move {
                    let _guard = guard;
                    let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
                    assert_eq!(cancelled.reason().kind(), CancelKind::ParentCancelled);
                    sleep(ms(20)).await;
                    cancelled.resume().await
                });
                let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
                sleep(ms(5)).await;
                guards.lock().unwrap().push("handler over".to_owned());
                cancelled.resume().await
            })
            .await?;
            Ok::<_, BoxError>(())
        });
        sleep(ms(10)).await;
        task.cancel();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(now(), 35, "handler 5, then the child's 20");
    })
    .unwrap();
    assert_eq!(*log.lock().unwrap(), ["handler over", "child dropped"]);
}

#[test]
fn law_g5_errors_come_first_and_the_request_goes_back() {
    simulate(async {
        let task = spawn(async {
            let outcome = TaskGroup::<BoxError>::scope(async |group| {
                group.spawn(async {
                    let Err(_cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
                    Err("cleanup failed".into())
                });
                Ok(())
            });
            let errors = outcome.await.unwrap_err();
            assert_eq!(names(&errors), ["cleanup failed"]);
            assert_eq!(current_task().unwrap().cancelling(), 1);
            sleep(ms(1000)).await;
            Ok::<_, BoxError>(())
        });
        sleep(ms(10)).await;
        task.cancel();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(now(), 10, "it is delivered again at once");
    })
    .unwrap();
}

#[test]
fn law_g5_a_second_request_reaches_no_child() {
    simulate(async {
        let task = spawn(async {
            TaskGroup::<BoxError>::scope(async |group| {
                group.spawn(async {
                    let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
                    sleep(ms(100)).await;
                    cancelled.resume().await
                });
                Ok(())
            })
            .await?;
            Ok::<_, BoxError>(())
        });
        for at in [10, 20, 30] {
            sleep(ms(at - now())).await;
            task.cancel();
        }
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(now(), 110);
    })
    .unwrap();
}

#[test]
fn law_g6_cancel_ends_the_group_without_failure() {
    simulate(async {
        let ended = TaskGroup::<BoxError>::scope(async |group| {
            let inside = group.clone();
            group.spawn(async move {
                sleep(ms(10)).await;
                inside.cancel();
                Ok(())
            });
            group.spawn(works(1000));
            Ok("body had ended")
        });
        assert_eq!((ended.await.unwrap(), now()), ("body had ended", 10));

        let cut = TaskGroup::<BoxError>::scope(async |group| {
            group.cancel();
            assert!(!group.is_open());
            sleep(ms(1000)).await;
            Ok(())
        });
        let errors = cut.await.unwrap_err();
        assert!(errors.is_cancelled() && errors.is_empty());
        assert!(errors.to_string().ends_with("was cancelled"), "{errors}");

        let absorbed = TaskGroup::<BoxError>::scope(async |group| {
            group.cancel();
            let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok("no") };
            cancelled.uncancel();
            sleep(ms(5)).await;
            Ok("absorbed")
        });
        assert_eq!((absorbed.await.unwrap(), now()), ("absorbed", 15));

        let failed = TaskGroup::<BoxError>::scope(async |group| {
            group.spawn(async {
                let Err(_cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
                Err("real".into())
            });
            yield_now().await;
            group.cancel();
            Ok(())
        });
        let errors = failed.await.unwrap_err();
        assert_eq!((names(&errors), errors.is_cancelled()), (vec!["real".to_owned()], false));
    })
    .unwrap();
}

#[test]
fn law_g6_finish_gives_the_value_the_first_one_counts() {
    simulate(async {
        let found = TaskGroup::<BoxError>::scope(async |group| {
            for after in [20, 10] {
                let finder = group.clone();
                group.spawn(async move {
                    let _ = catch_cancel(sleep(ms(after))).await;
                    finder.finish(after);
                    Ok(())
                });
            }
            sleep(ms(1000)).await;
            Ok(0)
        });
        assert_eq!((found.await.unwrap(), now()), (10_u64, 10));

        let body_first = TaskGroup::<BoxError>::scope(async |group| {
            let late = group.clone();
            group.spawn(async move {
                sleep(ms(5)).await;
                late.finish(2);
                Ok(())
            });
            Ok(1)
        });
        assert_eq!(body_first.await.unwrap(), 1);
    })
    .unwrap();
}

#[test]
#[should_panic(expected = "was given a `i32`, but the scope returns a `()`")]
fn law_g6_finish_with_a_value_of_another_type_panics() {
    let outcome = simulate(async {
        TaskGroup::<BoxError>::scope(async |group| {
            group.finish(7);
            Ok(())
        })
        .await
    });
    panic!("{}", outcome.unwrap_err());
}

#[test]
fn law_g6_a_foreign_request_still_unwinds() {
    simulate(async {
        let task = spawn(async {
            let outcome = TaskGroup::<BoxError>::scope(async |group| {
                group.spawn(async {
                    let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
                    sleep(ms(50)).await;
                    cancelled.resume().await
                });
                yield_now().await;
                group.cancel();
                Ok(())
            });
            outcome.await?;
            Ok::<_, BoxError>(())
        });
        sleep(ms(10)).await;
        task.cancel();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(now(), 50);
    })
    .unwrap();
}

#[test]
fn law_g6_a_timeout_around_a_cancelled_group_still_expires() {
    simulate(async {
        let group = TaskGroup::<BoxError>::scope(async |group| {
            group.spawn(async {
                let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
                sleep(ms(50)).await;
                cancelled.resume().await
            });
            yield_now().await;
            group.cancel();
            Ok(())
        });
        assert!(timeout(ms(10), group).await.is_err());
        assert_eq!(now(), 50);
    })
    .unwrap();
}

#[test]
fn law_g7_a_group_is_as_small_as_on_its_first_day() {
    simulate(async {
        TaskGroup::<BoxError>::scope(async |group| {
            for _ in 0..1000 {
                group.spawn(async { Ok(()) }).await?;
                assert_eq!(group.len(), 0);
            }
            Ok(())
        })
        .await
        .unwrap();
    })
    .unwrap();
}

#[test]
fn law_g10_a_dropped_group_cancels_its_children_and_reports_its_errors() {
    let reports = Log::default();
    let log = reports.clone();
    simulate(async move {
        Handle::current().set_unobserved_hook(move |report| {
            log.lock().unwrap().push(format!("{}: {}", report.task_name(), report.message()));
        });
        let (caught, over) = (Gate::new(), Gate::new());
        let (inside, end) = (caught.clone(), over.clone());
        let mut group = Box::pin(TaskGroup::<BoxError>::scope(async move |group| {
            group.spawn_named("child", async move {
                let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(()) };
                inside.open();
                sleep(ms(10)).await;
                end.open();
                drop(cancelled);
                Err("too late".into())
            });
            sleep(ms(1000)).await;
            Ok(())
        }));
        let waker = std::task::Waker::noop();
        let poll = group.as_mut().poll(&mut std::task::Context::from_waker(waker));
        assert!(poll.is_pending());
        yield_now().await;
        drop(group);
        caught.wait().await;
        over.wait().await;
        yield_now().await;
        assert_eq!(now(), 10);
    })
    .unwrap();
    assert_eq!(*reports.lock().unwrap(), ["child: \"too late\""]);
}
