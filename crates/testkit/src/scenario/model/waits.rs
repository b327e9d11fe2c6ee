//! The acts that wait: for time, for tasks, for branches.

use serde_json::json;

use super::stack::{Act, Signal};
use super::{End, FiberId, Kind, Model};
use crate::scenario::program::{Block, Mode, When};

pub(super) enum Wait {
    Sleep {
        until: u64,
    },
    Yield {
        left: u32,
    },
    /// Awaiting a task by value (C10).
    Link {
        task: FiberId,
        then: Link,
        seen: Vec<usize>,
        passed_on: bool,
    },
    Watch {
        task: FiberId,
        name: String,
    },
    Spin {
        task: FiberId,
        name: String,
        ms: i64,
        times: u32,
        until: u64,
    },
    Tasks {
        tasks: Vec<(String, FiberId)>,
        when: When,
        until: Option<u64>,
    },
    Stream {
        tasks: Vec<(String, FiberId)>,
        taken: Vec<FiberId>,
        most: Option<usize>,
    },
    Gather(Gather),
}

/// What is done with the outcome of a linked task.
pub(super) enum Link {
    Join(String),
    TryJoin(String),
    /// `wait_for` does it.
    Plain,
}

pub(super) struct Gather {
    name: String,
    mode: Mode,
    branches: Vec<FiberId>,
    batches: Vec<usize>,
    /// The error that is being returned.
    first: Option<FiberId>,
    seen: Vec<usize>,
}

impl Model {
    /// Whether the fiber waits for the end of that one.
    pub(super) fn waits_for(&self, fiber: FiberId, ended: FiberId) -> bool {
        match self.fibers[fiber].stack.last() {
            Some(Act::Wait(Wait::Link { task, .. } | Wait::Watch { task, .. })) => *task == ended,
            Some(Act::Wait(Wait::Tasks { tasks, .. } | Wait::Stream { tasks, .. })) => {
                tasks.iter().any(|(_, task)| *task == ended)
            }
            _ => false,
        }
    }

    /// When the fiber's wait ends by time.
    pub(super) fn alarm(&self, fiber: FiberId) -> Option<u64> {
        match self.fibers[fiber].stack.last() {
            Some(Act::Wait(Wait::Sleep { until } | Wait::Spin { until, .. })) => Some(*until),
            Some(Act::Wait(Wait::Tasks { until, .. })) => *until,
            _ => None,
        }
    }

    pub(super) fn link(&mut self, fiber: FiberId, task: FiberId, then: Link) -> Wait {
        if task == self.fibers[fiber].owner {
            self.exclude("T11: a task joins itself");
        }
        Wait::Link { task, then, seen: self.unwinding(fiber), passed_on: false }
    }

    /// Looks whether the wait is over; `None` if not.
    pub(super) fn go_on_waiting(&mut self, fiber: FiberId, wait: Wait, signal: Signal) -> Option<Signal> {
        let interrupted = matches!(signal, Signal::Cancel);
        match wait {
            Wait::Link { task, then, seen, passed_on } => {
                self.go_on_linked(fiber, task, then, seen, passed_on, interrupted)
            }
            Wait::Gather(gather) => self.go_on_gathering(fiber, gather, interrupted),
            _ if interrupted => Some(Signal::Cancel),
            Wait::Sleep { until } if self.now < until => self.stay(fiber, Wait::Sleep { until }),
            Wait::Yield { left } if left > 1 => {
                self.wake(fiber);
                self.stay(fiber, Wait::Yield { left: left - 1 })
            }
            Wait::Sleep { .. } | Wait::Yield { .. } => Some(Signal::Next),
            Wait::Watch { task, name } if self.is_done(task) => {
                self.log(fiber, "watch", json!(name));
                Some(Signal::Next)
            }
            wait @ Wait::Watch { .. } => self.stay(fiber, wait),
            Wait::Spin { task, name, ms, times, until } => self.spin(fiber, task, name, ms, times, until),
            Wait::Tasks { tasks, when, until } => self.go_on_with_tasks(fiber, tasks, when, until),
            Wait::Stream { tasks, taken, most } => self.go_on_with_stream(fiber, tasks, taken, most),
        }
    }

    fn stay(&mut self, fiber: FiberId, wait: Wait) -> Option<Signal> {
        self.fibers[fiber].stack.push(Act::Wait(wait));
        None
    }

