//! Readiness of one descriptor, and the tasks that wait for it.
//!
//! An operation is tried first and waits only if the system says that it would block. Then its direction's bit is
//! cleared, unless an event has come since the attempt began, which the tick tells; and the task waits for the bit.
//!
//! ```text
//!   readiness word:   tick · ended · closed · writable · readable
//!
//!             ┌──1── try the operation ◄───────────┐
//!             ▼ WouldBlock                         │ woken
//!   clear the bit if the tick is still the same    │
//!             └──2── register, look at the bit ──3─┴── an event sets the bit, bumps the tick, takes the waiters
//! ```
//!
//! 1 `Registered::attempt` · 2 `Source::poll_ready` · 3 `Source::set_ready`

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use brigade_core::budget;
use slab::Slab;

use super::driver::{Io, Reactor, Ready, closed};
use super::wake::{self, WakeList};

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// An object of the operating system that is registered in a reactor.
#[derive(Debug)]
pub(crate) struct Registered<T: Io> {
    io: T,
    source: Arc<Source>,
    reactor: Arc<Reactor>,
}

impl<T: Io> Registered<T> {
    /// Registers an object, which must not block.
    pub(crate) fn new(reactor: Arc<Reactor>, io: T) -> io::Result<Self> {
        let source = reactor.register(&io)?;
        Ok(Self { io, source, reactor })
    }

    pub(crate) fn get(&self) -> &T {
        &self.io
    }

    pub(crate) fn reactor(&self) -> &Arc<Reactor> {
        &self.reactor
    }

    /// Does an operation as soon as it does not block. Of several tasks that poll the same direction, the last one is
    /// woken (futures-io's rule); those that wait by `perform` are woken, too.
    #[cfg(unix)]
    pub(crate) fn poll<R>(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        operation: impl FnMut(&T) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.attempt(direction, cx, None, operation)
    }

    /// The same for an operation that transfers up to `wanted` bytes of a stream. One that transfers fewer has emptied or
    /// filled the system's buffer, so the next one would block: it need not be tried before an event comes.
    pub(crate) fn poll_bytes(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        wanted: usize,
        mut operation: impl FnMut(&T) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let mut seen = 0;
        let result = ready!(self.attempt(direction, cx, None, |io| {
            seen = self.source.readiness();
            operation(io)
        }));
        // Only where an event comes for everything that arrives later, and where it is known that the end of the stream
        // has not come together with these bytes: it would bring no event of its own.
        let drained = matches!(result, Ok(done) if 0 < done && done < wanted);
        if drained && seen & ENDED == 0 && self.reactor.tells_ends() {
            self.source.clear(direction, seen);
        }
        Poll::Ready(result)
    }

    /// The same as a future, for any number of tasks at a time.
    pub(crate) fn perform<R, F>(&self, direction: Direction, operation: F) -> Perform<'_, T, F>
    where
        F: FnMut(&T) -> io::Result<R> + Unpin,
    {
        Perform { registered: self, direction, operation, seat: None }
    }

    fn attempt<R>(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        mut seat: Option<&mut Option<usize>>,
        mut operation: impl FnMut(&T) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        ready!(budget::poll_proceed(cx));
        loop {
            let seen = match self.source.poll_ready(direction, cx.waker(), seat.as_deref_mut()) {
                Poll::Ready(seen) => seen,
                Poll::Pending => {
                    self.reactor.rearm(&self.io, &self.source)?;
                    return Poll::Pending;
                }
            };
            if seen & CLOSED != 0 {
                return Poll::Ready(Err(closed()));
            }
            match operation(&self.io) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.source.clear(direction, seen),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }
}

impl<T: Io> Drop for Registered<T> {
    fn drop(&mut self) {
        self.reactor.deregister(&self.io, &self.source);
    }
}

/// An operation that waits for its turn (see `Registered::perform`).
#[derive(Debug)]
pub(crate) struct Perform<'a, T: Io, F> {
    registered: &'a Registered<T>,
    direction: Direction,
    operation: F,
    /// Its place in the list of waiters.
    seat: Option<usize>,
}

impl<T: Io, R, F: FnMut(&T) -> io::Result<R> + Unpin> Future for Perform<'_, T, F> {
    type Output = io::Result<R>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        this.registered.attempt(this.direction, cx, Some(&mut this.seat), &mut this.operation)
    }
}

impl<T: Io, F> Drop for Perform<'_, T, F> {
    fn drop(&mut self) {
        if let Some(seat) = self.seat {
            self.registered.source.leave(self.direction, seat);
        }
    }
}

