//! `#[brigade::main]` and `#[brigade::test]`, used as their users do: nothing is imported for them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Each module is a program whose `main` the tests call.
mod programs {
    pub(crate) mod well {
        /// It has work to do on another worker.
        #[brigade::main(workers = 2, grace = "500ms")]
        pub(crate) async fn main() -> Result<(), brigade::BoxError> {
            let task = brigade::spawn(async { Ok::<_, brigade::BoxError>(6 * 7) });
            match task.await? {
                42 => Ok(()),
                other => Err(format!("{other}").into()),
            }
        }
    }

    pub(crate) mod failing {
        #[brigade::main(current_thread, grace = 1)]
        pub(crate) async fn main() -> Result<(), &'static str> {
            Err("the stove is cold")
        }
    }

    pub(crate) mod cancelled {
        #[brigade::main(current_thread, signals)]
        pub(crate) async fn main() -> ! {
            brigade::current_task().expect("main is a task").cancel();
            std::future::pending().await
        }
    }

    pub(crate) mod without_options {
        #[brigade::main]
        pub(crate) async fn main() {
            assert_eq!(&*brigade::current_task().expect("main is a task").name(), "main");
        }
    }

    /// Names that the attributes could trip over, if what they write relied on imports.
    pub(crate) mod hostile {
        #![allow(dead_code, reason = "they are only in the way")]
        mod brigade {}
        mod brigade_testkit {}
        mod core {}
        mod std {}
        struct Runner;

        #[::brigade::main(grace = "1s")]
        pub(crate) async fn main() {}

        #[::brigade::test]
        async fn a_test_among_hostile_names() {}
    }
}

#[test]
fn a_value_is_success() {
    assert_eq!(code(programs::well::main()), code(std::process::ExitCode::SUCCESS));
    assert_eq!(code(programs::without_options::main()), code(std::process::ExitCode::SUCCESS));
    assert_eq!(code(programs::hostile::main()), code(std::process::ExitCode::SUCCESS));
}

#[test]
fn an_error_and_a_cancellation_are_failure() {
    assert_eq!(code(programs::failing::main()), code(std::process::ExitCode::FAILURE));
    assert_eq!(code(programs::cancelled::main()), code(std::process::ExitCode::FAILURE));
}

/// Exit codes cannot be compared.
fn code(code: std::process::ExitCode) -> String {
    format!("{code:?}")
}

#[brigade::test]
async fn time_is_virtual() {
    brigade::sleep(Duration::from_secs(1_000_000)).await;
    assert_eq!(brigade::Instant::now() - brigade::Instant::ZERO, Duration::from_secs(1_000_000));
}

#[brigade::test]
async fn a_test_need_not_be_send() {
    let shared = std::rc::Rc::new(1);
    brigade::yield_now().await;
    assert_eq!(*shared, 1);
}

#[brigade::test]
#[should_panic(expected = "the soup is cold")]
async fn a_panic_is_the_tests_own() {
    assert!(std::hint::black_box(false), "the soup is cold");
}

#[brigade::test]
#[should_panic(expected = "the test failed: \"burnt\"")]
async fn an_error_fails_the_test() -> Result<(), &'static str> {
    Err("burnt")
}

#[brigade::test]
#[should_panic(expected = "the test was cancelled: ")]
async fn a_cancellation_fails_the_test() {
    brigade::current_task().expect("a test is a task").cancel();
    brigade::yield_now().await;
}

#[brigade::test]
#[should_panic(expected = "the program can never go on")]
async fn a_test_that_hangs_fails() {
    std::future::pending().await
}

#[brigade::test(backend = current_thread)]
async fn on_one_thread() {
    let here = std::thread::current().id();
    let task = brigade::spawn(async move { Ok::<_, brigade::BoxError>(std::thread::current().id() == here) });
    assert!(task.await.expect("it ends well"));
}

#[brigade::test(backend = multi_thread, workers = 2)]
async fn on_two_workers() -> Result<(), brigade::BoxError> {
    // Each waits for the other on its thread, so one worker would hang: there are two.
    let meet = std::sync::Arc::new(std::sync::Barrier::new(2));
    let other = meet.clone();
    let task = brigade::spawn(async move {
        other.wait();
    });
    let own = brigade::spawn(async move {
        meet.wait();
    });
    task.await?;
    own.await?;
    Ok(())
}

/// Counts the runs of the test below.
static RUNS: AtomicUsize = AtomicUsize::new(0);

#[brigade::test(seeds = 5)]
async fn seeds_are_runs() {
    // Relaxed: all runs are on one thread.
    RUNS.fetch_add(1, Ordering::Relaxed);
    let runs = RUNS.load(Ordering::Relaxed);
    assert!(runs <= 6, "five runs, of which the first is made twice, but this is {runs}");
}

#[brigade::test(seeds = 100)]
#[should_panic(expected = "to run only this schedule again, set BRIGADE_SCHEDULE=")]
async fn seeds_find_an_unlucky_order_and_name_it() {
    let order = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let note = |name| {
        let order = order.clone();
        brigade::spawn(async move { order.lock().expect("nobody panics").push(name) })
    };
    let (soup, salad) = (note("soup"), note("salad"));
    soup.await.expect("it ends well");
    salad.await.expect("it ends well");
    assert_eq!(*order.lock().expect("nobody panics"), ["soup", "salad"], "this holds in order only");
}
