//! The engine of every aggregate that polls its branches in place: whom to poll, when to stop the
//! others, and what becomes of requests from outside (laws A1, A2, A5, A6).
//!
//! ```text
//!   a poll:  woken branches are polled ─► 1 decide ─► 2 stop the others (once) ─► all ended? 4 conclude
//!                                            ▲                                        │ no
//!                                            └──── 3 pass a request on to all ◄───────┘
//! ```
//!
//! | what came first | the others | at the end |
//! |---|---|---|
//! | the decision (a first error, a winner) | are asked to end, once | it is returned; a request that came later goes back to the scope around (C9) |
//! | a request from outside | get it, too | unwinds further, unless every branch that got it absorbed it |
//!
//! A request that every branch has absorbed is settled at once, while they go on.

use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use brigade_core::scope::{Level, OwnFate, Receiver, Request, Turn};
use brigade_core::{CancelKind, CancelReason, budget, current_task};

use super::branch::Step;
use crate::slots::Slots;

/// The branches of one aggregate, whatever holds them.
pub trait Team {
    /// Polls one branch; see [`Branch::poll_branch`](super::branch::Branch::poll_branch).
    #[doc(hidden)]
    fn poll_branch(self: Pin<&mut Self>, index: usize, waker: &Waker) -> Step;

    /// Asks one branch to end; see [`Branch::ask_branch`](super::branch::Branch::ask_branch).
    #[doc(hidden)]
    fn ask_branch(self: Pin<&mut Self>, index: usize, waker: &Waker, request: Request, waits: bool) -> Step;
}

/// What decides an aggregate before all of its branches have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The first error.
    FirstError,
    /// The first error, and nobody waits for the others.
    FirstErrorAlone,
    /// The first end.
    FirstEnd,
    /// The first value.
    FirstValue,
    /// Nothing.
    Never,
}

impl Rule {
    fn hits(self, failed: bool) -> bool {
        match self {
            Rule::FirstError | Rule::FirstErrorAlone => failed,
            Rule::FirstEnd => true,
            Rule::FirstValue => !failed,
            Rule::Never => false,
        }
    }

