//! Requests: who is asked to end, when it is told, and what becomes of the request.

use super::scopes::Scope;
use super::{FiberId, Model};

/// One request for the cancellation of a fiber, or of a scope in it.
pub(super) struct Request {
    /// The scope that made it to itself; none for the whole fiber.
    pub(super) owner: Option<Scope>,
    /// Its level (C6).
    pub(super) explicit: bool,
    counts: bool,
    pub(super) state: State,
    /// It waits for a handler or a shield that runs inside its scope.
    deferred: bool,
    /// A handler holds its token.
    held: bool,
    seen: bool,
    /// It came while a handler ran for which it waits, and has met nobody since.
    behind_handler: bool,
    /// The gather that passed it on to this branch.
    batch: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Pending,
    Delivered,
    Absorbed,
}

/// A running handler, or a shield.
pub(super) struct Handler {
    held: Vec<usize>,
    pub(super) shield: bool,
}

/// How a handler ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    Resume,
    Interrupted,
    Uncancel,
    Drop,
}

/// Requests that a gather has passed on to its branches together (A2).
pub(super) struct Batch {
    fiber: FiberId,
    pub(super) requests: Vec<usize>,
    pub(super) parts: Vec<(FiberId, usize)>,
    failing: bool,
    pub(super) absorbed: bool,
}

impl Model {
    /// Asks a fiber, or the scope `owner` in it, to end.
    pub(super) fn ask(
        &mut self,
        fiber: FiberId,
        owner: Option<Scope>,
        explicit: bool,
        counts: bool,
    ) -> Option<usize> {
        if self.is_done(fiber) {
            return None;
        }
        let id = self.requests.len();
        let state = State::Pending;
        self.requests.push(Request {
            owner,
            explicit,
            counts,
            state,
            deferred: false,
            held: false,
            seen: false,
            behind_handler: false,
            batch: None,
        });
        self.fibers[fiber].requests.push(id);
        self.fibers[fiber].asked += i64::from(counts);
        if self.is_blocked(fiber, id) {
            self.requests[id].deferred = true;
            let mut inside = self.fibers[fiber].handlers.iter().skip(self.depth_of(id));
            self.requests[id].behind_handler = inside.any(|handler| !handler.shield);
        } else if self.fibers[fiber].begun {
            self.wake(fiber);
        }
        Some(id)
    }

    pub(super) fn has_pending(&self, fiber: FiberId) -> bool {
        self.fibers[fiber].requests.iter().any(|id| self.is_deliverable(*id))
    }

    pub(super) fn deliver(&mut self, fiber: FiberId) {
        for id in self.fibers[fiber].requests.clone() {
            if self.is_deliverable(id) {
                self.requests[id].state = State::Delivered;
                self.requests[id].seen = true;
                self.deliveries += 1;
            }
        }
    }

    /// The requests for which the fiber is unwinding.
    pub(super) fn unwinding(&self, fiber: FiberId) -> Vec<usize> {
        let delivered = |id: &usize| {
            let request = &self.requests[*id];
            request.state == State::Delivered && !request.held
        };
        self.fibers[fiber].requests.iter().copied().filter(delivered).collect()
    }

    /// C9: withdrawn by the scope that made it.
    pub(super) fn forget_own(&mut self, fiber: FiberId, scope: Scope) {
        let requests = &self.requests;
        self.fibers[fiber].requests.retain(|id| requests[*id].owner != Some(scope));
    }

    /// C9: they go back to their scopes and wait for the next suspension point, at the lower level.
    pub(super) fn give_back(&mut self, fiber: FiberId, ids: &[usize]) {
        if self.loses_requests {
            return self.fibers[fiber].requests.retain(|id| !ids.contains(id));
        }
        for id in ids {
            let request = &mut self.requests[*id];
            request.state = State::Pending;
            request.explicit = false;
            if self.is_blocked(fiber, *id) {
                self.is_clear(fiber, *id);
                self.requests[*id].deferred = true;
            }
        }
    }

    /// A handler begins: it holds what the fiber was unwinding for.
    pub(super) fn push_handler(&mut self, fiber: FiberId) {
        let held = self.unwinding(fiber);
        if held.is_empty() {
            self.exclude("a cancellation without a request");
        }
        for id in &held {
            self.requests[*id].held = true;
        }
        self.fibers[fiber].handlers.push(Handler { held, shield: false });
    }

    pub(super) fn pop_handler(&mut self, fiber: FiberId, how: Settled) {
        let Some(handler) = self.fibers[fiber].handlers.pop() else { return };
        for id in handler.held {
            self.requests[id].held = false;
            match how {
                Settled::Uncancel => self.absorb(fiber, id),
                Settled::Drop => self.requests[id].state = State::Pending,
                Settled::Resume | Settled::Interrupted => {}
            }
        }
        let unwinds = matches!(how, Settled::Resume | Settled::Interrupted);
        for id in self.fibers[fiber].requests.clone() {
            if self.requests[id].deferred && !self.is_blocked(fiber, id) {
                let request = &mut self.requests[id];
                request.deferred = false;
                request.state = if unwinds { State::Delivered } else { State::Pending };
                request.seen |= unwinds;
            }
        }
        if how == Settled::Resume {
            // C5: resuming is a suspension point, so what is undelivered joins the unwinding.
            self.deliver(fiber);
        }
    }

