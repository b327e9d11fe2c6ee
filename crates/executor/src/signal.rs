//! SIGINT and SIGTERM for a runner: the first cancels main, the second ends the grace (law R2).
//!
//! ```text
//!   first signal ──► main is cancelled; its grace begins
//!        │ second signal, or the grace is over
//!        ▼
//!   main is aborted, and so is everything else ──third signal──► the process ends as without a runner
//! ```
//!
//! The handler writes a byte into a socket pair, whose other end is registered in the reactor. What reads it is no
//! task, which the shutdown would cancel, but the waker itself: when the reactor finds the byte, it wakes, and so runs
//! `Listening::look`.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use brigade_core::scope::Level;
use brigade_core::{CancelKind, CancelOutcome, CancelReason, Handle, TaskRef};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

use crate::reactor::driver::Reactor;
use crate::reactor::source::{Direction, Registered};

/// The signals of one runner; they have their default effect again when this is dropped.
#[derive(Debug)]
pub(crate) struct Signals {
    listening: Arc<Listening>,
    registrations: Vec<SigId>,
    _hearing: Hearing,
}

impl Signals {
    /// Begins to listen, for a main that is to be given by `attach`.
    pub(crate) fn listen(reactor: &Arc<Reactor>, handle: &Handle, grace: Duration) -> io::Result<Self> {
        // First, since actions run in the order of their registration: the signal whose byte makes somebody ask for the
        // default effect has passed the question whether it has it.
        let hearing = Hearing::begin()?;
        let (mut registrations, mut ends) = (Vec::new(), Vec::new());
        for signal in SIGNALS {
            let (read, write) = UnixStream::pair()?;
            read.set_nonblocking(true)?;
            ends.push((signal, Registered::new(reactor.clone(), read)?));
            registrations.push(low_level::pipe::register(signal, write)?);
        }
        let listening = Arc::new(Listening {
            handle: handle.clone(),
            grace,
            main: OnceLock::new(),
            first: AtomicI32::new(0),
            ends: Mutex::new(ends),
        });
        Ok(Self { listening, registrations, _hearing: hearing })
    }

    /// The main task is there: from now on signals take effect. One that has come before is not lost.
    pub(crate) fn attach(&self) -> impl FnOnce(&TaskRef) + 'static {
        let listening = self.listening.clone();
        move |main| {
            // It is empty: a runner has one main.
            let _ = listening.main.set(main.clone());
            listening.look();
        }
    }

    /// The first signal that came.
    pub(crate) fn received(&self) -> Option<i32> {
        // Acquire: pairs with the exchange in `signal`.
        Some(self.listening.first.load(Ordering::Acquire)).filter(|&signal| signal != 0)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.registrations.drain(..).for_each(|registration| {
            low_level::unregister(registration);
        });
        // The ends hold wakers that hold this.
        let ends = std::mem::take(&mut *self.listening.ends());
        drop(ends);
    }
}

#[derive(Debug)]
struct Listening {
    handle: Handle,
    grace: Duration,
    main: OnceLock<TaskRef>,
    /// The first signal that came, or 0.
    first: AtomicI32,
    ends: Mutex<Vec<(i32, Registered<UnixStream>)>>,
}

impl Listening {
    /// Takes what has come, and waits for more.
    fn look(self: &Arc<Self>) {
        let waker = Waker::from(self.clone());
        let mut cx = Context::from_waker(&waker);
        let mut came = Vec::new();
        for (signal, end) in &*self.ends() {
            let mut bytes = [0; 16];
            while let Poll::Ready(Ok(count @ 1..)) =
                end.poll(Direction::Read, &mut cx, |mut end| end.read(&mut bytes))
            {
                came.extend(std::iter::repeat_n(*signal, count));
            }
        }
        came.into_iter().for_each(|signal| self.signal(signal));
    }

    fn signal(self: &Arc<Self>, signal: i32) {
        // AcqRel: pairs with the load in `received`.
        let first = self.first.compare_exchange(0, signal, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if first && self.cancel_main() {
            let over = Waker::from(Arc::new(GraceOver(Arc::downgrade(self))));
            let backend = self.handle.backend();
            backend.insert_timer(backend.now() + self.grace, over);
        } else {
            self.force();
            // A main that blocks its thread cannot be aborted, but the user can still end the process.
            unheard(true);
        }
    }

    /// False if main has ended already: then the signal can only hurry the end of the rest.
    fn cancel_main(&self) -> bool {
        let reason = CancelReason::new(CancelKind::Signal);
        self.main.get().is_some_and(|main| main.request(Level::Hard, reason) != CancelOutcome::Done)
    }

    /// Ends the grace of main and of everything else.
    fn force(&self) {
        self.handle.end_grace();
        if let Some(main) = self.main.get() {
            main.abort();
        }
    }

    fn ends(&self) -> MutexGuard<'_, Vec<(i32, Registered<UnixStream>)>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Listening {
    fn wake(self: Arc<Self>) {
        self.look();
    }
}

/// Wakes when the grace that began with the first signal is over.
struct GraceOver(Weak<Listening>);

impl Wake for GraceOver {
    fn wake(self: Arc<Self>) {
        let Some(listening) = self.0.upgrade() else { return };
        if listening.main.get().is_some_and(|main| !main.done()) {
            log::warn!("main did not end within {:?} of the signal; it is aborted", listening.grace);
            listening.force();
        }
    }
}

/// Somebody listens. While nobody does, the signals end the process as they do without a runner: a handler that was
/// installed once stays installed, so it has to do that itself.
#[derive(Debug)]
struct Hearing;

impl Hearing {
    fn begin() -> io::Result<Self> {
        let mut active = active();
        if UNHEARD.get().is_none() {
            let flag = Arc::new(AtomicBool::new(false));
            for signal in SIGNALS {
                flag::register_conditional_default(signal, flag.clone())?;
            }
            UNHEARD.get_or_init(|| flag);
        }
        *active += 1;
        unheard(false);
        Ok(Self)
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        let mut active = active();
        *active -= 1;
        unheard(*active == 0);
    }
}

/// How many runners listen.
fn active() -> MutexGuard<'static, usize> {
    static ACTIVE: Mutex<usize> = Mutex::new(0);
    ACTIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the signals have their default effect.
fn unheard(unheard: bool) {
    if let Some(flag) = UNHEARD.get() {
        // SeqCst: pairs with the load in the signal's handler, which is signal-hook's.
        flag.store(unheard, Ordering::SeqCst);
    }
}

static UNHEARD: OnceLock<Arc<AtomicBool>> = OnceLock::new();

const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];
