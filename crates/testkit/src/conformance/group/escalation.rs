//! G9: supervisors, how often and how soon they restart, and how they give up.

use crate::conformance::prelude::*;

use Restart::{Permanent, Transient};

const HOUR: Duration = Duration::from_secs(3600);

/// A plan with one child that fails at once, `failures` times, and is then cancelled by itself.
fn failing(plan: Supervisor<Burnt>, log: &Trace, failures: usize) -> Supervisor<Burnt> {
    let (log, mut left) = (log.clone(), failures);
    plan.child("child", Permanent, move || {
        log.add("begins");
        let fails = left > 0;
        left = left.saturating_sub(1);
        async move {
            if fails {
                return Err::<(), _>(Burnt("child"));
            }
            current_task().expect("it is a child").cancel();
            pending().await
        }
    })
}

/// The pauses are those of the backoff, on the backend's clock.
pub fn law_g9_pauses_between_restarts_grow(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let plan = Supervisor::one_for_one().budget(10, HOUR).backoff(Backoff::new(ms(10)).max(ms(20)));
        failing(plan, &log, 4).run::<GroupError<Burnt>>().await.expect("the budget is not used up");
    });
    trace.expect(&[(0, "begins"), (10, "begins"), (30, "begins"), (50, "begins"), (70, "begins")]);
}

/// A child that has run for long begins with the first pause again.
pub fn law_g9_pauses_begin_anew_after_a_long_run(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let mut runs = [0, 0, 50, 0].into_iter();
        let plan = Supervisor::one_for_one().budget(10, ms(50)).backoff(Backoff::new(ms(1)).factor(5));
        let plan = plan.child("child", Transient, move || {
            log.add("begins");
            let run = runs.next();
            async move {
                match run {
                    Some(0) => Err(Burnt("child")),
                    Some(long) => {
                        sleep(ms(long)).await;
                        Err(Burnt("child"))
                    }
                    None => Ok(()),
                }
            }
        });
        plan.run::<GroupError<Burnt>>().await.expect("the budget is not used up");
    });
    trace.expect(&[(0, "begins"), (1, "begins"), (6, "begins"), (57, "begins"), (62, "begins")]);
}

