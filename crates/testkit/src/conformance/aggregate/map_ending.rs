//! The end of an `amap`: by a consumer that leaves, a request, an error, a panic, a drop. Whatever it is, the
//! calls have ended, and every item was delivered or dropped once.

use std::future::Ready as ReadyFuture;

use futures_lite::{Stream, stream};

use crate::conformance::prelude::*;

/// The numbers below `end`; opens `polls` with every poll.
pub(super) fn counted(end: usize, polls: &Gate) -> impl Stream<Item = usize> + use<> {
    let (mut numbers, polls) = (0..end, polls.clone());
    stream::poll_fn(move |_| {
        polls.open();
        Poll::Ready(numbers.next())
    })
}

/// A call that gives its item back.
pub(super) fn identity(n: usize) -> ReadyFuture<Result<usize, Burnt>> {
    ready(Ok(n))
}

/// A call that opens a gate, waits for ever, takes its time to end, and opens the gate again.
async fn endless(gate: Gate, trace: Trace) -> Result<usize, Burnt> {
    let tidy = async {
        sleep(ms(10)).await;
        trace.add("a call has tidied up");
        gate.open();
    };
    parked(gate.clone()).on_cancel(tidy).await?;
    Ok(0)
}

/// A consumer that leaves early, by dropping the results or by returning, ends the map: nothing more is read, calls that
/// run are cancelled and waited for.
pub fn law_a7_leaving_a_map_ends_its_calls(kitchen: &Kitchen) {
    for drops in [true, false] {
        let trace = kitchen.trace();
        let log = trace.clone();
        kitchen.run(async move {
            let (polls, begun) = (Gate::new(), Gate::new());
            let (flag, words) = (begun.clone(), log.clone());
            let map = amap(counted(10, &polls), move |_| endless(flag.clone(), words.clone())).limit(2);
            let map = map.scope(async |results| {
                begun.reached(2).await;
                if drops {
                    drop(results);
                    begun.reached(4).await;
                    log.add("the consumer returns");
                }
                Ok(())
            });
            map.await.expect("a call that is cancelled is no failure");
            log.add("the map is over");
            assert_eq!(polls.count(), 2, "nothing is read for nobody");
        });
        let tidied = (10, "a call has tidied up");
        match drops {
            true => trace.expect(&[tidied, tidied, (10, "the consumer returns"), (10, "the map is over")]),
            false => trace.expect(&[tidied, tidied, (10, "the map is over")]),
        }
    }
}

/// Every result is delivered or dropped once, whenever the consumer leaves.
pub fn law_c17_a_map_drops_what_nobody_takes(kitchen: &Kitchen) {
    for round in 0..ROUNDS {
        leave_early(kitchen, round);
    }
}

/// As many results are taken as `round` says, with calls that end in an order that it says, too.
fn leave_early(kitchen: &Kitchen, round: usize) {
    let probe = Probe::new();
    let ledger = probe.clone();
    kitchen.run(async move {
        let map = amap_iter(0..8_usize, move |n| {
            let item = ledger.item();
            async move {
                turns((n * 7 + round) % 4).await;
                Ok::<_, Burnt>(item)
            }
        });
        let map = map.limit(1 + round % 4).read_ahead(1 + round % 6).scope(async |mut results| {
            for _ in 0..round % 9 {
                results.next().await.expect("there are eight").deliver();
            }
            Ok(())
        });
        map.await.expect("nobody fails");
    });
    assert_eq!(probe.delivered(), round % 9);
    assert!(probe.is_balanced(), "round {round}: {} items are left", probe.alive());
}

/// A request goes to the consumer; when that has unwound, the calls are cancelled and waited for.
pub fn law_g5_a_request_ends_a_map(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let begun = Gate::new();
        let (flag, words) = (begun.clone(), log.clone());
        let mapping = spawn(async move {
            let calls = words.clone();
            let map = amap_iter(0..5, move |_| endless(flag.clone(), calls.clone())).limit(1);
            let map = map.scope(async |mut results| {
                let _consumer = OnDrop(words.clone(), "the consumer is gone");
                results.next().await;
                Ok(())
            });
            map.await.map_err(first_failure)
        });
        begun.wait().await;
        mapping.cancel();
        let reason = cancelled(mapping.await);
        assert_eq!(reason.kind(), CancelKind::Explicit);
        log.add("the map is over");
    });
    trace.expect(&[(0, "the consumer is gone"), (10, "a call has tidied up"), (10, "the map is over")]);
}

/// A request that the consumer absorbs touches no call, and no item.
pub fn law_g5_a_consumer_of_a_map_may_absorb_a_request(kitchen: &Kitchen) {
    kitchen.run(async {
        let (waiting, go) = (Gate::new(), Gate::new());
        let (flag, gate) = (waiting.clone(), go.clone());
        let mapping = spawn(async move {
            let map = amap_iter(0..6, move |n: usize| {
                let gate = gate.clone();
                async move {
                    gate.wait().await;
                    Ok::<_, Burnt>(n)
                }
            });
            let map = map.limit(3).scope(async |mut results| {
                let caught = catch_cancel(counting(flag.clone(), results.next())).await;
                caught.expect_err("it was cancelled").uncancel();
                flag.open();
                let mut all = Vec::new();
                while let Some(n) = results.next().await {
                    all.push(n);
                }
                Ok(all)
            });
            map.await.map_err(first_failure)
        });
        waiting.wait().await;
        mapping.cancel();
        waiting.reached(2).await;
        go.open();
        assert_eq!(value(mapping.await), [0, 1, 2, 3, 4, 5]);
    });
}

