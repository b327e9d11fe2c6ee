//! UDP, Unix domain sockets, and descriptors of one's own.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use brigade_core::{TaskError, TaskState, spawn, yield_now};
use brigade_executor::Runner;
use brigade_executor::net::UdpSocket;

type Answer = Result<(), TaskError<io::Error>>;

/// Runs the same main on both backends.
fn on_both<F: Future<Output = io::Result<()>> + Send + 'static>(main: fn() -> F) {
    let outcome: Answer = Runner::new().workers(2).run(main());
    outcome.expect("multi-thread");
    let outcome: Answer = Runner::current_thread().run(main());
    outcome.expect("current-thread");
}

#[test]
fn datagrams_go_both_ways_between_connected_sockets() {
    on_both(|| async {
        let one = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let other = UdpSocket::bind("127.0.0.1:0").await?;
        one.connect(other.local_addr()?).await?;
        other.connect(one.local_addr()?).await?;
        assert_eq!(one.peer_addr()?, other.local_addr()?);
        let echo = spawn(async move {
            let mut buffer = [0; 64];
            for _ in 0..100 {
                let length = other.recv(&mut buffer).await?;
                other.send(&buffer[..length]).await?;
            }
            Ok::<(), io::Error>(())
        });
        for number in 0..100_u8 {
            one.send(&[number]).await?;
            let mut answer = [0; 8];
            assert_eq!(one.peek_from(&mut answer).await?.0, 1);
            assert_eq!(one.recv(&mut answer).await?, 1);
            assert_eq!(answer[0], number);
        }
        echo.await.expect("the echo ends well");
        Ok(())
    });
}

#[test]
fn several_tasks_receive_on_one_socket_and_each_datagram_once() {
    on_both(|| async {
        let socket = std::sync::Arc::new(UdpSocket::bind("127.0.0.1:0").await?);
        let address = socket.local_addr()?;
        let receivers = (0..4).map(|_| {
            let socket = socket.clone();
            spawn(async move { socket.recv_from(&mut [0; 8]).await.map(|(_, from)| from) })
        });
        let receivers = receivers.collect::<Vec<_>>();
        let sender = UdpSocket::bind("127.0.0.1:0").await?;
        for _ in 0..4 {
            sender.send_to(b"x", address).await?;
        }
        for receiver in receivers {
            assert_eq!(receiver.await.expect("one each"), sender.local_addr()?);
        }
        Ok(())
    });
}

#[test]
fn an_address_in_use_is_the_systems_error() {
    on_both(|| async {
        let socket = UdpSocket::bind("127.0.0.1:0").await?;
        let error = UdpSocket::bind(socket.local_addr()?).await.expect_err("in use");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        let none: &[SocketAddr] = &[];
        assert_eq!(UdpSocket::bind(none).await.expect_err("no address").kind(), io::ErrorKind::InvalidInput);
        Ok(())
    });
}

#[cfg(unix)]
mod unix {
    use std::process::{Command, Stdio};

    use brigade_executor::Async;
    use brigade_executor::net::{UnixDatagram, UnixListener, UnixStream};
    use futures_lite::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// A path that no other test uses, removed at the end.
    struct Path(std::path::PathBuf);

    impl Path {
        fn new() -> Self {
            static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Self(std::env::temp_dir().join(format!("brigade-{}-{number}.socket", std::process::id())))
        }
    }

    impl Drop for Path {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn unix_streams_connect_and_carry_both_directions() {
        on_both(|| async {
            let path = Path::new();
            let error = UnixStream::connect(&path.0).await.expect_err("nobody listens");
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            let listener = UnixListener::bind(&path.0)?;
            let server = spawn(async move {
                let (stream, _) = listener.accept().await?;
                futures_lite::io::copy(&stream, &stream).await?;
                stream.shutdown(std::net::Shutdown::Write)
            });
            let mut stream = UnixStream::connect(&path.0).await?;
            stream.write_all(b"hello").await?;
            stream.close().await?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await?;
            assert_eq!(answer, b"hello");
            server.await.expect("the server ends well");
            Ok(())
        });
    }

    #[test]
    fn unix_datagrams_have_a_sender() {
        on_both(|| async {
            let (path, own) = (Path::new(), Path::new());
            let receiver = UnixDatagram::bind(&path.0)?;
            let sender = UnixDatagram::bind(&own.0)?;
            sender.send_to(b"hello", &path.0).await?;
            let mut buffer = [0; 8];
            let (length, from) = receiver.recv_from(&mut buffer).await?;
            assert_eq!((length, from.as_pathname()), (5, Some(own.0.as_path())));
            let (one, other) = UnixDatagram::pair()?;
            one.send(b"x").await?;
            assert_eq!(other.recv(&mut buffer).await?, 1);
            Ok(())
        });
    }

    #[test]
    fn pipes_of_a_child_can_be_waited_for() {
        on_both(|| async {
            let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let input = Async::new(child.stdin.take().expect("piped"))?;
            let output = Async::new(child.stdout.take().expect("piped"))?;
            let early = spawn(async move {
                output.readable().await?;
                let mut text = [0; 8];
                let length = output.read_with(|pipe| copy_of(pipe)?.read(&mut text)).await?;
                assert_eq!(&text[..length], b"hello");
                Ok::<(), io::Error>(())
            });
            while early.state() != TaskState::Suspended {
                yield_now().await;
            }
            input.writable().await?;
            input.write_with(|pipe| copy_of(pipe)?.write(b"hello")).await?;
            early.await.expect("the word comes");
            drop(input);
            let status = brigade_core::spawn_blocking(move || child.wait()).await.expect("it ends");
            assert!(status.success());
            Ok(())
        });
    }

    /// The pipes of a child read and write by `&mut`; a copy of the descriptor means the same pipe.
    fn copy_of(pipe: &impl std::os::fd::AsFd) -> io::Result<std::fs::File> {
        Ok(std::fs::File::from(pipe.as_fd().try_clone_to_owned()?))
    }

    #[test]
    fn readable_waits_for_the_peer() {
        on_both(|| async {
            let (one, other) = std::os::unix::net::UnixStream::pair()?;
            let (one, other) = (Async::new(one)?, Async::new(other)?);
            let waiting = spawn(async move {
                other.readable().await?;
                let mut byte = [0];
                other.get_ref().read_exact(&mut byte)?;
                Ok::<u8, io::Error>(byte[0])
            });
            while waiting.state() != TaskState::Suspended {
                yield_now().await;
            }
            brigade_core::sleep(Duration::from_millis(2)).await;
            assert!(!waiting.done());
            one.writable().await?;
            one.get_ref().write_all(b"x")?;
            assert_eq!(waiting.await.expect("the byte comes"), b'x');
            Ok(())
        });
    }

    #[test]
    fn a_file_on_a_disk_cannot_be_waited_for() {
        on_both(|| async {
            let file = std::fs::File::open(std::env::current_exe()?)?;
            assert!(Async::new(file).is_err());
            Ok(())
        });
    }
}
