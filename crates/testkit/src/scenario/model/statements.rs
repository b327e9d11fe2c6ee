//! What each statement begins.

use serde_json::{Value as Json, json};

use super::scopes::Scope;
use super::stack::{Act, Form, Signal};
use super::waits::{Link, Wait};
use super::{End, FiberId, Kind, Model};
use crate::scenario::program::{Block, Stmt};

impl Model {
    /// Executes a statement as far as it goes without waiting. What it began is on the stack, and gets the answer.
    pub(super) fn execute(&mut self, fiber: FiberId, stmt: &Stmt) -> Signal {
        match stmt {
            Stmt::Log { k } => self.log(fiber, "log", json!(k)),
            Stmt::Raise { k } => return Signal::Raise(json!(k)),
            Stmt::Return { v } => return Signal::Return(*v),
            Stmt::Guard { .. } => {}
            Stmt::Cancelling => {
                let asked = self.fibers[self.fibers[fiber].owner].asked;
                self.log(fiber, "cancelling", json!(asked));
            }
            Stmt::Spawn { id, body } => {
                let path = format!("{}/{id}", self.fibers[fiber].path);
                let task = self.new_fiber(path, Kind::Bare, None, body.clone());
                self.names.insert(id.clone(), task);
            }
            Stmt::Gspawn { group, id, body } => self.spawn_child(fiber, group, id, body),
            Stmt::Cancel { task } => self.cancel(fiber, task),
            Stmt::GroupCancel { group } => {
                if let Some(id) = self.group_names.get(group).copied() {
                    self.cancel_group(id);
                }
                self.log(fiber, "group_cancel", json!(group));
            }
            Stmt::Reschedule { id, ms } => {
                let timeout = self.timeout_names.get(id).copied();
                if timeout.is_some_and(|timeout| !self.reschedule(timeout, *ms)) {
                    self.log(fiber, "reschedule", json!([id, "expired"]));
                }
            }
            Stmt::Inspect { task } => {
                if let Some(found) = self.look_up(fiber, task, "inspect") {
                    let state = self.state_of(found);
                    self.log(fiber, "inspect", json!([task, state]));
                }
            }
            Stmt::OnDone { task, k } => self.on_done(fiber, task, *k),
            _ => return self.open(fiber, stmt),
        }
        Signal::Next
    }

    /// Statements that open a scope or wait.
    fn open(&mut self, fiber: FiberId, stmt: &Stmt) -> Signal {
        let catch = Scope::Catch(self.fibers[fiber].handlers.len());
        let (act, body) = match stmt {
            Stmt::Try { body, handler } => (Act::Try { handler: handler.clone() }, body),
            Stmt::Catch { body, handler, settle } => {
                self.fibers[fiber].open.push(catch);
                (Act::Catch { scope: catch, handler: handler.clone(), settle: *settle }, body)
            }
            Stmt::Finally { body, cleanup } => {
                self.fibers[fiber].open.push(catch);
                (Act::Finally { scope: catch, cleanup: cleanup.clone() }, body)
            }
            Stmt::Shield { body } => {
                self.push_shield(fiber);
                (Act::Shield, body)
            }
            Stmt::Timeout { id, ms, body, fail } => {
                let timeout = self.open_timeout(fiber, *ms);
                self.timeout_names.insert(id.clone(), timeout);
                (Act::Limit { timeout, form: Form::Timeout(id.clone()), fail: *fail }, body)
            }
            Stmt::WaitFor { ms, body: Some(body), fail, .. } => {
                if ms.is_some_and(|ms| ms <= 0) {
                    return self.never_starts(fiber, *fail);
                }
                let timeout = self.open_timeout(fiber, *ms);
                (Act::Limit { timeout, form: Form::WaitForBody, fail: *fail }, body)
            }
            Stmt::Group { id, body } => {
                let group = self.open_group(fiber, id);
                (Act::Group { id: group, name: id.clone() }, body)
            }
            _ => return self.wait(fiber, stmt),
        };
        self.begin(fiber, Some(act), body.clone())
    }

    /// D5: `wait_for` of nothing never starts its body, and does not suspend.
    fn never_starts(&mut self, fiber: FiberId, fail: bool) -> Signal {
        if self.has_pending(fiber) {
            self.exclude("D5: a request is pending at a wait_for of zero");
        }
        self.log(fiber, "wait_for", json!([null, "expired"]));
        if fail { Signal::Raise(json!("timeout")) } else { Signal::Next }
    }

