//! A TCP connection.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream as StdStream};
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};

use super::ToSocketAddrs;
use super::bytes::byte_stream;
use super::listener::no_address;
use super::resolve::look_up;
use super::split::{self, OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use crate::reactor::driver::Reactor;
use crate::reactor::source::{Direction, Registered};
use crate::services::ambient_reactor;

/// A TCP connection, to be read and written by `futures-io`'s traits.
///
/// `&TcpStream` implements them, too, so that one task can read while another writes; of two tasks that wait for the
/// same direction by these traits only the one that came last is woken.
///
/// # Examples
///
/// ```
/// use brigade_executor::net::{TcpListener, TcpStream};
/// use futures_lite::{AsyncReadExt, AsyncWriteExt};
///
/// # brigade_executor::run(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let mut caller = TcpStream::connect(listener.local_addr()?).await?;
/// caller.write_all(b"hello").await?;
/// caller.close().await?; // says that nothing more comes; reading goes on
///
/// let (mut callee, _) = listener.accept().await?;
/// let mut text = String::new();
/// callee.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # Ok::<(), std::io::Error>(())
/// # }).expect("loopback works");
/// ```
#[derive(Debug)]
pub struct TcpStream {
    io: Registered<StdStream>,
}

impl TcpStream {
    /// Connects to the first of the addresses that answers.
    ///
    /// # Cancellation
    ///
    /// The attempt is given up and its socket closed.
    ///
    /// # Errors
    ///
    /// The error of the last address as the system gave it, of the lookup, or that there is no runtime with sockets.
    pub async fn connect(address: impl ToSocketAddrs) -> io::Result<Self> {
        let reactor = ambient_reactor()?;
        let mut last = None;
        for address in look_up(address.target()).await? {
            match Self::connect_to(reactor.clone(), address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(no_address))
    }

    /// Takes over a connection that was made elsewhere.
    ///
    /// # Errors
    ///
    /// The system's error if the socket cannot be registered, or that there is no runtime with sockets.
    pub fn from_std(stream: StdStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Self::register(ambient_reactor()?, stream)
    }

    /// Borrows the two directions, for two branches of one task.
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        split::borrowed(self)
    }

    /// Takes the two directions apart, for two tasks. Dropping the writing half ends that direction.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        split::owned(self)
    }

    /// Reads without taking the data out of the queue; 0 at the end of the stream.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub async fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.io.perform(Direction::Read, |stream| stream.peek(buffer)).await
    }

    /// Ends one direction, or both, at once.
    ///
    /// # Errors
    ///
    /// The system's error, for instance if the peer has closed the connection already.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.get().shutdown(how)
    }

    /// This end's address.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().local_addr()
    }

    /// The other end's address.
    ///
    /// # Errors
    ///
    /// The system's error, for instance if the connection has ended.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().peer_addr()
    }

    /// Whether small packets are sent at once.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.io.get().nodelay()
    }

    /// Sends small packets at once instead of collecting them (`TCP_NODELAY`).
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.io.get().set_nodelay(nodelay)
    }

    /// Whether the system asks a silent peer if it is still there.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn keepalive(&self) -> io::Result<bool> {
        SockRef::from(self.io.get()).keepalive()
    }

    /// Makes the system ask a peer that is silent for this long if it is still there; `None` never asks.
    ///
    /// # Errors
    ///
    /// The system's error, for instance for a time that it does not allow.
    pub fn set_keepalive(&self, idle: Option<Duration>) -> io::Result<()> {
        let socket = SockRef::from(self.io.get());
        match idle {
            Some(idle) => socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(idle)),
            None => socket.set_keepalive(false),
        }
    }

    /// How many routers a packet may pass.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.get().ttl()
    }

    /// Sets how many routers a packet may pass.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.get().set_ttl(ttl)
    }

    /// std's socket, for options that this type does not have.
    #[must_use]
    pub fn as_std(&self) -> &StdStream {
        self.io.get()
    }

    pub(super) fn register(reactor: Arc<Reactor>, stream: StdStream) -> io::Result<Self> {
        Ok(Self { io: Registered::new(reactor, stream)? })
    }

    async fn connect_to(reactor: Arc<Reactor>, address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        match socket.connect(&address.into()) {
            Err(error) if !is_under_way(&error) => return Err(error),
            _ => {}
        }
        let stream = Self::register(reactor, socket.into())?;
        stream.io.perform(Direction::Write, connected).await?;
        Ok(stream)
    }
}

byte_stream!(TcpStream);

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

#[cfg(unix)]
pub(super) fn is_under_way(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EINPROGRESS) || error.kind() == io::ErrorKind::Interrupted
}

#[cfg(windows)]
pub(super) fn is_under_way(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}
