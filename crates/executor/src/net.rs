//! TCP, UDP and Unix domain sockets on the runtime's own reactor.
//!
//! The types implement `futures-io`'s traits, so the extension traits of `futures`, `futures-lite` and everything
//! built on them work. They belong to the runtime in which they were opened and can be moved between its tasks;
//! after its end every operation answers with an error.
//!
//! Every operation is tried first and waits only if it would block. Each takes a unit of the task's budget (law D7), so
//! a task that always finds data cannot starve the others.

mod accept;
mod bytes;
mod listener;
mod resolve;
mod split;
mod stream;
mod udp;
#[cfg(unix)]
mod unix;

pub use listener::{Incoming, TcpListener};
pub use resolve::{ToSocketAddrs, lookup_host};
pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use stream::TcpStream;
pub use udp::UdpSocket;
#[cfg(unix)]
pub use unix::{UnixDatagram, UnixListener, UnixStream};
