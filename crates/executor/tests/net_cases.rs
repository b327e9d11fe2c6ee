//! Cases of `crates/testkit/cases/cases.md` that need real sockets, on both backends and both ways to the poller.
//!
//! They count descriptors of the process, so they run one at a time.
#![cfg(unix)]

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener as StdListener, UdpSocket as StdUdp};
use std::os::unix::net::UnixStream as Pair;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use brigade_core::{Task, TaskError, TaskState, sleep, spawn, yield_now};
use brigade_executor::net::{TcpListener, TcpStream, UdpSocket, UnixListener, UnixStream};
use brigade_executor::{Async, Runner};
use futures_lite::AsyncReadExt;
use socket2::{Domain, Socket, Type};

type Answer = Result<(), TaskError<io::Error>>;

/// Runs the same main on both backends, while no other test of this file runs.
fn on_both<F: Future<Output = io::Result<()>> + Send + 'static>(main: fn() -> F) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let outcome: Answer = Runner::new().workers(2).run(main());
    outcome.expect("multi-thread");
    let outcome: Answer = Runner::current_thread().run(main());
    outcome.expect("current-thread");
}

/// Waits until a task waits; it must not have ended.
async fn suspended<T, E: std::fmt::Debug>(task: &Task<T, E>) {
    while task.state() != TaskState::Suspended {
        assert!(!task.done(), "it has ended instead of waiting");
        yield_now().await;
    }
}

async fn pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let caller = TcpStream::connect(listener.local_addr()?).await?;
    Ok((caller, listener.accept().await?.0))
}

/// A second registration of the very descriptor cannot be written down: what is registered owns its descriptor. Copies
/// of it work side by side, also when one of them is closed; so does a number that was used before.
#[test]
fn case_087_same_descriptor_registered_twice() {
    on_both(|| async {
        let (mut writer, reader) = Pair::pair()?;
        let copy = reader.try_clone()?;
        let (one, other) = (Arc::new(Async::new(reader)?), Arc::new(Async::new(copy)?));
        let waiting = |end: &Arc<Async<Pair>>| {
            let end = end.clone();
            spawn(async move { end.readable().await })
        };
        let both = [waiting(&one), waiting(&other)];
        for task in &both {
            suspended(task).await;
        }
        writer.write_all(b"x")?;
        for task in both {
            task.await.expect("each copy hears of it");
        }
        let taken = one.read_with(|mut end| end.read(&mut [0; 8])).await?;
        assert_eq!(taken, 1);

        let waits = waiting(&other);
        suspended(&waits).await;
        drop(one);
        writer.write_all(b"y")?;
        waits.await.expect("the copy is still registered");
        // Registered anew after the wrapper around it is gone.
        let kept = other.get_ref().try_clone()?;
        drop(other);
        let anew = Async::new(kept)?;
        assert_eq!(anew.read_with(|mut end| end.read(&mut [0; 8])).await?, 1);
        Ok(())
    });
}

/// Descriptors that come and go leave nothing behind, neither in the process nor in the poller: numbers are used
/// again at once, and each time an event arrives at the new owner.
#[test]
fn case_087_many_cycles_of_open_register_and_close() {
    on_both(|| async {
        let before = descriptors();
        for round in 0..25_000_u32 {
            let (mut writer, reader) = Pair::pair()?;
            let reader = Async::new(reader)?;
            if round % 1000 == 0 {
                let waiting = spawn(async move {
                    reader.readable().await?;
                    reader.read_with(|mut end| end.read(&mut [0; 8])).await
                });
                suspended(&waiting).await;
                writer.write_all(b"abc")?;
                assert_eq!(waiting.await.expect("the event comes"), 3);
            }
        }
        assert_eq!(descriptors(), before);
        Ok(())
    });
}

