//! Acts: what a fiber is in the middle of, and how each goes on when what it ran has ended.

use serde_json::{Value as Json, json};

use super::requests::Settled;
use super::scopes::Scope;
use super::waits::Wait;
use super::{FiberId, Model};
use crate::scenario::program::{Block, Settle};

/// How something has ended: the next statement, or a way out.
#[derive(Clone, Debug)]
pub(super) enum Signal {
    Next,
    Return(Option<i64>),
    Raise(Json),
    Cancel,
}

/// Something that a fiber is in the middle of. The top of the stack is what runs or waits.
pub(super) enum Act {
    Block { stmts: Block, at: usize, guards: Vec<i64> },
    Try { handler: Block },
    Catch { scope: Scope, handler: Block, settle: Settle },
    Handler { settle: Settle },
    Finally { scope: Scope, cleanup: Block },
    Cleanup { before: Signal },
    Shield,
    Limit { timeout: usize, form: Form, fail: bool },
    Group { id: usize, name: String },
    GroupEnd { id: usize, name: String, body: Signal },
    Wait(Wait),
}

/// Which statement a timeout belongs to.
pub(super) enum Form {
    Timeout(String),
    WaitForBody,
    WaitForTask(String, FiberId),
    Stream,
}

impl Act {
    pub(super) fn block(stmts: Block) -> Act {
        Act::Block { stmts, at: 0, guards: Vec::new() }
    }
}

impl Model {
    /// Gives `signal` to the act that was on top; `None` if it waits.
    pub(super) fn feed(&mut self, fiber: FiberId, act: Act, signal: Signal) -> Option<Signal> {
        let next = match act {
            Act::Block { stmts, at, guards } => self.go_on(fiber, &stmts, at, guards, signal),
            Act::Try { handler } => match signal {
                Signal::Raise(tree) => {
                    self.log(fiber, "caught", tree);
                    self.begin(fiber, None, handler)
                }
                signal => signal,
            },
            Act::Catch { scope, handler, settle } => {
                self.close(fiber, scope);
                if !matches!(signal, Signal::Cancel) {
                    return Some(signal);
                }
                self.push_handler(fiber);
                self.log(fiber, "cancelled", Json::Null);
                self.begin(fiber, Some(Act::Handler { settle }), handler)
            }
            Act::Handler { settle } => self.settle(fiber, settle, signal),
            Act::Finally { scope, cleanup } => {
                self.close(fiber, scope);
                if matches!(signal, Signal::Cancel) {
                    self.push_handler(fiber);
                }
                self.push_shield(fiber);
                self.begin(fiber, Some(Act::Cleanup { before: signal }), cleanup)
            }
            Act::Cleanup { before } => self.end_cleanup(fiber, before, signal),
            Act::Shield => {
                self.pop_shield(fiber);
                signal
            }
            Act::Limit { timeout, form, fail } => self.end_limit(fiber, timeout, form, fail, signal),
            Act::Group { id, name } => self.begin_group_end(fiber, id, name, signal),
            Act::GroupEnd { id, name, body } => {
                if matches!(signal, Signal::Cancel) && !self.groups[id].aborting {
                    self.abort_children(id);
                }
                if !self.group_is_empty(id) {
                    self.fibers[fiber].stack.push(Act::GroupEnd { id, name, body });
                    return None;
                }
                self.close_group(fiber, id, &name, body)
            }
            Act::Wait(wait) => return self.go_on_waiting(fiber, wait, signal),
        };
        Some(next)
    }

    /// Puts a block on the stack, above `act` if there is one, and starts it.
    pub(super) fn begin(&mut self, fiber: FiberId, act: Option<Act>, body: Block) -> Signal {
        self.fibers[fiber].stack.extend(act);
        self.fibers[fiber].stack.push(Act::block(body));
        Signal::Next
    }

    fn go_on(
        &mut self,
        fiber: FiberId,
        stmts: &Block,
        mut at: usize,
        mut guards: Vec<i64>,
        signal: Signal,
    ) -> Signal {
        use crate::scenario::program::Stmt;
        while let (Signal::Next, Some(Stmt::Guard { k })) = (&signal, stmts.get(at)) {
            guards.push(*k);
            at += 1;
        }
        match (signal, stmts.get(at)) {
            (Signal::Next, Some(stmt)) => {
                self.fibers[fiber].stack.push(Act::Block { stmts: stmts.clone(), at: at + 1, guards });
                self.execute(fiber, stmt)
            }
            (signal, _) => {
                for k in guards.into_iter().rev() {
                    self.log(fiber, "drop", json!(k));
                }
                signal
            }
        }
    }

    fn settle(&mut self, fiber: FiberId, settle: Settle, signal: Signal) -> Signal {
        let how = match (&signal, settle) {
            (Signal::Cancel, _) => Settled::Interrupted,
            (Signal::Raise(_) | Signal::Return(_), _) | (_, Settle::Drop) => Settled::Drop,
            (_, Settle::Resume) => Settled::Resume,
            (_, Settle::Uncancel) => Settled::Uncancel,
        };
        self.pop_handler(fiber, how);
        match how {
            Settled::Resume => Signal::Cancel,
            Settled::Uncancel => {
                self.log(fiber, "uncancelled", Json::Null);
                signal
            }
            Settled::Interrupted | Settled::Drop => signal,
        }
    }

    fn end_cleanup(&mut self, fiber: FiberId, before: Signal, signal: Signal) -> Signal {
        self.pop_shield(fiber);
        let failed = matches!(signal, Signal::Raise(_));
        if matches!(before, Signal::Cancel) {
            self.pop_handler(fiber, if failed { Settled::Drop } else { Settled::Resume });
        }
        match before {
            Signal::Raise(_) if failed => {
                self.reported.push(self.fibers[fiber].path.clone());
                before
            }
            _ if failed => signal,
            before => before,
        }
    }

    fn end_limit(
        &mut self,
        fiber: FiberId,
        timeout: usize,
        form: Form,
        fail: bool,
        signal: Signal,
    ) -> Signal {
        let ended = self.close_timeout(fiber, timeout, signal);
        let expired = ended.is_none();
        let how = match &ended {
            None => json!("expired"),
            Some(Signal::Cancel) => return Signal::Cancel,
            Some(Signal::Raise(_)) => json!("error"),
            Some(_) => json!("done"),
        };
        match form {
            Form::Timeout(id) => self.log(fiber, "timeout", json!([id, how])),
            Form::Stream if expired => self.log(fiber, "as_completed", json!("timeout")),
            Form::Stream => {}
            Form::WaitForBody => self.log(fiber, "wait_for", json!([null, how])),
            Form::WaitForTask(name, _) if expired => self.log(fiber, "wait_for", json!([name, how])),
            Form::WaitForTask(name, task) => {
                let outcome = self.take(task);
                self.log(fiber, "wait_for", json!([name, outcome]));
            }
        }
        match ended {
            None if fail => Signal::Raise(json!("timeout")),
            None => Signal::Next,
            Some(signal) => signal,
        }
    }
}
