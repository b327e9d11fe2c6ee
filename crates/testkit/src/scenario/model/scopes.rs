//! Timeouts and groups.

use serde_json::{Value as Json, json};

use super::stack::{Act, Signal};
use super::{End, FiberId, Model};

/// A scope that is open in a fiber; catches and cleanups only have their depth in handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Catch(usize),
    Timeout(usize),
    Group(usize),
}

pub(super) struct Timeout {
    fiber: FiberId,
    depth: usize,
    deadline: Option<u64>,
    fired: bool,
    fired_at: Option<u64>,
    ended: bool,
    /// A past deadline, which expires at the first suspension (D5).
    past: bool,
    /// An outer deadline of the same instant came first (D4).
    passed_over: bool,
    around: Vec<usize>,
}

impl Timeout {
    /// When it will fire by a timer.
    pub(super) fn alarm(&self) -> Option<u64> {
        self.deadline.filter(|_| !self.fired && !self.ended && !self.past && !self.passed_over)
    }

    fn is_unfired(&self) -> bool {
        !self.fired && !self.ended
    }
}

#[derive(Default)]
pub(super) struct Group {
    parent: FiberId,
    depth: usize,
    pub(super) children: Vec<FiberId>,
    pub(super) aborting: bool,
    /// Its body has ended.
    pub(super) exiting: bool,
    over: bool,
    asked_parent: bool,
    errors: Vec<Json>,
}

impl Model {
    pub(super) fn scope_depth(&self, scope: Scope) -> usize {
        match scope {
            Scope::Catch(depth) => depth,
            Scope::Timeout(id) => self.timeouts[id].depth,
            Scope::Group(id) => self.groups[id].depth,
        }
    }

    pub(super) fn open_timeout(&mut self, fiber: FiberId, ms: Option<i64>) -> usize {
        let id = self.timeouts.len();
        let depth = self.fibers[fiber].handlers.len();
        let around = self.timeouts_around(fiber);
        self.timeouts.push(Timeout {
            fiber,
            depth,
            deadline: None,
            fired: false,
            fired_at: None,
            ended: false,
            past: false,
            passed_over: false,
            around,
        });
        self.reschedule(id, ms);
        self.fibers[fiber].open.push(Scope::Timeout(id));
        id
    }

    /// False if it has expired.
    pub(super) fn reschedule(&mut self, id: usize, ms: Option<i64>) -> bool {
        let now = self.now;
        let timeout = &mut self.timeouts[id];
        if !timeout.is_unfired() {
            return false;
        }
        timeout.deadline = ms.map(|ms| now.saturating_add_signed(ms));
        timeout.past = ms.is_some_and(|ms| ms <= 0);
        if std::mem::replace(&mut timeout.passed_over, false) {
            // It counts again since the outer one has fired, and may have fired, too.
            self.exclude("D4: a deadline is moved that an outer one of the same instant has passed over");
        }
        true
    }

    /// A timeout's body has ended with `signal`; gives what goes on, or `None` if it has expired.
    pub(super) fn close_timeout(&mut self, fiber: FiberId, id: usize, signal: Signal) -> Option<Signal> {
        self.close(fiber, Scope::Timeout(id));
        let timeout = &mut self.timeouts[id];
        timeout.ended = true;
        let (fired, passed_over) = (timeout.fired, timeout.passed_over);
        self.forget_own(fiber, Scope::Timeout(id));
        let cancelled = matches!(signal, Signal::Cancel);
        if passed_over && !cancelled {
            self.exclude("D4: an outer deadline of the same instant is absorbed inside");
        }
        if !cancelled || !self.unwinding(fiber).is_empty() {
            return Some(signal);
        }
        if self.has_pending(fiber) {
            if !self.is_task(fiber) && self.timeouts[id].fired_at == Some(self.now) {
                self.exclude(
                    "D4: a branch's deadline at the instant at which its gather passes a request on",
                );
            }
            // D4, C5: what is undelivered now joins the unwinding; it is never turned into a timeout.
            self.deliver(fiber);
            return Some(Signal::Cancel);
        }
        if !fired {
            self.exclude("a cancellation without a request at a timeout's end");
        }
        None
    }

    /// Timers that are due fire: of those of one task, the outermost first, which may pass over the inner ones.
    pub(super) fn expire_due(&mut self) {
        for id in 0..self.timeouts.len() {
            if self.timeouts[id].alarm().is_some_and(|at| at <= self.now) {
                self.expire(id);
            }
        }
    }

    /// A fiber really waits: its past deadlines expire (D5).
    pub(super) fn expire_past(&mut self, fiber: FiberId) {
        for scope in self.fibers[fiber].open.clone() {
            if let Scope::Timeout(id) = scope {
                if std::mem::take(&mut self.timeouts[id].past) {
                    self.expire(id);
                }
            }
        }
    }

