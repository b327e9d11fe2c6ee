//! What the code that is running on this thread belongs to: the poll of a task ([`task_poll`]), the innermost scope
//! ([`frame`]), the ambient runtime.
//!
//! All of it is thread-local without destructors, so that it can be used from the destructors of other
//! thread-locals (law T4).
//!
//! | field | written by |
//! |---|---|
//! | `runtime` | [`enter_runtime`] |
//! | `kept`, `cleans` | [`keep`], [`take_kept`] |
//! | `aborting` | [`enter_aborting`] |
//! | `thread`, `numbers` | [`thread_token`], [`next_number`] |

pub(crate) mod frame;
pub(crate) mod task_poll;

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::num::NonZeroU32;
use std::ops::Deref;

pub(crate) use self::task_poll::{
    ask_for_repoll, enter_locals, foreign_to_root, forget_note, is_delivering, note_handed_back,
    note_request, number, spend, task_ref, with_locals, with_task,
};
use crate::runtime::handle::Handle;
use crate::sync::{AtomicU64, Ordering};
use crate::task::meta::TaskMeta;

struct Here {
    aborting: Cell<bool>,
    runtime: Cell<ManuallyDrop<Option<Handle>>>,
    /// The runtime for which this thread scheduled last.
    kept: Cell<ManuallyDrop<Option<Handle>>>,
    /// Somebody takes `kept` at the end of the thread.
    cleans: Cell<bool>,
    thread: Cell<Option<NonZeroU32>>,
    /// How many polls on this thread have got a number.
    numbers: Cell<u64>,
}

thread_local! {
    static HERE: Here = const {
        Here {
            aborting: Cell::new(false),
            runtime: Cell::new(ManuallyDrop::new(None)),
            kept: Cell::new(ManuallyDrop::new(None)),
            cleans: Cell::new(false),
            thread: Cell::new(None),
            numbers: Cell::new(0),
        }
    };
}

impl Here {
    /// `false` on a thread that is ending: it keeps nothing any more.
    #[cold]
    fn promise_to_clean(&self) -> bool {
        self.cleans.set(CLEANER.try_with(|_| ()).is_ok());
        self.cleans.get()
    }
}

/// Makes `handle` the ambient runtime and returns the former one.
pub(crate) fn enter_runtime(handle: Option<Handle>) -> Option<Handle> {
    HERE.with(|here| ManuallyDrop::into_inner(here.runtime.replace(ManuallyDrop::new(handle))))
}

/// Takes the runtime that this thread kept.
#[inline]
pub(crate) fn take_kept() -> Option<Handle> {
    HERE.with(|here| ManuallyDrop::into_inner(here.kept.take()))
}

/// Keeps a runtime, until [`take_kept`] or the end of the thread.
#[inline]
pub(crate) fn keep(runtime: Handle) {
    let former = HERE.with(|here| match here.cleans.get() || here.promise_to_clean() {
        true => here.kept.replace(ManuallyDrop::new(Some(runtime))),
        false => ManuallyDrop::new(Some(runtime)),
    });
    drop(ManuallyDrop::into_inner(former));
}

/// Takes what the thread kept when it ends.
struct Cleaner;

impl Drop for Cleaner {
    fn drop(&mut self) {
        HERE.with(|here| here.cleans.set(false));
        drop(take_kept());
    }
}

thread_local! {
    static CLEANER: Cleaner = const { Cleaner };
}

/// The runtime of the current task, else the one that was entered.
pub(crate) fn runtime() -> Option<Handle> {
    with_task(|task| task.map(TaskMeta::runtime)).or_else(|| {
        HERE.with(|here| {
            let handle = ManuallyDrop::into_inner(here.runtime.take());
            here.runtime.set(ManuallyDrop::new(handle.clone()));
            handle
        })
    })
}

/// The runtime that a call on this thread belongs to.
pub(crate) enum AmbientRuntime {
    Counted(Handle),
    /// That of the current task, which holds it during the call.
    OfTask(ManuallyDrop<Handle>, PhantomData<*const ()>),
}

impl Deref for AmbientRuntime {
    type Target = Handle;
    fn deref(&self) -> &Handle {
        match self {
            AmbientRuntime::Counted(handle) => handle,
            AmbientRuntime::OfTask(handle, _) => handle,
        }
    }
}

/// The runtime of the current task, without counting a reference; for the time of one call only.
#[inline]
pub(crate) fn ambient_runtime() -> Option<AmbientRuntime> {
    task_poll::runtime_of_task().map(|handle| AmbientRuntime::OfTask(handle, PhantomData))
}

/// Marks the destructors that run until the guard is dropped as the end of a grace (law C13).
pub(crate) fn enter_aborting() -> AbortingGuard {
    AbortingGuard(HERE.with(|here| here.aborting.replace(true)))
}

pub(crate) fn is_aborting() -> bool {
    HERE.with(|here| here.aborting.get())
}

/// See [`enter_aborting`].
pub(crate) struct AbortingGuard(bool);

impl Drop for AbortingGuard {
    fn drop(&mut self) {
        HERE.with(|here| here.aborting.set(self.0));
    }
}

/// A number of this thread that no other living thread has.
pub(crate) fn thread_token() -> NonZeroU32 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    HERE.with(|here| {
        if let Some(known) = here.thread.get() {
            return known;
        }
        // Relaxed: only uniqueness is asked for, nothing is published with the number.
        let fresh = u32::try_from(NEXT.fetch_add(1, Ordering::Relaxed)).ok().and_then(NonZeroU32::new);
        let fresh = fresh.expect("a process starts fewer than 2^32 threads");
        here.thread.set(Some(fresh));
        fresh
    })
}

/// A number that nobody else gets.
fn next_number() -> u64 {
    let count = HERE.with(|here| {
        here.numbers.set(here.numbers.get() + 1);
        here.numbers.get()
    });
    count | u64::from(thread_token().get()) << 40
}
