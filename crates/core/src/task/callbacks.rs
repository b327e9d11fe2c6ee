//! Done-callbacks (law T9).

use std::fmt;
use std::panic::Location;

use crate::context::task_poll::TaskPoll;
use crate::locals::Locals;
use crate::runtime::handle::Handle;
use crate::sync::Arc;
use crate::task::output::{Owner, Plain};
use crate::task::prepare::{SpawnOptions, prepare};
use crate::task::reference::TaskRef;
use crate::task::reports::guarded;

/// Names a done-callback, to take it back with `remove_callback`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CallbackId(u64);

type Function = Box<dyn FnOnce(&TaskRef) + Send>;

pub(crate) struct Callback {
    id: CallbackId,
    locals: Locals,
    function: Function,
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

/// Registers a callback; one that comes late is scheduled.
pub(crate) fn add(task: &TaskRef, function: Function) -> CallbackId {
    let meta = task.meta();
    let locals = Locals::capture();
    let mut late = meta.late();
    let more = late.more();
    more.next_callback += 1;
    let id = CallbackId(more.next_callback);
    // Pushed first and looked for by the end afterwards, or not seen by it and left to a caller.
    more.callbacks.push(Callback { id, locals, function });
    let waiting = meta.word.transition_to_watched();
    let schedules = !waiting && !std::mem::replace(&mut more.has_caller, true);
    drop(late);
    if schedules {
        schedule(task.clone());
    }
    id
}

pub(crate) fn remove(task: &TaskRef, id: CallbackId) -> bool {
    let mut late = task.meta().late();
    let removed = late.more.as_mut().and_then(|more| take(&mut more.callbacks, id));
    drop(late);
    removed.is_some()
}

/// Runs callbacks in registration order, outside every task, with the task's runtime ambient.
pub(crate) fn run_all(task: &TaskRef, callbacks: Vec<Callback>) {
    if callbacks.is_empty() {
        return;
    }
    let runtime: Handle = task.meta().runtime();
    let _ambient = runtime.enter();
    let outside = TaskPoll::outside();
    let _outside = outside.enter();
    for callback in callbacks {
        guarded("a done-callback ran", || callback.locals.run(|| (callback.function)(task)));
    }
}

fn take(callbacks: &mut Vec<Callback>, id: CallbackId) -> Option<Callback> {
    let at = callbacks.iter().position(|callback| callback.id == id)?;
    Some(callbacks.remove(at))
}

/// The next callback that came late; if there is none, the next one to come needs a caller of its own.
fn next_late(task: &TaskRef) -> Option<Callback> {
    let mut late = task.meta().late();
    let more = late.more();
    more.has_caller = !more.callbacks.is_empty();
    more.has_caller.then(|| more.callbacks.remove(0))
}

/// The owner of the tasks that run late callbacks.
struct Epilogue;

impl Owner for Epilogue {
    fn child_done(&self, _key: usize, _task: &TaskRef) {}
}

/// A task of its own runs the callbacks that were added after the end, one after the other; if the runtime has ended,
/// too, they can never run.
fn schedule(task: TaskRef) {
    let runtime = task.meta().runtime();
    let options = SpawnOptions {
        name: Some(Arc::from(format!("callback of {}", task.name()))),
        location: Location::caller(),
        // Owned, so that it still runs while the runtime is closing.
        owner: Some((Arc::new(Epilogue), 0)),
    };
    let run = async move {
        while let Some(callback) = next_late(&task) {
            run_all(&task, vec![callback]);
        }
    };
    if let Ok(prepared) = prepare(&runtime, options, run, Plain::<()>::new()) {
        drop(prepared.start());
    }
}
