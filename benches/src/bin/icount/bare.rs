//! async-task alone on the same kind of scheduler as Brigade's current-thread backend: what the semantics of tasks,
//! scopes and cancellation cost is the difference.
//!
//! The scheduler does what `brigade-executor`'s does for every job: it looks whether the calling thread drives it,
//! pushes to a queue of that thread, runs rounds, looks into the queue of other threads before each, and counts jobs until
//! the next look at timers, which it does not have. A task knows its scheduler by its metadata, so that the function
//! that schedules has no size, and async-task spares a waker.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_task::{Builder, Task};
use futures_lite::future::yield_now;

use crate::host::Host;

pub(crate) struct Bare;

impl Host for Bare {
    type Task = Task<(), Arc<Shared>>;

    fn run(main: impl Future<Output = ()> + Send + 'static) {
        let driver = Rc::new(Driver::default());
        CURRENT.with(|current| current.replace(Some(driver.clone())));
        let main = Self::spawn(main);
        while !main.is_finished() {
            driver.round();
        }
        CURRENT.with(|current| current.replace(None));
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Self::Task {
        let shared = with_driver(|driver| driver.expect("a workload spawns inside").shared.clone());
        let (job, task) = Builder::new().metadata(shared).spawn(|_| future, schedule);
        job.schedule();
        task
    }

    fn join(task: Self::Task) -> impl Future<Output = ()> + Send {
        task
    }

    fn detach(task: Self::Task) {
        task.detach();
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        yield_now()
    }
}

type Job = async_task::Runnable<Arc<Shared>>;

/// The part that other threads could reach.
#[derive(Default)]
pub(crate) struct Shared {
    len: AtomicUsize,
    injected: Mutex<VecDeque<Job>>,
}

/// The part of the driving thread.
#[derive(Default)]
struct Driver {
    shared: Arc<Shared>,
    queue: RefCell<VecDeque<Job>>,
    patience: Cell<u32>,
}

fn schedule(job: Job) {
    with_driver(|driver| match driver {
        Some(driver) if Arc::ptr_eq(&driver.shared, job.metadata()) => {
            driver.queue.borrow_mut().push_back(job);
        }
        _ => inject(job),
    });
}

#[cold]
fn inject(job: Job) {
    let shared = job.metadata().clone();
    let mut injected = shared.injected.lock().expect("nobody panics here");
    injected.push_back(job);
    // SeqCst: pairs with the load in `collect`.
    shared.len.store(injected.len(), Ordering::SeqCst);
}

impl Driver {
    fn round(&self) {
        self.collect();
        let jobs = self.queue.borrow().len();
        for _ in 0..jobs {
            let Some(job) = self.queue.borrow_mut().pop_front() else { break };
            job.run();
            self.patience.set(self.patience.get().checked_sub(1).unwrap_or(LOOK_AROUND));
        }
    }

    fn collect(&self) {
        // SeqCst: pairs with the store in `inject`.
        if self.shared.len.load(Ordering::SeqCst) > 0 {
            let mut injected = self.shared.injected.lock().expect("nobody panics here");
            self.queue.borrow_mut().append(&mut injected);
        }
    }
}

fn with_driver<R>(action: impl FnOnce(Option<&Driver>) -> R) -> R {
    CURRENT.with(|current| action(current.borrow().as_deref()))
}

/// After so many polls both look at timers and sockets.
pub(crate) const LOOK_AROUND: u32 = 61;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Driver>>> = const { RefCell::new(None) };
}
