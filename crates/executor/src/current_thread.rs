//! The single-threaded backend: everything runs on the thread that drives it, first in, first out.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::time::Duration;

use brigade_core::Instant;
use brigade_core::backend::{Backend, BlockingJob, Drive, Home, Job, ScheduleInfo, TimerKey};

use crate::reactor::driver::Reactor;
use crate::scheduler::inject::Injector;
use crate::scheduler::pinned::Inbox;
use crate::services::{self, Services};
use crate::until::Until;
use crate::worker::context::with_worker;
use crate::worker::park::Parker;
use crate::worker::tempo::Tempo;

/// A backend that runs every task on the thread that calls [`drive`](Drive::drive).
///
/// What tasks spawn and wake runs strictly in that order. Timers, sockets and other threads are looked at when nothing is
/// left to run, and every few microseconds, so a program whose tasks all end their polls soon sees them soon. What they
/// wake runs next, in the order in which it came; as much of the rest follows before the next look.
///
/// # Examples
///
/// ```
/// use brigade_core::{Handle, RunOptions, TaskError, run_main};
/// use brigade_executor::CurrentThread;
///
/// # fn main() -> Result<(), TaskError<std::convert::Infallible>> {
/// let backend = CurrentThread::new().expect("a descriptor to wait on");
/// run_main(&Handle::new(backend.clone()), &*backend, RunOptions::new(), async {
///     println!("on one thread");
/// })
/// # }
/// ```
#[derive(Debug)]
pub struct CurrentThread {
    shared: Arc<Shared>,
}

impl CurrentThread {
    /// Makes a backend, which does nothing until it is driven.
    ///
    /// # Errors
    ///
    /// The operating system's error when it has no descriptor left.
    pub fn new() -> io::Result<Arc<Self>> {
        Self::make(None)
    }

    /// The same, which looks at timers, sockets and other threads after so many polls, however long they last, as tokio's
    /// `event_interval` says; 0 counts as 1. For those who count instructions, or want a run to depend on time less.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with_event_interval(polls: u32) -> io::Result<Arc<Self>> {
        Self::make(Some(polls))
    }

    /// How long the blocking job has waited for a thread that was queued first; `None` if none waits.
    ///
    /// All threads for blocking closures are busy then. One that has waited for a second is told of in the log.
    #[must_use]
    pub fn blocking_queue_age(&self) -> Option<Duration> {
        self.shared.services.blocking.queue_age()
    }

    fn make(interval: Option<u32>) -> io::Result<Arc<Self>> {
        let shared = Arc::new(Shared {
            services: Services::new(1)?,
            injector: Injector::new(),
            inbox: Inbox::new(0),
            parker: Parker::default(),
            interval,
            driven: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        });
        let backend = Arc::new(Self { shared });
        services::publish(Arc::as_ptr(&backend).cast(), backend.reactor());
        Ok(backend)
    }

    pub(crate) fn reactor(&self) -> &Arc<Reactor> {
        &self.shared.services.reactor
    }
}

impl Backend for CurrentThread {
    #[inline]
    fn schedule(&self, job: Job, info: ScheduleInfo) {
        if let Some(job) = self.shared.push_local(job) {
            match info.home {
                Some(_) => self.shared.deliver(job),
                None => self.shared.inject(job),
            }
        }
    }

    fn now(&self) -> Instant {
        self.shared.services.now()
    }

    fn insert_timer(&self, at: Instant, waker: Waker) -> TimerKey {
        self.shared.services.insert_timer(0, at, waker)
    }

    fn reset_timer(&self, key: TimerKey, at: Instant) -> bool {
        self.shared.services.reset_timer(key, at)
    }

    fn renew_timer(&self, key: TimerKey, at: Instant, waker: &Waker) -> bool {
        self.shared.services.renew_timer(key, at, waker)
    }

    fn update_timer(&self, key: TimerKey, waker: &Waker) -> bool {
        self.shared.services.timers.update(key, waker)
    }

    fn remove_timer(&self, key: TimerKey) {
        self.shared.services.timers.remove(key);
    }

    fn run_blocking(&self, job: BlockingJob) {
        self.shared.services.run_blocking(job);
    }

    fn home(&self) -> Option<Home> {
        with_driver(|driver| {
            driver.filter(|driver| driver.drives(&self.shared)).map(|_| self.shared.inbox.home())
        })
    }
}

impl Drive for CurrentThread {
    /// # Panics
    ///
    /// If the calling thread is a worker already, if another thread drives this backend, or if it was closed before
    /// `until` is ready.
    fn drive(&self, until: Pin<&mut dyn Future<Output = ()>>) {
        let seat = DriverSeat::take(&self.shared);
        let shared = self.shared.clone();
        let mut until = Until::new(until, move || shared.parker.unpark(&shared.services));
        while !until.is_ready(self.shared.is_closed()) {
            seat.driver.turn();
        }
    }

    fn close(&self) {
        self.shared.close();
    }
}

impl Drop for CurrentThread {
    fn drop(&mut self) {
        self.shared.close();
        services::withdraw(std::ptr::from_ref(self).cast());
    }
}

#[derive(Debug)]
struct Shared {
    services: Services,
    /// Jobs from other threads, and what a drive leaves for the next one.
    injector: Injector<Job>,
    /// Jobs of local tasks that were woken from other threads.
    inbox: Inbox,
    parker: Parker,
    /// Polls between two looks, if the clock is not to decide on that.
    interval: Option<u32>,
    driven: AtomicBool,
    closed: AtomicBool,
}

impl Shared {
    /// Takes a job on the driving thread; gives it back on any other.
    #[inline]
    fn push_local(&self, job: Job) -> Option<Job> {
        with_driver(|driver| match driver {
            Some(driver) if driver.drives(self) => {
                driver.push(job);
                None
            }
            _ => Some(job),
        })
    }

