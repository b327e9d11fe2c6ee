//! What has to wait while all workers are busy with tasks that wake themselves: a timer, a task from another thread, and a
//! new connection.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use futures_channel::oneshot;

use super::latency::Load;
use crate::contest::{Contender, Metric, Workload};
use crate::runtimes::{Runtime, Runtimes};
use crate::stats::percentile;

pub(super) fn all(runtimes: &Runtimes) -> Vec<Workload<'_>> {
    let contenders = vec![
        contender("brigade", &runtimes.brigade),
        contender("tokio", &runtimes.tokio),
        contender("smol", &runtimes.smol),
        contender("brigade-ct", &runtimes.brigade_ct),
        contender("tokio-ct", &runtimes.tokio_ct),
    ];
    vec![Workload { name: "fairness", metrics: METRICS, contenders, quick: &[] }]
}

/// How late each of the three is.
const METRICS: &[Metric] = &[
    Metric { name: "timer p99", unit: "ns" },
    Metric { name: "injected p99", unit: "ns" },
    Metric { name: "accepted p99", unit: "ns" },
];

/// Of each kind in a run.
const SAMPLES: usize = 100;

fn contender<'a, R: Runtime>(name: &'static str, runtime: &'a R) -> Contender<'a> {
    Contender::new(name, move |rounds| {
        let mut samples: [Vec<f64>; 3] = Default::default();
        for _ in 0..rounds {
            for (all, new) in samples.iter_mut().zip(run(runtime)) {
                all.extend(new);
            }
        }
        let late = |mut samples: Vec<f64>| {
            samples.sort_by(f64::total_cmp);
            percentile(&samples, 0.99)
        };
        samples.map(late).into()
    })
}

fn run<R: Runtime>(runtime: &R) -> [Vec<f64>; 3] {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    let server = listener.local_addr().expect("a listener has an address");
    let (accepted, acceptance) = mpsc::channel();
    let (done, outside_is_done) = oneshot::channel();
    thread::scope(|scope| {
        let outside = scope.spawn(move || {
            let injected = (0..SAMPLES).map(|_| inject(runtime)).collect();
            let connected = (0..SAMPLES).map(|_| connect(server, &acceptance)).collect();
            done.send(()).expect("the main task waits");
            [injected, connected]
        });
        let timers = runtime.block_on(async {
            let load = Load::<R>::start();
            let accept = move || accepted.send(Instant::now()).expect("the other side counts");
            let accepting = R::spawn(R::accept_all(listener, accept));
            let timers = sleep::<R>().await;
            outside_is_done.await.expect("the other side says so");
            R::cancel_all(vec![accepting]).await;
            load.end().await;
            timers
        });
        let [injected, connected] = outside.join().expect("the other side does not panic");
        [timers, injected, connected]
    })
}

/// By how many nanoseconds a sleep of a millisecond is late, again and again.
async fn sleep<R: Runtime>() -> Vec<f64> {
    let mut samples = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        let begin = Instant::now();
        R::sleep(MILLISECOND).await;
        samples.push(nanos(begin.elapsed().saturating_sub(MILLISECOND)));
    }
    samples
}

/// After how many nanoseconds a task from this thread runs.
fn inject<R: Runtime>(runtime: &R) -> f64 {
    let (ran, told) = mpsc::channel();
    let begin = Instant::now();
    runtime.spawn_from_outside(async move { ran.send(Instant::now()).expect("the other side waits") });
    nanos(told.recv().expect("the task runs") - begin)
}

/// After how many nanoseconds a connection from this thread is accepted.
fn connect(server: SocketAddr, acceptance: &mpsc::Receiver<Instant>) -> f64 {
    let begin = Instant::now();
    let _stream = TcpStream::connect(server).expect("somebody listens");
    nanos(acceptance.recv().expect("the connection is accepted") - begin)
}

fn nanos(time: Duration) -> f64 {
    time.as_nanos() as f64
}

const MILLISECOND: Duration = Duration::from_millis(1);