    fn expire(&mut self, id: usize) {
        let deadline = self.timeouts[id].deadline;
        let earlier = |outer: &usize| {
            let outer = &self.timeouts[*outer];
            outer.is_unfired() && outer.deadline.is_some_and(|at| Some(at) <= deadline)
        };
        if !self.timeouts[id].is_unfired() {
            return;
        }
        if self.timeouts[id].around.iter().any(earlier) {
            self.timeouts[id].passed_over = true;
            return;
        }
        self.timeouts[id].fired = true;
        self.timeouts[id].fired_at = Some(self.now);
        for inner in 0..self.timeouts.len() {
            let now = self.now;
            let timeout = &mut self.timeouts[inner];
            let due = timeout.is_unfired() && timeout.deadline.is_some_and(|at| at <= now);
            if due && timeout.around.contains(&id) {
                timeout.past = false;
                timeout.passed_over = true;
            }
        }
        let fiber = self.timeouts[id].fiber;
        self.ask(fiber, Some(Scope::Timeout(id)), false, false);
    }

    /// The timeouts of the same task that can be seen from here: not through a shield (C11).
    fn timeouts_around(&self, fiber: FiberId) -> Vec<usize> {
        let mut around = Vec::new();
        let mut next = Some(fiber);
        while let Some(fiber) = next {
            let state = &self.fibers[fiber];
            let wall = state.handlers.iter().rposition(|handler| handler.shield).map_or(0, |at| at + 1);
            around.extend(state.open.iter().filter_map(|scope| match scope {
                Scope::Timeout(id) if self.timeouts[*id].depth >= wall => Some(*id),
                _ => None,
            }));
            next = match state.kind {
                super::Kind::Branch(parent) if wall == 0 => Some(parent),
                _ => None,
            };
        }
        around
    }

    pub(super) fn close(&mut self, fiber: FiberId, scope: Scope) {
        let open = &mut self.fibers[fiber].open;
        if let Some(at) = open.iter().rposition(|other| *other == scope) {
            open.remove(at);
        }
    }

    pub(super) fn open_group(&mut self, fiber: FiberId, name: &str) -> usize {
        let id = self.groups.len();
        let depth = self.fibers[fiber].handlers.len();
        self.groups.push(Group { parent: fiber, depth, ..Group::default() });
        self.group_names.insert(name.to_owned(), id);
        self.fibers[fiber].open.push(Scope::Group(id));
        id
    }

    /// Whether it takes another child (G4).
    pub(super) fn takes_children(&self, id: usize) -> bool {
        let group = &self.groups[id];
        !group.over && !group.aborting && (!group.exiting || !self.group_is_empty(id))
    }

    pub(super) fn group_is_empty(&self, id: usize) -> bool {
        self.groups[id].children.iter().all(|child| self.is_done(*child))
    }

    /// Cancels the children, once.
    pub(super) fn abort_children(&mut self, id: usize) {
        self.groups[id].aborting = true;
        for child in self.groups[id].children.clone() {
            self.ask(child, None, false, false);
        }
    }

    /// `g.cancel()` (G6).
    pub(super) fn cancel_group(&mut self, id: usize) {
        if !self.groups[id].over && !self.groups[id].aborting {
            self.abort_children(id);
            self.ask_parent(id);
        }
    }

    /// G2: the first failure cancels the others and the body.
    pub(super) fn child_ended(&mut self, id: usize, child: FiberId, end: &End) {
        if let End::Error(tree) = end {
            let from = &self.fibers[child].path;
            let entry = json!({"from": from, "error": tree});
            self.groups[id].errors.push(entry);
            if !self.groups[id].aborting && !self.groups[id].asked_parent {
                self.abort_children(id);
                self.ask_parent(id);
            }
        }
        if self.group_is_empty(id) {
            self.wake(self.groups[id].parent);
        }
    }

    fn ask_parent(&mut self, id: usize) {
        if !std::mem::replace(&mut self.groups[id].asked_parent, true) {
            self.ask(self.groups[id].parent, Some(Scope::Group(id)), false, false);
        }
    }

    /// Body and children have ended.
    pub(super) fn close_group(&mut self, fiber: FiberId, id: usize, name: &str, body: Signal) -> Signal {
        self.groups[id].over = true;
        self.forget_own(fiber, Scope::Group(id));
        let foreign = self.unwinding(fiber);
        let mut errors = std::mem::take(&mut self.groups[id].errors);
        if let Signal::Raise(tree) = &body {
            errors.push(json!({"from": "body", "error": tree}));
        }
        if !errors.is_empty() {
            self.give_back(fiber, &foreign);
            self.log(fiber, "group", json!([name, "failed"]));
            return Signal::Raise(json!({"group": errors}));
        }
        if !foreign.is_empty() {
            return Signal::Cancel;
        }
        if matches!(body, Signal::Cancel) {
            self.log(fiber, "group", json!([name, "cancelled"]));
            return Signal::Raise(json!({"group": []}));
        }
        self.log(fiber, "group", json!([name, "done"]));
        body
    }

    /// The group's body has ended; its end waits for the children.
    pub(super) fn begin_group_end(
        &mut self,
        fiber: FiberId,
        id: usize,
        name: String,
        body: Signal,
    ) -> Signal {
        self.close(fiber, Scope::Group(id));
        self.groups[id].exiting = true;
        let abandoned = matches!(body, Signal::Raise(_) | Signal::Cancel);
        if abandoned && !self.groups[id].aborting {
            self.abort_children(id);
        }
        self.fibers[fiber].stack.push(Act::GroupEnd { id, name, body });
        Signal::Next
    }
}
