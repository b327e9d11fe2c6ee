//! UDP sockets.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket as StdSocket};

use super::ToSocketAddrs;
use super::listener::no_address;
use super::resolve::look_up;
use crate::reactor::source::{Direction, Registered};
use crate::services::ambient_reactor;

/// A socket that sends and receives datagrams.
///
/// Every method takes `&self`, and any number of tasks may send and receive at the same time.
///
/// # Examples
///
/// ```
/// use brigade_executor::net::UdpSocket;
///
/// # brigade_executor::run(async {
/// let receiver = UdpSocket::bind("127.0.0.1:0").await?;
/// let sender = UdpSocket::bind("127.0.0.1:0").await?;
/// sender.send_to(b"hello", receiver.local_addr()?).await?;
/// let mut buffer = [0; 16];
/// let (length, from) = receiver.recv_from(&mut buffer).await?;
/// assert_eq!((&buffer[..length], from), (&b"hello"[..], sender.local_addr()?));
/// # Ok::<(), std::io::Error>(())
/// # }).expect("loopback works");
/// ```
#[derive(Debug)]
pub struct UdpSocket {
    io: Registered<StdSocket>,
}

impl UdpSocket {
    /// Binds to the first of the addresses that can be bound; port 0 lets the system choose one.
    ///
    /// # Cancellation
    ///
    /// Nothing is bound.
    ///
    /// # Errors
    ///
    /// The error of the last address, of the lookup, or that there is no runtime with sockets.
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        let mut last = None;
        for address in look_up(address.target()).await? {
            match StdSocket::bind(address) {
                Ok(socket) => return Self::from_std(socket),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(no_address))
    }

    /// Takes over a socket that was made elsewhere.
    ///
    /// # Errors
    ///
    /// The system's error if the socket cannot be registered, or that there is no runtime with sockets.
    pub fn from_std(socket: StdSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { io: Registered::new(ambient_reactor()?, socket)? })
    }

    /// Sets the peer for [`send`](Self::send) and [`recv`](Self::recv): the first of the addresses that can be.
    ///
    /// # Cancellation
    ///
    /// The peer stays what it was.
    ///
    /// # Errors
    ///
    /// The error of the last address, or of the lookup.
    pub async fn connect(&self, address: impl ToSocketAddrs) -> io::Result<()> {
        let mut last = None;
        for address in look_up(address.target()).await? {
            match self.io.get().connect(address) {
                Ok(()) => return Ok(()),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(no_address))
    }

    /// Sends a datagram to an address.
    ///
    /// # Cancellation
    ///
    /// The datagram is sent whole or not at all.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub async fn send_to(&self, data: &[u8], to: SocketAddr) -> io::Result<usize> {
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

    /// Looks at the next datagram and leaves it in the queue.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub async fn peek_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.perform(Direction::Read, |socket| socket.peek_from(buffer)).await
    }

    /// Sends a datagram to the peer that [`connect`](Self::connect) has set.
    ///
    /// # Cancellation
    ///
    /// The datagram is sent whole or not at all.
    ///
    /// # Errors
    ///
    /// The system's error, for instance one that the peer's system has answered to an earlier datagram.
    pub async fn send(&self, data: &[u8]) -> io::Result<usize> {
        self.io.perform(Direction::Write, |socket| socket.send(data)).await
    }

    /// Receives a datagram from the peer that [`connect`](Self::connect) has set.
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

    /// The address on which this socket is bound.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().local_addr()
    }

    /// The peer that [`connect`](Self::connect) has set.
    ///
    /// # Errors
    ///
    /// The system's error if there is none.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().peer_addr()
    }

    /// Allows sending to a broadcast address.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn set_broadcast(&self, broadcast: bool) -> io::Result<()> {
        self.io.get().set_broadcast(broadcast)
    }

    /// Joins a multicast group on an interface; the unspecified address lets the system choose.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn join_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.get().join_multicast_v4(&group, &interface)
    }

    /// Joins a multicast group on an interface; 0 lets the system choose.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn join_multicast_v6(&self, group: Ipv6Addr, interface: u32) -> io::Result<()> {
        self.io.get().join_multicast_v6(&group, interface)
    }

    /// std's socket, for options that this type does not have.
    #[must_use]
    pub fn as_std(&self) -> &StdSocket {
        self.io.get()
    }
}
