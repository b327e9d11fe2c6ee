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
//! | `fresh` | the sources around of what was moved in and is undelivered, if nothing had come from them before |
//! | `explicit` | explicit requests that were moved in by the root, or by the only receiver around, and are undelivered (law T3) |
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

use super::account::{
    ATTEMPTS, Account, Batch, Entry, Level, Link, OUTER, OWN, Request, SOURCES, move_to_last,
};
use super::settle::Token;
use crate::context;
use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering, lock};

/// What the lock guards; see the module.
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
    pub(crate) fresh: u8,
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

/// What a pending poll comes to, unless it is put off.
#[derive(Clone, Copy)]
enum Plan {
    Wait,
    Unwind {
        /// Constructs inside have waited to their end, as for a result: what arrives in that very turn comes after
        /// it (laws C2, C10).
        over: bool,
        /// And nothing that waits joins it.
        alone: bool,
    },
    /// To the receivers, from these sources.
    Deliver([bool; 2]),
}

/// What scopes around the running code have in hand for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pressing {
    /// Requests that wait until no handler runs, or were handed back.
    pub(crate) waiting: bool,
    /// Requests to the task that came since its last poll.
    pub(crate) fresh: bool,
    /// Requests that a scope around is given after this very poll.
    pub(crate) coming: bool,
}

impl Pressing {
    pub(crate) fn any(self) -> bool {
        self.waiting || self.fresh
    }
}

/// The answer of [`Node::decide`]; wakers are woken by the caller, after the lock is gone.
pub(crate) struct Decision {
    pub(crate) verdict: Verdict,
    /// Everything that came from outside was absorbed.
    pub(crate) outer_clear: bool,
    /// The unwinding or the delivery was put off for requests of a scope around.
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
    /// Where a scope around has requests that wait or are about to be delivered, an unwinding or a delivery is put
    /// off for one pass, so that they join it (laws C2, C5, C6). The end of a timeout that would else expire is never too
    /// late for them (law D4).
    pub(crate) fn decide(
        &self,
        own: Option<Request>,
        outer: Option<Request>,
        epoch: u32,
        waker: &Waker,
        pressing: Pressing,
        is_timeout: bool,
    ) -> Decision {
        let mut retired = None;
        let mut wakers = Vec::new();
        let mut state = self.lock();
        state.take_in(own, outer);
        if state.is_busy() {
            state.withdraw_idle(epoch, &mut wakers);
        }
        let plan = state.plan(epoch);
        let put_off = match plan {
            Plan::Wait => false,
            Plan::Unwind { over: true, alone } => {
                pressing.waiting && !alone || is_timeout && !state.is_asked() && pressing.fresh
            }
            Plan::Unwind { over: false, .. } => pressing.any(),
            Plan::Deliver(_) => pressing.any() && !state.is_handling(),
        };
        let verdict = if put_off { Verdict::Wait } else { state.follow(plan, epoch, waker, &mut wakers) };
        if state.is_busy() || put_off {
            retired = state.waker.replace(waker.clone());
        }
        let decision = Decision {
            verdict,
            outer_clear: state.account(OUTER).is_clear(),
            put_off,
            waiting: state.accounts.iter().any(|account| !account.undelivered.is_none()),
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

    /// Whether a request from outside is not absorbed.
    fn is_asked(&self) -> bool {
        !self.account(OUTER).is_clear()
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
                account.undelivered.add(level);
            }
            (entry.counted, entry.hard) = (0, 0);
            let batch = &mut self.batches[entry.batch];
            batch.handed_back = true;
            batch.unsettled -= 1;
            self.explicit += batch.close().again;
        }
    }

    fn plan(&self, epoch: u32) -> Plan {
        let busy = self.is_handling();
        let last_unsettled = self.batches.iter().rposition(|batch| batch.unsettled > 0);
        let last_resumed = self.batches.iter().rposition(|batch| batch.resumed);
        if let Some(batch) = last_resumed.filter(|_| last_resumed > last_unsettled) {
            let batch = &self.batches[batch];
            return Plan::Unwind { over: !batch.by_token, alone: batch.alone };
        }
        let due = SOURCES.map(|source| self.account(source).undelivered.is_due(busy));
        match self.receivers.iter().any(|(_, entry)| entry.is_live(epoch)) {
            _ if due == [false, false] => Plan::Wait,
            true => Plan::Deliver(due),
            false => Plan::Unwind { over: false, alone: false },
        }
    }

    fn follow(&mut self, plan: Plan, epoch: u32, waker: &Waker, wakers: &mut Vec<Waker>) -> Verdict {
        let due = match plan {
            Plan::Wait => return Verdict::Wait,
            Plan::Unwind { .. } => return Verdict::Unwind { external: self.is_asked() },
            Plan::Deliver(due) => due,
        };
        let handling = self.is_handling();
        let explicit = std::mem::take(&mut self.explicit);
        self.batches.push(Batch { explicit, ..Batch::default() });
        for (source, _) in SOURCES.into_iter().zip(due).filter(|(_, due)| *due) {
            self.deliver(source, handling, epoch, waker, wakers);
        }
        let all = self.accounts.iter().all(|account| account.undelivered.is_none());
        if let Some(batch) = self.batches.last_mut().filter(|_| all) {
            batch.fresh |= std::mem::take(&mut self.fresh);
        }
        let mut live = self.receivers.iter_mut().filter(|(_, entry)| entry.is_live(epoch));
        if let (Some((_, only)), None) = (live.next(), live.next()) {
            only.explicit += explicit;
        }
        Verdict::Wait
    }

    /// Edge 2: every live receiver gets the request.
    fn deliver(&mut self, source: u8, handling: bool, epoch: u32, waker: &Waker, wakers: &mut Vec<Waker>) {
        let account = &mut self.accounts[usize::from(source - 1)];
        let reason = account.latest.take().or_else(|| account.reason.clone());
        let (Some(level), Some(reason)) = (account.undelivered.take(handling), reason) else { return };
        for (_, entry) in self.receivers.iter_mut().filter(|(_, entry)| entry.is_live(epoch)) {
            move_to_last(&mut self.batches, entry);
            if entry.counted & source == 0 {
                entry.counted |= source;
                entry.fresh |= source;
                entry.hard &= !source;
                account.unsettled += 1;
            }
            if level == Level::Hard {
                entry.hard |= source;
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
