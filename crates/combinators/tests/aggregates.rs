//! gather, race, wait and as_completed: results, the first error, and requests from outside (laws A1–A5).

#[path = "kit/ms.rs"]
mod ms;

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use brigade_combinators::{
    BranchExt as _, as_completed, first_success, gather, gather_all, race, timeout, wait,
};
use brigade_core::{
    BoxError, CancelKind, Handle, Task, TaskError, catch_cancel, current_task, shield, sleep, spawn,
    yield_now,
};
use brigade_testkit::{Probe, simulate};
use ms::{ms, now};

async fn value(after: u64) -> Result<u64, BoxError> {
    sleep(ms(after)).await;
    Ok(after)
}

async fn error(after: u64) -> Result<u64, BoxError> {
    sleep(ms(after)).await;
    Err(after.to_string().into())
}

/// Works for a second; when it is cancelled it needs `cleanup` milliseconds.
async fn stubborn(cleanup: u64) -> Result<u64, BoxError> {
    let Err(cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(1000) };
    sleep(ms(cleanup)).await;
    cancelled.resume().await
}

/// Futures of different types side by side in a `Vec` or an array.
type Work = Pin<Box<dyn Future<Output = Result<u64, BoxError>> + Send>>;

fn work(future: impl Future<Output = Result<u64, BoxError>> + Send + 'static) -> Work {
    Box::pin(future)
}

type Reports = Arc<Mutex<Vec<String>>>;

fn collect_reports() -> Reports {
    let reports = Reports::default();
    let log = reports.clone();
    Handle::current().set_unobserved_hook(move |report| {
        log.lock().expect("nobody panics with it").push(format!(
            "{}: {}",
            report.task_name(),
            report.message()
        ));
    });
    reports
}

fn taken(reports: &Reports) -> Vec<String> {
    std::mem::take(&mut *reports.lock().expect("nobody panics with it"))
}

#[test]
fn law_a1_results_in_argument_order_of_every_shape() {
    simulate(async {
        assert_eq!(gather(vec![value(20), value(30), value(10)]).await?, [20, 30, 10]);
        assert_eq!(now(), 30);
        let [a, b] = gather([value(2), value(1)]).await?;
        assert_eq!((a, b), (2, 1));
        let text = "borrowed".to_owned();
        let pair = (async { Ok::<_, BoxError>(text.as_str().len()) }, value(1));
        assert_eq!(gather(pair).await?, (8, 1));
        assert_eq!(gather_all((0..100).map(value)).await?, (0..100).collect::<Vec<_>>());
        assert!(gather(Vec::<Task<u8, BoxError>>::new()).await.unwrap().is_empty());
        let never: [std::future::Pending<()>; 0] = [];
        let [] = gather(never).await?;
        Ok::<_, BoxError>(())
    })
    .unwrap();
}

#[test]
fn law_a1_tasks_are_linked_and_plain_futures_join_by_as_branch() {
    simulate(async {
        let task = spawn(value(10));
        assert_eq!(gather((task, value(5).as_branch())).await.unwrap(), (10, 5));
        let (task, slow) = (spawn(error(5)), spawn(value(1000)));
        let watch = slow.to_ref();
        let failed = gather(vec![task, slow]).await.unwrap_err();
        assert_eq!((failed.to_string(), watch.cancelled(), now()), ("5".to_owned(), true, 15));
    })
    .unwrap();
}

#[test]
fn law_a2_the_first_error_cancels_the_others_and_waits_for_them() {
    simulate(async {
        let failed = gather((error(10), stubborn(20), value(1000))).await.unwrap_err();
        assert_eq!((failed.to_string(), now()), ("10".to_owned(), 30));
    })
    .unwrap();
}