/// An error of a call ends consumer and calls, and is returned.
pub fn law_g2_an_error_of_a_call_ends_its_map(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let (polls, begun) = (Gate::new(), Gate::new());
        let (flag, words, gone) = (begun.clone(), log.clone(), Trace::new());
        let map = amap(counted(10, &polls), move |n| {
            let (begun, words) = (flag.clone(), words.clone());
            async move {
                if n < 2 {
                    return endless(begun, words).await;
                }
                begun.reached(2).await;
                Err(Burnt("the third"))
            }
        });
        let map = map.limit(3).scope(async |mut results| {
            let _consumer = OnDrop(gone.clone(), "the consumer");
            results.next().await;
            Ok(())
        });
        let errors = map.await.expect_err("a call failed");
        assert_eq!(errors.len(), 1);
        assert_eq!(first(&errors).name(), "amap[2]");
        assert_eq!(first_failure(errors), Burnt("the third"));
        assert_eq!(polls.count(), 3, "nothing is read for a map that has failed");
        assert_eq!(gone.words(), ["the consumer"]);
    });
    let tidied = (10, "a call has tidied up");
    trace.expect(&[tidied, tidied]);
}

/// An error may be a result like any other, if the call says so.
pub fn law_a2_errors_can_be_results_of_a_map(kitchen: &Kitchen) {
    kitchen.run(async {
        let odd = |n: u32| async move { Ok::<_, Burnt>(if n % 2 == 0 { Ok(n) } else { Err("odd") }) };
        let all = amap_iter(0..4, odd).collect().await.expect("nobody fails");
        assert_eq!(all, [Ok(0), Err("odd"), Ok(2), Err("odd")]);
    });
}

/// A panic is an entry, wherever it happens: in a call, in what makes calls, in the source, in the consumer.
pub fn law_g3_a_panic_in_a_map_is_an_entry(kitchen: &Kitchen) {
    kitchen.run(async {
        let nothing = async |mut results: Mapped<usize>| {
            while results.next().await.is_some() {}
            Ok(())
        };
        let told = |errors: GroupError<Burnt>| {
            let mut errors: Vec<_> = errors.into_iter().map(ChildError::into_error).collect();
            assert_eq!(errors.len(), 1, "{errors:?}");
            panicked::<(), _>(Err(errors.remove(0))).message().to_owned()
        };
        let in_a_call = |n| async move { if n == 1 { panic!("in a call") } else { Ok(n) } };
        let errors = amap_iter(0..3, in_a_call).scope(nothing).await.expect_err("it panics");
        assert_eq!(told(errors), "in a call");

        let in_the_maker = |n| if n == 1 { panic!("in the maker") } else { identity(n) };
        let errors = amap_iter(0..3, in_the_maker).scope(nothing).await.expect_err("it panics");
        assert_eq!(told(errors), "in the maker");

        let source = stream::poll_fn(|_| -> Poll<Option<usize>> { panic!("in the source") });
        let errors = amap(source, identity).scope(nothing).await.expect_err("it panics");
        assert_eq!(told(errors), "in the source");

        let consumer = async |_: Mapped<usize>| -> Result<(), Burnt> { panic!("in the consumer") };
        let errors = amap_iter(0..3, identity).scope(consumer).await.expect_err("it panics");
        assert_eq!(told(errors), "in the consumer");
    });
}

/// A call that somebody else cancels is no failure; its result is left out, and those after it come.
pub fn law_g2_a_cancelled_call_gives_no_result(kitchen: &Kitchen) {
    for unordered in [false, true] {
        kitchen.run(async move {
            let begun = Gate::new();
            let flag = begun.clone();
            let map = amap_iter(0..4, move |n: usize| {
                let begun = flag.clone();
                async move { if n == 1 { parked(begun).await.map(|()| n) } else { Ok(n) } }
            });
            let map = if unordered { map.unordered() } else { map };
            let map = map.scope(async |mut results| {
                begun.wait().await;
                let call = all_tasks().into_iter().find(|task| &*task.name() == "amap[1]");
                call.expect("it runs").cancel();
                let mut all = Vec::new();
                while let Some(n) = results.next().await {
                    all.push(n);
                }
                all.sort_unstable();
                Ok(all)
            });
            assert_eq!(map.await.expect("nobody fails"), [0, 2, 3]);
        });
    }
}

/// A map that is dropped half-way leaves its calls to the runtime, cancelled.
pub fn law_c16_a_dropped_map_cancels_its_calls(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let log = trace.clone();
    kitchen.run(async move {
        let begun = Gate::new();
        let (flag, words) = (begun.clone(), log.clone());
        let map = amap_iter(0..3, move |_| endless(flag.clone(), words.clone())).limit(2);
        let mut map = Box::pin(map.collect());
        assert!(poll_once(map.as_mut()).await.is_pending());
        assert!(poll_once(map.as_mut()).await.is_pending());
        begun.reached(2).await;
        log.add("the map is dropped");
        drop(map);
    });
    let tidied = (10, "a call has tidied up");
    trace.expect(&[(0, "the map is dropped"), tidied, tidied]);
}

/// Results that are carried out of their map are those of the calls that had begun.
pub fn law_g1_results_outlive_their_map(kitchen: &Kitchen) {
    kitchen.run(async {
        let map = amap_iter(0..9, identity).limit(3).scope(async |results| {
            until(|| results.waiting() == 3).await;
            Ok(results)
        });
        let mut results = map.await.expect("nobody fails");
        let mut all = Vec::new();
        while let Some(n) = results.next().await {
            all.push(n);
        }
        assert_eq!(all, [0, 1, 2]);
    });
}
