//! The two directions of a connection, apart: borrowed, or owned by two tasks.

use std::error::Error;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use super::TcpStream;

/// The reading direction of a [`TcpStream`], borrowed.
#[derive(Debug)]
pub struct ReadHalf<'a>(&'a TcpStream);

/// The writing direction of a [`TcpStream`], borrowed.
#[derive(Debug)]
pub struct WriteHalf<'a>(&'a TcpStream);

/// The reading direction of a [`TcpStream`]. Dropping it does not tell the peer.
#[derive(Debug)]
pub struct OwnedReadHalf(Arc<TcpStream>);

/// The writing direction of a [`TcpStream`]. Dropping it ends that direction: the peer reads the end of the stream.
#[derive(Debug)]
pub struct OwnedWriteHalf {
    stream: Arc<TcpStream>,
    ends_on_drop: bool,
}

/// The halves were not of the same connection; gives them back.
#[derive(Debug)]
pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

impl OwnedReadHalf {
    /// Puts the two halves of a connection together again.
    ///
    /// # Errors
    ///
    /// [`ReuniteError`] holds the halves if they are of different connections.
    pub fn reunite(self, mut other: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
        if !Arc::ptr_eq(&self.0, &other.stream) {
            return Err(ReuniteError(self, other));
        }
        other.ends_on_drop = false;
        drop(other);
        match Arc::try_unwrap(self.0) {
            Ok(stream) => Ok(stream),
            // A connection has two halves, and both were here.
            Err(_) => unreachable!("a third half of a connection"),
        }
    }

    /// Reads without taking the data out of the queue; see [`TcpStream::peek`].
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub async fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.peek(buffer).await
    }
}

impl AsRef<TcpStream> for OwnedReadHalf {
    fn as_ref(&self) -> &TcpStream {
        &self.0
    }
}

impl AsRef<TcpStream> for OwnedWriteHalf {
    fn as_ref(&self) -> &TcpStream {
        &self.stream
    }
}

impl AsRef<TcpStream> for ReadHalf<'_> {
    fn as_ref(&self) -> &TcpStream {
        self.0
    }
}

impl AsRef<TcpStream> for WriteHalf<'_> {
    fn as_ref(&self) -> &TcpStream {
        self.0
    }
}

impl Drop for OwnedWriteHalf {
    fn drop(&mut self) {
        if self.ends_on_drop {
            // A connection that has ended already has nothing to end.
            let _ = self.stream.shutdown(Shutdown::Write);
        }
    }
}

/// Implements reading by the shared stream.
macro_rules! reads {
    ($($half:ty),+) => {$(
        impl AsyncRead for $half {
            fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &mut [u8]) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.as_ref().get_ref().as_ref()).poll_read(cx, data)
            }

            fn poll_read_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                data: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.as_ref().get_ref().as_ref()).poll_read_vectored(cx, data)
            }
        }
    )+};
}

/// Implements writing by the shared stream.
macro_rules! writes {
    ($($half:ty),+) => {$(
        impl AsyncWrite for $half {
            fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.as_ref().get_ref().as_ref()).poll_write(cx, data)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                data: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.as_ref().get_ref().as_ref()).poll_write_vectored(cx, data)
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.as_ref().get_ref().as_ref()).poll_flush(cx)
            }

            fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.as_ref().get_ref().as_ref()).poll_close(cx)
            }
        }
    )+};
}

reads!(ReadHalf<'_>, OwnedReadHalf);
writes!(WriteHalf<'_>, OwnedWriteHalf);

impl fmt::Display for ReuniteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the two halves are of different connections")
    }
}

impl Error for ReuniteError {}

pub(super) fn borrowed(stream: &TcpStream) -> (ReadHalf<'_>, WriteHalf<'_>) {
    (ReadHalf(stream), WriteHalf(stream))
}

pub(super) fn owned(stream: TcpStream) -> (OwnedReadHalf, OwnedWriteHalf) {
    let stream = Arc::new(stream);
    (OwnedReadHalf(stream.clone()), OwnedWriteHalf { stream, ends_on_drop: true })
}
