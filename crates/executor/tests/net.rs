//! Sockets on loopback: both directions, half-close, errors, the descriptor limit.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::pin::pin;
use std::time::Duration;

use brigade_core::{TaskError, catch_cancel, sleep, spawn, yield_now};
use brigade_executor::Runner;
use brigade_executor::net::{TcpListener, TcpStream, lookup_host};
use futures_lite::{AsyncReadExt, AsyncWriteExt, StreamExt};

type Answer = Result<(), TaskError<io::Error>>;

/// Runs the same main on both backends.
fn on_both<F: Future<Output = io::Result<()>> + Send + 'static>(main: fn() -> F) {
    let outcome: Answer = Runner::new().workers(2).run(main());
    outcome.expect("multi-thread");
    let outcome: Answer = Runner::current_thread().run(main());
    outcome.expect("current-thread");
}

async fn pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let caller = TcpStream::connect(listener.local_addr()?).await?;
    let (callee, from) = listener.accept().await?;
    assert_eq!(from, caller.local_addr()?);
    Ok((caller, callee))
}

#[test]
fn many_connections_echo_more_than_fits_in_a_buffer() {
    on_both(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = spawn(async move {
            let mut connections = listener.incoming().take(20);
            let mut echoes = Vec::new();
            while let Some(connection) = connections.next().await {
                let (read, write) = connection?.into_split();
                echoes.push(spawn(futures_lite::io::copy(read, write)));
            }
            for echo in echoes {
                assert_eq!(echo.await.expect("the copy ends"), 1_000_000);
            }
            Ok::<(), io::Error>(())
        });
        let clients = (0..20_u8).map(|number| {
            spawn(async move {
                let (mut read, mut write) = TcpStream::connect(address).await?.into_split();
                let sender = spawn(async move { write.write_all(&vec![number; 1_000_000]).await });
                let mut answer = Vec::new();
                read.read_to_end(&mut answer).await?;
                sender.await.expect("everything is sent");
                assert_eq!(answer, vec![number; 1_000_000]);
                Ok::<(), io::Error>(())
            })
        });
        for client in clients.collect::<Vec<_>>() {
            client.await.expect("a client ends well");
        }
        server.await.expect("the server ends well");
        Ok(())
    });
}

#[test]
fn half_closed_connections_still_carry_the_other_direction() {
    on_both(|| async {
        let (mut caller, mut callee) = pair().await?;
        caller.write_all(b"question").await?;
        caller.close().await?;
        let mut question = String::new();
        callee.read_to_string(&mut question).await?;
        assert_eq!(question, "question");
        callee.write_all(b"answer").await?;
        callee.shutdown(Shutdown::Write)?;
        let mut answer = String::new();
        caller.read_to_string(&mut answer).await?;
        assert_eq!(answer, "answer");
        Ok(())
    });
}

/// The end of a stream may come together with its last bytes, or after the read that took them, or alone.
#[test]
fn the_end_of_a_stream_is_always_seen() {
    on_both(|| async {
        for round in 0..300_usize {
            let (mut caller, mut callee) = pair().await?;
            let reader = spawn(async move {
                let (mut total, mut buffer) = (0, [0; 64]);
                loop {
                    match callee.read(&mut buffer).await? {
                        0 => return Ok::<usize, io::Error>(total),
                        some => total += some,
                    }
                }
            });
            for _ in 0..round % 3 {
                yield_now().await;
            }
            caller.write_all(&vec![1; round]).await?;
            for _ in 0..round % 5 {
                yield_now().await;
            }
            drop(caller);
            assert_eq!(reader.await.expect("the end is seen"), round);
        }
        Ok(())
    });
}

#[test]
fn halves_can_be_put_together_again() {
    on_both(|| async {
        let (mut caller, callee) = pair().await?;
        let (read, write) = callee.into_split();
        let (other, _kept) = pair().await?;
        let (other_read, other_write) = other.into_split();
        let refused = read.reunite(other_write).expect_err("halves of different connections");
        drop(other_read);
        let mut whole = refused.0.reunite(write).expect("the same connection");
        // Putting them together has ended nothing.
        whole.write_all(b"x").await?;
        let mut byte = [0];
        assert_eq!(caller.peek(&mut byte).await?, 1);
        caller.read_exact(&mut byte).await?;
        assert_eq!(&byte, b"x");
        let (mut reading, mut writing) = caller.split();
        writing.write_all(b"y").await?;
        drop(whole);
        assert_eq!(reading.read(&mut byte).await.unwrap_or(0), 0);
        Ok(())
    });
}