#[test]
fn law_a2_errors_of_the_others_are_reported() {
    simulate(async {
        let reports = collect_reports();
        let second = async {
            let Err(_cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(0) };
            Err::<u64, BoxError>("second".into())
        };
        assert_eq!(gather((value(1), error(5), second)).await.unwrap_err().to_string(), "5");
        assert_eq!(taken(&reports), ["main.gather[2]: second"]);
        let (a, b) = (spawn(error(1)), spawn(error(1)));
        assert!(gather([a, b]).await.is_err());
        assert_eq!(taken(&reports).len(), 1, "the second task's error is reported once");
    })
    .unwrap();
}

#[test]
fn law_a2_return_errors_runs_all_to_the_end() {
    simulate(async {
        let results = gather(vec![work(value(20)), work(error(10)), work(value(5))]).return_errors().await;
        let told: Vec<_> = results.iter().map(|result| result.as_ref().ok().copied()).collect();
        assert_eq!((told, now()), (vec![Some(20), None, Some(5)], 20));
        let (a, b) = gather((value(1), async { Err::<(), BoxError>("b".into()) })).return_errors().await;
        assert!(a.is_ok() && b.is_err());
    })
    .unwrap();
}

#[test]
fn law_a2_leave_running_returns_at_once_and_leaves_the_others() {
    simulate(async {
        let (fails, slow) = (spawn(error(10)), spawn(value(50)));
        let watch = slow.to_ref();
        assert!(gather([fails, slow]).leave_running().await.is_err());
        assert_eq!((now(), watch.done()), (10, false));
        watch.finished().await;
        assert!(!watch.cancelled());

        let (a, b) = (spawn(stubborn(5)), spawn(value(1000)));
        let watch = b.to_ref();
        assert!(timeout(ms(10), gather(vec![a, b]).leave_running()).await.is_err());
        assert_eq!((now(), watch.cancelled()), (65, true));
    })
    .unwrap();
}

#[test]
fn law_a2_a_request_from_outside_reaches_every_branch_and_unwinds() {
    simulate(async {
        let reports = collect_reports();
        let probe = Probe::new();
        let item = probe.item();
        let task = spawn(async move {
            let plain = async {
                let _item = item;
                value(1000).await
            };
            let fails = async {
                let Err(_cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(0) };
                Err::<u64, BoxError>("cleanup".into())
            };
            gather((plain, stubborn(20), fails)).await?;
            Ok::<_, BoxError>(())
        });
        sleep(ms(10)).await;
        task.cancel();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!((now(), probe.dropped()), (30, 1));
        assert_eq!(taken(&reports), ["task-2.gather[2]: cleanup"]);
    })
    .unwrap();
}

#[test]
fn law_a2_a_request_that_every_branch_absorbs_is_absorbed() {
    simulate(async {
        let task = spawn(async {
            let absorbs = async || {
                if let Err(cancelled) = catch_cancel(sleep(ms(1000))).await {
                    cancelled.uncancel();
                }
                sleep(ms(20)).await;
                Ok::<_, BoxError>(current_task().unwrap().cancelling())
            };
            let during = gather((absorbs(), absorbs())).await?;
            assert_eq!(during, (0, 0), "it is settled at once, while the branches go on");
            sleep(ms(5)).await;
            Ok::<_, BoxError>("survived")
        });
        sleep(ms(10)).await;
        task.cancel();
        assert_eq!(task.await.unwrap(), "survived");
        assert_eq!(now(), 35);
    })
    .unwrap();
}

#[test]
fn law_a2_a_request_that_only_met_a_shield_goes_back_and_the_values_are_returned() {
    simulate(async {
        let task = spawn(async {
            let postponed = shield(async {
                sleep(ms(50)).await;
                Ok::<_, BoxError>("kept")
            });
            let (nested,) = gather((gather([postponed]),)).await?;
            assert_eq!((nested, now()), (["kept"], 50));
            sleep(ms(1000)).await;
            Ok::<_, BoxError>(())
        });
        sleep(ms(10)).await;
        task.cancel();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(now(), 50, "it is delivered at the next suspension point");
    })
    .unwrap();
}

