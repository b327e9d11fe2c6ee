//! The accounts of one scope: what was requested of it, who received it, and what became of that.
//!
//! A scope owns a node only once a receiver has registered inside it; plain tasks and plain timeouts
//! never allocate one.
//!
//! | field | who touches it, when |
//! |---|---|
//! | `receivers` | [`Receiver`](super::receiver::Receiver)s of this scope insert, refresh and remove themselves; `decide` delivers to them |
//! | `accounts` | `decide` (the scope's own poll) and [`settle`](super::settle) |
//! | `link` | set by `after_pending` with a request from outside, used once by `settle` when all of that is absorbed |
//! | `waker` | stored by `decide` while something is unsettled, taken by `settle` |
//! | `dead`, `forward` | set once by [`Scope::finish`](super::region::Scope::finish), read by `settle` |
//! | `batches` | `decide` opens one per delivery, `settle` closes it |
//! | `explicit` | node of a task's root only: explicit requests that were moved in by the root and are undelivered |
//!
//! INVARIANT N1: at most one node's lock is held by a thread at any time, and no waker is woken or
//! dropped under it.
//!
//! INVARIANT N2: `unsettled` of a source is the number of receivers whose `counted` has the source's
//! bit plus the number of live tokens with that bit. `unsettled` of a batch is the number of receivers
//! and tokens that hold a delivery of that batch.
//!
//! A batch is what one delivery gave to the receivers that were live then. An explicit request that
//! comes while a handler runs makes a second batch, for the receivers inside the handler (law C6): when
//! all of *that* batch are settled and one resumed, the scope unwinds, and the handlers of earlier
//! batches are dropped with it.
//!
//! A delivery's life, with the function behind each edge:
//!
//! ```text
//!             1 add                2 deliver               3 settle(Resume)
//!  (clear) ─────────► undelivered ───────────► unsettled ──────────────────► resumed ──► the scope unwinds
//!     ▲                    ▲                     │  │                                     (verdict)
//!     │ 4 settle(Absorb)   │ 5 settle(HandBack), │  │
//!     └────────────────────┼─── withdraw_idle ───┘  │
//!                          └────────────────────────┘
//! ```

use std::task::Waker;

use slab::Slab;

use super::reason::CancelReason;
use super::settle::Token;
use crate::context;
use crate::sync::{Arc, AtomicBool, Mutex, MutexGuard, Ordering, lock};

/// How urgent a request is (law C6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Made once by a group, a timeout or the shutdown, or handed back: waits until no handler
    /// inside the scope is running.
    Soft,
    /// An explicit `cancel()`: interrupts a handler that is still running.
    Hard,
}

/// A request for cancellation on its way to a scope.
#[derive(Clone, Debug)]
pub struct Request {
    /// How urgent it is.
    pub level: Level,
    /// Why, who and where.
    pub reason: CancelReason,
}

/// The sources of a scope's requests, as bits.
pub(crate) const OWN: u8 = 1;
/// Handed down by the enclosing scope; see [`OWN`].
pub(crate) const OUTER: u8 = 2;
pub(crate) const SOURCES: [u8; 2] = [OWN, OUTER];

/// How often a receiver with a waker of its own is woken in vain before it counts as left aside.
const ATTEMPTS: u8 = 3;

/// What happened to the requests of one source.
#[derive(Default)]
pub(crate) struct Account {
    pub(crate) undelivered: Option<Level>,
    pub(crate) unsettled: u32,
    pub(crate) resumed: bool,
    /// A delivery ended a wait: it was caught, or somebody unwound because of it.
    pub(crate) touched: bool,
    /// The first reason, which is the one to report (law C15).
    pub(crate) reason: Option<CancelReason>,
    /// The reason of the request that is undelivered.
    latest: Option<CancelReason>,
}

impl Account {
    pub(crate) fn is_clear(&self) -> bool {
        self.undelivered.is_none() && self.unsettled == 0 && !self.resumed
    }

    /// Edge 1: a request arrives.
    fn add(&mut self, request: Request) {
        self.undelivered = self.undelivered.max(Some(request.level));
        self.reason.get_or_insert(request.reason.clone());
        self.latest = Some(request.reason);
    }
}

/// A registered receiver.
pub(crate) struct Entry {
    /// `None` if it is polled with the very waker that polls the scope.
    pub(crate) waker: Option<Waker>,
    /// Boxed: hardly any receiver ever gets one, and entries come and go with every wait.
    pub(crate) pending: Option<Box<Request>>,
    pub(crate) counted: u8,
    pub(crate) batch: usize,
    /// Its unwinding was put off: it holds a delivery, but no handler runs behind it.
    pub(crate) idle: bool,
    pub(crate) epoch: u32,
    pub(crate) attempts: u8,
    /// Tells apart receivers that had the same key one after the other.
    pub(crate) serial: u64,
}