#[test]
fn a_refused_connection_is_the_systems_error() {
    on_both(|| async {
        let vacant = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
        let error = TcpStream::connect(vacant).await.expect_err("nobody listens");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        assert!(error.raw_os_error().is_some(), "unchanged: {error}");
        // Of several addresses the first that answers is taken, whatever the ones before it answered.
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let addresses: &[SocketAddr] = &[vacant, listener.local_addr()?];
        assert_eq!(TcpStream::connect(addresses).await?.peer_addr()?, listener.local_addr()?);
        let none: &[SocketAddr] = &[];
        let error = TcpStream::connect(none).await.expect_err("no address");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        Ok(())
    });
}

#[test]
fn names_are_looked_up_and_bad_ones_are_errors() {
    on_both(|| async {
        assert!(lookup_host(("localhost", 80)).await?.iter().all(|address| address.ip().is_loopback()));
        assert_eq!(lookup_host("[::1]:7").await?, ["[::1]:7".parse::<SocketAddr>().expect("an address")]);
        assert_eq!(lookup_host("no port").await.expect_err("no port").kind(), io::ErrorKind::InvalidInput);
        Ok(())
    });
}

#[test]
fn options_reach_the_socket() {
    on_both(|| async {
        let (caller, _callee) = pair().await?;
        caller.set_nodelay(true)?;
        assert!(caller.nodelay()?);
        caller.set_keepalive(Some(Duration::from_secs(60)))?;
        assert!(caller.keepalive()?);
        caller.set_keepalive(None)?;
        assert!(!caller.keepalive()?);
        caller.set_ttl(40)?;
        assert_eq!(caller.ttl()?, 40);
        Ok(())
    });
}

#[test]
fn a_closed_peer_ends_reads_and_fails_writes() {
    on_both(|| async {
        let (mut caller, callee) = pair().await?;
        drop(callee);
        assert_eq!(caller.read(&mut [0; 8]).await?, 0);
        let failed = async {
            loop {
                caller.write_all(&[0; 4096]).await?;
            }
        };
        let error: io::Error = match failed.await {
            Ok(never) => never,
            Err(error) => error,
        };
        assert!(
            matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset),
            "{error}"
        );
        Ok(())
    });
}

#[test]
fn several_tasks_can_accept_on_one_listener() {
    on_both(|| async {
        let listener = std::sync::Arc::new(TcpListener::bind("127.0.0.1:0").await?);
        let address = listener.local_addr()?;
        let acceptors = (0..4).map(|_| {
            let listener = listener.clone();
            spawn(async move { listener.accept().await.map(drop) })
        });
        let acceptors = acceptors.collect::<Vec<_>>();
        // One that gives up takes no wake-up with it.
        let impatient = spawn({
            let listener = listener.clone();
            async move {
                catch_cancel(listener.accept()).await.map(drop).map_err(|cancelled| cancelled.uncancel())
            }
        });
        while impatient.state() != brigade_core::TaskState::Suspended {
            yield_now().await;
        }
        impatient.cancel();
        assert!(impatient.await.is_err());
        for _ in 0..4 {
            TcpStream::connect(address).await?;
        }
        for acceptor in acceptors {
            acceptor.await.expect("each gets one connection");
        }
        Ok(())
    });
}

#[test]
fn a_cancelled_read_loses_nothing() {
    on_both(|| async {
        let (mut caller, callee) = pair().await?;
        let callee = std::sync::Arc::new(callee);
        let reader = spawn({
            let callee = callee.clone();
            async move { (&*callee).read_exact(&mut [0; 5]).await }
        });
        while reader.state() != brigade_core::TaskState::Suspended {
            yield_now().await;
        }
        reader.cancel();
        assert!(matches!(reader.await, Err(TaskError::Cancelled(_))));
        caller.write_all(b"hello").await?;
        let mut word = [0; 5];
        (&*callee).read_exact(&mut word).await?;
        assert_eq!(&word, b"hello");
        Ok(())
    });
}

