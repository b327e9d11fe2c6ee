//! G9: supervisors, who is started again, and in which order others are stopped for it.

use crate::conformance::prelude::*;

use Restart::{Permanent, Temporary, Transient};

/// How a child ends.
#[derive(Clone, Copy, Debug)]
enum Way {
    Value,
    Error,
    Panic,
    Cancelled,
}

const WAYS: [Way; 4] = [Way::Value, Way::Error, Way::Panic, Way::Cancelled];

async fn end(way: Way) -> Result<(), Burnt> {
    match way {
        Way::Value => Ok(()),
        Way::Error => Err(Burnt("toast")),
        Way::Panic => panic!("burnt toast"),
        Way::Cancelled => {
            current_task().expect("it is a child").cancel();
            pending().await
        }
    }
}

/// How often a child begins that ends in this way the first time, and is cancelled the second time.
async fn attempts(restart: Restart, way: Way) -> usize {
    let begun = Gate::new();
    let gate = begun.clone();
    let plan = Supervisor::one_for_one().child("child", restart, move || {
        gate.open();
        end(if gate.count() == 1 { way } else { Way::Cancelled })
    });
    plan.run::<GroupError<Burnt>>().await.expect("the budget is not used up");
    begun.count()
}

async fn attempts_by_way(restart: Restart) -> Vec<usize> {
    let mut counts = Vec::new();
    for way in WAYS {
        counts.push(attempts(restart, way).await);
    }
    counts
}

/// Permanent: after a value, an error and a panic; never after a cancellation, which is no failure.
pub fn law_g9_a_permanent_child_begins_again_however_it_ended(kitchen: &Kitchen) {
    assert_eq!(kitchen.run(async { Ok::<_, Burnt>(attempts_by_way(Permanent).await) }), [2, 2, 2, 1]);
}

/// Transient: after a failure only.
pub fn law_g9_a_transient_child_begins_again_after_a_failure(kitchen: &Kitchen) {
    assert_eq!(kitchen.run(async { Ok::<_, Burnt>(attempts_by_way(Transient).await) }), [1, 2, 2, 1]);
}

/// Temporary: never; then its failures are nobody's, and are reported (T6).
pub fn law_g9_a_temporary_child_never_begins_again(kitchen: &Kitchen) {
    let shift = kitchen.open();
    let counts = shift.run_reporting(async { Ok::<_, Burnt>(attempts_by_way(Temporary).await) });
    assert_eq!(counts, [1, 1, 1, 1]);
    let reports = shift.reports();
    assert_eq!(reports.len(), 2, "an error and a panic: {reports:?}");
    assert!(reports.iter().all(|report| report.task == "child" && report.place.contains("supervision.rs")));
}

/// A failure that is answered by a restart is told as a warning, with name and place.
pub fn law_g9_every_answered_failure_is_told(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run(async { Ok::<_, Burnt>(attempts(Transient, Way::Error).await) });
    let warnings = shift.warnings();
    let told =
        |warning: &String| ["`child`", "supervision.rs", "toast"].iter().all(|word| warning.contains(word));
    assert!(warnings.len() == 1 && told(&warnings[0]), "{warnings:?}");
}

/// The children of a plan, which write down what happens to them.
#[derive(Clone)]
struct Crew {
    log: Trace,
    /// Opened by everyone who begins.
    ready: Gate,
    /// Opened by everyone who is asked to stop.
    asked: Gate,
    /// One who waits here fails when it is opened.
    fails: Gate,
    /// What cleaning up takes.
    cleanup: Duration,
}

impl Crew {
    fn new() -> Crew {
        let [ready, asked, fails] = [(); 3].map(|()| Gate::new());
        Crew { log: Trace::new(), ready, asked, fails, cleanup: Duration::ZERO }
    }

    /// Works until it is stopped; `fragile` fails once when told.
    async fn work(self, name: &'static str, fragile: bool) -> Result<(), Burnt> {
        self.ready.open();
        let end = if fragile { self.fails.clone() } else { Gate::new() };
        let Err(token) = catch_cancel(end.wait()).await else {
            self.log.add(format!("{name} fails"));
            return Err(Burnt(name));
        };
        self.log.add(format!("{name} asked"));
        self.asked.open();
        sleep(self.cleanup).await;
        self.log.add(format!("{name} over"));
        token.resume().await
    }

