//! `amap`: how much runs, what is read, what comes out, and when. How it ends is in [`super::map_ending`].

use futures_lite::{StreamExt, stream};

use super::map_ending::{counted, identity};
use crate::conformance::prelude::*;

/// Exactly `limit` calls run at once if there is enough to do, and all of them run.
pub fn law_g8_a_map_runs_as_many_calls_as_its_limit(kitchen: &Kitchen) {
    kitchen.run(async {
        let (begun, go) = (Gate::new(), Gate::new());
        let watch = spawn({
            let (begun, go) = (begun.clone(), go.clone());
            async move {
                begun.reached(4).await;
                turns(50).await;
                assert_eq!(begun.count(), 4, "calls that run at once");
                go.open();
            }
        });
        let (running, most) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let record = most.clone();
        let squares = amap_iter(0..40_usize, move |n| {
            let (begun, go, running, most) = (begun.clone(), go.clone(), running.clone(), record.clone());
            async move {
                *running.lock().expect("whole") += 1;
                begun.open();
                go.wait().await;
                turns(n % 5).await;
                let mut running = running.lock().expect("whole");
                let mut most = most.lock().expect("whole");
                *most = (*running).max(*most);
                *running -= 1;
                Ok::<_, Burnt>(n * n)
            }
        });
        let squares = squares.limit(4).read_ahead(9).collect().await.expect("nobody fails");
        assert_eq!(squares, (0..40).map(|n| n * n).collect::<Vec<_>>());
        assert!(*most.lock().expect("whole") <= 4);
        value(watch.await);
    });
}

/// Results come in the order of the items, whatever ends first.
pub fn law_a1_a_map_is_ordered(kitchen: &Kitchen) {
    kitchen.run(async {
        let gates: [Gate; 3] = Default::default();
        let held = gates.clone();
        let map = amap_iter(0..3, move |n| holding(held[n].clone(), n)).scope(async |mut results| {
            gates[2].open();
            until(|| results.waiting() == 1).await;
            assert!(poll_once(pin!(results.next())).await.is_pending(), "the last came first");
            gates[0].open();
            assert_eq!(results.next().await, Some(0));
            assert!(poll_once(pin!(results.next())).await.is_pending(), "the last came second");
            gates[1].open();
            assert_eq!([results.next().await, results.next().await], [Some(1), Some(2)]);
            assert_eq!(results.next().await, None);
            Ok(())
        });
        map.await.expect("nobody fails");
    });
}

/// Unordered, they come as the calls end.
pub fn law_a4_an_unordered_map_gives_what_has_ended(kitchen: &Kitchen) {
    kitchen.run(async {
        let gates: [Gate; 3] = Default::default();
        let held = gates.clone();
        let map = amap_iter(0..3, move |n| holding(held[n].clone(), n));
        let map = map.unordered().scope(async |mut results| {
            for n in [2, 0, 1] {
                gates[n].open();
                assert_eq!(results.next().await, Some(n));
            }
            assert_eq!(results.next().await, None);
            Ok(())
        });
        map.await.expect("nobody fails");
    });
}

async fn holding(gate: Gate, n: usize) -> Result<usize, Burnt> {
    gate.wait().await;
    Ok(n)
}

/// At most so many calls start within any time of that length, and time that nobody used is not saved up.
pub fn law_d8_a_map_keeps_its_rate_on_the_backends_clock(kitchen: &Kitchen) {
    let trace = kitchen.trace();
    let starts = |trace: &Trace| {
        let log = trace.clone();
        move |n: usize| {
            log.add(n.to_string());
            identity(n)
        }
    };
    let (steady, late) = (starts(&trace), starts(&trace));
    kitchen.run(async move {
        amap_iter(0..5, steady).rate(2, ms(100)).collect().await.expect("nobody fails");
        sleep(ms(300)).await;
        // A bucket, which fills up while nothing comes, would let item 8 start 50 ms earlier.
        let items = stream::iter(5..9).then(async |n| {
            if n == 6 {
                sleep(ms(500)).await;
            }
            n
        });
        amap(items, late).rate(2, ms(100)).collect().await.expect("nobody fails");
    });
    trace.expect(&[
        (0, "0"),
        (0, "1"),
        (100, "2"),
        (100, "3"),
        (200, "4"),
        (500, "5"),
        (1000, "6"),
        (1000, "7"),
        (1100, "8"),
    ]);
}

/// The source is not polled beyond what may be under way, however long nobody takes a result.
pub fn law_g8_a_map_reads_no_further_than_it_may(kitchen: &Kitchen) {
    kitchen.run(async {
        let polls = Gate::new();
        let map = amap(counted(20, &polls), identity).limit(2).read_ahead(5);
        let map = map.scope(async |mut results| {
            until(|| results.waiting() == 5).await;
            turns(50).await;
            assert_eq!(polls.count(), 5);
            assert_eq!(results.next().await, Some(0));
            until(|| results.waiting() == 5).await;
            turns(50).await;
            assert_eq!(polls.count(), 6, "one is taken, so one is read");
            Ok(())
        });
        map.await.expect("nobody fails");
    });
}