    fn inject(&self, job: Job) {
        match self.injector.push(job) {
            Ok(()) => self.parker.unpark(&self.services),
            Err(job) => drop(job),
        }
    }

    fn deliver(&self, job: Job) {
        self.inbox.deliver(job);
        self.parker.unpark(&self.services);
    }

    fn tempo(&self) -> Tempo {
        self.interval.map_or_else(Tempo::default, Tempo::fixed)
    }

    fn is_closed(&self) -> bool {
        // SeqCst: pairs with the store in `close`, which is followed by a notification.
        self.closed.load(Ordering::SeqCst)
    }

    fn close(&self) {
        // SeqCst: pairs with the load in `is_closed`.
        self.closed.store(true, Ordering::SeqCst);
        self.injector.close();
        self.inbox.close();
        self.parker.unpark(&self.services);
        std::iter::from_fn(|| self.inbox.take()).for_each(drop);
        self.injector.drain().into_iter().for_each(drop);
        self.services.close();
    }
}

/// What only the driving thread touches.
#[derive(Debug)]
struct Driver {
    shared: Arc<Shared>,
    queue: RefCell<VecDeque<Job>>,
    /// When to look at timers, sockets and other threads.
    tempo: Tempo,
}

impl Driver {
    fn drives(&self, shared: &Shared) -> bool {
        std::ptr::eq(&*self.shared, shared)
    }

    /// Runs jobs until there are none or it is time for a look, or waits for events if there are none.
    fn turn(&self) {
        if self.queue.borrow().is_empty() && !self.collect() {
            return self.sleep();
        }
        while !self.tempo.is_due() {
            let Some(job) = self.next() else { return };
            job.run();
        }
        self.look_around();
    }

    #[inline]
    fn next(&self) -> Option<Job> {
        self.queue.borrow_mut().pop_front()
    }

    #[inline]
    fn push(&self, job: Job) {
        self.queue.borrow_mut().push_back(job);
    }

    /// Looks at timers, sockets and other threads. What they bring has waited already and goes ahead.
    #[cold]
    fn look_around(&self) {
        let Shared { services, injector, inbox, .. } = &*self.shared;
        let now = services.now();
        let others = self.queue.take();
        services.look(now);
        let mut arrivals = self.queue.replace(others);
        // The rest stays, or what comes with the next look would overtake it.
        arrivals.extend(std::iter::from_fn(|| inbox.take().or_else(|| injector.pop())).take(MOST_AT_ONCE));
        self.tempo.looked(now, arrivals.len());
        let mut queue = self.queue.borrow_mut();
        arrivals.into_iter().rev().for_each(|job| queue.push_front(job));
    }

    /// Takes over what other threads have scheduled. False if that is nothing.
    fn collect(&self) -> bool {
        let mut queue = self.queue.borrow_mut();
        if !self.shared.injector.is_empty() {
            queue.append(&mut self.shared.injector.drain());
        }
        queue.extend(std::iter::from_fn(|| self.shared.inbox.take()));
        !queue.is_empty()
    }

    fn sleep(&self) {
        let Shared { services, parker, .. } = &*self.shared;
        // The seat is taken only while another thread closes this runtime.
        if parker.sleep_in_reactor(services, None, |_| ()).is_none() {
            parker.sleep_aside(None);
        }
        self.tempo.pause();
    }
}

/// The calling thread as the one that drives; leaves when dropped.
struct DriverSeat {
    driver: Rc<Driver>,
}

impl DriverSeat {
    fn take(shared: &Arc<Shared>) -> Self {
        assert!(
            !drives_here() && with_worker(|worker| worker.is_none()),
            "a runtime cannot be driven inside a worker of a runtime: await the future instead, or use another thread"
        );
        // AcqRel: pairs with the store in `drop`; everything the last driver did is seen.
        let driven = shared.driven.swap(true, Ordering::AcqRel);
        assert!(!driven, "this runtime is being driven by another thread already");
        let driver =
            Rc::new(Driver { shared: shared.clone(), queue: RefCell::default(), tempo: shared.tempo() });
        replace_driver(Some(driver.clone()));
        Self { driver }
    }
}

impl Drop for DriverSeat {
    fn drop(&mut self) {
        replace_driver(None);
        let Driver { shared, queue, .. } = &*self.driver;
        // Local tasks are among them: the next drive runs them if it is on this thread. A closed runtime drops them.
        queue.take().into_iter().for_each(|job| shared.keep(job));
        // Release: pairs with the exchange in `take`.
        shared.driven.store(false, Ordering::Release);
    }
}

impl Shared {
    /// Keeps a job for the next drive.
    fn keep(&self, job: Job) {
        match job.home() {
            Some(_) => self.deliver(job),
            None => self.inject(job),
        }
    }
}

/// Whether the calling thread drives a backend of this kind.
pub(crate) fn drives_here() -> bool {
    with_driver(|driver| driver.is_some())
}

/// Runs `action` with what the calling thread drives.
#[inline]
fn with_driver<R>(action: impl FnOnce(Option<&Driver>) -> R) -> R {
    CURRENT.with(|current| action(current.borrow().as_deref()))
}

fn replace_driver(driver: Option<Rc<Driver>>) {
    drop(CURRENT.with(|current| ManuallyDrop::into_inner(current.replace(ManuallyDrop::new(driver)))));
}

/// How many jobs of other threads one look brings.
const MOST_AT_ONCE: usize = 8;

thread_local! {
    /// `ManuallyDrop` keeps it from needing a destructor, so that it can be read at any time (law T4).
    static CURRENT: RefCell<ManuallyDrop<Option<Rc<Driver>>>> = const { RefCell::new(ManuallyDrop::new(None)) };
}
