//! T1, T2: what a task may return, and the four ways in which it ends.

use crate::conformance::prelude::*;
use std::error::Error;

/// A task returns `()`, `!` or `Result<T, E>`, as `main` does.
pub fn law_t1_unit_never_and_result(kitchen: &Kitchen) {
    kitchen.run(async {
        let unit: Task<(), Infallible> = spawn(async {});
        let result: Task<u8, Burnt> = spawn(async { Ok(5) });
        let never: Task<Never, Infallible> = spawn(async {
            loop {
                pending::<()>().await;
            }
        });
        assert!(unit.await.is_ok());
        assert_eq!(result.await.ok(), Some(5));
        never.cancel();
        assert!(matches!(never.await, Err(TaskError::Cancelled(_))));
    });
}

/// Value, failure, cancellation and panic are four things, and none of them is lost.
pub fn law_t2_four_outcomes(kitchen: &Kitchen) {
    kitchen.run(async {
        let well = spawn(async { Ok::<_, Burnt>(42) });
        let badly = spawn(async { Err::<(), _>(Burnt("soup")) });
        let cancelled_task = spawn(parked(Gate::new()));
        let panics = spawn(async {
            if true {
                panic!("the pan is on fire");
            }
            Ok::<(), Burnt>(())
        });
        cancelled_task.cancel();
        assert_eq!(value(well.await), 42);
        assert_eq!(failed(badly.await), Burnt("soup"));
        assert_eq!(cancelled(cancelled_task.await).kind(), CancelKind::Explicit);
        assert_eq!(panicked(panics.await).message(), "the pan is on fire");
    });
}

/// `Failed` displays as the error does; the other two name the task.
pub fn law_t2_messages_name_the_task(kitchen: &Kitchen) {
    kitchen.run(async {
        let failing = Builder::new().name("cook-1").spawn(async { Err::<(), _>(Burnt("soup")) });
        let stopped = Builder::new().name("cook-2").spawn(parked(Gate::new()));
        let burning = Builder::new().name("cook-3").spawn(async { panic!("fire") });
        stopped.cancel();
        let failure = failing.await.expect_err("it fails");
        let cancellation = stopped.await.expect_err("it is cancelled");
        let panic = burning.await.expect_err("it panics");
        assert_eq!(failure.to_string(), "burnt soup");
        assert!(cancellation.to_string().contains("cook-2"), "{cancellation}");
        assert!(panic.to_string().contains("cook-3") && panic.to_string().contains("fire"), "{panic}");
    });
}

/// One `?` gives the value in functions that return a boxed error, whatever the error of the task.
pub fn law_t2_question_mark_into_boxes(kitchen: &Kitchen) {
    async fn dinner() -> Result<u32, BoxError> {
        let plain = spawn(async { Ok::<u32, Burnt>(1) });
        let boxed = spawn(async { Ok::<u32, BoxError>(2) });
        Ok(plain.await? + boxed.await?)
    }
    async fn disaster() -> Result<(), BoxError> {
        spawn(async { Err::<(), _>(Burnt("fish")) }).await?;
        Ok(())
    }
    kitchen.run(async {
        assert_eq!(dinner().await.expect("both give a value"), 3);
        assert_eq!(disaster().await.expect_err("it fails").to_string(), "burnt fish");
    });
}

/// `erase()` keeps the whole chain of sources; a boxed error gives its source at once.
pub fn law_t2_source_chain_survives(kitchen: &Kitchen) {
    #[derive(Debug)]
    struct Course(Burnt);
    impl std::fmt::Display for Course {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a course is lost")
        }
    }
    impl Error for Course {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }
    fn names_the_fish(error: &(dyn Error + 'static)) -> bool {
        let mut next = Some(error);
        while let Some(error) = next {
            if error.to_string() == "burnt fish" {
                return true;
            }
            next = error.source();
        }
        false
    }
    kitchen.run(async {
        let typed = spawn(async { Err::<(), _>(Course(Burnt("fish"))) }).await.expect_err("it fails");
        assert!(names_the_fish(&typed.erase()));
        let boxed = spawn(async { Err::<(), BoxError>(Box::new(Course(Burnt("fish")))) }).await;
        assert!(names_the_fish(&boxed.expect_err("it fails")));
    });
}

/// A panic is cheap to pass on: `Send + Sync + Clone`, with the payload for the first who takes it.
pub fn law_t2_panic_payload_is_taken_once(kitchen: &Kitchen) {
    fn is_shareable<T: Send + Sync + Clone>(_: &T) {}
    kitchen.run(async {
        let task = Builder::new().name("fryer").spawn(async { std::panic::panic_any(17_u64) });
        let panic = panicked(task.await.map(drop));
        is_shareable(&panic);
        let copy = panic.clone();
        let payload = copy.take_payload().expect("nobody took it yet");
        assert_eq!(payload.downcast_ref::<u64>(), Some(&17));
        assert!(panic.take_payload().is_none(), "the payload exists once");
        assert_eq!(panic.task_name(), "fryer");
    });
}

/// An outcome reaches the waiter that is already there, and the one that comes late.
pub fn law_t2_early_and_late_waiters(kitchen: &Kitchen) {
    kitchen.run(async {
        let gate = Gate::new();
        let slow = spawn({
            let gate = gate.clone();
            async move {
                gate.wait().await;
                Ok::<_, Burnt>("slow")
            }
        });
        let waiting = Gate::new();
        let early = spawn({
            let waiting = waiting.clone();
            async move { counting(waiting, async move { slow.await.map_err(|_| Burnt("it")) }).await }
        });
        waiting.wait().await;
        gate.open();
        assert_eq!(value(early.await), "slow");
        let late = spawn(async { Ok::<_, Burnt>("late") });
        until(|| late.done()).await;
        assert_eq!(value(late.await), "late");
    });
}
