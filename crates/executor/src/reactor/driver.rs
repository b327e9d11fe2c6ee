//! How the operating system is asked: one poller, and the seat of the one worker that waits in it.
//!
//! # Invariants
//!
//! * INVARIANT D1: a descriptor is in the poller only while its `Registered` lives, which owns the object and removes
//!   the descriptor before it closes it.
//! * INVARIANT D2: the event list is used by the holder of the seat only, so at most one worker waits at a time.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, TryLockError};
use std::time::Duration;

use brigade_core::Instant;
use polling::{Event, PollMode, Poller};
use slab::Slab;

#[cfg(target_os = "linux")]
use super::linux;
use super::portable::Portable;
use super::source::{Direction, Source};
use super::wake::WakeList;

/// What the operating system can wait for: anything with a descriptor.
#[cfg(unix)]
pub(crate) trait Io: std::os::fd::AsFd + std::os::fd::AsRawFd {}

#[cfg(unix)]
impl<T: std::os::fd::AsFd + std::os::fd::AsRawFd> Io for T {}

/// What the operating system can wait for: anything with a socket.
#[cfg(windows)]
pub(crate) trait Io: std::os::windows::io::AsSocket + std::os::windows::io::AsRawSocket {}

#[cfg(windows)]
impl<T: std::os::windows::io::AsSocket + std::os::windows::io::AsRawSocket> Io for T {}

/// The poller and everything registered in it.
#[derive(Debug)]
pub(crate) struct Reactor {
    /// Empty once the runtime has ended.
    system: RwLock<Option<System>>,
    mode: PollMode,
    tells_ends: bool,
    sources: Mutex<Slab<Arc<Source>>>,
    seat: Mutex<Chair>,
    /// How many sources there are: without any, nothing can come that a busy worker has to look for.
    registered: AtomicUsize,
    /// Until when the worker in the seat sleeps, in nanoseconds; 0 while nobody does.
    asleep_until: AtomicU64,
}

impl Reactor {
    pub(crate) fn new() -> io::Result<Self> {
        let poller = Poller::new()?;
        let mode = if poller.supports_edge() { PollMode::Edge } else { PollMode::Oneshot };
        let (system, events) = System::new(poller)?;
        Ok(Self {
            system: RwLock::new(Some(system)),
            mode,
            tells_ends: !matches!(events, Events::Portable(_)),
            sources: Mutex::new(Slab::new()),
            seat: Mutex::new(Chair { events, wakers: WakeList::default() }),
            registered: AtomicUsize::new(0),
            asleep_until: AtomicU64::new(0),
        })
    }

    /// Takes the seat, if it is free.
    pub(crate) fn sit(&self) -> Option<Seat<'_>> {
        let chair = match self.seat.try_lock() {
            Ok(chair) => chair,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(Seat { reactor: self, chair })
    }

    /// Whether an event may come at all. Notifications are for workers that sleep.
    pub(crate) fn has_sources(&self) -> bool {
        // Relaxed: a source that is registered meanwhile is looked at next time, or by the worker in the seat.
        self.registered.load(Ordering::Relaxed) > 0
    }

    /// Whether every arrival is an event of its own, and events tell that a stream has ended.
    pub(crate) fn tells_ends(&self) -> bool {
        self.tells_ends
    }

    /// Makes the worker in the seat return, or the next one that sits down.
    pub(crate) fn notify(&self) {
        if let Some(system) = &*self.system() {
            system.notify();
        }
    }

    /// A timer was set: wakes the worker in the seat if it would sleep for longer.
    #[inline]
    pub(crate) fn note_deadline(&self, at: Instant) {
        // SeqCst: pairs with the store in `Seat::sleep` (see `Timers`, where the deadline was published before).
        if at.as_nanos() < self.asleep_until.load(Ordering::SeqCst) {
            self.notify();
        }
    }

    /// Registers an object for both directions.
    pub(crate) fn register(&self, io: &impl Io) -> io::Result<Arc<Source>> {
        let system = self.system();
        let system = system.as_ref().ok_or_else(closed)?;
        let source = {
            let mut sources = self.sources();
            let place = sources.vacant_entry();
            let source = Arc::new(Source::new(place.key()));
            place.insert(source.clone());
            // Relaxed: see `has_sources`.
            self.registered.store(sources.len(), Ordering::Relaxed);
            source
        };
        if let Err(error) = self.add(system, io, &source) {
            self.forget(&source);
            return Err(error);
        }
        Ok(source)
    }

    fn add(&self, system: &System, io: &impl Io, source: &Source) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if system.alarm.is_some() {
            return linux::add(&system.poller, io, source.key());
        }
        let interest = self.interest(source, true, true);
        // SAFETY: the only caller of `register` is `Registered::new`, which owns the object, and calls `deregister` before
        // it drops it (INVARIANT D1).
        unsafe { system.poller.add_with_mode(io, interest, self.mode) }
    }

    /// Removes an object; called before it is closed.
    pub(crate) fn deregister(&self, io: &impl Io, source: &Source) {
        if let Some(System { poller, .. }) = &*self.system() {
            // The descriptor is about to be closed, which removes it in any case.
            let _ = poller.delete(io);
        }
        self.forget(source);
    }

    fn forget(&self, source: &Source) {
        let mut sources = self.sources();
        // After the end of the reactor nothing is left to forget.
        let removed = sources.try_remove(source.key());
        // Relaxed: see `has_sources`.
        self.registered.store(sources.len(), Ordering::Relaxed);
        drop(sources);
        drop(removed);
    }

    /// Where events come only once per request: asks again for a direction in which somebody waits.
    pub(crate) fn rearm(&self, io: &impl Io, source: &Source) -> io::Result<()> {
        if matches!(self.mode, PollMode::Edge) {
            return Ok(());
        }
        let system = self.system();
        let poller = &system.as_ref().ok_or_else(closed)?.poller;
        let interest =
            self.interest(source, source.is_awaited(Direction::Read), source.is_awaited(Direction::Write));
        poller.modify_with_mode(io, interest, self.mode)
    }

    /// Ends the reactor: closes the poller, and lets every waiter find that out.
    pub(crate) fn close(&self) {
        self.notify();
        let system = self.system.write().unwrap_or_else(PoisonError::into_inner).take();
        drop(system);
        let mut wakers = WakeList::default();
        let sources = std::mem::take(&mut *self.sources());
        sources.iter().for_each(|(_, source)| source.close(&mut wakers));
    }

    fn interest(&self, source: &Source, readable: bool, writable: bool) -> Event {
        Event::new(source.key(), readable, writable)
    }

    fn system(&self) -> RwLockReadGuard<'_, Option<System>> {
        self.system.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn sources(&self) -> MutexGuard<'_, Slab<Arc<Source>>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to wait for events.
