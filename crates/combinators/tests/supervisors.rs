//! Supervisors and children by key under many schedules, and interrupted at every await: of one place never two
//! run at once, nobody is left, and every failure is told (laws G9, C16, C17).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use brigade_combinators::{Backoff, GroupError, Restart, Supervisor, TaskGroup, timeout};
use brigade_core::{BoxError, CancelExt as _, Handle, sleep, yield_now};
use brigade_testkit::{Explorer, Interrupted, Interrupter};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// What was seen in a run.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Entries>>);

#[derive(Default)]
struct Entries {
    /// Who runs.
    running: Vec<&'static str>,
    begun: usize,
    /// The texts of all failures, each of which is unique.
    failures: Vec<String>,
    /// All that people are told.
    told: String,
}

impl Ledger {
    /// Asserts that nobody else is in this place; it is left when the answer is dropped.
    fn enter(&self, place: &'static str) -> Presence {
        let mut entries = self.0.lock().expect("whole");
        assert!(!entries.running.contains(&place), "two run in the place of `{place}`");
        entries.running.push(place);
        entries.begun += 1;
        Presence(self.clone(), place)
    }

    fn failure(&self) -> BoxError {
        let mut entries = self.0.lock().expect("whole");
        let text = format!("<failure {}>", entries.failures.len());
        entries.failures.push(text.clone());
        text.into()
    }

    fn tell(&self, text: &str) {
        self.0.lock().expect("whole").told += text;
    }

    /// Everything that is reported on this runtime goes into the ledger.
    fn listen(&self) {
        let (warned, unobserved) = (self.clone(), self.clone());
        Handle::current().set_warning_hook(move |warning| warned.tell(warning.message()));
        Handle::current().set_unobserved_hook(move |failure| unobserved.tell(failure.message()));
    }

    /// What must hold after a run.
    fn close(&self) {
        let entries = std::mem::take(&mut *self.0.lock().expect("whole"));
        assert!(entries.running.is_empty(), "{:?} are left", entries.running);
        for failure in &entries.failures {
            assert!(entries.told.contains(failure), "{failure} of {} is lost", entries.failures.len());
        }
    }
}

struct Presence(Ledger, &'static str);

impl Drop for Presence {
    fn drop(&mut self) {
        let mut entries = self.0.0.lock().expect("whole");
        let place = self.1;
        entries.running.retain(|running| *running != place);
    }
}

/// Works a while, fails; if it is cancelled it cleans up, and fails in that if it is `clumsy`.
async fn child(ledger: Ledger, place: &'static str, work: u64, clumsy: bool) -> Result<(), BoxError> {
    let _presence = ledger.enter(place);
    yield_now().await;
    let stumbles = ledger.clone();
    let cleanup = async move {
        sleep(ms(1)).await;
        if clumsy { Err(stumbles.failure()) } else { Ok(()) }
    };
    let work = async move {
        sleep(ms(work)).await;
        Err(ledger.failure())
    };
    work.on_cancel(cleanup).await
}

fn plan(kind: fn() -> Supervisor<BoxError>, ledger: &Ledger) -> Supervisor<BoxError> {
    let mut plan = kind().budget(2, ms(50)).backoff(Backoff::new(ms(1)).jitter(0.5).seed(3));
    let children = [
        ("a", Restart::Permanent, 9, false),
        ("b", Restart::Transient, 4, true),
        ("c", Restart::Temporary, 2, false),
        ("d", Restart::Permanent, 7, false),
    ];
    for (place, restart, work, clumsy) in children {
        let ledger = ledger.clone();
        plan = plan.child(place, restart, move || child(ledger.clone(), place, work, clumsy));
    }
    plan
}

/// A supervisor in a group, in a timeout that it does not reach.
async fn supervise(kind: fn() -> Supervisor<BoxError>, ledger: Ledger) -> Result<(), BoxError> {
    ledger.listen();
    let group = TaskGroup::<BoxError>::scope(async |group| {
        group.spawn(plan(kind, &ledger).run());
        Ok(())
    });
    let outcome = timeout(Duration::from_secs(1), group).await?;
    outcome.map_err(|errors: GroupError<BoxError>| {
        ledger.tell(&errors.to_string());
        errors.into()
    })
}

const KINDS: [fn() -> Supervisor<BoxError>; 3] =
    [Supervisor::one_for_one, Supervisor::one_for_all, Supervisor::rest_for_one];

/// Fewer where every step is slow.
const PAIRS: u64 = if cfg!(miri) { 5 } else { 200 };

#[test]
fn a_supervisor_that_is_interrupted_loses_nobody_and_nothing() {
    for kind in KINDS {
        let ledger = Ledger::default();
        let program = || supervise(kind, ledger.clone());
        let Interrupted { points, runs, met, .. } =
            Interrupter::new().pairs(PAIRS).run(program, || ledger.close());
        eprintln!("{points} points, {runs} runs, {met} interruptions met a task");
        assert!(met > points, "most interruptions meet a task");
    }
}

#[test]
fn a_supervisor_keeps_its_word_under_every_schedule() {
    for kind in KINDS {
        let ledger = Ledger::default();
        Explorer::new().runs(PAIRS).run(|| {
            let (ledger, words) = (ledger.clone(), ledger.clone());
            async move {
                let outcome = supervise(kind, ledger).await;
                assert!(outcome.is_err(), "the budget is used up");
                let begun = words.0.lock().expect("whole").begun;
                assert!(begun > 4, "somebody was restarted");
                words.close();
                Ok::<_, BoxError>(())
            }
        });
    }
}

async fn replace_and_deduplicate(ledger: Ledger) -> Result<(), BoxError> {
    ledger.listen();
    let group = TaskGroup::<BoxError>::builder().supervise().scope(async |group| {
        let places = group.keyed();
        for round in 0..3 {
            for place in ["a", "b"] {
                let (places, ledger) = (places.clone(), ledger.clone());
                group.spawn(async move {
                    yield_now().await;
                    places.replace(place, child(ledger.clone(), place, 3, round == 1));
                    sleep(ms(round)).await;
                    places.get_or_spawn(place, child(ledger, place, 2, false));
                });
            }
        }
        Ok(())
    });
    let outcome = group.await;
    outcome.map_err(|errors| {
        ledger.tell(&errors.to_string());
        errors.into()
    })
}

#[test]
fn children_by_key_that_are_interrupted_lose_nobody_and_nothing() {
    let ledger = Ledger::default();
    let program = || replace_and_deduplicate(ledger.clone());
    let Interrupted { points, runs, met, .. } =
        Interrupter::new().pairs(PAIRS).run(program, || ledger.close());
    eprintln!("{points} points, {runs} runs, {met} interruptions met a task");
    assert!(met > points, "most interruptions meet a task");
}

#[test]
fn of_one_key_never_two_run_under_every_schedule() {
    let ledger = Ledger::default();
    Explorer::new().runs(PAIRS).run(|| {
        let (ledger, words) = (ledger.clone(), ledger.clone());
        async move {
            let _ = replace_and_deduplicate(ledger).await;
            words.close();
            Ok::<_, BoxError>(())
        }
    });
}
