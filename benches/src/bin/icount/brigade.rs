//! Brigade on its current-thread backend.

use std::convert::Infallible;
use std::future::Future;

use brigade_core::{Handle, RunOptions, Task, run_main};
use brigade_executor::CurrentThread;

use crate::bare::LOOK_AROUND;
use crate::host::Host;

pub(crate) struct Brigade;

impl Host for Brigade {
    type Task = Task<(), Infallible>;

    fn run(main: impl Future<Output = ()> + Send + 'static) {
        // By count, since time passes fifty times as slowly where instructions are counted.
        let backend = CurrentThread::with_event_interval(LOOK_AROUND).expect("there are descriptors");
        let handle = Handle::new(backend.clone());
        run_main(&handle, &*backend, RunOptions::new(), main).expect("no workload fails");
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Self::Task {
        brigade_core::spawn(future)
    }

    async fn join(task: Self::Task) {
        task.await.expect("no task of a workload fails");
    }

    fn detach(task: Self::Task) {
        drop(task);
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        brigade_core::yield_now()
    }
}
