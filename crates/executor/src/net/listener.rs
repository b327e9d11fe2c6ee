//! Listening for TCP connections.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::accept::accept;
use super::resolve::look_up;
use super::{TcpStream, ToSocketAddrs};
use crate::reactor::source::Registered;
use crate::services::ambient_reactor;

/// A socket that accepts TCP connections.
///
/// # Examples
///
/// ```
/// use brigade_executor::net::{TcpListener, TcpStream};
///
/// # brigade_executor::run(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let caller = TcpStream::connect(listener.local_addr()?).await?;
/// let (_connection, from) = listener.accept().await?;
/// assert_eq!(from, caller.local_addr()?);
/// # Ok::<(), std::io::Error>(())
/// # }).expect("loopback works");
/// ```
#[derive(Debug)]
pub struct TcpListener {
    io: Registered<StdListener>,
}

impl TcpListener {
    /// Listens on the first of the addresses that can be bound; port 0 lets the system choose one.
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
            match StdListener::bind(address) {
                Ok(listener) => return Self::from_std(listener),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(no_address))
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

    /// Waits for the next connection.
    ///
    /// When the process or the system has no descriptor left, this waits until there is one again, looking less and
    /// less often; the connections wait in the system's queue meanwhile. A connection that its peer has given up already
    /// is skipped.
    ///
    /// # Cancellation
    ///
    /// No connection is lost: one that was not returned is still in the queue.
    ///
    /// # Errors
    ///
    /// Other errors of the system.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, from) = accept(&self.io, StdListener::accept).await?;
        stream.set_nonblocking(true)?;
        Ok((TcpStream::register(self.io.reactor().clone(), stream)?, from))
    }

    /// The connections as a stream that never ends.
    ///
    /// # Cancellation
    ///
    /// As [`accept`](Self::accept).
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self, next: None }
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

/// The connections of a listener; see [`TcpListener::incoming`].
pub struct Incoming<'a> {
    listener: &'a TcpListener,
    next: Option<Accept<'a>>,
}

type Accept<'a> = Pin<Box<dyn Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send + 'a>>;

impl Stream for Incoming<'_> {
    type Item = io::Result<TcpStream>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let listener = self.listener;
        let next = self.next.get_or_insert_with(|| Box::pin(listener.accept()));
        let accepted = ready!(next.as_mut().poll(cx));
        self.next = None;
        Poll::Ready(Some(accepted.map(|(stream, _)| stream)))
    }
}

impl fmt::Debug for Incoming<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").field("listener", self.listener).finish_non_exhaustive()
    }
}

/// What a name that resolves to nothing answers.
pub(super) fn no_address() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the name has no address")
}