/// Restarts and failures that were longer ago than the window are forgotten, and leave nothing behind.
pub fn law_g9_the_budget_slides(kitchen: &Kitchen) {
    /// An error that is counted.
    #[derive(Debug)]
    struct Costly(#[allow(dead_code, reason = "it is there to be dropped")] Item);

    kitchen.run(async {
        let probe = Probe::new();
        let (items, mut left) = (probe.clone(), 12);
        // At most two failures are in any window, as they are 6 ms apart, or more.
        let plan = Supervisor::one_for_one().budget(2, ms(10)).child("child", Transient, move || {
            assert!(items.alive() <= 3, "what is forgotten is dropped");
            left -= 1;
            let error = (left > 0).then(|| Costly(items.item()));
            async move {
                sleep(ms(6)).await;
                error.map_or(Ok(()), Err)
            }
        });
        plan.run::<GroupError<Costly>>().await.expect("the budget is never used up");
        assert_eq!((probe.created(), probe.alive()), (11, 0));
    });
}

/// With one restart too many the supervisor gives up, and tells the failures with names and places.
pub fn law_g9_a_used_up_budget_tells_its_failures(kitchen: &Kitchen) {
    kitchen.run(async {
        let mut attempt = 0;
        let plan = Supervisor::one_for_one().name("crew").budget(2, HOUR);
        let plan = plan.child("child", Permanent, move || {
            attempt += 1;
            let attempt = attempt;
            async move {
                match attempt {
                    1 => Err::<(), _>(Burnt("first")),
                    2 => panic!("second"),
                    _ => Err(Burnt("third")),
                }
            }
        });
        let errors = plan.run::<GroupError<Burnt>>().await.expect_err("three failures are too many");
        assert_eq!((errors.len(), errors.group_name()), (3, Some("crew")));
        assert!(errors.iter().all(|error| error.name() == "child" && !error.is_body()));
        assert!(errors.iter().all(|error| error.location().file().contains("escalation.rs")));
        let ids: std::collections::HashSet<_> = errors.iter().map(ChildError::id).collect();
        assert_eq!(ids.len(), 3, "each time it was another task");
        let account = errors.exhausted().expect("it has given up").clone();
        assert_eq!((account.child(), account.restarts(), account.window()), ("child", 2, HOUR));
        assert!(!account.by_backoff());
        let text = errors.to_string();
        let words =
            ["3 errors in group `crew`", "after 2 restarts", "first", "second", "third", "escalation.rs"];
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
        let failures: Vec<_> =
            errors.into_iter().filter_map(|error| error.into_error().into_failed().ok()).collect();
        assert_eq!(failures, [Burnt("first"), Burnt("third")]);
    });
}

/// A budget can be used up by children that only come to their end: then there is an account without errors.
pub fn law_g9_a_budget_used_up_by_values(kitchen: &Kitchen) {
    kitchen.run(async {
        let plan = Supervisor::<Burnt>::one_for_one().budget(1, HOUR).child("child", Permanent, async || {});
        let errors = plan.run::<GroupError<Burnt>>().await.expect_err("it ends twice");
        assert_eq!((errors.len(), errors.is_cancelled()), (0, false));
        assert_eq!(errors.exhausted().map(RestartsExhausted::restarts), Some(1));
    });
}

/// A backoff with a budget of its own gives up as well.
pub fn law_g9_a_backoff_may_give_up(kitchen: &Kitchen) {
    kitchen.run(async {
        let backoff = Backoff::new(ms(1)).attempts(3);
        let plan = Supervisor::one_for_one().budget(10, HOUR).backoff(backoff);
        let errors = failing(plan, &Trace::new(), 9).run::<GroupError<Burnt>>().await;
        let errors = errors.expect_err("three attempts have failed");
        let account = errors.exhausted().expect("it has given up");
        assert_eq!((errors.len(), account.restarts(), account.by_backoff()), (3, 2, true));
    });
}

/// A child that writes down its stop and its reason; with `fails`, its cleanup fails.
async fn stops(name: &'static str, ready: Gate, log: Trace, fails: bool) -> Result<(), Burnt> {
    ready.open();
    let token = catch_cancel(pending::<()>()).await.expect_err("nothing ends it but a cancellation");
    turns(3).await;
    log.add(format!("{name} over, {}", token.reason().text().unwrap_or("for no reason")));
    if fails {
        return Err(Burnt(name));
    }
    token.resume().await
}

/// When it gives up, the others are stopped in reverse order and waited for; a failure of theirs is told, too.
pub fn law_g9_giving_up_stops_the_others_in_reverse_order(kitchen: &Kitchen) {
    kitchen.run(async {
        let (log, ready) = (Trace::new(), Gate::new());
        let mut plan = Supervisor::one_for_one().budget(0, HOUR);
        for name in ["a", "b", "c"] {
            let (log, ready) = (log.clone(), ready.clone());
            let stop = move || stops(name, ready.clone(), log.clone(), name == "b");
            plan = plan.child(name, Permanent, stop);
        }
        let plan = plan.child("fails", Permanent, move || {
            let ready = ready.clone();
            async move {
                ready.reached(3).await;
                Err::<(), _>(Burnt("fails"))
            }
        });
        let errors = plan.run::<GroupError<Burnt>>().await.expect_err("no restart is allowed");
        let over = ["c", "b", "a"].map(|name| format!("{name} over, `fails` has used up its restarts"));
        assert_eq!(log.words(), over);
        let failures: Vec<_> = errors.iter().map(|error| error.error().failed().cloned()).collect();
        assert_eq!(failures, [Some(Burnt("fails")), Some(Burnt("b"))]);
        assert_eq!(errors.exhausted().map(|account| account.child()), Some("fails"));
    });
}

/// A failure of a child while it is stopped for a restart does not count, but it is not lost.
pub fn law_g9_a_failure_during_a_stop_is_told(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run(async {
        let (log, ready) = (Trace::new(), Gate::new());
        let gate = ready.clone();
        let plan = Supervisor::one_for_all().budget(1, HOUR);
        let plan = plan.child("stops", Permanent, move || stops("stops", gate.clone(), log.clone(), true));
        let mut attempt = 0;
        let plan = plan.child("fails", Permanent, move || {
            attempt += 1;
            let (ready, attempt) = (ready.clone(), attempt);
            async move {
                ready.reached(attempt).await;
                Err::<(), _>(Burnt("fails"))
            }
        });
        let errors = plan.run::<GroupError<Burnt>>().await.expect_err("it fails twice");
        let names: Vec<_> = errors.iter().map(ChildError::name).collect();
        assert_eq!(names, ["fails", "stops", "fails", "stops"]);
        assert_eq!(errors.exhausted().map(RestartsExhausted::restarts), Some(1));
    });
    let warnings = shift.warnings();
    assert!(warnings.iter().any(|warning| warning.contains("failed while it was stopped")), "{warnings:?}");
}

/// A cleanup that fails when the supervisor is cancelled: the failure comes first (G5).
pub fn law_g5_a_failure_in_the_end_of_a_supervisor_is_returned(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let gate = ready.clone();
        let stop = move || stops("stops", gate.clone(), Trace::new(), true);
        let plan = Supervisor::one_for_one().child("stops", Permanent, stop);
        let task = spawn(plan.run::<GroupError<Burnt>>());
        ready.wait().await;
        task.cancel();
        let errors = failed(task.await);
        assert!(errors.exhausted().is_none());
        assert_eq!(first_failure(errors), Burnt("stops"));
    });
}