    fn wait(&mut self, fiber: FiberId, stmt: &Stmt) -> Signal {
        let wait = match stmt {
            Stmt::Sleep { ms } => Wait::Sleep { until: self.now.saturating_add_signed(*ms) },
            Stmt::Yield { n } => Wait::Yield { left: n.unwrap_or(1) + 1 },
            Stmt::Join { task } => match self.look_up(fiber, task, "join") {
                Some(found) => self.link(fiber, found, Link::Join(task.clone())),
                None => return Signal::Next,
            },
            Stmt::TryJoin { task } => match self.look_up(fiber, task, "try_join") {
                Some(found) => self.link(fiber, found, Link::TryJoin(task.clone())),
                None => return Signal::Next,
            },
            Stmt::WaitFor { ms, task: Some(task), fail, .. } => match self.look_up(fiber, task, "wait_for") {
                Some(found) => {
                    let timeout = self.open_timeout(fiber, *ms);
                    let form = Form::WaitForTask(task.clone(), found);
                    self.fibers[fiber].stack.push(Act::Limit { timeout, form, fail: *fail });
                    self.link(fiber, found, Link::Plain)
                }
                None => return Signal::Next,
            },
            Stmt::Watch { task } => match self.look_up(fiber, task, "watch") {
                Some(found) => Wait::Watch { task: found, name: task.clone() },
                None => return Signal::Next,
            },
            Stmt::Spin { task, ms } => match self.look_up(fiber, task, "spin") {
                Some(found) => Wait::Spin { task: found, name: task.clone(), ms: *ms, times: 0, until: 0 },
                None => return Signal::Next,
            },
            Stmt::Wait { tasks, when, ms } => {
                Wait::Tasks { tasks: self.known(tasks), when: *when, until: self.deadline(*ms) }
            }
            Stmt::AsCompleted { tasks, take, ms } => {
                let tasks = self.known(tasks);
                if tasks.is_empty() {
                    return Signal::Next;
                }
                let timeout = self.open_timeout(fiber, *ms);
                self.fibers[fiber].stack.push(Act::Limit { timeout, form: Form::Stream, fail: false });
                Wait::Stream { tasks, taken: Vec::new(), most: *take }
            }
            Stmt::Gather { id, mode, branches } => self.start_gather(fiber, id, *mode, branches),
            _ => return Signal::Next,
        };
        self.fibers[fiber].stack.push(Act::Wait(wait));
        Signal::Next
    }

    fn deadline(&self, ms: Option<i64>) -> Option<u64> {
        ms.map(|ms| self.now.saturating_add_signed(ms))
    }

    fn spawn_child(&mut self, fiber: FiberId, group: &str, id: &str, body: &Block) {
        let path = format!("{}/{id}", self.fibers[fiber].path);
        match self.group_names.get(group).copied().filter(|group| self.takes_children(*group)) {
            Some(group) => {
                let child = self.new_fiber(path, Kind::Child(group), None, body.clone());
                self.groups[group].children.push(child);
                self.names.insert(id.to_owned(), child);
            }
            None => self.log(fiber, "gspawn", json!([id, "refused"])),
        }
    }

    fn cancel(&mut self, fiber: FiberId, name: &str) {
        let task = match name {
            "self" => Some(self.fibers[fiber].owner),
            _ => self.names.get(name).copied(),
        };
        let answer = match task {
            None => "unknown",
            Some(task) if self.is_done(task) => "done",
            Some(task) if !self.is_task(fiber) && task == self.fibers[fiber].owner => {
                self.exclude("a branch cancels its own task");
                self.ask(task, None, true, true);
                "requested"
            }
            Some(task) => {
                self.ask(task, None, true, true);
                "requested"
            }
        };
        self.log(fiber, "cancel", json!([name, answer]));
    }

    fn on_done(&mut self, fiber: FiberId, name: &str, k: i64) {
        let Some(task) = self.look_up(fiber, name, "on_done") else { return };
        if self.is_done(task) {
            let path = format!("{}!", self.fibers[task].path);
            self.events.push((self.now, path, "callback", json!(k)));
        } else {
            self.fibers[task].callbacks.push(k);
        }
    }

    /// The task of that name; notes `unknown` if there is none.
    fn look_up(&mut self, fiber: FiberId, name: &str, kind: &'static str) -> Option<FiberId> {
        let found = self.names.get(name).copied();
        if found.is_none() {
            self.log(fiber, kind, json!([name, "unknown"]));
        }
        found
    }

    /// The tasks that exist, without duplicates, in order.
    fn known(&self, names: &[String]) -> Vec<(String, FiberId)> {
        let mut known: Vec<(String, FiberId)> = Vec::new();
        for name in names {
            if let Some(task) = self.names.get(name) {
                if known.iter().all(|(_, other)| other != task) {
                    known.push((name.clone(), *task));
                }
            }
        }
        known
    }

    fn state_of(&self, task: FiberId) -> &'static str {
        match self.fibers[task].end {
            None => "pending",
            Some(End::Value(_)) => "value",
            Some(End::Error(_)) => "error",
            Some(End::Cancelled) => "cancelled",
        }
    }

    /// Takes the outcome of a task, which observes it (T6).
    pub(super) fn take(&mut self, task: FiberId) -> Json {
        self.fibers[task].observed = true;
        self.fibers[task].end.as_ref().map_or(Json::Null, End::to_json)
    }
}
