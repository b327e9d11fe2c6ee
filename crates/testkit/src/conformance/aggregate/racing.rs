//! A5, A6, A7: `race`, `first_success`, what aggregates poll, and what a cancellation does to branches.

use crate::conformance::prelude::*;

/// `race` returns the first to end, cancels the losers and waits for them.
pub fn law_a5_race_cancels_and_waits_for_the_losers(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let words = log.clone();
        let loser = pending::<Result<u32, Burnt>>().finally(async move {
            sleep(ms(20)).await;
            words.add("loser ends");
        });
        let winner = async {
            yield_now().await;
            Ok::<u32, Burnt>(1)
        };
        assert_eq!(race((loser, winner)).await, Ok(1));
        log.add("race ends");
    });
    trace.expect(&[(20, "loser ends"), (20, "race ends")]);
}

/// The first to end wins, also with an error.
pub fn law_a5_race_is_won_by_an_error_too(kitchen: &Kitchen) {
    kitchen.run(async {
        let failing = async {
            yield_now().await;
            Err::<u32, _>(Burnt("first"))
        };
        assert_eq!(race((pending::<Result<u32, Burnt>>(), failing)).await, Err(Burnt("first")));
    });
}

/// Tasks race as well; the losers are cancelled.
pub fn law_a5_tasks_race(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let loser = spawn(parked(ready.clone()));
        let watch = loser.to_ref();
        ready.wait().await;
        let winner = spawn(async { Ok::<(), Burnt>(()) });
        value(race(vec![loser, winner]).await);
        assert!(watch.cancelled());
    });
}

/// `first_success` returns the first `Ok`, and otherwise all errors.
pub fn law_a5_first_success(kitchen: &Kitchen) {
    // Errors that came before the success are lost on purpose or reported; the law leaves it open.
    kitchen.open().run_reporting(async {
        let branch = |millis: u64, outcome: Result<u32, Burnt>| async move {
            sleep(ms(millis)).await;
            outcome
        };
        let won = first_success([branch(10, Err(Burnt("early"))), branch(30, Ok(2)), branch(60_000, Ok(3))]);
        assert_eq!(won.await.ok(), Some(2));
        let lost = first_success([branch(20, Err(Burnt("a"))), branch(10, Err(Burnt("b")))]).await;
        let errors = lost.expect_err("all failed").into_errors();
        assert_eq!(errors.len(), 2);
        assert!(errors.contains(&Burnt("a")) && errors.contains(&Burnt("b")));
    });
}

/// A gather polls only the branch that was woken, and not quadratically often.
pub fn law_a6_only_woken_branches_are_polled(kitchen: &Kitchen) {
    kitchen.run(async {
        let count = if cfg!(miri) { 20 } else { 1000 };
        let (polls, gates) = (Gate::new(), (0..count).map(|_| Gate::new()).collect::<Vec<_>>());
        let branches: Vec<_> = gates
            .iter()
            .map(|gate| {
                let gate = gate.clone();
                counting(polls.clone(), async move {
                    gate.wait().await;
                    Ok::<_, Burnt>(())
                })
            })
            .collect();
        let opener = spawn({
            let (gates, polls) = (gates.clone(), polls.clone());
            async move {
                polls.reached(count).await;
                for gate in gates.iter().rev() {
                    gate.open();
                    yield_now().await;
                }
            }
        });
        gather_all(branches).await.expect("nobody fails");
        value(opener.await);
        assert!(polls.count() <= 3 * count, "{} polls of {count} branches", polls.count());
    });
}

/// A gather whose branches all wait wakes nobody.
pub fn law_a6_nothing_spins_while_all_branches_wait(kitchen: &Kitchen) {
    kitchen.run(async {
        let (polls, gate) = (Gate::new(), Gate::new());
        let task = spawn(counting(polls.clone(), {
            let gate = gate.clone();
            async move {
                let branches = (0..10).map(|_| {
                    let gate = gate.clone();
                    async move {
                        gate.wait().await;
                        Ok::<_, Burnt>(())
                    }
                });
                gather_all(branches).await.map(drop)
            }
        }));
        polls.wait().await;
        turns(50).await;
        assert!(polls.count() <= 2, "{} polls", polls.count());
        gate.open();
        value(task.await);
    });
}

/// A branch's wake-up is not stolen by its siblings: all are polled again when all were woken.
pub fn law_a6_no_wake_up_is_stolen(kitchen: &Kitchen) {
    kitchen.run(async {
        let go = Gate::new();
        let shared = held(&go).shared();
        let branches = (0..5).map(|_| {
            let shared = shared.clone();
            async move { shared.await.map_err(|_| Burnt("no")) }
        });
        let branches: Vec<_> = branches.collect();
        let gathering = spawn(async move { gather_all(branches).await });
        turns(5).await;
        go.open();
        assert_eq!(value(gathering.await), [7; 5]);
        assert_eq!(shared.await.expect("a value"), 7);
    });
}

fn held(go: &Gate) -> Task<u32, Burnt> {
    let go = go.clone();
    spawn(async move {
        go.wait().await;
        Ok(7)
    })
}

/// As documented: branches of `gather` (in all its forms) and `race` are cancelled with their caller, tasks
/// under `wait` and `as_completed` are not.
pub fn law_a7_what_a_cancellation_does_to_branches(kitchen: &Kitchen) {
    type Caller = fn(Task<(), Burnt>) -> Pin<Box<dyn Future<Output = ()> + Send>>;
    let callers: [(Caller, bool); 6] = [
        (|task| Box::pin(async move { drop(gather(vec![task]).await) }), true),
        (|task| Box::pin(async move { drop(gather(vec![task]).return_errors().await) }), true),
        (|task| Box::pin(async move { drop(race(vec![task]).await) }), true),
        (|task| Box::pin(async move { drop(gather(vec![task]).leave_running().await) }), true),
        (|task| Box::pin(async move { drop(wait(vec![task]).await) }), false),
        (|task| Box::pin(async move { drop(as_completed(vec![task]).next().await) }), false),
    ];
    kitchen.run(async move {
        for (caller, cancels) in callers {
            let (ready, waiting) = (Gate::new(), Gate::new());
            let task = spawn(parked(ready.clone()));
            let watch = task.to_ref();
            ready.wait().await;
            let calling = spawn(counting(waiting.clone(), caller(task)));
            waiting.wait().await;
            calling.cancel();
            cancelled(calling.await);
            assert_eq!(watch.done(), cancels);
            assert_eq!(watch.cancelled(), cancels);
            watch.cancel();
            watch.finished().await;
        }
    });
}