/// A registration: the scope and the key there.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) node: Arc<Node>,
    pub(crate) key: usize,
    pub(crate) serial: u64,
}

impl Entry {
    /// Whether somebody awaits this receiver (law C3). One that shares the scope's waker is polled in
    /// each of its polls; of the others it is assumed until they do not answer.
    fn is_live(&self, epoch: u32) -> bool {
        match self.waker {
            None => self.epoch == epoch,
            Some(_) => self.attempts < ATTEMPTS,
        }
    }
}

/// One delivery; see the module.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) unsettled: u32,
    pub(crate) resumed: bool,
    pub(crate) handed_back: bool,
    /// The explicit requests that it delivered (law T3).
    pub(crate) explicit: u32,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) receivers: Slab<Entry>,
    accounts: [Account; 2],
    pub(crate) batches: Vec<Batch>,
    pub(crate) serials: u64,
    /// Where this scope got what is in its account of the outside.
    pub(crate) link: Option<Link>,
    pub(crate) waker: Option<Waker>,
    pub(crate) dead: bool,
    pub(crate) forward: Option<Token>,
    pub(crate) explicit: u32,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Node {
    state: Mutex<State>,
    /// Whether an account may be other than clear; written under the lock, by the scope's own poll.
    requested: AtomicBool,
}

/// What the scope has to do after a pending poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: go on waiting.
    Wait,
    /// Drop the inner future and end cancelled.
    Unwind {
        /// Whether a request from outside this scope is part of it.
        external: bool,
    },
}

/// The answer of [`Node::decide`]; wakers are woken by the caller, after the lock is gone.
pub(crate) struct Decision {
    pub(crate) verdict: Verdict,
    /// Everything that came from outside was absorbed.
    pub(crate) outer_clear: bool,
    /// The unwinding was put off for requests of a scope around.
    pub(crate) put_off: bool,
    /// A request waits until no handler runs.
    pub(crate) waiting: bool,
    /// Deliveries are unsettled, but no handler runs behind any of them.
    pub(crate) idle: bool,
    pub(crate) wakers: Vec<Waker>,
}

impl Node {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Whether nothing was ever requested of the scope, or all of it was absorbed.
    pub(crate) fn is_quiet(&self) -> bool {
        // Relaxed: only the scope's own poll writes it, and only it asks.
        !self.requested.load(Ordering::Relaxed)
    }

    /// Takes in new requests and finds out what they mean for the scope, whose inner future has just
    /// answered `Pending` in its poll number `epoch`, polled with `waker`.
    ///
    /// If `may_put_off`, a scope around has requests that wait or are about to be delivered: an
    /// unwinding is put off for one pass, so that they join it (laws C5, C6).
    pub(crate) fn decide(
        &self,
        own: Option<Request>,
        outer: Option<Request>,
        epoch: u32,
        waker: &Waker,
        may_put_off: bool,
    ) -> Decision {
        let mut retired = None;
        let mut wakers = Vec::new();
        let mut state = self.lock();
        state.take_in(own, outer);
        if state.is_busy() {
            state.withdraw_idle(epoch, &mut wakers);
        }
        let verdict = state.verdict(epoch, waker, &mut wakers);
        let put_off = may_put_off && verdict != Verdict::Wait;
        if state.is_busy() || put_off {
            retired = state.waker.replace(waker.clone());
        }
        let decision = Decision {
            verdict: if put_off { Verdict::Wait } else { verdict },
            outer_clear: state.account(OUTER).is_clear(),
            put_off,
            waiting: state.accounts.iter().any(|account| account.undelivered.is_some()),
            idle: put_off || state.is_busy() && !state.is_handling(),
            wakers,
        };
        let quiet = decision.outer_clear && state.account(OWN).is_clear();
        // Relaxed: see `is_quiet`.
        self.requested.store(!quiet, Ordering::Relaxed);
        drop(state);
        drop(retired);
        decision
    }
}

impl State {
    pub(crate) fn account(&self, source: u8) -> &Account {
        &self.accounts[usize::from(source - 1)]
    }

    pub(crate) fn account_mut(&mut self, source: u8) -> &mut Account {
        &mut self.accounts[usize::from(source - 1)]
    }

    /// Whether a delivery is unsettled: a handler runs or a receiver waits for something to end.
    pub(crate) fn is_busy(&self) -> bool {
        self.accounts.iter().any(|account| account.unsettled > 0)
    }

    /// Whether a handler runs, or a receiver is busy with its delivery.
    fn is_handling(&self) -> bool {
        let unsettled: u32 = self.batches.iter().map(|batch| batch.unsettled).sum();
        let idle = self.receivers.iter().filter(|(_, entry)| entry.counted != 0 && entry.idle).count();
        unsettled as usize > idle
    }

    fn take_in(&mut self, own: Option<Request>, outer: Option<Request>) {
        if let Some(request) = own {
            self.account_mut(OWN).add(request);
        }
        if let Some(request) = outer {
            self.account_mut(OUTER).add(request);
        }
    }