    /// C11, C12: what is undelivered waits until the shield ends.
    pub(super) fn push_shield(&mut self, fiber: FiberId) {
        self.fibers[fiber].handlers.push(Handler { held: Vec::new(), shield: true });
        for id in self.fibers[fiber].requests.clone() {
            if self.is_deliverable(id) && self.is_blocked(fiber, id) {
                self.requests[id].deferred = true;
                self.requests[id].behind_handler = false;
            }
        }
    }

    pub(super) fn pop_shield(&mut self, fiber: FiberId) {
        self.fibers[fiber].handlers.pop();
        let depth = self.fibers[fiber].handlers.len();
        for id in self.fibers[fiber].requests.clone() {
            if self.requests[id].deferred && self.depth_of(id) <= depth {
                self.requests[id].explicit = false;
                if self.is_blocked(fiber, id) {
                    self.is_clear(fiber, id);
                } else {
                    self.requests[id].deferred = false;
                }
            }
        }
    }

    /// A gather passes requests on to its live branches.
    pub(super) fn pass_on(
        &mut self,
        fiber: FiberId,
        requests: Vec<usize>,
        live: &[FiberId],
        failing: bool,
    ) -> usize {
        let explicit = requests.iter().any(|id| self.requests[*id].explicit);
        if !explicit && live.len() > 1 && live.iter().any(|branch| self.is_busy(*branch)) {
            self.exclude("C6: a request to branches of which one runs a handler");
        }
        let batch = self.batches.len();
        let mut parts = Vec::new();
        for branch in live {
            if let Some(id) = self.ask(*branch, None, explicit, false) {
                self.requests[id].batch = Some(batch);
                parts.push((*branch, id));
            }
        }
        self.batches.push(Batch { fiber, requests, parts, failing, absorbed: false });
        batch
    }

    pub(super) fn is_absorbed(&self, id: usize) -> bool {
        self.requests[id].state == State::Absorbed
    }

    pub(super) fn was_seen(&self, id: usize) -> bool {
        self.requests[id].seen
    }

    /// C6: a batch of requests that have all waited for handlers has never been delivered, and met no gather around.
    pub(super) fn forget_unmet(&mut self, batch: usize) {
        let Batch { parts, requests, .. } = &self.batches[batch];
        if parts.is_empty() || parts.iter().any(|(_, part)| !self.requests[*part].behind_handler) {
            return;
        }
        for id in requests {
            let request = &mut self.requests[*id];
            (request.seen, request.behind_handler) = (false, true);
        }
    }

    fn absorb(&mut self, fiber: FiberId, id: usize) {
        self.requests[id].state = State::Absorbed;
        self.fibers[fiber].asked -= i64::from(self.requests[id].counts);
        if self.requests[id].owner.is_none() {
            self.fibers[fiber].requests.retain(|other| *other != id);
        }
        let Some(batch) = self.requests[id].batch else { return };
        let all = self.batches[batch].parts.iter().all(|(_, part)| self.is_absorbed(*part));
        if all && !std::mem::replace(&mut self.batches[batch].absorbed, true) {
            if self.batches[batch].failing {
                self.exclude("A2: absorbed while failing");
            }
            let around = self.batches[batch].fiber;
            for id in self.batches[batch].requests.clone() {
                self.absorb(around, id);
            }
        }
    }

    /// An unsettled delivery is inside this branch.
    fn is_busy(&self, branch: FiberId) -> bool {
        let fiber = &self.fibers[branch];
        fiber.handlers.iter().any(|handler| !handler.shield)
            || fiber.linking
            || fiber.branches.iter().any(|inner| !self.is_done(*inner) && self.is_busy(*inner))
    }

    fn is_deliverable(&self, id: usize) -> bool {
        self.requests[id].state == State::Pending && !self.requests[id].deferred
    }

    /// C6, C11, C12: it has to wait for a handler or a shield that runs inside its scope.
    fn is_blocked(&self, fiber: FiberId, id: usize) -> bool {
        let explicit = self.requests[id].explicit;
        let inside = self.fibers[fiber].handlers.iter().skip(self.depth_of(id));
        inside.into_iter().any(|handler| handler.shield || !explicit)
    }

    fn depth_of(&self, id: usize) -> usize {
        self.requests[id].owner.map_or(0, |scope| self.scope_depth(scope))
    }

    /// What was handed back waits for a handler; a scope opened inside that handler could be meant as well.
    fn is_clear(&mut self, fiber: FiberId, id: usize) {
        let depth = self.depth_of(id);
        if self.fibers[fiber].open.iter().any(|scope| self.scope_depth(*scope) > depth) {
            self.exclude("C9: handed back inside a scope inside a handler");
        }
    }
}