#[test]
fn law_a2_tasks_that_absorb_what_was_passed_on_do_not_absorb_it_for_the_gather() {
    simulate(async {
        let task = spawn(async {
            let absorbs = spawn(async {
                if let Err(cancelled) = catch_cancel(sleep(ms(1000))).await {
                    cancelled.uncancel();
                }
                sleep(ms(20)).await;
                Ok::<_, BoxError>(())
            });
            // The gather goes on unwinding, as asyncio's does.
            let [()] = gather([absorbs]).await?;
            Err::<(), BoxError>("it has returned".into())
        });
        sleep(ms(10)).await;
        task.cancel();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(now(), 30);
    })
    .unwrap();
}

#[test]
fn law_a2_an_explicit_request_reaches_the_branches_of_a_failing_gather_and_goes_back() {
    simulate(async {
        let task = spawn(async {
            let failed = gather((error(10), stubborn(1000))).await.unwrap_err();
            assert_eq!((failed.to_string(), now()), ("10".to_owned(), 20));
            sleep(ms(1000)).await;
            Ok::<_, BoxError>(())
        });
        sleep(ms(20)).await;
        task.cancel();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(now(), 20);
    })
    .unwrap();
}

#[test]
fn law_a2_nested_gathers_pass_requests_down() {
    simulate(async {
        let inner = gather((stubborn(5), stubborn(10)));
        let outer = gather((inner, value(1000)));
        assert!(timeout(ms(10), outer).await.is_err());
        assert_eq!(now(), 20);
    })
    .unwrap();
}

#[test]
fn law_t11_a_task_that_gathers_itself_panics() {
    simulate(async {
        let own: Arc<Mutex<Option<Task<(), BoxError>>>> = Arc::default();
        let slot = own.clone();
        let task = spawn(async move {
            let handle = slot.lock().unwrap().take().unwrap();
            gather([handle]).leave_running().await.map_err(|_| "never")?;
            Ok(())
        });
        let watch = task.to_ref();
        *own.lock().unwrap() = Some(task);
        watch.finished().await;
        assert!(!watch.cancelled());
    })
    .unwrap();
}

#[test]
fn law_a3_wait_gives_handles_back_in_argument_order() {
    simulate(async {
        let tasks: Vec<_> = [30, 10, 20].map(|ms| spawn(value(ms))).into();
        let ids: Vec<_> = tasks.iter().map(Task::id).collect();
        let (done, pending) = wait(tasks).first_completed().await;
        assert_eq!(done.iter().map(Task::id).collect::<Vec<_>>(), [ids[1]]);
        assert_eq!(pending.iter().map(Task::id).collect::<Vec<_>>(), [ids[0], ids[2]]);
        let (done, pending) = wait(pending).timeout(ms(10)).await;
        assert_eq!((done.len(), pending.len(), now()), (1, 1, 20));
        let (done, pending) = wait(pending).all_completed().await;
        assert_eq!((done.len(), pending.len(), now()), (1, 0, 30));
        let (done, pending) = wait(Vec::<Task<(), BoxError>>::new()).await;
        assert!(done.is_empty() && pending.is_empty());
    })
    .unwrap();
}

#[test]
fn law_a3_wait_by_reference_survives_being_dropped() {
    simulate(async {
        let mut tasks = [10, 1000].map(|ms| spawn(value(ms)));
        assert!(timeout(ms(5), wait(&mut tasks)).await.is_err());
        let (done, pending) = wait(&mut tasks[..]).first_completed().await;
        assert_eq!((done.len(), pending.len()), (1, 1));
        assert_eq!(*done[0].result().unwrap().unwrap(), 10);
        pending[0].cancel();
        let _ = wait(&mut tasks).await;
        assert_eq!(now(), 10);
    })
    .unwrap();
}