/// A slow consumer slows the source down.
pub fn law_g8_a_slow_consumer_slows_a_map_down(kitchen: &Kitchen) {
    for unordered in [false, true] {
        kitchen.run(async move {
            let polls = Gate::new();
            let map = amap(counted(30, &polls), identity).limit(3);
            let map = if unordered { map.unordered() } else { map };
            let map = map.scope(async |mut results| {
                let mut taken = 0;
                while results.next().await.is_some() {
                    taken += 1;
                    turns(20).await;
                    assert!(polls.count() <= taken + 3, "{} polls, {taken} taken", polls.count());
                }
                Ok(taken)
            });
            assert_eq!(map.await.expect("nobody fails"), 30);
        });
    }
}

/// The calls go on while the consumer is busy with something else, and begin as others end.
pub fn law_g1_calls_of_a_map_go_on_while_the_consumer_is_busy(kitchen: &Kitchen) {
    kitchen.run(async {
        let ended = Gate::new();
        let count = ended.clone();
        let map = amap_iter(0..10_usize, move |n| {
            let ended = count.clone();
            async move {
                turns(2).await;
                ended.open();
                Ok::<_, Burnt>(n)
            }
        });
        let map = map.limit(2).read_ahead(10).scope(async |results| {
            ended.reached(10).await;
            drop(results);
            Ok(())
        });
        map.await.expect("nobody fails");
    });
}

/// Nothing is lost when a wait for the next result is given up, by a timeout or otherwise.
pub fn law_c17_a_cancelled_next_of_a_map_loses_nothing(kitchen: &Kitchen) {
    kitchen.run(async {
        let probe = Probe::new();
        let items = probe.clone();
        let map = amap_iter(0..12_usize, move |n| {
            let item = items.item();
            async move {
                turns(3 * (n % 3)).await;
                sleep(ms(2)).await;
                Ok::<_, Burnt>((n, item))
            }
        });
        let map = map.limit(3).scope(async |mut results| {
            let mut expected = 0;
            loop {
                let next = match poll_once(pin!(results.next())).await {
                    Poll::Ready(next) => Ok(next),
                    Poll::Pending => timeout(ms(1), results.next()).await,
                };
                match next {
                    Err(_) => {}
                    Ok(None) => break,
                    Ok(Some((n, item))) => {
                        assert_eq!(n, expected);
                        item.deliver();
                        expected += 1;
                    }
                }
            }
            Ok(expected)
        });
        assert_eq!(map.await.expect("nobody fails"), 12);
        assert_eq!((probe.created(), probe.delivered()), (12, 12));
    });
}

/// A source that waits, one that ends at once, and one that ends while calls run.
pub fn law_a6_a_map_waits_for_its_source(kitchen: &Kitchen) {
    kitchen.run(async {
        let (polls, more) = (Gate::new(), Gate::new());
        let (log, gate) = (polls.clone(), more.clone());
        let source = stream::unfold(0, move |n| {
            let gate = gate.clone();
            counting(log.clone(), async move {
                if n == 2 {
                    gate.wait().await;
                }
                (n < 3).then_some((n, n + 1))
            })
        });
        let map = amap(source, identity).scope(async |mut results| {
            assert_eq!([results.next().await, results.next().await], [Some(0), Some(1)]);
            assert!(poll_once(pin!(results.next())).await.is_pending());
            turns(50).await;
            assert_eq!(polls.count(), 3, "a source that nothing has woken is not polled");
            more.open();
            assert_eq!(results.next().await, Some(2));
            assert_eq!([results.next().await, results.next().await], [None, None]);
            Ok(())
        });
        map.await.expect("nobody fails");
        assert!(amap_iter([], identity).collect().await.expect("nobody fails").is_empty());
    });
}

/// Many items cost as many polls, and not their square.
pub fn law_a6_a_map_is_linear_in_its_items(kitchen: &Kitchen) {
    kitchen.run(async {
        let count = if cfg!(miri) { 30 } else { 10_000 };
        for (unordered, limit) in [(false, 8), (true, 8), (false, count), (true, 1)] {
            let (polls, source) = (Gate::new(), Gate::new());
            let map = amap(counted(count, &source), identity).limit(limit);
            let map = if unordered { map.unordered() } else { map };
            let all = counting(polls.clone(), map.collect()).await.expect("nobody fails");
            assert_eq!(all.len(), count);
            assert_eq!(source.count(), count + 1, "polls of the source, limit {limit}");
            assert!(polls.count() <= 4 * count, "{} polls, limit {limit}", polls.count());
        }
    });
}

/// Calls have names and the place of the map, as other tasks have.
pub fn law_t7_calls_of_a_map_have_names(kitchen: &Kitchen) {
    kitchen.run(async {
        let told = |_| async {
            let task = current_task().expect("a call is a task");
            Ok::<_, Burnt>((task.name().to_string(), task.location().file()))
        };
        let unnamed = amap_iter(0..2, told).collect().await.expect("nobody fails");
        let named = amap_iter(0..2, told).name("fetch").collect().await.expect("nobody fails");
        let names: Vec<_> = unnamed.iter().chain(&named).map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["amap[0]", "amap[1]", "fetch[0]", "fetch[1]"]);
        assert!(unnamed.iter().chain(&named).all(|(_, file)| *file == file!()));
    });
}
