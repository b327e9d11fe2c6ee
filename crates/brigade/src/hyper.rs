//! The runtime traits of hyper 1.x over Brigade: a stream, an executor and a timer.
//!
//! hyper asks its host for three things, and this module has one type for each: [`BrigadeIo`] turns a stream
//! with futures-io's traits (as [`TcpStream`](crate::net::TcpStream) is) into one with hyper's,
//! [`BrigadeExecutor`] spawns, [`BrigadeTimer`] sleeps. The example `web_requests` uses all of them.
//!
//! ```no_run
//! use brigade::hyper::{BrigadeExecutor, BrigadeIo, BrigadeTimer};
//! use http_body_util::Full;
//! use hyper::rt::Executor as _;
//! use hyper::{Response, body::Bytes, server::conn::http1, service::service_fn};
//!
//! async fn serve(listener: brigade::net::TcpListener) -> std::io::Result<()> {
//!     loop {
//!         let (stream, _) = listener.accept().await?;
//!         let hello = service_fn(async |_| Ok::<_, hyper::Error>(Response::new(Full::<Bytes>::from("hello"))));
//!         let mut http = http1::Builder::new();
//!         BrigadeExecutor.execute(http.timer(BrigadeTimer).serve_connection(BrigadeIo::new(stream), hello));
//!     }
//! }
//! # brigade::run(async { serve(brigade::net::TcpListener::bind("127.0.0.1:0").await?).await }).unwrap();
//! ```

use ::hyper::rt::{Executor, Read, ReadBufCursor, Sleep, Timer, Write};
use brigade_core::TaskOutput;
use futures_io::{AsyncRead, AsyncWrite};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// A stream with futures-io's traits, dressed as one of hyper's.
#[derive(Debug)]
pub struct BrigadeIo<S> {
    stream: S,
    /// The last read brought more than a little, so the next one may, too.
    flows: bool,
}

impl<S> BrigadeIo<S> {
    /// Dresses `stream` for hyper.
    pub fn new(stream: S) -> Self {
        Self { stream, flows: false }
    }

    /// Gives the stream back, after an upgrade for instance.
    pub fn into_inner(self) -> S {
        self.stream
    }
}

impl<S: AsyncRead + Unpin> Read for BrigadeIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // A request fits into a small buffer, a body does not.
        if self.flows { self.read::<MUCH>(cx, cursor) } else { self.read::<LITTLE>(cx, cursor) }
    }
}

impl<S: AsyncRead + Unpin> BrigadeIo<S> {
    /// futures-io wants initialised bytes and hyper lends uninitialised ones. A buffer on the stack and a copy keep
    /// this file free of unsafe code and an idle connection free of memory.
    fn read<const SIZE: usize>(
        &mut self,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut buffer = [0; SIZE];
        let most = cursor.remaining().min(SIZE);
        let count = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer[..most]))?;
        self.flows = count >= LITTLE;
        cursor.put_slice(&buffer[..count]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> Write for BrigadeIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, buffers)
    }
}

/// Spawns what hyper gives it as tasks of the runtime's root, as [`spawn`](crate::spawn) does.
///
/// A connection that fails is reported through the hook for failures that nobody observed.
#[derive(Clone, Copy, Debug, Default)]
pub struct BrigadeExecutor;

impl<F> Executor<F> for BrigadeExecutor
where
    F: Future + Send + 'static,
    F::Output: TaskOutput,
    <F::Output as TaskOutput>::Ok: Send,
    <F::Output as TaskOutput>::Err: Send,
{
    fn execute(&self, future: F) {
        // Dropping the handle leaves the task running (law T5).
        let _detached = crate::spawn(future);
    }
}

/// Sleeps on the runtime's clock.
///
/// hyper speaks in `std`'s instants, so a deadline is turned into the time that is left until it.
#[derive(Clone, Copy, Debug, Default)]
pub struct BrigadeTimer;

impl Timer for BrigadeTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(HyperSleep(Mutex::new(Box::pin(crate::sleep(duration)))))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        self.sleep(deadline.saturating_duration_since(self.now()))
    }
}

/// hyper demands that its sleeps are `Sync`; nobody ever polls one from two threads, so the lock is free.
struct HyperSleep(Mutex<Pin<Box<crate::Sleep>>>);

impl Sleep for HyperSleep {}

impl Future for HyperSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        sleep.as_mut().poll(cx)
    }
}

/// As much as hyper asks for at first on a new connection.
const MUCH: usize = 8 * 1024;

/// More than most requests have. Clearing the large buffer for each of them would take as long as reading them.
const LITTLE: usize = 1024;
