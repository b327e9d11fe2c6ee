//! Cases 66 and 99: what is left of children and scopes that are gone.

use crate::conformance::prelude::*;

/// Case 66: the old waker of a finished child does not reach the child that came after it.
pub fn case_066_a_stale_waker(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let kept = Slot::<Waker>::new();
            let slot = kept.clone();
            let first = group.spawn(poll_fn(move |cx| {
                slot.put(cx.waker().clone());
                Poll::Ready(())
            }));
            value(first.await);
            let stale = kept.take().expect("the first child left it here");
            let (polls, go) = (Gate::new(), Gate::new());
            let open = go.clone();
            let second = group.spawn(counting(polls.clone(), async move { open.wait().await }));
            polls.wait().await;
            for _ in 0..100 {
                stale.wake_by_ref();
                yield_now().await;
            }
            assert_eq!(polls.count(), 1, "the second child was polled for the first");
            go.open();
            value(second.await);
            Ok(())
        });
        group.await.expect("nobody fails");
    });
}

/// Case 99: many short scopes in a long-lived one, some dropped half-way, leave nothing that delays a request.
pub fn case_099_many_short_scopes(kitchen: &Kitchen) {
    kitchen.run(async {
        let (ready, handled) = (Gate::new(), Gate::new());
        let (gate, seen) = (ready.clone(), handled.clone());
        let task = spawn(async move {
            let long = catch_cancel(async {
                for round in 0..ROUNDS {
                    let middle = timeout(
                        ms(3_600_000),
                        catch_cancel(async {
                            if round % 2 == 0 {
                                pending::<()>().await;
                            }
                        }),
                    );
                    let mut middle = pin!(middle);
                    // Half of them are dropped while they wait, with a receiver registered inside.
                    let _ = poll_once(middle.as_mut()).await;
                }
                parked(gate).await
            });
            let token = long.await.expect_err("it is cancelled");
            seen.open();
            token.resume().await
        });
        ready.wait().await;
        task.cancel();
        cancelled::<Never, Infallible>(task.await);
        assert!(handled.is_open());
    });
}
