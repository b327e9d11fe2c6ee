//! What people are told about things that nobody waits for (laws T6, T10, C16, G4).

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

pub use crate::task::state::Ending;

use crate::context;
use crate::runtime::handle::Handle;
use crate::sync::{Arc, lock};
use crate::task::error::Panic;
use crate::task::id::TaskId;
use crate::task::job;
use crate::task::reference::TaskRef;

/// The hooks of a runtime.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) unobserved: Option<Hook<Unobserved>>,
    pub(crate) warning: Option<Hook<Warning>>,
}

/// Called with what there is to report, by whichever thread finds it.
pub(crate) type Hook<R> = Arc<dyn Fn(&R) + Send + Sync>;

/// A failure or a panic that nobody observed and nobody can observe any more (law T6).
pub struct Unobserved {
    name: Arc<str>,
    id: Option<TaskId>,
    location: &'static Location<'static>,
    kind: Ending,
    message: String,
}

impl Unobserved {
    /// The name of the task that failed.
    #[must_use]
    pub fn task_name(&self) -> &str {
        &self.name
    }

    /// Its number; `None` if it was a part of a task that failed, such as a branch of a gather.
    #[must_use]
    pub fn task_id(&self) -> Option<TaskId> {
        self.id
    }

    /// Where the task was spawned.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// How it ended: [`Ending::Failed`] or [`Ending::Panicked`].
    #[must_use]
    pub fn kind(&self) -> Ending {
        self.kind
    }

    /// The error or the panic in words.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Unobserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.kind == Ending::Panicked { "panicked" } else { "failed" };
        write!(f, "task `{}` {verb} and nobody awaited it: {}", self.name, self.message)?;
        write!(f, " (spawned at {})", self.location)
    }
}

impl fmt::Debug for Unobserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unobserved({self})")
    }
}

/// Something that went on without an effect on any outcome, but that somebody should know.
pub struct Warning {
    message: String,
}

impl Warning {
    /// What happened, where, and what to do.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Warning({self})")
    }
}

/// Reports the failure of `task` (law T6).
pub(crate) fn unobserved(task: &TaskRef, kind: Ending, message: String) {
    let report =
        Unobserved { name: task.name(), id: Some(task.id()), location: task.location(), kind, message };
    deliver(Some(task.meta().runtime_ref()), &report);
}

/// Reports an error that its construct could not return: of a branch that failed while it was being
/// cancelled (law A2), or of a cleanup after an error (law C12). It goes through the hook of law T6
/// under the name given here.
pub fn report_unobserved(name: &str, message: String, location: &'static Location<'static>) {
    let report = Unobserved { name: name.into(), id: None, location, kind: Ending::Failed, message };
    deliver(context::runtime().as_ref(), &report);
}

/// Warns through the hook of the ambient runtime. What is dropped while a task ends belongs to the task's.
pub fn warn(message: String) {
    warn_on(context::runtime().or_else(job::finishing_runtime).as_ref(), message);
}

pub(crate) fn warn_on(runtime: Option<&Handle>, message: String) {
    let warning = Warning { message };
    let hook = runtime.and_then(|runtime| lock(&runtime.shared().hooks).warning.clone());
    let _ = catch_unwind(AssertUnwindSafe(|| match hook {
        Some(hook) => hook(&warning),
        None => say(log::Level::Warn, &warning),
    }));
}

/// Says at debug level that a task lost the one who waited for it and is waited for by the runtime
/// instead (law C16): nothing leaks silently.
pub fn report_adoption(task: &TaskRef) {
    let (name, place) = (task.name(), task.location());
    let _ = catch_unwind(AssertUnwindSafe(|| {
        log::debug!(
            target: "brigade",
            "task `{name}` (spawned at {place}) lost its waiter; it was cancelled and the runtime waits for it"
        );
    }));
}

/// A panic of strangers' code outside any task's poll (law T10).
pub(crate) fn panic_outside(what: &str, payload: Box<dyn Any + Send>) {
    let panic = Panic::new(payload, "");
    warn(format!("a panic was caught while {what}: {}", panic.message()));
    // The payload may be anybody's, so its destructor may panic as well.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
}

fn deliver(runtime: Option<&Handle>, report: &Unobserved) {
    let hook = runtime.and_then(|runtime| lock(&runtime.shared().hooks).unobserved.clone());
    let _ = catch_unwind(AssertUnwindSafe(|| match hook {
        Some(hook) => hook(report),
        None => say(log::Level::Error, report),
    }));
}

/// Through the logger, if one is set, else on standard error.
fn say(level: log::Level, what: &dyn fmt::Display) {
    if log::log_enabled!(target: "brigade", level) {
        log::log!(target: "brigade", level, "{what}");
    } else if log::max_level() == log::LevelFilter::Off {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "brigade: {what}");
    }
}