/// The failures of a supervisor are an error of the group that it is in, whatever the error type.
pub fn law_g9_giving_up_is_an_error_of_the_group(kitchen: &Kitchen) {
    #[derive(Debug)]
    enum Trouble {
        Crew(GroupError<Burnt>),
    }

    impl From<GroupError<Burnt>> for Trouble {
        fn from(errors: GroupError<Burnt>) -> Trouble {
            Trouble::Crew(errors)
        }
    }

    let plan = || failing(Supervisor::one_for_one().budget(1, HOUR), &Trace::new(), 2);
    kitchen.run(async move {
        let group = TaskGroup::<BoxError>::scope(async |group| {
            group.spawn_named("crew", plan().run());
            pending::<Result<(), BoxError>>().await
        });
        let errors = group.await.expect_err("the supervisor has given up");
        assert_eq!((errors.len(), first(&errors).name()), (1, "crew"));
        let group = TaskGroup::<Trouble>::scope(async |group| {
            group.spawn(plan().run());
            pending::<Result<(), Trouble>>().await
        });
        let Trouble::Crew(errors) = first_failure(group.await.expect_err("the supervisor has given up"));
        assert_eq!(errors.len(), 2);
    });
}

/// A supervisor can be a child of another: its failures are restarted like any other child's, and nest.
pub fn law_g9_supervisors_nest(kitchen: &Kitchen) {
    kitchen.run(async {
        let begun = Gate::new();
        let gate = begun.clone();
        let outer =
            Supervisor::<BoxError>::one_for_one().budget(1, HOUR).child("inner", Permanent, move || {
                let gate = gate.clone();
                let inner = Supervisor::<BoxError>::one_for_one().budget(2, HOUR);
                inner
                    .child("leaf", Permanent, move || {
                        gate.open();
                        async { Err::<(), BoxError>(Burnt("leaf").into()) }
                    })
                    .run()
            });
        let errors = outer.run::<GroupError<BoxError>>().await.expect_err("the inner one gives up twice");
        assert_eq!((begun.count(), errors.len()), (6, 2));
        let (burnt, rest) = errors.split::<Burnt>();
        assert_eq!((burnt.len(), rest.len()), (2, 0), "{burnt:?}");
        assert_eq!(burnt.to_string().matches("`leaf`").count(), 6 + 2, "{burnt}");
    });
}

/// A panic where the future of a child is made is a panic of the child.
pub fn law_g9_a_panic_of_the_maker_is_the_childs(kitchen: &Kitchen) {
    kitchen.run(async {
        let plan = Supervisor::<Burnt>::one_for_one().budget(1, HOUR);
        let plan = plan.child("child", Transient, || -> std::future::Ready<()> { panic!("no bread") });
        let errors = plan.run::<GroupError<Burnt>>().await.expect_err("it panics twice");
        assert_eq!(errors.len(), 2);
        assert!(errors.iter().all(|error| error.error().is_panic() && error.name() == "child"), "{errors:?}");
    });
}

/// Children that are aborted one by one stay ended, and a supervisor with nobody left ends.
pub fn law_g9_a_supervisor_ends_with_its_last_child(kitchen: &Kitchen) {
    kitchen.run(async {
        Supervisor::<Burnt>::one_for_one().run::<GroupError<Burnt>>().await.expect("there is nobody");
        let (children, ready) = (Arc::new(Mutex::new(Vec::new())), Gate::new());
        let mut plan = Supervisor::<Burnt>::one_for_one();
        for _ in 0..3 {
            let (children, ready) = (children.clone(), ready.clone());
            plan = plan.child("child", Permanent, move || {
                let (children, ready) = (children.clone(), ready.clone());
                async move {
                    children.lock().expect("whole").push(current_task().expect("it is a child"));
                    parked(ready).await
                }
            });
        }
        let task = spawn(plan.run::<GroupError<Burnt>>());
        ready.reached(3).await;
        children.lock().expect("whole").iter().for_each(TaskRef::abort);
        value(task.await);
        assert_eq!(ready.count(), 3);
    });
}