/// Who waits shares what he waits for, so nobody can close it under him; who ends the connection wakes him.
#[test]
fn case_088_closing_with_a_pending_operation() {
    on_both(|| async {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await?);
        let address = listener.local_addr()?;
        let accepting = spawn({
            let listener = listener.clone();
            async move { listener.accept().await }
        });
        suspended(&accepting).await;
        drop(listener);
        let caller = TcpStream::connect(address).await?;
        let (_, from) = accepting.await.expect("the waiter has kept it open");
        assert_eq!(from, caller.local_addr()?);

        let (stream, _peer) = pair().await?;
        let stream = Arc::new(stream);
        let receiving = spawn({
            let stream = stream.clone();
            async move { (&*stream).read(&mut [0; 8]).await }
        });
        suspended(&receiving).await;
        stream.shutdown(Shutdown::Both)?;
        assert_eq!(receiving.await.expect("no error"), 0, "the end is seen at once");

        let (read, write) = pair().await.map(|(one, other)| (one.into_split().0, other.into_split().1))?;
        let mut read = read;
        let receiving = spawn(async move { read.read(&mut [0; 8]).await });
        suspended(&receiving).await;
        drop(write);
        assert_eq!(receiving.await.expect("no error"), 0, "the peer's half is gone");
        Ok(())
    });
}

/// The end of the runtime wakes an operation that is still pending in foreign hands, with an error.
#[test]
fn case_088_the_runtime_ends_with_a_pending_operation() {
    on_both(|| async {
        let inner = std::thread::spawn(|| {
            let kept: Result<UdpSocket, TaskError<io::Error>> =
                Runner::current_thread().run(async { UdpSocket::bind("127.0.0.1:0").await });
            let socket = kept.expect("a socket");
            // A second runtime waits for a socket of the first, which is over.
            let outcome: Answer = Runner::current_thread().run(async move {
                assert!(socket.recv_from(&mut [0; 8]).await.is_err(), "nobody watches this socket any more");
                Ok(())
            });
            outcome.expect("an error, and no hang");
        });
        brigade_core::spawn_blocking(move || inner.join().map_err(|_| io::Error::other("it panicked")))
            .await
            .expect("the thread ends");
        Ok(())
    });
}

/// `connect` itself says that it failed, and how.
#[test]
fn case_090_a_failed_connect_is_an_error() {
    on_both(|| async {
        let before = descriptors();
        for _ in 0..20 {
            let vacant = StdListener::bind("127.0.0.1:0")?.local_addr()?;
            let error = TcpStream::connect(vacant).await.expect_err("nobody listens");
            assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        }
        let path = std::env::temp_dir().join(format!("brigade-case-90-{}.socket", std::process::id()));
        let error = UnixStream::connect(&path).await.expect_err("there is no such path");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        drop(UnixListener::bind(&path)?);
        let error = UnixStream::connect(&path).await.expect_err("nobody listens any more");
        std::fs::remove_file(&path)?;
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(descriptors(), before, "failed attempts leave no descriptor");
        Ok(())
    });
}

/// A connection that nobody answers is pending, and closed when the attempt is given up. The listener's queue is full,
/// so the system does not answer; an address without a route would do as well, but not every machine has one.
#[cfg(target_os = "linux")]
#[test]
fn case_090_a_connect_that_is_given_up_closes_its_descriptor() {
    on_both(|| async {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
        listener.listen(0)?;
        let address = listener.local_addr()?.as_socket().expect("an address of IPv4");
        let mut answered = Vec::new();
        loop {
            let before = descriptors();
            let connecting = spawn(TcpStream::connect(address));
            sleep(Duration::from_millis(50)).await;
            if connecting.done() {
                answered.push(connecting.await.expect("the queue has room"));
                assert!(answered.len() < 100, "the queue is never full");
                continue;
            }
            assert_eq!(descriptors(), before + 1, "the attempt has a descriptor");
            connecting.cancel();
            assert!(matches!(connecting.await, Err(TaskError::Cancelled(_))));
            assert_eq!(descriptors(), before, "the attempt has closed it");
            return Ok(());
        }
    });
}

