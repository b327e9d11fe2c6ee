//! Unix domain sockets.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::{
    SocketAddr, UnixDatagram as StdDatagram, UnixListener as StdListener, UnixStream as StdStream,
};
use std::path::Path;

use socket2::{Domain, SockAddr, Socket, Type};

use super::accept::accept;
use super::bytes::byte_stream;
use super::stream::is_under_way;
use crate::reactor::source::{Direction, Registered};
use crate::services::ambient_reactor;

/// A socket in the file system that accepts connections.
///
/// The file is not removed when the listener is dropped.
#[derive(Debug)]
pub struct UnixListener {
    io: Registered<StdListener>,
}

impl UnixListener {
    /// Listens at a path, where no file may be.
    ///
    /// # Errors
    ///
    /// The system's error, or that there is no runtime with sockets.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::from_std(StdListener::bind(path)?)
    }

    /// Takes over a listener that was made elsewhere.
    ///
    /// # Errors
    ///
    /// The system's error if the socket cannot be registered, or that there is no runtime with sockets.
    pub fn from_std(listener: StdListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { io: Registered::new(ambient_reactor()?, listener)? })
    }

    /// Waits for the next connection; with no descriptor left, until there is one again.
    ///
    /// # Cancellation
    ///
    /// No connection is lost: one that was not returned is still in the queue.
    ///
    /// # Errors
    ///
    /// Other errors of the system.
    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        let (stream, from) = accept(&self.io, StdListener::accept).await?;
        stream.set_nonblocking(true)?;
        Ok((UnixStream { io: Registered::new(self.io.reactor().clone(), stream)? }, from))
    }

    /// The address on which this listener was bound.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().local_addr()
    }
}

/// A connection within the machine, to be read and written by `futures-io`'s traits, also by reference.
///
/// # Examples
///
/// ```
/// use brigade_executor::net::UnixStream;
/// use futures_lite::{AsyncReadExt, AsyncWriteExt};
///
/// # brigade_executor::run(async {
/// let (mut one, mut other) = UnixStream::pair()?;
/// one.write_all(b"hello").await?;
/// let mut word = [0; 5];
/// other.read_exact(&mut word).await?;
/// assert_eq!(&word, b"hello");
/// # Ok::<(), std::io::Error>(())
/// # }).expect("a pair works");
/// ```
#[derive(Debug)]
pub struct UnixStream {
    io: Registered<StdStream>,
}

impl UnixStream {
    /// Connects to the listener at a path.
    ///
    /// # Cancellation
    ///
    /// The attempt is given up and its socket closed.
    ///
    /// # Errors
    ///
    /// The system's error, or that there is no runtime with sockets.
    pub async fn connect(path: impl AsRef<Path>) -> io::Result<Self> {
        let reactor = ambient_reactor()?;
        let address = SockAddr::unix(path)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        match socket.connect(&address) {
            Err(error) if !is_under_way(&error) => return Err(error),
            _ => {}
        }
        let stream = Self { io: Registered::new(reactor, socket.into())? };
        stream.io.perform(Direction::Write, connected).await?;
        Ok(stream)
    }

    /// Two ends that are connected with each other.
    ///
    /// # Errors
    ///
    /// The system's error, or that there is no runtime with sockets.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = StdStream::pair()?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
    }

    /// Takes over a connection that was made elsewhere.
    ///
    /// # Errors
    ///
    /// The system's error if the socket cannot be registered, or that there is no runtime with sockets.
    pub fn from_std(stream: StdStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { io: Registered::new(ambient_reactor()?, stream)? })
    }

    /// Ends one direction, or both, at once.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.get().shutdown(how)
    }

    /// The other end's address.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().peer_addr()
    }

    /// std's socket, for what this type does not have.
    #[must_use]
    pub fn as_std(&self) -> &StdStream {
        self.io.get()
    }
}

byte_stream!(UnixStream);

/// A socket that sends and receives datagrams within the machine.
#[derive(Debug)]
pub struct UnixDatagram {
    io: Registered<StdDatagram>,
}

impl UnixDatagram {
    /// Binds to a path, where no file may be.
    ///
    /// # Errors
    ///
    /// The system's error, or that there is no runtime with sockets.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::from_std(StdDatagram::bind(path)?)
    }

    /// Two sockets that are connected with each other.
    ///
    /// # Errors
    ///
    /// The system's error, or that there is no runtime with sockets.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = StdDatagram::pair()?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
    }

    /// Takes over a socket that was made elsewhere.
    ///
    /// # Errors
    ///
    /// The system's error if the socket cannot be registered, or that there is no runtime with sockets.
    pub fn from_std(socket: StdDatagram) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { io: Registered::new(ambient_reactor()?, socket)? })
    }

    /// Sends a datagram to the socket at a path.
    ///
    /// # Cancellation
    ///
    /// The datagram is sent whole or not at all.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub async fn send_to(&self, data: &[u8], to: impl AsRef<Path>) -> io::Result<usize> {
        let to = to.as_ref();
        self.io.perform(Direction::Write, |socket| socket.send_to(data, to)).await
    }

    /// Receives a datagram: its length and its sender. What does not fit into the buffer is lost.
    ///
    /// # Cancellation
    ///
    /// No datagram is lost.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub async fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.perform(Direction::Read, |socket| socket.recv_from(buffer)).await
    }

    /// Sends a datagram to the socket with which this one is connected.
    ///
    /// # Cancellation
    ///
    /// The datagram is sent whole or not at all.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub async fn send(&self, data: &[u8]) -> io::Result<usize> {
        self.io.perform(Direction::Write, |socket| socket.send(data)).await
    }

    /// Receives a datagram from the socket with which this one is connected.
    ///
    /// # Cancellation
    ///
    /// No datagram is lost.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub async fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.io.perform(Direction::Read, |socket| socket.recv(buffer)).await
    }

    /// std's socket, for what this type does not have.
    #[must_use]
    pub fn as_std(&self) -> &StdDatagram {
        self.io.get()
    }
}

/// How the attempt to connect stands: `WouldBlock` while it is under way.
fn connected(stream: &StdStream) -> io::Result<()> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    match stream.peer_addr() {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Err(io::ErrorKind::WouldBlock.into()),
        result => result.map(drop),
    }
}
