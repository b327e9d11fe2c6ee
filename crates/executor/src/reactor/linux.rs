//! Waiting on Linux with one system call where `polling` needs three to five.
//!
//! Descriptors are registered in the poller's own descriptor, edge-triggered, and with the event by which a peer ends its
//! direction, which `polling` does not ask for. And instead of `Poller::wait` the worker in the seat waits on that
//! descriptor. There are two more in it:
//!
//! * an event descriptor to wake the worker. It is registered edge-triggered and never read: every write is an edge.
//! * a timer descriptor for deadlines, since `epoll_wait` knows only milliseconds. It is set only if the deadline
//!   moves to an earlier time, or has passed; one that was set too early costs a wake-up, no more.
//!
//! `Poller::notify` is never called on this path: its bookkeeping expects `Poller::wait`.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use polling::Poller;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::{Errno, retry_on_intr, write};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::driver::{Io, Ready};

/// What wakes the worker in the seat.
#[derive(Debug)]
pub(crate) struct Alarm {
    bell: OwnedFd,
    timer: OwnedFd,
    /// A notification is on its way: further ones are not needed.
    rung: AtomicBool,
}

impl Alarm {
    /// Registers both descriptors in the poller's own.
    pub(crate) fn new(poller: &Poller) -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        for descriptor in [&bell, &timer] {
            epoll::add(poller, descriptor, EventData::new_u64(OURS), EventFlags::IN | EventFlags::ET)?;
        }
        Ok(Self { bell, timer, rung: AtomicBool::new(false) })
    }

    /// Makes the present wait return, or the next one.
    pub(crate) fn ring(&self) {
        // SeqCst: pairs with the store in `wait`. What the caller has published before is seen after that store.
        if !self.rung.swap(true, Ordering::SeqCst) {
            // It can fail only after 2^64 - 2 notifications.
            let _ = retry_on_intr(|| write(&self.bell, &1_u64.to_ne_bytes()));
        }
    }
}

/// Registers an object for everything that can happen to it.
pub(crate) fn add(poller: &Poller, io: &impl Io, key: usize) -> io::Result<()> {
    let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::PRI | EventFlags::ET;
    Ok(epoll::add(poller, io, EventData::new_u64(key as u64), flags)?)
}

/// The events of one wait, and the deadline for which the timer is set.
#[derive(Debug)]
pub(crate) struct Direct {
    ready: Vec<Ready>,
    /// In the clock's nanoseconds.
    set_for: u64,
}

impl Direct {
    pub(crate) fn new() -> Self {
        Self { ready: Vec::new(), set_for: u64::MAX }
    }

    /// Waits for events, a notification, or the end of `timeout`, when the clock shows `deadline`.
    pub(crate) fn wait(
        &mut self,
        poller: &Poller,
        alarm: &Alarm,
        timeout: Option<Duration>,
        deadline: u64,
    ) -> io::Result<()> {
        self.ready.clear();
        let at_once = timeout == Some(Duration::ZERO);
        if let Some(timeout) = timeout.filter(|_| !at_once) {
            self.set_timer(alarm, timeout, deadline)?;
        }
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut space = [MaybeUninit::<epoll::Event>::uninit(); AT_ONCE];
        let waited = epoll::wait(poller.as_fd(), &mut space[..], at_once.then_some(&none));
        // SeqCst: pairs with the exchange in `ring`: what it announced is looked at after this.
        alarm.rung.store(false, Ordering::SeqCst);
        let (events, _) = match waited {
            Ok(found) => found,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        self.ready.extend(events.iter().filter(|event| event.data.u64() != OURS).map(ready));
        Ok(())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Ready> + '_ {
        self.ready.iter().copied()
    }

    fn set_timer(&mut self, alarm: &Alarm, timeout: Duration, deadline: u64) -> io::Result<()> {
        let now = deadline.saturating_sub(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
        if now < self.set_for && self.set_for <= deadline {
            return Ok(());
        }
        let seconds = timeout.as_secs().try_into().unwrap_or(i64::MAX);
        let value = Timespec { tv_sec: seconds, tv_nsec: timeout.subsec_nanos().into() };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(&alarm.timer, TimerfdTimerFlags::empty(), &once)?;
        self.set_for = deadline;
        Ok(())
    }
}

fn ready(event: &epoll::Event) -> Ready {
    let flags = event.flags;
    let ends = EventFlags::HUP | EventFlags::ERR;
    let ended = flags.intersects(EventFlags::RDHUP | ends);
    Ready {
        key: usize::try_from(event.data.u64()).unwrap_or(usize::MAX),
        readable: flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::PRI | ends),
        writable: flags.intersects(EventFlags::OUT | ends),
        ended,
    }
}

/// The key of the descriptors that are no sources; `polling` has kept it for itself.
const OURS: u64 = u64::MAX;

/// How many events one wait can bring.
const AT_ONCE: usize = 256;
