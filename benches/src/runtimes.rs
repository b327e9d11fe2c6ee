//! What a workload needs of a runtime, and the runtimes that are compared.
//!
//! Every runtime keeps its threads for the whole run, and sleeps while another one is measured. The main part of a
//! workload runs as a task on a worker everywhere, never on the thread that waits for it.

mod brigade;
mod smol;
mod tokio;

use std::future::Future;
use std::net::TcpListener;
use std::time::Duration;

pub(crate) use self::brigade::Brigade;
pub(crate) use self::smol::Smol;
pub(crate) use self::tokio::Tokio;

/// A runtime whose tasks spawn on the runtime that they run on.
pub(crate) trait Runtime: Send + Sync + 'static {
    /// The handle of a task; dropping it is not part of any workload.
    type Task<T: Send + 'static>: Send + 'static;

    fn spawn<F>(future: F) -> Self::Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns a task that nobody waits for, in the runtime's own way.
    fn spawn_detached<F: Future<Output = ()> + Send + 'static>(future: F);

    /// The same from a thread that is no worker.
    fn spawn_from_outside<F: Future<Output = ()> + Send + 'static>(&self, future: F);

    fn join<T: Send + 'static>(task: Self::Task<T>) -> impl Future<Output = T> + Send;

    /// Asks all tasks to end, in the runtime's own way, and waits until they have.
    fn cancel_all(tasks: Vec<Self::Task<()>>) -> impl Future<Output = ()> + Send;

    fn yield_now() -> impl Future<Output = ()> + Send;

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send + 'static;

    /// The output of the future, or `None` if the time has run out.
    fn timeout<F>(limit: Duration, future: F) -> impl Future<Output = Option<F::Output>> + Send
    where
        F: Future + Send,
        F::Output: Send;

    /// Moves the deadline of one timer that many times, and polls it after each.
    fn rearm(times: usize) -> impl Future<Output = ()> + Send;

    /// Answers every connection with what it says, in messages of up to `size` bytes.
    fn serve_echo(listener: TcpListener, size: usize) -> impl Future<Output = ()> + Send;

    /// Answers every HTTP/1.1 request with [`HELLO`].
    fn serve_http(listener: TcpListener) -> impl Future<Output = ()> + Send;

    /// Takes every connection, says so, and drops it.
    fn accept_all(
        listener: TcpListener,
        accepted: impl Fn() + Send + Sync + 'static,
    ) -> impl Future<Output = ()> + Send;

    /// What the workers have done so far, as far as the runtime tells.
    fn counts(&self) -> Counts {
        Counts::default()
    }

    /// Runs `main` as a task on a worker, and blocks the calling thread until it has ended.
    fn block_on<F>(&self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;
}

/// What a runtime counts itself; nothing where it does not tell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// How often a worker went to sleep.
    pub(crate) parks: Option<u64>,
    /// How often a worker was woken to help the others.
    pub(crate) wakes: Option<u64>,
    /// How often a worker took work out of another one's queue.
    pub(crate) steals: Option<u64>,
}

/// The answer of the HTTP servers.
pub(crate) const HELLO: &str = "Hello, world!";

/// All runtimes, started.
pub(crate) struct Runtimes {
    pub(crate) workers: usize,
    pub(crate) brigade: Brigade,
    pub(crate) brigade_ct: Brigade,
    pub(crate) tokio: Tokio,
    pub(crate) tokio_ct: Tokio,
    pub(crate) smol: Smol,
}

impl Runtimes {
    /// Starts them, with that many workers where there can be more than one.
    pub(crate) fn start(workers: usize) -> Result<Runtimes, String> {
        Ok(Runtimes {
            workers,
            brigade: Brigade::new(workers)?,
            brigade_ct: Brigade::current_thread()?,
            tokio: Tokio::new(workers)?,
            tokio_ct: Tokio::current_thread()?,
            smol: Smol::new(workers)?,
        })
    }

    /// What the runtime has counted on which a contender runs.
    pub(crate) fn counts(&self, contender: &str) -> Counts {
        match contender {
            "brigade-ct" => self.brigade_ct.counts(),
            "tokio" | "task-tracker" => self.tokio.counts(),
            "tokio-ct" => self.tokio_ct.counts(),
            "smol" => self.smol.counts(),
            "epoll" => Counts::default(),
            // Libraries run on Brigade's executor.
            _ => self.brigade.counts(),
        }
    }
}