    /// Of three children, `b` fails once when told.
    fn three(&self, mut plan: Supervisor<Burnt>, restarts: [Restart; 3]) -> Supervisor<Burnt> {
        for (name, restart) in ["a", "b", "c"].into_iter().zip(restarts) {
            let (crew, mut fragile) = (self.clone(), name == "b");
            plan = plan.child(name, restart, move || {
                crew.log.add(format!("{name} begins"));
                crew.clone().work(name, std::mem::take(&mut fragile))
            });
        }
        plan
    }

    /// Runs a plan of three, has `b` fail, waits for `begun` beginnings in all, and cancels it.
    async fn story(&self, plan: Supervisor<Burnt>, restarts: [Restart; 3], begun: usize) {
        let task = spawn(self.three(plan, restarts).run::<GroupError<Burnt>>());
        self.ready.reached(3).await;
        self.fails.open();
        self.ready.reached(begun).await;
        self.log.add("cancel");
        task.cancel();
        cancelled(task.await);
    }
}

const BEGINNING: [&str; 4] = ["a begins", "b begins", "c begins", "b fails"];

/// The end is in reverse order of the plan, whoever was restarted meanwhile.
const TEARDOWN: [&str; 7] = ["cancel", "c asked", "c over", "b asked", "b over", "a asked", "a over"];

#[track_caller]
fn expect_story(log: &Trace, middle: &[&str]) {
    assert_eq!(log.words(), [&BEGINNING[..], middle, &TEARDOWN].concat());
}

/// One for one: the others are left alone.
pub fn law_g9_one_for_one_restarts_the_one(kitchen: &Kitchen) {
    kitchen.run(async {
        let crew = Crew::new();
        crew.story(Supervisor::one_for_one(), [Permanent; 3], 4).await;
        expect_story(&crew.log, &["b begins"]);
    });
}

/// One for all: the others are stopped in reverse order, each waited for, and all begin in order.
pub fn law_g9_one_for_all_restarts_all(kitchen: &Kitchen) {
    kitchen.run(async {
        let crew = Crew::new();
        crew.story(Supervisor::one_for_all(), [Permanent; 3], 6).await;
        let stopped = ["c asked", "c over", "a asked", "a over"];
        expect_story(&crew.log, &[&stopped[..], &BEGINNING[..3]].concat());
    });
}

/// Rest for one: those before it are left alone.
pub fn law_g9_rest_for_one_restarts_those_after_it(kitchen: &Kitchen) {
    kitchen.run(async {
        let crew = Crew::new();
        crew.story(Supervisor::rest_for_one(), [Permanent; 3], 5).await;
        expect_story(&crew.log, &["c asked", "c over", "b begins", "c begins"]);
    });
}

/// A temporary child is stopped with the others and does not begin again.
pub fn law_g9_a_temporary_child_is_stopped_with_the_others(kitchen: &Kitchen) {
    kitchen.run(async {
        let crew = Crew::new();
        crew.story(Supervisor::one_for_all(), [Temporary, Permanent, Permanent], 5).await;
        let middle = ["c asked", "c over", "a asked", "a over", "b begins", "c begins"];
        assert_eq!(crew.log.words(), [&BEGINNING[..], &middle, &TEARDOWN[..5]].concat());
    });
}

/// A transient child that is done begins again with the others; one that was cancelled does not.
pub fn law_g9_who_begins_again_with_the_others(kitchen: &Kitchen) {
    kitchen.run(async {
        for (way, begun) in [(Way::Value, 2), (Way::Cancelled, 1)] {
            let (crew, first) = (Crew::new(), Gate::new());
            let (gate, ended) = (first.clone(), Slot::new());
            let slot = ended.clone();
            let plan = Supervisor::one_for_all().child("first", Transient, move || {
                let slot = slot.clone();
                gate.open();
                async move {
                    slot.put(current_task().expect("it is a child"));
                    end(way).await
                }
            });
            let task = spawn(crew.three(plan, [Permanent; 3]).run::<GroupError<Burnt>>());
            crew.ready.reached(3).await;
            first.wait().await;
            until(|| ended.take().map(|task| ended.put(task)).is_some()).await;
            ended.take().expect("it has begun").finished().await;
            crew.fails.open();
            crew.ready.reached(6).await;
            assert_eq!(first.count(), begun, "{way:?}");
            task.cancel();
            cancelled(task.await);
        }
    });
}