#[derive(Debug)]
pub(crate) struct Seat<'a> {
    reactor: &'a Reactor,
    chair: MutexGuard<'a, Chair>,
}

/// What one turn leaves to the next: the room for events and for those who are woken by them.
#[derive(Debug)]
struct Chair {
    events: Events,
    wakers: WakeList,
}

impl Seat<'_> {
    /// Waits until an event, a notification, or the time that `plan` names; `plan` is asked twice, the second time
    /// after the first answer was announced, so that a timer set meanwhile is not missed.
    pub(crate) fn sleep(&mut self, now: impl Fn() -> Instant, plan: impl Fn() -> Instant) -> usize {
        // SeqCst: pairs with the load in `note_deadline`.
        self.reactor.asleep_until.store(plan().as_nanos(), Ordering::SeqCst);
        let deadline = plan();
        let timeout = (deadline != Instant::FAR_FUTURE).then(|| deadline - now());
        let events = self.turn(timeout, deadline);
        // Relaxed: a notification for a worker that is awake is only needless.
        self.reactor.asleep_until.store(0, Ordering::Relaxed);
        events
    }

    /// Looks for events without waiting.
    pub(crate) fn look(&mut self) -> usize {
        self.turn(Some(Duration::ZERO), Instant::ZERO)
    }

    fn turn(&mut self, timeout: Option<Duration>, deadline: Instant) -> usize {
        if let Err(error) = self.wait(timeout, deadline) {
            if error.kind() != io::ErrorKind::Interrupted && self.reactor.system().is_some() {
                log::error!("waiting for events failed: {error}");
            }
            return 0;
        }
        let Chair { events, wakers } = &mut *self.chair;
        let sources = self.reactor.sources();
        let mut count = 0;
        events.each(|event| {
            count += 1;
            if let Some(source) = sources.get(event.key) {
                source.set_ready(event, wakers);
            }
        });
        drop(sources);
        wakers.fire();
        count
    }

    /// The lock of `system` is held while this waits; `close` rings first.
    fn wait(&mut self, timeout: Option<Duration>, deadline: Instant) -> io::Result<()> {
        match &*self.reactor.system() {
            Some(system) => self.chair.events.wait(system, timeout, deadline),
            None => Err(closed()),
        }
    }
}

/// A source that became ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) key: usize,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// The peer has ended its direction, or the connection failed.
    pub(crate) ended: bool,
}

/// The poller, and what wakes the one who waits in it, where that is not the poller's business.
#[derive(Debug)]
struct System {
    poller: Poller,
    #[cfg(target_os = "linux")]
    alarm: Option<linux::Alarm>,
}

/// The list of events, by the way in which it is filled.
#[derive(Debug)]
enum Events {
    Portable(Portable),
    #[cfg(target_os = "linux")]
    Direct(linux::Direct),
}

#[cfg(target_os = "linux")]
impl System {
    fn new(poller: Poller) -> io::Result<(Self, Events)> {
        if std::env::var_os("BRIGADE_REACTOR").is_some_and(|choice| choice == "portable") {
            return Ok((Self { poller, alarm: None }, Events::Portable(Portable::new())));
        }
        let alarm = Some(linux::Alarm::new(&poller)?);
        Ok((Self { poller, alarm }, Events::Direct(linux::Direct::new())))
    }

    fn notify(&self) {
        match &self.alarm {
            Some(alarm) => alarm.ring(),
            // Writing to an event descriptor fails only if it is full, and then the worker wakes up anyway.
            None => drop(self.poller.notify()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl System {
    fn new(poller: Poller) -> io::Result<(Self, Events)> {
        Ok((Self { poller }, Events::Portable(Portable::new())))
    }

    fn notify(&self) {
        // A poller that cannot be notified has been notified before.
        drop(self.poller.notify());
    }
}

impl Events {
    fn wait(&mut self, system: &System, timeout: Option<Duration>, deadline: Instant) -> io::Result<()> {
        match (self, deadline) {
            (Self::Portable(events), _) => events.wait(&system.poller, timeout),
            #[cfg(target_os = "linux")]
            (Self::Direct(events), deadline) => match &system.alarm {
                Some(alarm) => events.wait(&system.poller, alarm, timeout, deadline.as_nanos()),
                None => Ok(()),
            },
        }
    }

    fn each(&self, action: impl FnMut(Ready)) {
        match self {
            Self::Portable(events) => events.iter().for_each(action),
            #[cfg(target_os = "linux")]
            Self::Direct(events) => events.iter().for_each(action),
        }
    }
}

/// What operations on sockets of a runtime that has ended answer.
pub(crate) fn closed() -> io::Error {
    io::Error::other("the runtime of this socket has ended")
}