    /// C10: a request goes on to the task; if that ends cancelled, the unwinding goes on, else its outcome is the
    /// result and the request is handed back.
    fn go_on_linked(
        &mut self,
        fiber: FiberId,
        task: FiberId,
        then: Link,
        mut seen: Vec<usize>,
        mut passed_on: bool,
        interrupted: bool,
    ) -> Option<Signal> {
        if interrupted {
            let unwinding = self.unwinding(fiber);
            let explicit = unwinding.iter().any(|id| !seen.contains(id) && self.requests[*id].explicit);
            seen = unwinding;
            passed_on = true;
            self.fibers[fiber].linking = true;
            self.ask(task, None, explicit, false);
        }
        let Some(end) = self.fibers[task].end.clone() else {
            return self.stay(fiber, Wait::Link { task, then, seen, passed_on });
        };
        self.fibers[fiber].linking = false;
        if passed_on {
            if end == End::Cancelled {
                return Some(Signal::Cancel);
            }
            let unwinding = self.unwinding(fiber);
            self.give_back(fiber, &unwinding);
        }
        Some(match then {
            Link::Plain => Signal::Next,
            Link::Join(name) => {
                let outcome = self.take(task);
                self.log(fiber, "join", json!([name, outcome]));
                Signal::Next
            }
            Link::TryJoin(name) => {
                let outcome = self.take(task);
                self.log(fiber, "try_join", json!([name, outcome]));
                match end {
                    End::Value(_) => Signal::Next,
                    End::Error(tree) => Signal::Raise(tree),
                    End::Cancelled => Signal::Raise(json!("cancelled")),
                }
            }
        })
    }

    fn spin(
        &mut self,
        fiber: FiberId,
        task: FiberId,
        name: String,
        ms: i64,
        times: u32,
        until: u64,
    ) -> Option<Signal> {
        if self.now < until {
            return self.stay(fiber, Wait::Spin { task, name, ms, times, until });
        }
        if self.is_done(task) {
            self.log(fiber, "spin", json!([name, times]));
            return Some(Signal::Next);
        }
        if times > 300 {
            self.exclude("runs away");
            return Some(Signal::Next);
        }
        let until = self.now.saturating_add_signed(ms);
        self.stay(fiber, Wait::Spin { task, name, ms, times: times + 1, until })
    }

    fn go_on_with_tasks(
        &mut self,
        fiber: FiberId,
        tasks: Vec<(String, FiberId)>,
        when: When,
        until: Option<u64>,
    ) -> Option<Signal> {
        let done = |(_, task): &&(String, FiberId)| self.is_done(*task);
        let failed = |(_, task): &(String, FiberId)| self.failed(*task);
        let over = tasks.iter().all(|task| done(&task))
            || until.is_some_and(|until| self.now >= until)
            || when == When::First && tasks.iter().any(|task| done(&task))
            || when == When::Error && tasks.iter().any(failed);
        if !over {
            return self.stay(fiber, Wait::Tasks { tasks, when, until });
        }
        let (done, pending): (Vec<_>, Vec<_>) = tasks.iter().partition(done);
        let names =
            |tasks: Vec<&(String, FiberId)>| tasks.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        self.log(fiber, "wait", json!([names(done), names(pending)]));
        Some(Signal::Next)
    }

    fn go_on_with_stream(
        &mut self,
        fiber: FiberId,
        tasks: Vec<(String, FiberId)>,
        mut taken: Vec<FiberId>,
        most: Option<usize>,
    ) -> Option<Signal> {
        loop {
            if taken.len() == tasks.len() || most.is_some_and(|most| taken.len() >= most) {
                return Some(Signal::Next);
            }
            let fresh = tasks.iter().filter(|(_, task)| self.is_done(*task) && !taken.contains(task));
            let Some((name, task)) = fresh.min_by_key(|(_, task)| self.fibers[*task].ended).cloned() else {
                break;
            };
            taken.push(task);
            let outcome = self.take(task);
            self.log(fiber, "as_completed", json!([name, outcome]));
        }
        self.stay(fiber, Wait::Stream { tasks, taken, most })
    }