/// A child that somebody has cancelled stays ended, also if it still cleans up when the others are stopped.
pub fn law_g9_a_child_that_is_being_cancelled_stays_ended(kitchen: &Kitchen) {
    kitchen.run(async {
        let (crew, first, slot) = (Crew::new(), Gate::new(), Slot::new());
        let (gate, place, helper) = (first.clone(), slot.clone(), crew.clone());
        let plan = Supervisor::one_for_all().child("first", Permanent, move || {
            gate.open();
            let (place, helper) = (place.clone(), helper.clone());
            async move {
                place.put(current_task().expect("it is a child"));
                let token = catch_cancel(parked(helper.ready)).await.expect_err("it is cancelled");
                place.put(current_task().expect("it is a child"));
                helper.asked.reached(2).await;
                token.resume().await
            }
        });
        let task = spawn(crew.three(plan, [Permanent; 3]).run::<GroupError<Burnt>>());
        crew.ready.reached(4).await;
        slot.take().expect("it has begun").cancel();
        until(|| slot.take().is_some()).await;
        // It cleans up until `a` and `c` are stopped; then it is its turn.
        crew.fails.open();
        crew.ready.reached(4 + 3).await;
        assert_eq!(first.count(), 1);
        task.cancel();
        cancelled(task.await);
    });
}

/// A cleanup that takes its time holds the restart until it is over.
pub fn law_g9_a_slow_cleanup_holds_the_restart(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let crew = Crew { cleanup: ms(20), ..Crew::new() };
        let task = spawn(crew.three(Supervisor::rest_for_one(), [Permanent; 3]).run::<GroupError<Burnt>>());
        crew.ready.reached(3).await;
        crew.fails.open();
        crew.ready.reached(5).await;
        clock.expect(20);
        task.cancel();
        cancelled(task.await);
        clock.expect(20 + 3 * 20);
        expect_story(&with_cancel(&crew.log), &["c asked", "c over", "b begins", "c begins"]);
    });
}

/// The same words with the moment of the cancellation before the last stops.
fn with_cancel(log: &Trace) -> Trace {
    let (words, whole) = (log.words(), Trace::new());
    let at = words.len() - (TEARDOWN.len() - 1);
    words[..at].iter().for_each(|word| whole.add(word));
    whole.add("cancel");
    words[at..].iter().for_each(|word| whole.add(word));
    whole
}

/// A child that does not stop within the grace is aborted and named: when it is stopped for a restart, which
/// goes on, and at the end of the supervisor.
pub fn law_g9_the_grace_of_a_supervisor_bounds_a_stop(kitchen: &Kitchen) {
    let shift = kitchen.open();
    shift.run(async {
        let crew = Crew { cleanup: ms(3_600_000), ..Crew::new() };
        let plan = Supervisor::rest_for_one().name("crew").grace(ms(5));
        let task = spawn(crew.three(plan, [Permanent; 3]).run::<GroupError<Burnt>>());
        crew.ready.reached(3).await;
        crew.fails.open();
        crew.ready.reached(5).await;
        task.cancel();
        cancelled(task.await);
    });
    let warnings = shift.warnings();
    let named = |warning: &&String| ["5ms", "crew", "aborted"].iter().all(|word| warning.contains(word));
    let stragglers: Vec<_> = warnings.iter().filter(named).collect();
    assert_eq!(stragglers.len(), 4, "`c` twice, and `a` and `b` once: {warnings:?}");
    assert!(stragglers[0].contains("`c`"), "{warnings:?}");
}

/// A cancellation during a pause ends it at once, and nothing begins.
pub fn law_g9_a_cancellation_ends_a_pause(kitchen: &Kitchen) {
    let clock = kitchen.clock();
    kitchen.run(async move {
        let (crew, failed) = (Crew::new(), Slot::new());
        let slot = failed.clone();
        let plan = Supervisor::one_for_one().backoff(Backoff::new(ms(3_600_000)));
        let plan = plan.child("b", Permanent, move || {
            let (crew, slot) = (crew.clone(), slot.clone());
            async move {
                crew.log.add("b begins");
                assert_eq!(crew.log.words().len(), 1, "it begins once");
                slot.put(current_task().expect("it is a child"));
                Err::<(), _>(Burnt("b"))
            }
        });
        let task = spawn(plan.run::<GroupError<Burnt>>());
        until(|| failed.take().map(|task| failed.put(task)).is_some()).await;
        failed.take().expect("it has begun").finished().await;
        task.cancel();
        cancelled(task.await);
        clock.expect(0);
    });
}