#[test]
fn law_a3_a_cancelled_task_does_not_trigger_first_exception() {
    simulate(async {
        let tasks = vec![spawn(value(10)), spawn(value(1000)), spawn(error(20)), spawn(value(1000))];
        tasks[1].cancel();
        let (done, pending) = wait(tasks).first_exception().await;
        assert_eq!((done.len(), pending.len(), now()), (3, 1, 20));
        let panics = spawn(async { panic!("burnt") as Result<(), BoxError> });
        let (done, _) = wait([panics, spawn(async { Ok(()) })]).first_exception().await;
        assert!(!done.is_empty());
    })
    .unwrap();
}

#[test]
fn law_a4_as_completed_yields_in_completion_order_in_both_forms() {
    simulate(async {
        let mut tasks: Vec<_> = [30, 10, 20].map(|ms| spawn(value(ms))).into();
        let mut seen = Vec::new();
        let mut stream = as_completed(&mut tasks);
        while let Some(task) = stream.next().await {
            seen.push(task.await?);
        }
        assert_eq!((seen, now()), (vec![10, 20, 30], 30));
        let mut stream = as_completed([spawn(value(1000)), spawn(value(5))]);
        let first = stream.next().await.unwrap();
        assert_eq!((first.await?, stream.remaining()), (5, 1));
        let rest = stream.into_rest();
        yield_now().await;
        assert!(!rest[0].done(), "dropping the stream cancels nothing");
        Ok::<_, BoxError>(())
    })
    .unwrap();
}

#[test]
fn law_a5_race_returns_the_first_to_end_and_waits_for_the_losers() {
    simulate(async {
        let reports = collect_reports();
        assert_eq!(race((value(10), stubborn(20), error(1000))).await?, 10);
        assert_eq!(now(), 30);
        assert_eq!(race([work(error(5)), work(value(10))]).await.unwrap_err().to_string(), "5");
        assert!(taken(&reports).is_empty());
        let loser = async {
            let Err(_cancelled) = catch_cancel(sleep(ms(1000))).await else { return Ok(0) };
            Err::<u64, BoxError>("loser".into())
        };
        assert_eq!(race((value(5), loser)).await?, 5);
        assert_eq!(taken(&reports), ["main.race[1]: loser"]);
        race([sleep(ms(3)), sleep(ms(2))]).await;
        assert_eq!(now(), 42);
        Ok::<_, BoxError>(())
    })
    .unwrap();
}

#[test]
fn law_a5_first_success_returns_the_first_value_or_all_errors() {
    simulate(async {
        let reports = collect_reports();
        assert_eq!(first_success((error(5), value(10), value(1000))).await.unwrap(), 10);
        assert!(taken(&reports).is_empty(), "a failure is expected");
        assert_eq!(now(), 10);
        let errors = first_success(vec![error(20), error(10)]).await.unwrap_err();
        let told: Vec<_> = errors.errors().iter().map(ToString::to_string).collect();
        assert_eq!((told, now()), (vec!["20".to_owned(), "10".to_owned()], 30));
    })
    .unwrap();
}

#[test]
fn law_a5_a_request_unwinds_an_undecided_race_but_not_a_decided_one() {
    simulate(async {
        let undecided = spawn(async { race([stubborn(20), stubborn(10)]).await });
        let decided = spawn(async {
            let winner = race([work(value(5)), work(stubborn(100))]).await?;
            assert_eq!((winner, now()), (5, 10));
            sleep(Duration::from_secs(1)).await;
            Ok::<_, BoxError>(())
        });
        sleep(ms(10)).await;
        undecided.cancel();
        decided.cancel();
        let Err(TaskError::Cancelled(reason)) = decided.await else { panic!("the request went back") };
        assert_eq!((reason.kind(), now()), (CancelKind::Explicit, 10));
        assert!(undecided.await.unwrap_err().is_cancelled());
        assert_eq!(now(), 30);
    })
    .unwrap();
}
