//! SIGINT and SIGTERM for a runner: the first cancels main, the second ends the grace (law R2).
//!
//! The handler writes a byte into a socket pair, whose other end is registered in the reactor. What reads it is no
//! task, which the shutdown would cancel, but the waker itself: when the reactor finds the byte, it wakes, and so runs
//! `Listening::look`.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

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
}

impl Signals {
    /// Begins to listen, for a main that is to be given by `attach`.
    pub(crate) fn listen(reactor: &Arc<Reactor>, handle: &Handle) -> io::Result<Self> {
        let (mut registrations, mut ends) = (Vec::new(), Vec::new());
        for signal in SIGNALS {
            let (read, write) = UnixStream::pair()?;
            read.set_nonblocking(true)?;
            ends.push((signal, Registered::new(reactor.clone(), read)?));
            registrations.push(low_level::pipe::register(signal, write)?);
        }
        let listening = Arc::new(Listening {
            handle: handle.clone(),
            main: OnceLock::new(),
            first: AtomicI32::new(0),
            ends: Mutex::new(ends),
        });
        default_effect(|active| *active += 1)?;
        Ok(Self { listening, registrations })
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
        // Nothing that can fail is left to do if the count was changed before.
        let _ = default_effect(|active| *active -= 1);
        // The ends hold wakers that hold this.
        let ends = std::mem::take(&mut *self.listening.ends());
        drop(ends);
    }
}

#[derive(Debug)]
struct Listening {
    handle: Handle,
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

    fn signal(&self, signal: i32) {
        // AcqRel: pairs with the load in `received`.
        let first = self.first.compare_exchange(0, signal, Ordering::AcqRel, Ordering::Acquire).is_ok();
        let requested = first && self.cancel_main();
        if !requested {
            self.handle.end_grace();
        }
    }

    /// False if main has ended already: then the signal can only hurry the end of the rest.
    fn cancel_main(&self) -> bool {
        let reason = CancelReason::new(CancelKind::Signal);
        self.main.get().is_some_and(|main| main.request(Level::Hard, reason) != CancelOutcome::Done)
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

/// Changes how many runners listen. While none does, the signals end the process as they do without a runner: a handler
/// that was installed once stays installed, so it has to do that itself.
fn default_effect(change: impl FnOnce(&mut usize)) -> io::Result<()> {
    static ACTIVE: Mutex<usize> = Mutex::new(0);
    static UNHEARD: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let mut active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner);
    let unheard = match UNHEARD.get() {
        Some(unheard) => unheard,
        None => {
            let unheard = Arc::new(AtomicBool::new(false));
            for signal in SIGNALS {
                flag::register_conditional_default(signal, unheard.clone())?;
            }
            UNHEARD.get_or_init(|| unheard)
        }
    };
    change(&mut active);
    // SeqCst: pairs with the load in the signal's handler, which is signal-hook's.
    unheard.store(*active == 0, Ordering::SeqCst);
    Ok(())
}

const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];