/// Readiness is a hint: an operation that would block after all waits again, and nobody sees `WouldBlock`.
#[test]
fn case_094_spurious_readiness() {
    on_both(|| async {
        let socket = Arc::new(Async::new(StdUdp::bind("127.0.0.1:0")?)?);
        let sender = UdpSocket::bind("127.0.0.1:0").await?;
        let address = socket.get_ref().local_addr()?;
        // A datagram that is not there after all, as one with a bad checksum.
        let attempts = Arc::new(AtomicU32::new(0));
        let receiving = spawn({
            let (socket, attempts) = (socket.clone(), attempts.clone());
            async move {
                let receive = |socket: &StdUdp| match attempts.fetch_add(1, Ordering::SeqCst) {
                    1 => Err(io::ErrorKind::WouldBlock.into()),
                    _ => socket.recv(&mut [0; 8]),
                };
                socket.read_with(receive).await
            }
        });
        suspended(&receiving).await;
        sender.send_to(b"x", address).await?;
        // SeqCst: the tests want the counts in one order, and pair with the `fetch_add` above.
        while attempts.load(Ordering::SeqCst) < 2 {
            yield_now().await;
        }
        sender.send_to(b"x", address).await?;
        assert_eq!(receiving.await.expect("it has waited again"), 1);
        socket.read_with(|socket| socket.recv(&mut [0; 8])).await?;

        // One datagram for two: who comes second waits on.
        let receivers = [(); 2].map(|()| {
            let socket = socket.clone();
            spawn(async move { socket.read_with(|socket| socket.recv(&mut [0; 8])).await })
        });
        for receiver in &receivers {
            suspended(receiver).await;
        }
        sender.send_to(b"x", address).await?;
        while !receivers.iter().any(Task::done) {
            yield_now().await;
        }
        let [one, other] = receivers;
        let (first, second) = if one.done() { (one, other) } else { (other, one) };
        assert_eq!(first.await.expect("it came first"), 1);
        suspended(&second).await;
        sender.send_to(b"xyz", address).await?;
        assert_eq!(second.await.expect("the next is for the second"), 3);
        Ok(())
    });
}

/// The error of a datagram that reached nobody comes to a receiver that is connected, and disturbs no server that is not.
#[test]
fn case_094_errors_of_datagrams() {
    on_both(|| async {
        let vacant = StdUdp::bind("127.0.0.1:0")?.local_addr()?;
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await?);
        socket.connect(vacant).await?;
        let receiving = spawn({
            let socket = socket.clone();
            async move { socket.recv(&mut [0; 8]).await }
        });
        suspended(&receiving).await;
        socket.send(b"anybody?").await?;
        let Err(TaskError::Failed(error)) = receiving.await else { panic!("nobody is there") };
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);

        let server = UdpSocket::bind("127.0.0.1:0").await?;
        let address = server.local_addr()?;
        let serving = spawn(async move {
            let mut buffer = [0; 8];
            for _ in 0..20 {
                let (length, from) = server.recv_from(&mut buffer).await?;
                server.send_to(&buffer[..length], from).await?;
            }
            Ok::<(), io::Error>(())
        });
        for _ in 0..19 {
            // A client that is gone before its answer comes.
            StdUdp::bind("127.0.0.1:0")?.send_to(b"x", address)?;
        }
        let client = UdpSocket::bind("127.0.0.1:0").await?;
        client.send_to(b"hello", address).await?;
        assert_eq!(client.recv(&mut [0; 8]).await?, 5);
        serving.await.expect("it has served all");
        Ok(())
    });
}

/// The same by the way that every system but Linux takes, in a process of its own.
#[cfg(target_os = "linux")]
#[test]
fn the_cases_hold_by_the_portable_way_to_the_poller() {
    const CHOICE: &str = "BRIGADE_REACTOR";
    if std::env::var_os(CHOICE).is_some() {
        return;
    }
    let mut child = std::process::Command::new(std::env::current_exe().expect("this test"));
    let output = child.arg("case_").env(CHOICE, "portable").output().expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("8 passed"), "{text}");
}

/// How many descriptors this process has.
fn descriptors() -> usize {
    // Not every system tells; then all counts are equal.
    std::fs::read_dir("/dev/fd").map_or(0, Iterator::count)
}