    /// Branches start at once, in order, inside the gather's first poll (A1).
    pub(super) fn start_gather(&mut self, fiber: FiberId, name: &str, mode: Mode, bodies: &[Block]) -> Wait {
        let seen = self.unwinding(fiber);
        let owner = self.fibers[fiber].owner;
        let mut branches = Vec::new();
        for (index, body) in bodies.iter().enumerate() {
            let path = format!("{}/{name}.{index}", self.fibers[fiber].path);
            let branch = self.new_fiber(path, Kind::Branch(fiber), Some(owner), body.clone());
            self.step(branch);
            if mode == Mode::FailFast && self.failed(branch) && index + 1 < bodies.len() {
                self.exclude("A2: a branch fails in the first poll");
            }
            branches.push(branch);
        }
        self.fibers[fiber].branches.clone_from(&branches);
        let name = name.to_owned();
        Wait::Gather(Gather { name, mode, branches, batches: Vec::new(), first: None, seen })
    }

    pub(super) fn branch_ended(&mut self, parent: FiberId, branch: FiberId) {
        if self.fibers[parent].branches.contains(&branch) {
            self.wake(parent);
        }
    }

    fn go_on_gathering(&mut self, fiber: FiberId, mut gather: Gather, interrupted: bool) -> Option<Signal> {
        if interrupted {
            let fresh: Vec<_> =
                self.unwinding(fiber).into_iter().filter(|id| !gather.seen.contains(id)).collect();
            let live: Vec<_> =
                gather.branches.iter().copied().filter(|branch| !self.is_done(*branch)).collect();
            gather.batches.push(self.pass_on(fiber, fresh, &live, gather.first.is_some()));
        }
        gather.seen = self.unwinding(fiber);
        let asking = gather.batches.iter().any(|batch| !self.batches[*batch].absorbed);
        for batch in gather.batches.iter().filter(|batch| !self.batches[**batch].absorbed) {
            if self.batches[*batch]
                .parts
                .iter()
                .any(|(branch, id)| self.failed(*branch) && self.is_absorbed(*id))
            {
                self.excluded.push("A2: the error of a branch that absorbed");
            }
        }
        let mut order: Vec<_> =
            gather.branches.iter().copied().filter(|branch| self.is_done(*branch)).collect();
        order.sort_by_key(|branch| self.fibers[*branch].ended);
        if gather.mode == Mode::FailFast && gather.first.is_none() && !asking {
            gather.first = order.iter().copied().find(|branch| self.failed(*branch));
            if gather.first.is_some() {
                for branch in gather.branches.clone() {
                    self.ask(branch, None, false, false);
                }
            }
        }
        if order.len() < gather.branches.len() {
            return self.stay(fiber, Wait::Gather(gather));
        }
        Some(self.end_gather(fiber, &gather, &order))
    }

    fn end_gather(&mut self, fiber: FiberId, gather: &Gather, order: &[FiberId]) -> Signal {
        self.fibers[fiber].branches.clear();
        let mut partly_absorbed = false;
        for id in &gather.batches {
            let batch = &self.batches[*id];
            partly_absorbed |= batch.parts.iter().any(|(_, id)| self.is_absorbed(*id));
            if batch.absorbed {
                continue;
            }
            let touched: Vec<_> = batch.parts.iter().filter(|(_, id)| self.was_seen(*id)).collect();
            if touched.is_empty() {
                let requests = batch.requests.clone();
                self.give_back(fiber, &requests);
                self.forget_unmet(*id);
            } else if touched.iter().all(|(_, id)| self.is_absorbed(*id)) {
                self.exclude("A2: absorbed by some too late for others");
            }
        }
        let bad: Vec<_> = order.iter().copied().filter(|branch| self.failed(*branch)).collect();
        let fast = gather.mode == Mode::FailFast;
        let rest = self.unwinding(fiber);
        let paths = |model: &Model, bad: &[FiberId]| -> Vec<String> {
            bad.iter().map(|branch| model.fibers[*branch].path.clone()).collect()
        };
        if gather.first.is_some() {
            self.give_back(fiber, &rest);
        } else if !rest.is_empty() {
            if fast && !bad.is_empty() && partly_absorbed {
                self.exclude("A2: the error of one branch while another absorbs");
            }
            let paths = paths(self, &bad);
            self.reported.extend(paths);
            return Signal::Cancel;
        }
        if let (true, Some(first)) = (fast, bad.first().copied()) {
            let paths = paths(self, &bad[1..]);
            self.reported.extend(paths);
            self.log(fiber, "gather", json!([gather.name, "failed"]));
            let Some(End::Error(tree)) = self.fibers[first].end.clone() else { return Signal::Next };
            return Signal::Raise(tree);
        }
        let outcomes: Vec<_> = gather.branches.iter().map(|branch| self.take(*branch)).collect();
        self.log(fiber, "gather", json!([gather.name, outcomes]));
        Signal::Next
    }
}