    /// A receiver that is no longer awaited must not delay the cancellation (law C3): its deliveries
    /// become undelivered again. One with a waker of its own is woken a few times before.
    fn withdraw_idle(&mut self, epoch: u32, wakers: &mut Vec<Waker>) {
        for (_, entry) in &mut self.receivers {
            if entry.counted == 0 {
                continue;
            }
            if let (Some(waker), Some(_)) = (&entry.waker, &entry.pending) {
                entry.attempts += 1;
                if entry.attempts < ATTEMPTS {
                    wakers.push(waker.clone());
                }
            }
            if entry.is_live(epoch) {
                continue;
            }
            let level = entry.pending.take().map_or(Level::Soft, |request| request.level);
            for source in SOURCES.into_iter().filter(|source| entry.counted & source != 0) {
                let account = &mut self.accounts[usize::from(source - 1)];
                account.unsettled -= 1;
                account.undelivered = account.undelivered.max(Some(level));
            }
            entry.counted = 0;
            let batch = &mut self.batches[entry.batch];
            batch.handed_back = true;
            batch.unsettled -= 1;
            self.explicit += batch.close();
        }
    }

    fn verdict(&mut self, epoch: u32, waker: &Waker, wakers: &mut Vec<Waker>) -> Verdict {
        let busy = self.is_handling();
        let last_unsettled = self.batches.iter().rposition(|batch| batch.unsettled > 0);
        let last_resumed = self.batches.iter().rposition(|batch| batch.resumed);
        if last_resumed.is_some() && last_resumed > last_unsettled {
            return self.unwind();
        }
        let deliverable = |account: &Account| match account.undelivered {
            Some(Level::Hard) => true,
            Some(Level::Soft) => !busy,
            None => false,
        };
        let due = SOURCES.map(|source| deliverable(self.account(source)));
        if due == [false, false] {
            return Verdict::Wait;
        }
        if !self.receivers.iter().any(|(_, entry)| entry.is_live(epoch)) {
            return self.unwind();
        }
        let explicit = std::mem::take(&mut self.explicit);
        self.batches.push(Batch { explicit, ..Batch::default() });
        for (source, _) in SOURCES.into_iter().zip(due).filter(|(_, due)| *due) {
            self.deliver(source, epoch, waker, wakers);
        }
        Verdict::Wait
    }

    fn unwind(&self) -> Verdict {
        Verdict::Unwind { external: !self.account(OUTER).is_clear() }
    }

    /// Edge 2: every live receiver gets the request.
    fn deliver(&mut self, source: u8, epoch: u32, waker: &Waker, wakers: &mut Vec<Waker>) {
        let account = &mut self.accounts[usize::from(source - 1)];
        let reason = account.latest.take().or_else(|| account.reason.clone());
        let (Some(level), Some(reason)) = (account.undelivered.take(), reason) else { return };
        for (_, entry) in self.receivers.iter_mut().filter(|(_, entry)| entry.is_live(epoch)) {
            move_to_last(&mut self.batches, entry);
            if entry.counted & source == 0 {
                entry.counted |= source;
                account.unsettled += 1;
            }
            match &mut entry.pending {
                Some(request) => request.level = request.level.max(level),
                None => entry.pending = Some(Box::new(Request { level, reason: reason.clone() })),
            }
            if let Some(waker) = entry.waker.as_ref().or(context::foreign_to_root(waker)) {
                wakers.push(waker.clone());
            }
        }
        context::ask_for_repoll();
    }

    /// Explicit requests to the task that were not absorbed (law T3).
    pub(crate) fn explicit_requests(&self) -> u32 {
        self.explicit + self.batches.iter().map(|batch| batch.explicit).sum::<u32>()
    }
}

impl Batch {
    /// After one of its deliveries was settled: if it was the last, what becomes of its explicit
    /// requests. Gives the number of those that are undelivered again.
    pub(crate) fn close(&mut self) -> u32 {
        if self.unsettled > 0 || self.resumed {
            return 0;
        }
        let explicit = std::mem::take(&mut self.explicit);
        if std::mem::take(&mut self.handed_back) { explicit } else { 0 }
    }
}

/// Counts a receiver in the batch that is being delivered. What it had got before stands in the same
/// delivery from now on: a token stands for every request delivered so far (law C6).
fn move_to_last(batches: &mut [Batch], entry: &mut Entry) {
    let last = batches.len() - 1;
    if entry.counted != 0 && entry.batch == last {
        return;
    }
    if entry.counted != 0 {
        let former = &mut batches[entry.batch];
        former.unsettled -= 1;
        if former.unsettled == 0 && !former.resumed {
            batches[last].explicit += std::mem::take(&mut batches[entry.batch].explicit);
        }
    }
    entry.batch = last;
    batches[last].unsettled += 1;
}