/// A cancellation in the turn of the failure wins over a restart without a pause.
pub fn law_g9_a_cancellation_wins_over_a_restart(kitchen: &Kitchen) {
    kitchen.run(async {
        let (begun, boss) = (Gate::new(), Slot::new());
        let (gate, slot) = (begun.clone(), boss.clone());
        let go = Gate::new();
        let wait = go.clone();
        let plan = Supervisor::one_for_one().child("child", Permanent, move || {
            let (slot, wait) = (slot.clone(), wait.clone());
            gate.open();
            async move {
                wait.wait().await;
                slot.take().map(|boss: TaskRef| boss.cancel());
                Err::<(), _>(Burnt("child"))
            }
        });
        let task = spawn(plan.run::<GroupError<Burnt>>());
        boss.put(task.to_ref());
        go.open();
        // On a backend with several threads the watch may be gone before the child fails: then that is told.
        match task.await {
            Err(TaskError::Cancelled(_)) => {}
            Err(TaskError::Failed(errors)) => assert_eq!(errors.len(), 1),
            other => panic!("{other:?}"),
        }
        assert_eq!(begun.count(), 1);
    });
}

/// A cancellation while others are stopped for a restart: the stop goes on, and nothing begins.
pub fn law_g9_a_cancellation_during_a_stop_wins(kitchen: &Kitchen) {
    kitchen.run(async {
        let crew = Crew { cleanup: ms(10), ..Crew::new() };
        let task = spawn(crew.three(Supervisor::one_for_all(), [Permanent; 3]).run::<GroupError<Burnt>>());
        crew.ready.reached(3).await;
        crew.fails.open();
        crew.asked.wait().await;
        task.cancel();
        cancelled(task.await);
        let stopped = ["c asked", "c over", "a asked", "a over"];
        assert_eq!(crew.log.words(), [&BEGINNING[..], &stopped].concat());
    });
}

/// An outer timeout that expires during a stop returns when everybody has ended, and nothing begins.
pub fn law_g9_a_timeout_during_a_stop_waits_for_the_children(kitchen: &Kitchen) {
    if !kitchen.is_virtual() {
        // The deadline has to come while a cleanup goes on.
        return;
    }
    let clock = kitchen.clock();
    kitchen.run(async move {
        let crew = Crew { cleanup: ms(20), ..Crew::new() };
        let hand = crew.clone();
        spawn(async move {
            hand.ready.reached(3).await;
            hand.fails.open();
        });
        let plan = crew.three(Supervisor::one_for_all(), [Permanent; 3]);
        let outcome = timeout(ms(10), plan.run::<GroupError<Burnt>>()).await;
        assert!(outcome.is_err(), "{outcome:?}");
        clock.expect(40);
        let stopped = ["c asked", "c over", "a asked", "a over"];
        assert_eq!(crew.log.words(), [&BEGINNING[..], &stopped].concat());
    });
}

/// While its group is ending a supervisor restarts nobody.
pub fn law_g9_nothing_is_restarted_while_the_group_ends(kitchen: &Kitchen) {
    kitchen.run(async {
        let crew = Crew::new();
        let plan = crew.three(Supervisor::one_for_one(), [Permanent; 3]);
        let group = TaskGroup::<BoxError>::scope(async |group| {
            group.spawn(plan_in_a_box(plan));
            crew.ready.reached(3).await;
            group.cancel();
            crew.fails.open();
            Ok(())
        });
        // Either `b` fails in its turn, or it is cancelled before: it never begins again.
        let _ = group.await;
        assert_eq!(crew.ready.count(), 3);
    });
}

async fn plan_in_a_box(plan: Supervisor<Burnt>) -> Result<(), BoxError> {
    plan.run().await
}

/// A supervisor that is dropped half-way: its children are adopted, and end in order.
pub fn law_g10_a_dropped_supervisor_ends_its_children_in_order(kitchen: &Kitchen) {
    kitchen.run(async {
        let (crew, first) = (Crew::new(), Slot::new());
        let slot = first.clone();
        let plan = Supervisor::one_for_one().child("first", Permanent, move || {
            let slot = slot.clone();
            async move {
                slot.put(current_task().expect("it is a child"));
                pending::<()>().await;
            }
        });
        let mut run = Box::pin(crew.three(plan, [Permanent; 3]).run::<GroupError<Burnt>>());
        assert!(poll_once(run.as_mut()).await.is_pending());
        crew.ready.reached(3).await;
        until(|| first.take().map(|task| first.put(task)).is_some()).await;
        drop(run);
        first.take().expect("it has begun").finished().await;
        assert_eq!(crew.log.words(), [&BEGINNING[..3], &TEARDOWN[1..]].concat());
    });
}