#[test]
fn a_flood_of_ready_data_does_not_starve_others() {
    let outcome: Answer = Runner::current_thread().run(async {
        let (mut caller, mut callee) = pair().await?;
        let sender = spawn(async move { caller.write_all(&[0; 200_000]).await });
        let reader = spawn(async move {
            let mut total = 0;
            // One byte at a time: nearly always ready.
            while total < 200_000 {
                callee.read_exact(&mut [0]).await?;
                total += 1;
            }
            Ok::<usize, io::Error>(total)
        });
        let mut turns = 0;
        while !reader.done() {
            turns += 1;
            yield_now().await;
        }
        assert!(turns > 100, "the others had {turns} turns");
        assert_eq!(reader.await.expect("all is read"), 200_000);
        sender.await.expect("all is sent");
        Ok(())
    });
    outcome.expect("no error");
}

#[test]
fn sockets_need_a_runtime_and_end_with_it() {
    let mut kept = None;
    let outcome: Result<TcpStream, TaskError<io::Error>> =
        Runner::new().workers(2).run(async { Ok(pair().await?.0) });
    kept.replace(outcome.expect("a pair"));
    let mut stream = kept.expect("there");
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut buffer = [0; 8];
    let poll = pin!(stream.read(&mut buffer)).poll(&mut cx);
    assert!(matches!(poll, std::task::Poll::Ready(Err(_) | Ok(0))), "{poll:?}");
    drop(stream);
    let poll = pin!(TcpStream::connect("127.0.0.1:1")).poll(&mut cx);
    let std::task::Poll::Ready(Err(error)) = poll else { panic!("no runtime") };
    assert!(error.to_string().contains("Handle::enter"), "{error}");
}

/// The descriptor limit, in a process of its own: accepting waits without spinning and goes on when it can.
#[cfg(target_os = "linux")]
#[test]
fn accepting_at_the_descriptor_limit_backs_off_and_recovers() {
    use std::process::Command;

    const CHILD: &str = "BRIGADE_TEST_DESCRIPTORS";
    if std::env::var_os(CHILD).is_none() {
        let name = "accepting_at_the_descriptor_limit_backs_off_and_recovers";
        let mut child = Command::new(std::env::current_exe().expect("this test"));
        let output = child.args(["--exact", name]).env(CHILD, "1").output().expect("a child process");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let outcome: Answer = Runner::new().workers(2).run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        // A connection that waits in the system's queue needs no descriptor on this side.
        let waiting = TcpStream::connect(address).await?;
        let mut hoard = Vec::new();
        limit_descriptors(256);
        while let Ok(file) = std::fs::File::open("/dev/null") {
            hoard.push(file);
        }
        let accepting = spawn(async move { listener.accept().await });
        let before = cpu_ticks();
        sleep(Duration::from_millis(300)).await;
        assert!(!accepting.done(), "there is no descriptor for it");
        let spent = cpu_ticks() - before;
        assert!(spent <= 10, "waiting took {spent} ticks of processor time");
        hoard.truncate(hoard.len() - 8);
        let (_, from) = accepting.await.expect("there are descriptors again");
        assert_eq!(from, waiting.local_addr()?, "the connection was not lost");
        Ok(())
    });
    outcome.expect("it recovers");
}

#[cfg(target_os = "linux")]
fn limit_descriptors(count: u64) {
    let status = std::process::Command::new("prlimit")
        .args([format!("--nofile={count}:{count}"), format!("--pid={}", std::process::id())])
        .status();
    assert!(status.expect("prlimit is part of util-linux").success());
}

/// User and system time of this process, in ticks of 10 ms.
#[cfg(target_os = "linux")]
fn cpu_ticks() -> u64 {
    let Some(stat) = std::fs::read_to_string("/proc/self/stat").ok() else { return 0 };
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.map(|field| field.parse::<u64>().expect("a number")).sum()
}

/// Compiles: futures of the network are `Send`, whatever names they were given.
#[test]
fn futures_with_borrowed_names_can_be_sent() {
    fn send<T: Send>(_: T) {}

    fn with(host: String) {
        send(async move {
            TcpStream::connect((host.as_str(), 80)).await.ok();
            TcpStream::connect(&host).await.ok();
            TcpListener::bind(host.as_str()).await.ok();
            lookup_host(host.as_str()).await.ok();
        });
    }

    with(String::new());
}