    /// Why the others are asked to end.
    fn reason(self) -> CancelReason {
        match self {
            Rule::FirstEnd | Rule::FirstValue => {
                CancelReason::with_text(CancelKind::ParentCancelled, "another branch of the race was first")
            }
            _ => CancelReason::new(CancelKind::SiblingFailed),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Live,
    /// It got a request from outside that it has not absorbed, and a handler may be running for it.
    Obliged,
    /// The same, but no handler is running, since its unwinding was put off.
    Idle,
    Over,
}

impl Mark {
    fn is_obliged(self) -> bool {
        matches!(self, Mark::Obliged | Mark::Idle)
    }
}

/// The state of one aggregate.
#[derive(Debug)]
pub(crate) struct Round {
    rule: Rule,
    slots: Slots,
    marks: Vec<Mark>,
    live: usize,
    /// The turn that is going on, if requests around wait in it.
    turn: Turn,
    /// In which turn each branch was polled while they did; empty until the first.
    turns: Vec<Turn>,
    /// How many are obliged, the idle ones included.
    obliged: usize,
    idle: usize,
    receiver: Receiver,
    /// The first branch, in completion order, that the rule speaks of.
    hit: Option<usize>,
    /// `hit` is the result, whatever comes.
    decided: bool,
    /// A branch has taken notice of a request from outside.
    touched: bool,
    /// A branch got one while it waited, whatever became of it.
    met: bool,
    /// The last one to end that had got one had only postponed it.
    postponed: bool,
    /// A further request came that has met no branch.
    rest: bool,
    /// A branch ended without absorbing a request from outside.
    unwinding: bool,
    started: bool,
    /// It has been pending, so it is registered.
    waited: bool,
    resumed: bool,
}

impl Round {
    pub(crate) fn new(rule: Rule, count: usize) -> Round {
        Round {
            rule,
            slots: Slots::new(count),
            marks: vec![Mark::Live; count],
            live: count,
            turn: Turn::default(),
            turns: Vec::new(),
            obliged: 0,
            idle: 0,
            receiver: Receiver::new(),
            hit: None,
            decided: false,
            touched: false,
            met: false,
            postponed: false,
            rest: false,
            unwinding: false,
            started: false,
            waited: false,
            resumed: false,
        }
    }

    /// Polls the aggregate. Ready: the branch that decided it, if one did; else all have ended by
    /// themselves.
    pub(crate) fn poll<T: Team>(
        &mut self,
        mut team: Pin<&mut T>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<usize>> {
        if self.resumed {
            return Poll::Pending;
        }
        if !self.started {
            ready!(budget::poll_proceed(cx));
            self.started = true;
        }
        // A request that was delivered meanwhile goes along with the poll, not with one more after it.
        let further = self.receiver.is_requested();
        let request = self.waited.then(|| self.receiver.poll_request(cx.waker())).flatten();
        self.rest |= further && request.is_some();
        self.turn = Turn::if_pressed();
        let woken = self.slots.take_woken(cx.waker());
        match request {
            Some(request) => self.pass_on(team.as_mut(), &request),
            None => woken.iter().for_each(|&index| self.poll_one(team.as_mut(), index)),
        }
        self.slots.recycle(woken);
        loop {
            self.decide(team.as_mut());
            if self.live == 0 || (self.decided && self.rule == Rule::FirstErrorAlone) {
                return self.conclude();
            }
            self.waited = true;
            let further = self.receiver.is_requested();
            let Some(request) = self.receiver.poll_request(cx.waker()) else {
                // Each branch has absorbed the request, has ended, or waits for others to join its unwinding.
                if self.receiver.is_requested() && self.obliged == self.idle {
                    self.receiver.set_idle();
                }
                return Poll::Pending;
            };
            self.rest |= further;
            self.pass_on(team.as_mut(), &request);
        }
    }

    /// Step 3: every branch gets the request, level and all; each further explicit one, too.
    fn pass_on<T: Team>(&mut self, mut team: Pin<&mut T>, request: &Request) {
        for index in 0..self.marks.len() {
            self.ask_one(team.as_mut(), index, request.clone());
        }
    }

    /// Polls one branch that was woken.
    #[inline]
    fn poll_one<T: Team>(&mut self, team: Pin<&mut T>, index: usize) {
        if self.marks[index] == Mark::Over {
            return;
        }
        self.note_turn(index);
        let step = team.poll_branch(index, &self.slots.waker(index));
        self.book(index, step, false);
    }

    /// Hands one branch a request.
    fn ask_one<T: Team>(&mut self, team: Pin<&mut T>, index: usize, request: Request) {
        if self.marks[index] == Mark::Over {
            return;
        }
        let waits = self.turns.get(index).is_some_and(|turn| turn.is_delivering());
        self.note_turn(index);
        let external = self.receiver.is_requested();
        let step = team.ask_branch(index, &self.slots.waker(index), request, waits);
        self.book(index, step, external);
    }

    /// Remembers that the branch is polled in this turn.
    #[inline]
    fn note_turn(&mut self, index: usize) {
        if self.turns.is_empty() && self.turn == Turn::default() {
            return;
        }
        self.turns.resize(self.marks.len(), Turn::default());
        self.turns[index] = self.turn;
    }

    /// Books what has become of a branch.
    #[inline]
    fn book(&mut self, index: usize, step: Step, external: bool) {
        match step {
            // Nearly always nobody has asked it for anything.
            Step::Waiting { clear: true, .. } if !external && self.marks[index] == Mark::Live => {}
            Step::Waiting { clear, idle } => {
                let obliged = self.marks[index].is_obliged();
                self.met |= external;
                self.touched |= clear && obliged;
                self.set_mark(
                    index,
                    match (obliged || external) && !clear {
                        true if idle => Mark::Idle,
                        true => Mark::Obliged,
                        false => Mark::Live,
                    },
                );
            }
            Step::Ended { failed, fate } => {
                if self.marks[index].is_obliged() {
                    // One that was only postponed, by a shield, has met nobody (law C2).
                    self.touched |= fate != OwnFate::Undelivered;
                    self.postponed = fate == OwnFate::Undelivered;
                    self.rest &= self.postponed;
                    self.unwinding |= fate == OwnFate::Touched;
                }
                self.retire(index);
                if self.hit.is_none() && self.rule.hits(failed) {
                    self.hit = Some(index);
                }
            }
            Step::Unwound => {
                self.touched |= external || self.marks[index].is_obliged();
                self.unwinding = true;
                (self.postponed, self.rest) = (false, false);
                self.retire(index);
                self.unasked();
            }
        }
    }

    fn set_mark(&mut self, index: usize, mark: Mark) {
        let former = std::mem::replace(&mut self.marks[index], mark);
        self.obliged -= usize::from(former.is_obliged());
        self.obliged += usize::from(mark.is_obliged());
        self.idle -= usize::from(former == Mark::Idle);
        self.idle += usize::from(mark == Mark::Idle);
    }

    fn retire(&mut self, index: usize) {
        self.set_mark(index, Mark::Over);
        self.live -= 1;
    }

    /// A branch that unwinds although nobody asked it to has resumed a cancellation whose scope is
    /// gone. There is no value to return, so it unwinds the aggregate's task.
    fn unasked(&self) {
        if !self.decided && !self.receiver.is_requested() {
            if let Some(task) = current_task() {
                task.request(Level::Soft, CancelReason::new(CancelKind::ParentCancelled));
            }
        }
    }

    /// Steps 1 and 2. While a request from outside is unsettled nothing is decided.
    fn decide<T: Team>(&mut self, mut team: Pin<&mut T>) {
        let requested = self.receiver.is_requested();
        if !self.decided && requested && self.touched && self.obliged == 0 && !self.unwinding {
            self.receiver.absorb();
            self.touched = false;
        }
        if self.decided || self.hit.is_none() || self.receiver.is_requested() {
            return;
        }
        self.decided = true;
        if self.rule == Rule::FirstErrorAlone {
            return;
        }
        let reason = self.rule.reason();
        for index in 0..self.marks.len() {
            self.ask_one(team.as_mut(), index, Request { level: Level::Soft, reason: reason.clone() });
        }
    }

    /// Step 4.
    fn conclude(&mut self) -> Poll<Option<usize>> {
        if !self.decided && self.unwinding {
            match (self.rest, self.postponed) {
                (true, _) => self.receiver.resume_with_rest(),
                (false, true) => self.receiver.resume_alone(),
                (false, false) => self.receiver.resume(),
            }
            self.resumed = true;
            return Poll::Pending;
        }
        // An aggregate around this one unwinds if the request has ended a wait in here, as a task would that was awaited.
        match self.decided || self.touched || self.met {
            true => self.receiver.hand_back(),
            false => self.receiver.hand_back_unmet(),
        }
        Poll::Ready(self.hit)
    }
}
