//! Any descriptor on the reactor, for libraries that bring their own.

use std::fs::File;
use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::{ChildStderr, ChildStdin, ChildStdout};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::reactor::driver::Io;
use crate::reactor::source::{Direction, Registered};
use crate::services::ambient_reactor;

/// A descriptor of any kind that the system can wait for: a pipe, a device, a socket of a protocol of one's own.
///
/// It may hold the types of [`Descriptor`]; others become an [`OwnedFd`] first. Files on a disk are always ready, and
/// cannot be registered on Linux: use `spawn_blocking` for them.
///
/// # Examples
///
/// ```
/// use brigade_executor::Async;
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// # brigade_executor::run(async {
/// let (one, other) = UnixStream::pair()?;
/// let (one, other) = (Async::new(one)?, Async::new(other)?);
/// one.write_with(|mut end| end.write(b"x")).await?;
/// other.readable().await?;
/// let mut byte = [0];
/// other.read_with(|mut end| end.read(&mut byte)).await?;
/// assert_eq!(&byte, b"x");
/// # Ok::<(), std::io::Error>(())
/// # }).expect("a pair works");
/// ```
#[derive(Debug)]
pub struct Async<T: Descriptor> {
    io: Registered<T>,
}

impl<T: Descriptor> Async<T> {
    /// Registers a descriptor with the ambient runtime, and makes it non-blocking.
    ///
    /// # Errors
    ///
    /// The system's error, for instance for a file on a disk, or that there is no runtime with sockets.
    pub fn new(io: T) -> io::Result<Self> {
        let flags = fcntl_getfl(&io)?;
        fcntl_setfl(&io, flags | OFlags::NONBLOCK)?;
        Ok(Self { io: Registered::new(ambient_reactor()?, io)? })
    }

    /// Waits until reading would not block.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    ///
    /// # Errors
    ///
    /// The system's error, or that the runtime has ended.
    pub async fn readable(&self) -> io::Result<()> {
        self.io.perform(Direction::Read, |io| ask(io, PollFlags::IN)).await
    }

    /// Waits until writing would not block.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    ///
    /// # Errors
    ///
    /// The system's error, or that the runtime has ended.
    pub async fn writable(&self) -> io::Result<()> {
        self.io.perform(Direction::Write, |io| ask(io, PollFlags::OUT)).await
    }

    /// Repeats an operation that reads, whenever it could succeed, until it answers anything but
    /// [`WouldBlock`](io::ErrorKind::WouldBlock).
    ///
    /// # Cancellation
    ///
    /// The operation is not repeated any more.
    ///
    /// # Errors
    ///
    /// The operation's, or that the runtime has ended.
    pub async fn read_with<R>(&self, mut operation: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.io.perform(Direction::Read, operation_ref(&mut operation)).await
    }

    /// The same for an operation that writes.
    ///
    /// # Cancellation
    ///
    /// The operation is not repeated any more.
    ///
    /// # Errors
    ///
    /// The operation's, or that the runtime has ended.
    pub async fn write_with<R>(&self, mut operation: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.io.perform(Direction::Write, operation_ref(&mut operation)).await
    }

    /// What was registered.
    #[must_use]
    pub fn get_ref(&self) -> &T {
        self.io.get()
    }
}

/// A reference to an operation is an operation, and can be moved whatever the operation is.
fn operation_ref<T, R, F: FnMut(&T) -> io::Result<R>>(
    operation: &mut F,
) -> impl FnMut(&T) -> io::Result<R> + Unpin {
    move |io: &T| operation(io)
}

fn ask(io: &impl Io, flags: PollFlags) -> io::Result<()> {
    let mut descriptors = [PollFd::new(io, flags)];
    match poll(&mut descriptors, Some(&Default::default()))? {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        _ => Ok(()),
    }
}

/// What [`Async`] can hold: types that own their descriptor and keep it until they are dropped.
///
/// The trait is sealed, since a type that closed or exchanged its descriptor while it is registered would make the
/// runtime wait for somebody else's.
pub trait Descriptor: sealed::Sealed {}

mod sealed {
    /// Keeps the trait closed.
    #[allow(unnameable_types, reason = "it seals the trait")]
    pub trait Sealed: std::os::fd::AsFd + std::os::fd::AsRawFd {}
}

macro_rules! descriptors {
    ($($type:ty),+) => {$(
        impl sealed::Sealed for $type {}

        impl Descriptor for $type {}
    )+};
}

descriptors!(OwnedFd, File, TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream);
descriptors!(ChildStdin, ChildStdout, ChildStderr);
