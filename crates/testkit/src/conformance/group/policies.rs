//! G9: policies, the given ones and one's own.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::conformance::prelude::*;

/// Under `supervise` a failure is recorded, and siblings and body go on.
pub fn law_g9_supervise_records_and_goes_on(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::builder().supervise().scope(async |group| {
            let go = Gate::new();
            let gate = go.clone();
            let sibling = group.spawn(async move {
                gate.wait().await;
                Ok(3)
            });
            group.spawn(async { Err::<(), _>(Burnt("first")) }).finished().await;
            group.spawn(async { panic!("second") }).finished().await;
            assert!(group.is_open());
            go.open();
            assert_eq!(value(sibling.await), 3);
            Ok(())
        });
        let errors = group.await.expect_err("two children failed");
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert_eq!(first_failure(errors), Burnt("first"));
    });
}

/// Under `supervise` the body's own failure still ends the group.
pub fn law_g9_a_supervising_body_that_fails_ends_the_group(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::builder().supervise().scope(async |group| {
            group.spawn(pending::<()>());
            Err::<(), _>(Burnt("body"))
        });
        let errors = group.await.expect_err("the body failed");
        assert!(errors.len() == 1 && first(&errors).is_body());
    });
}

/// `first_success`: the first value ends the other children and makes earlier failures void.
pub fn law_g9_first_success_ends_the_others(kitchen: &Kitchen) {
    kitchen.run(async {
        let kind = Slot::new();
        let group = TaskGroup::<Burnt>::builder().first_success().scope(async |group| {
            let ready = Gate::new();
            group.spawn(async { Err::<u8, _>(Burnt("early")) }).finished().await;
            let loser = group.spawn(parked(ready.clone()));
            ready.wait().await;
            let winner = group.spawn(async { Ok(7) });
            kind.put(cancelled(loser.await).kind());
            assert!(!group.is_open());
            Ok(value(winner.await))
        });
        assert_eq!(group.await.expect("one succeeded"), 7);
        assert_eq!(kind.take(), Some(CancelKind::GroupCancelled));
    });
}

/// `first_success` without any success: all errors.
pub fn law_g9_first_success_or_all_errors(kitchen: &Kitchen) {
    kitchen.run(async {
        let group = TaskGroup::<Burnt>::builder().first_success().scope(async |group| {
            for word in ["one", "two", "three"] {
                group.spawn(async move { Err::<(), _>(Burnt(word)) }).finished().await;
            }
            Ok(())
        });
        let errors = group.await.expect_err("nobody succeeded");
        let words: Vec<_> =
            errors.into_iter().map(|child| failed::<(), _>(Err(child.into_error())).0).collect();
        assert_eq!(words, ["one", "two", "three"]);
    });
}

/// Counts what it is told; ends the group at the second failure; returns the last error only.
#[derive(Default)]
struct Own {
    spawned: Arc<AtomicUsize>,
    failures: AtomicUsize,
    ends: Arc<Mutex<Vec<String>>>,
}

impl Policy<Burnt> for Own {
    fn on_spawn(&self, child: &TaskRef) {
        assert!(!child.done());
        // SeqCst: the partner is the load in the test.
        self.spawned.fetch_add(1, Ordering::SeqCst);
    }

    fn on_done(&self, child: &TaskRef, end: ChildEnd<'_, Burnt>) -> Next {
        self.ends.lock().expect("whole").push(format!("{} {:?}", child.name(), end.is_failure()));
        // SeqCst: partners are the other children's ends.
        let failures = self.failures.fetch_add(usize::from(end.is_failure()), Ordering::SeqCst);
        if end.is_failure() && failures == 1 { Next::Cancel } else { Next::Continue }
    }

    fn finish(&self, mut errors: Vec<ChildError<Burnt>>) -> Vec<ChildError<Burnt>> {
        errors.split_off(errors.len() - 1)
    }
}

/// One's own policy hears of every child and decides.
pub fn law_g9_a_policy_of_ones_own(kitchen: &Kitchen) {
    kitchen.run(async {
        let own = Own::default();
        let (spawned, ends) = (own.spawned.clone(), own.ends.clone());
        let group = TaskGroup::<Burnt>::builder().policy(own).scope(async |group| {
            group.spawn_named("well", async {}).finished().await;
            group.spawn_named("bad", async { Err::<(), _>(Burnt("bad")) }).finished().await;
            assert!(group.is_open());
            group.spawn_named("worse", async { Err::<(), _>(Burnt("worse")) });
            pending::<Result<(), Burnt>>().await
        });
        let errors = group.await.expect_err("the second failure ends the group");
        assert_eq!(errors.len(), 1);
        assert_eq!(first_failure(errors), Burnt("worse"));
        // SeqCst: the partner is `on_spawn`.
        assert_eq!(spawned.load(Ordering::SeqCst), 3);
        assert_eq!(*ends.lock().expect("whole"), ["well false", "bad true", "worse true"]);
    });
}
