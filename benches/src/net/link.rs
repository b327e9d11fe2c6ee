//! A client that works elsewhere, on a thread or in a process of its own, and how it is told what to do.
//!
//! So the main task of a runtime can wait for it on a worker: tokio's current-thread runtime serves only while somebody
//! waits.

use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use futures_channel::oneshot;

use super::client::Client;
use super::shape::Shape;
use crate::machine;

/// The way to a client.
pub(crate) struct Link {
    orders: Sender<Order>,
}

/// What a client is asked for; it answers with the time that it took.
struct Order {
    /// How many of its connections work.
    active: usize,
    times: usize,
    done: oneshot::Sender<Duration>,
}

impl Link {
    /// A client on a thread of this process. It connects when it gets its first order.
    pub(crate) fn to_thread(server: SocketAddr, connections: usize, shape: Shape) -> Link {
        let mut client = None;
        Link::serve(move |active, times| {
            if client.is_none() {
                client = Some(Client::connect(server, connections, shape)?);
            }
            let client = client.as_mut().expect("it was just connected");
            let begin = Instant::now();
            client.exchange(active, times)?;
            Ok(begin.elapsed())
        })
    }

    /// A client in a process of its own, which is this program with other words.
    pub(crate) fn to_process(server: SocketAddr, connections: usize, shape: Shape) -> Link {
        let mut process = None;
        Link::serve(move |active, times| {
            if process.is_none() {
                process = Some(Process::start(server, connections, shape)?);
            }
            process.as_mut().expect("it was just started").order(active, times)
        })
    }

    fn serve(mut work: impl FnMut(usize, usize) -> io::Result<Duration> + Send + 'static) -> Link {
        let (orders, ordered) = mpsc::channel::<Order>();
        thread::spawn(move || {
            for Order { active, times, done } in ordered {
                let time = work(active, times).expect("the server answers");
                done.send(time).expect("the workload waits");
            }
        });
        Link { orders }
    }

    /// Asks that many times on each of the first `active` connections; the receiver is told how long it took.
    pub(crate) fn exchange(&self, active: usize, times: usize) -> oneshot::Receiver<Duration> {
        let (done, answered) = oneshot::channel();
        self.orders.send(Order { active, times, done }).expect("the client works until the end");
        answered
    }
}

/// The other process: a line with an order goes in, a line with nanoseconds comes out.
struct Process {
    child: Child,
    orders: ChildStdin,
    times: BufReader<ChildStdout>,
}

impl Process {
    fn start(server: SocketAddr, connections: usize, shape: Shape) -> io::Result<Process> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--client", &server.to_string(), &connections.to_string(), &shape.name()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        machine::adopt(child.id());
        let orders = child.stdin.take().expect("it was asked to be a pipe");
        let times = BufReader::new(child.stdout.take().expect("it was asked to be a pipe"));
        Ok(Process { child, orders, times })
    }

    fn order(&mut self, active: usize, times: usize) -> io::Result<Duration> {
        writeln!(self.orders, "{active} {times}")?;
        let mut line = String::new();
        self.times.read_line(&mut line)?;
        let nanos = line.trim().parse().map_err(|_| io::Error::other("the client ended early"))?;
        Ok(Duration::from_nanos(nanos))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be gone already; then there is nothing to end.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The other process's main: reads orders until its standard input ends.
pub(crate) fn serve_orders(server: SocketAddr, connections: usize, shape: Shape) -> io::Result<()> {
    let mut client = Client::connect(server, connections, shape)?;
    for line in io::stdin().lines() {
        let line = line?;
        let number = |word: Option<&str>| word.and_then(|word| word.parse().ok());
        let mut words = line.split(' ');
        let (Some(active), Some(times)) = (number(words.next()), number(words.next())) else {
            return Err(io::Error::other(format!("`{line}` is no order")));
        };
        let begin = Instant::now();
        client.exchange(active, times)?;
        println!("{}", begin.elapsed().as_nanos());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use futures_lite::future::block_on;

    use super::*;

    #[test]
    fn a_client_on_a_thread_is_served_again_and_again() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let server = listener.local_addr().unwrap();
        thread::spawn(move || crate::net::serve_echo(listener, 64).unwrap());
        let link = Link::to_thread(server, 3, Shape::Echo { size: 64 });
        for active in [3, 1] {
            assert!(block_on(link.exchange(active, 10)).unwrap() > Duration::ZERO);
        }
    }
}
