//! How long it takes from a wake-up to the poll, while there is nothing else to do and while there is too much.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::bell::{Bell, work};
use crate::contest::{Contender, LATENCY, Workload};
use crate::runtimes::{Runtime, Runtimes};
use crate::stats::percentile;

pub(super) fn all(runtimes: &Runtimes) -> Vec<Workload<'_>> {
    let Runtimes { brigade, tokio, smol, brigade_ct, tokio_ct, .. } = runtimes;
    let idle = vec![
        sampled("brigade", || idle(brigade)),
        sampled("tokio", || idle(tokio)),
        sampled("smol", || idle(smol)),
        sampled("brigade-ct", || idle(brigade_ct)),
        sampled("tokio-ct", || idle(tokio_ct)),
    ];
    let loaded = vec![
        sampled("brigade", || loaded(brigade)),
        sampled("tokio", || loaded(tokio)),
        sampled("smol", || loaded(smol)),
        sampled("brigade-ct", || loaded(brigade_ct)),
        sampled("tokio-ct", || loaded(tokio_ct)),
    ];
    vec![
        Workload { name: "wake_idle", metrics: LATENCY, contenders: idle, quick: &[] },
        Workload { name: "wake_loaded", metrics: LATENCY, contenders: loaded, quick: &[] },
    ]
}

/// Wake-ups in a run.
const SAMPLES: usize = 1_000;

fn sampled<'a>(name: &'static str, run: impl Fn() -> Vec<f64> + 'a) -> Contender<'a> {
    Contender::new(name, move |rounds| {
        let mut samples: Vec<f64> = (0..rounds).flat_map(|_| run()).collect();
        samples.sort_by(f64::total_cmp);
        [0.5, 0.9, 0.99, 0.999].map(|part| percentile(&samples, part)).into()
    })
}

/// Another thread wakes the only task, when the workers have gone to sleep.
fn idle<R: Runtime>(runtime: &R) -> Vec<f64> {
    let bell = Arc::new(Bell::new());
    let ringing = Arc::clone(&bell);
    let ring = move || {
        for _ in 0..SAMPLES {
            thread::sleep(Duration::from_micros(150));
            while !ringing.was_heard() {
                thread::yield_now();
            }
            ringing.ring();
        }
    };
    thread::scope(|scope| {
        scope.spawn(ring);
        runtime.block_on(listen(bell))
    })
}

/// One task wakes another one, among tasks that work and yield.
fn loaded<R: Runtime>(runtime: &R) -> Vec<f64> {
    runtime.block_on(async {
        let bell = Arc::new(Bell::new());
        let load = Load::<R>::start();
        let ringing = Arc::clone(&bell);
        let ringer = R::spawn(async move {
            for _ in 0..SAMPLES {
                while !ringing.was_heard() {
                    R::yield_now().await;
                }
                ringing.ring();
            }
            // The end of this task is no part of a wake-up.
            while !ringing.was_heard() {
                R::yield_now().await;
            }
        });
        let samples = R::join(R::spawn(listen(bell))).await;
        R::join(ringer).await;
        load.end().await;
        samples
    })
}

async fn listen(bell: Arc<Bell>) -> Vec<f64> {
    let mut samples = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        samples.push(bell.listen().await);
    }
    samples
}

/// Tasks that always have something to do, and let others run every ten microseconds.
pub(super) struct Load<R: Runtime> {
    over: Arc<AtomicBool>,
    tasks: Vec<R::Task<()>>,
}

/// More than there are workers.
const BUSY: usize = 8;

impl<R: Runtime> Load<R> {
    pub(super) fn start() -> Load<R> {
        let over = Arc::new(AtomicBool::new(false));
        let body = |over: Arc<AtomicBool>| async move {
            // Relaxed: nothing else depends on the flag.
            while !over.load(Ordering::Relaxed) {
                work(Duration::from_micros(10));
                R::yield_now().await;
            }
        };
        let tasks = (0..BUSY).map(|_| R::spawn(body(Arc::clone(&over)))).collect();
        Load { over, tasks }
    }

    pub(super) async fn end(self) {
        // Relaxed: see `start`.
        self.over.store(true, Ordering::Relaxed);
        for task in self.tasks {
            R::join::<()>(task).await;
        }
    }
}
