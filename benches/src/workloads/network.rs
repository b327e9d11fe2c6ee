//! Echo and HTTP over loopback: a runtime serves, and a bare client, which is the same for all, asks. The clients of echo
//! are a thread of this process, those of HTTP another process.

use std::cell::OnceCell;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use futures_lite::future::block_on;

use crate::contest::{Contender, TIME, Workload};
use crate::net::{self, Link, Shape};
use crate::runtimes::{Runtime, Runtimes};

pub(super) fn all(runtimes: &Runtimes) -> Vec<Workload<'_>> {
    let quick: &[&str] = &["tokio", "smol", "epoll"];
    vec![
        Workload { quick, ..workload(Traffic::echo("echo_64", 64, 64, 100), runtimes) },
        workload(Traffic::echo("echo_1", 1, 64, 2_000), runtimes),
        workload(Traffic::echo("echo_1000", 1_000, 64, 10), runtimes),
        workload(Traffic::echo("echo_64_16k", 64, 16 * 1024, 50), runtimes),
        workload(Traffic::echo("echo_1_16k", 1, 16 * 1024, 1_000), runtimes),
        multi_threaded(Traffic::idle(), runtimes),
        workload(
            Traffic { shape: Shape::Http, elsewhere: true, ..Traffic::echo("http_plaintext", 64, 0, 100) },
            runtimes,
        ),
    ]
}

/// Who asks how often.
#[derive(Clone, Copy)]
struct Traffic {
    name: &'static str,
    connections: usize,
    /// How many of them work; the others are idle.
    active: usize,
    /// Questions per connection in a run.
    times: usize,
    shape: Shape,
    /// The client has a process of its own, because that is fair, or because descriptors are scarce.
    elsewhere: bool,
}

impl Traffic {
    /// One active connection beside many idle ones: ten thousand, or as many as the system lets three servers have.
    fn idle() -> Traffic {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let most = limit.map_or(u64::MAX, |limit| limit.saturating_sub(1_000) / 3);
        let connections = most.clamp(1, 10_000) as usize;
        Traffic { active: 1, elsewhere: true, ..Traffic::echo("idle_10k", connections, 64, 2_000) }
    }

    const fn echo(name: &'static str, connections: usize, size: usize, times: usize) -> Traffic {
        let shape = Shape::Echo { size };
        Traffic { name, connections, active: connections, times, shape, elsewhere: false }
    }

    fn operations(self) -> usize {
        self.active * self.times
    }

    fn link(self, server: SocketAddr) -> Link {
        let link = if self.elsewhere { Link::to_process } else { Link::to_thread };
        link(server, self.connections, self.shape)
    }
}

fn workload(traffic: Traffic, runtimes: &Runtimes) -> Workload<'_> {
    let mut workload = multi_threaded(traffic, runtimes);
    workload.contenders.push(served("brigade-ct", &runtimes.brigade_ct, traffic));
    workload.contenders.push(served("tokio-ct", &runtimes.tokio_ct, traffic));
    if let Shape::Echo { size } = traffic.shape {
        workload.contenders.push(floor(size, traffic));
    }
    workload
}

fn multi_threaded(traffic: Traffic, runtimes: &Runtimes) -> Workload<'_> {
    let contenders = vec![
        served("brigade", &runtimes.brigade, traffic),
        served("tokio", &runtimes.tokio, traffic),
        served("smol", &runtimes.smol, traffic),
    ];
    Workload { name: traffic.name, metrics: TIME, contenders, quick: &[] }
}

/// A runtime serves. Server and client are made when they are first needed, and stay.
fn served<'a, R: Runtime>(name: &'static str, runtime: &'a R, traffic: Traffic) -> Contender<'a> {
    let link = OnceCell::new();
    let open = move || {
        let (listener, address) = listen();
        runtime.block_on(async move {
            R::spawn_detached(async move {
                match traffic.shape {
                    Shape::Echo { size } => R::serve_echo(listener, buffer(size)).await,
                    Shape::Http => R::serve_http(listener).await,
                }
            });
        });
        traffic.link(address)
    };
    Contender::reporting(name, traffic.operations(), move || {
        let answered = link.get_or_init(open).exchange(traffic.active, traffic.times);
        runtime.block_on(async { answered.await.expect("the client works until the end") })
    })
}

/// A bare loop serves.
fn floor<'a>(size: usize, traffic: Traffic) -> Contender<'a> {
    let link = OnceCell::new();
    let open = move || {
        let (listener, address) = listen();
        thread::spawn(move || net::serve_echo(listener, buffer(size)).expect("epoll works"));
        traffic.link(address)
    };
    Contender::reporting("epoll", traffic.operations(), move || -> Duration {
        let answered = link.get_or_init(open).exchange(traffic.active, traffic.times);
        block_on(answered).expect("the client works until the end")
    })
}

/// The server's buffer is larger than a message, as is usual: so a message that does not fill it is known to be the last
/// one, where a full buffer would have to be followed by another look at the socket.
fn buffer(message: usize) -> usize {
    (2 * message).max(4096)
}

fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    let address = listener.local_addr().expect("a listener has an address");
    (listener, address)
}
