//! All unfinished tasks of a runtime: an intrusive list in shards, which is also what keeps them
//! alive (laws T5, T8).
//!
//! A task links itself through the metadata in its own allocation, so registering allocates nothing.
//! Each thread uses one shard for the tasks that it spawns.
//!
//! INVARIANT R1: a task is linked from before its first schedule until its epilogue, and while it is
//! linked the shard holds a waker of it in `links.hold`; so the metadata outlives its link, and
//! async-task never closes a task whose handle and wakers are gone.
//!
//! INVARIANT R2: `links` of a task are touched only under the lock of the task's shard.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::task::Waker;

use crate::context;
use crate::sync::{Mutex, lock};
use crate::task::meta::TaskMeta;
use crate::task::reference::TaskRef;

const SHARDS: usize = 16;

/// The shards of one runtime.
pub(crate) struct Registry {
    shards: [Mutex<Shard>; SHARDS],
}

/// One list; see the module.
pub(crate) struct Shard {
    head: Option<NonNull<TaskMeta>>,
    tail: Option<NonNull<TaskMeta>>,
    len: usize,
}

// SAFETY: INVARIANT R1: what the pointers point at lives as long as they are in the list, and
// TaskMeta itself is made to be shared between threads.
unsafe impl Send for Shard {}

/// The part of a task that belongs to its shard.
pub(crate) struct Links(UnsafeCell<Inner>);

struct Inner {
    previous: Option<NonNull<TaskMeta>>,
    next: Option<NonNull<TaskMeta>>,
    hold: Option<Waker>,
}

// SAFETY: INVARIANT R2: the lock of the shard guards every access.
unsafe impl Sync for Links {}
// SAFETY: INVARIANT R1: the pointers are used under the lock only, from whichever thread holds it.
unsafe impl Send for Links {}

impl Links {
    pub(crate) const fn new() -> Links {
        Links(UnsafeCell::new(Inner { previous: None, next: None, hold: None }))
    }
}

impl Registry {
    pub(crate) fn new() -> Registry {
        Registry { shards: [const { Mutex::new(Shard { head: None, tail: None, len: 0 }) }; SHARDS] }
    }

    /// The shard of the calling thread.
    pub(crate) fn shard_here(&self) -> u8 {
        (context::thread_token() % SHARDS as u64) as u8
    }

    pub(crate) fn lock_shard(&self, shard: u8) -> std::sync::MutexGuard<'_, Shard> {
        lock(&self.shards[usize::from(shard)])
    }

    /// A snapshot of the unfinished tasks, oldest first in each shard; linear in their number.
    pub(crate) fn snapshot(&self) -> Vec<TaskRef> {
        let mut tasks = Vec::new();
        for shard in &self.shards {
            lock(shard).collect(&mut tasks);
        }
        tasks.retain(|task| !task.done());
        tasks
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shards.iter().all(|shard| lock(shard).len == 0)
    }

    /// Unlinks a task and gives back the reference that held it; tells whether the shard is empty now.
    pub(crate) fn remove(&self, task: &TaskMeta) -> (Option<TaskRef>, bool) {
        let mut shard = self.lock_shard(task.shard);
        let hold = shard.unlink(task);
        (hold.map(|waker| TaskRef::from_parts(waker, NonNull::from(task))), shard.len == 0)
    }
}

impl Shard {
    /// Appends a new task of this shard; `hold` is a waker of it.
    pub(crate) fn push(&mut self, task: &TaskMeta, hold: Waker) {
        let pointer = NonNull::from(task);
        // SAFETY: INVARIANT R2: `self` is the locked shard of the task.
        let links = unsafe { &mut *task.links.0.get() };
        links.hold = Some(hold);
        links.previous = self.tail;
        match self.tail.replace(pointer) {
            // SAFETY: INVARIANT R1: the tail is linked, so it is alive.
            Some(tail) => unsafe { Shard::links(tail) }.next = Some(pointer),
            None => self.head = Some(pointer),
        }
        self.len += 1;
    }

    fn unlink(&mut self, task: &TaskMeta) -> Option<Waker> {
        // SAFETY: INVARIANT R2: `self` is the locked shard of the task.
        let links = unsafe { &mut *task.links.0.get() };
        let hold = links.hold.take()?;
        let (previous, next) = (links.previous.take(), links.next.take());
        match previous {
            // SAFETY: INVARIANT R1: a neighbour in the list is alive.
            Some(previous) => unsafe { Shard::links(previous) }.next = next,
            None => self.head = next,
        }
        match next {
            // SAFETY: INVARIANT R1: as above.
            Some(next) => unsafe { Shard::links(next) }.previous = previous,
            None => self.tail = previous,
        }
        self.len -= 1;
        Some(hold)
    }

    fn collect(&self, into: &mut Vec<TaskRef>) {
        into.reserve(self.len);
        let mut next = self.head;
        while let Some(task) = next {
            // SAFETY: INVARIANT R1: a linked task is alive; R2: `self` is its locked shard.
            let links = unsafe { Shard::links(task) };
            into.extend(links.hold.as_ref().map(|hold| TaskRef::from_parts(hold.clone(), task)));
            next = links.next;
        }
    }

    /// # Safety
    ///
    /// `task` is linked in the shard whose lock the caller holds, and the caller holds no other
    /// reference to its links.
    unsafe fn links<'a>(task: NonNull<TaskMeta>) -> &'a mut Inner {
        // SAFETY: the caller's promise, which is INVARIANT R1 and R2.
        let task = unsafe { task.as_ref() };
        // SAFETY: as above.
        unsafe { &mut *task.links.0.get() }
    }
}

impl TaskMeta {
    /// A reference to this task, while it is in the registry.
    pub(crate) fn to_ref(&self) -> Option<TaskRef> {
        let shard = self.runtime_ref().shared().registry.lock_shard(self.shard);
        // SAFETY: INVARIANT R2: the lock of the task's shard is held.
        let links = unsafe { &*self.links.0.get() };
        let hold = links.hold.clone();
        drop(shard);
        hold.map(|waker| TaskRef::from_parts(waker, NonNull::from(self)))
    }
}