/// The readiness of a descriptor.
#[derive(Debug)]
pub(crate) struct Source {
    key: usize,
    readiness: AtomicU64,
    waiters: Mutex<[Waiters; 2]>,
}

#[derive(Debug, Default)]
struct Waiters {
    /// The task that polled last.
    polled: Option<Waker>,
    /// The tasks that wait by a future. A place is empty while its task is about to look again.
    listed: Slab<Option<Waker>>,
}

impl Source {
    /// A new source is taken to be ready: the first operation finds out.
    pub(crate) fn new(key: usize) -> Self {
        Self { key, readiness: AtomicU64::new(READABLE | WRITABLE), waiters: Mutex::default() }
    }

    pub(crate) fn key(&self) -> usize {
        self.key
    }

    /// The readiness word if the direction is ready; else the task waits.
    fn poll_ready(&self, direction: Direction, waker: &Waker, seat: Option<&mut Option<usize>>) -> Poll<u64> {
        if let Some(seen) = self.ready(direction) {
            return Poll::Ready(seen);
        }
        let fresh = waker.clone();
        let old = {
            let mut waiters = self.waiters();
            let waiters = &mut waiters[direction as usize];
            match seat {
                None => waiters.polled.replace(fresh),
                Some(Some(seat)) => waiters.listed[*seat].replace(fresh),
                Some(seat @ None) => {
                    *seat = Some(waiters.listed.insert(Some(fresh)));
                    None
                }
            }
        };
        if let Some(old) = old {
            wake::discard(old);
        }
        // An event sets the bit before it takes the lock, so it saw this waiter, or its bit is seen here.
        match self.ready(direction) {
            Some(seen) => Poll::Ready(seen),
            None => Poll::Pending,
        }
    }

    /// An event came: sets the bits and takes the waiters.
    pub(crate) fn set_ready(&self, event: Ready, wakers: &mut WakeList) {
        let bit = |set: bool, bit: u64| if set { bit } else { 0 };
        let bits = bit(event.readable, READABLE) | bit(event.writable, WRITABLE) | bit(event.ended, ENDED);
        self.set(bits, wakers);
    }

    /// The runtime has ended: every operation finds that out.
    pub(crate) fn close(&self, wakers: &mut WakeList) {
        self.set(READABLE | WRITABLE | CLOSED, wakers);
    }

    /// Whether a task waits for this direction.
    pub(crate) fn is_awaited(&self, direction: Direction) -> bool {
        let waiters = self.waiters();
        let waiters = &waiters[direction as usize];
        waiters.polled.is_some() || waiters.listed.iter().any(|(_, waker)| waker.is_some())
    }

    fn set(&self, bits: u64, wakers: &mut WakeList) {
        // AcqRel: pairs with the load in `ready` and the exchange in `clear`. The closure never declines.
        let _ = self
            .readiness
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| Some((word | bits).wrapping_add(TICK)));
        let mut waiters = self.waiters();
        for direction in [Direction::Read, Direction::Write] {
            if bits & direction.bit() != 0 {
                let waiters = &mut waiters[direction as usize];
                waiters.polled.take().into_iter().for_each(|waker| wakers.push(waker));
                waiters
                    .listed
                    .iter_mut()
                    .filter_map(|(_, place)| place.take())
                    .for_each(|waker| wakers.push(waker));
            }
        }
    }

    /// The operation would block: forgets the readiness that was `seen`, but not one that has come since.
    fn clear(&self, direction: Direction, seen: u64) {
        // AcqRel and Acquire: pairs with the exchange in `set`.
        let _ = self.readiness.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
            (word / TICK == seen / TICK).then_some(word & !direction.bit())
        });
    }

    fn readiness(&self) -> u64 {
        // Acquire: pairs with the exchange in `set`.
        self.readiness.load(Ordering::Acquire)
    }

    fn ready(&self, direction: Direction) -> Option<u64> {
        let seen = self.readiness();
        (seen & (direction.bit() | CLOSED) != 0).then_some(seen)
    }

    fn leave(&self, direction: Direction, seat: usize) {
        let waker = self.waiters()[direction as usize].listed.try_remove(seat).flatten();
        if let Some(waker) = waker {
            wake::discard(waker);
        }
    }

    fn waiters(&self) -> MutexGuard<'_, [Waiters; 2]> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Direction {
    fn bit(self) -> u64 {
        match self {
            Self::Read => READABLE,
            Self::Write => WRITABLE,
        }
    }
}

const READABLE: u64 = 1;
const WRITABLE: u64 = 2;
const CLOSED: u64 = 4;
/// The peer has ended the stream, or the connection failed; never cleared.
const ENDED: u64 = 8;
const TICK: u64 = 16;
