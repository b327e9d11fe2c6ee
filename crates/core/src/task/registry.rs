//! All unfinished tasks of a runtime, which is also what keeps them alive (laws T5, T8).
//!
//! Places stand in blocks of 64. A thread that spawns has a block for itself and fills its places in order, so entering
//! a task is one exchange, and taking it out is another: there is no lock for the tasks of two threads to meet at. A
//! lock guards the list of blocks, which is needed once in 64 spawns and to look at all tasks.
//!
//! | what | who touches it, when |
//! |---|---|
//! | `blocks` | under its lock: threads that need a block, and those that look at all tasks |
//! | a slot | see `slot.rs`; the one looker is who holds the lock of `blocks` |
//! | `SEAT` | its thread |
//! | `hold` of a task | written before the task's slot is filled; cloned by the looker and by the poll of the task itself; taken by the one who lets go |
//!
//! INVARIANT R1: a task is in its slot from before its first schedule until after its epilogue, and as long as it is
//! there `hold` has a waker of it; so the metadata is valid, and async-task never closes a task whose handle and wakers
//! are gone.
//!
//! INVARIANT R2: a block is reused or freed only if no thread has its seat there and all of its slots are empty. A slot
//! is emptied by the last access to it.

use std::cell::{RefCell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::fence;
use std::task::Waker;

use crate::runtime::shared::Phase;
use crate::sync::{Arc, AtomicU64, Mutex, Ordering, lock};
use crate::task::id::TaskId;
use crate::task::meta::TaskMeta;
use crate::task::reference::TaskRef;
use crate::task::slot::Slot;

/// How many places a block has, and how many numbers of tasks go with it.
const BLOCK: u8 = 64;

/// How many blocks a thread that needs one looks at, to find one that nobody uses.
const LOOKS: usize = 4;

/// The places of one runtime's tasks.
pub(crate) struct Registry {
    /// Tells the registries of one process apart.
    serial: u64,
    blocks: Mutex<Blocks>,
}

struct Blocks {
    all: Vec<Arc<Block>>,
    /// The first number of the next block.
    next: u64,
    /// Where the next search begins.
    cursor: usize,
    /// Blocks in which a thread without a seat has entered a task.
    kept: Vec<Arc<Block>>,
}

struct Block {
    slots: [Slot<TaskMeta>; BLOCK as usize],
}

/// Where a thread enters its next task.
struct Seat {
    serial: u64,
    first: u64,
    next: u8,
    block: Arc<Block>,
}

thread_local! {
    static SEAT: RefCell<Option<Seat>> = const { RefCell::new(None) };
}

/// A place that was given to a task, with the task's number.
pub(crate) struct Place {
    pub(crate) id: TaskId,
    pub(crate) slot: SlotPointer,
}

/// The slot of a task.
pub(crate) struct SlotPointer(NonNull<Slot<TaskMeta>>);

// SAFETY: INVARIANT R1 and R2: the slot is valid as long as the task is in it, and it is made to be shared.
unsafe impl Send for SlotPointer {}
// SAFETY: as above.
unsafe impl Sync for SlotPointer {}

/// What keeps a registered task alive; see the module.
pub(crate) struct Hold(UnsafeCell<Option<Waker>>);

// SAFETY: INVARIANT B1 (slot.rs) orders the accesses: writing, looking and letting go exclude each other, and the poll
// of a task precedes its end.
unsafe impl Sync for Hold {}

impl Hold {
    pub(crate) const fn new() -> Hold {
        Hold(UnsafeCell::new(None))
    }
}

impl Registry {
    pub(crate) fn new() -> Registry {
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let blocks = Blocks { all: Vec::new(), next: 1, cursor: 0, kept: Vec::new() };
        // Relaxed: only uniqueness is asked for.
        Registry { serial: SERIAL.fetch_add(1, Ordering::Relaxed), blocks: Mutex::new(blocks) }
    }

    /// A place for a new task. It must be filled before this thread asks for another one, or never.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        let known = SEAT.try_with(|seat| {
            let mut seat = seat.borrow_mut();
            seat.as_mut().filter(|seat| seat.serial == self.serial)?.place()
        });
        known.ok().flatten().unwrap_or_else(|| self.place_in_new_block())
    }

    /// The unfinished tasks by their numbers. Linear in how many there were at a time, but for the sorting.
    pub(crate) fn snapshot(&self) -> Vec<TaskRef> {
        let (mut tasks, mut left) = (Vec::new(), Vec::new());
        let blocks = lock(&self.blocks);
        for slot in blocks.all.iter().flat_map(|block| &block.slots) {
            let Some(task) = slot.begin_look() else { continue };
            // SAFETY: INVARIANT R1: the task is in its slot until `end_look`.
            let meta = unsafe { task.as_ref() };
            // SAFETY: INVARIANT B1: nobody takes `hold` during the look.
            let hold = unsafe { (*meta.hold.0.get()).clone() };
            tasks.extend(hold.map(|waker| TaskRef::from_parts(waker, task)));
            if slot.end_look(task) {
                left.push(task);
            }
        }
        drop(blocks);
        // SAFETY: INVARIANT B1: `end_look` has answered `true` for these.
        left.into_iter().for_each(|task| unsafe { let_go(task) });
        tasks.retain(|task| !task.done());
        tasks.sort_unstable_by_key(TaskRef::id);
        tasks
    }

    pub(crate) fn is_empty(&self) -> bool {
        let mut blocks = lock(&self.blocks);
        // From where somebody was the last time: the shutdown asks again at the end of each task.
        let (cursor, count) = (blocks.cursor, blocks.all.len());
        let mut order = (0..count).map(|offset| (cursor + offset) % count);
        let full = order.find(|&index| !blocks.all[index].is_empty());
        blocks.cursor = full.unwrap_or(0);
        full.is_none()
    }

    #[cold]
    fn place_in_new_block(&self) -> Place {
        let mut blocks = lock(&self.blocks);
        let block = blocks.take_idle().unwrap_or_else(|| blocks.add());
        let first = blocks.next;
        blocks.next += u64::from(BLOCK);
        drop(blocks);
        let mut seat = Seat { serial: self.serial, first, next: 0, block };
        let place = seat.place().expect("a new block has places");
        if SEAT.try_with(|former| former.borrow_mut().take()).is_ok() {
            SEAT.with(|current| *current.borrow_mut() = Some(seat));
        } else {
            // A thread at its end cannot keep a seat. The place is not filled yet, so for INVARIANT R2 the block stays
            // taken until the runtime is gone.
            lock(&self.blocks).kept.push(seat.block);
        }
        place
    }
}

impl Blocks {
    /// A block that nobody uses; if there are more, they are freed.
    fn take_idle(&mut self) -> Option<Arc<Block>> {
        let mut found = None;
        for _ in 0..LOOKS.min(self.all.len()) {
            self.cursor = if self.cursor < self.all.len() { self.cursor } else { 0 };
            let block = &self.all[self.cursor];
            if !block.is_idle() {
                self.cursor += 1;
            } else if found.is_none() {
                found = Some(block.clone());
                self.cursor += 1;
            } else {
                self.all.swap_remove(self.cursor);
            }
        }
        found
    }

    fn add(&mut self) -> Arc<Block> {
        let block = Arc::new(Block { slots: std::array::from_fn(|_| Slot::new()) });
        self.all.push(block.clone());
        block
    }
}

impl Block {
    fn is_empty(&self) -> bool {
        self.slots.iter().all(Slot::is_empty)
    }

    /// INVARIANT R2, for a block of the list.
    fn is_idle(self: &Arc<Block>) -> bool {
        if Arc::strong_count(self) != 1 {
            return false;
        }
        // Acquire: pairs with the Release with which a seat was given up, so that its fillings are seen.
        fence(Ordering::Acquire);
        self.is_empty()
    }
}

impl Seat {
    #[inline]
    fn place(&mut self) -> Option<Place> {
        let slot = self.block.slots.get(usize::from(self.next))?;
        let id = TaskId::new(self.first + u64::from(self.next));
        self.next += 1;
        Some(Place { id, slot: SlotPointer(NonNull::from(slot)) })
    }
}

impl TaskMeta {
    /// Enters this new task, which `hold` keeps alive from now on.
    ///
    /// # Safety
    ///
    /// Once, before the task is scheduled, on the thread that took its place and has taken no other one since.
    #[inline]
    pub(crate) unsafe fn enter(&self, hold: Waker) {
        // SAFETY: INVARIANT R1: nobody else knows of the task.
        unsafe { *self.hold.0.get() = Some(hold) };
        // SAFETY: INVARIANT R2: this thread has its seat in the block.
        unsafe { self.slot.0.as_ref() }.fill(NonNull::from(self));
    }

    /// A reference to the task that is being polled on this thread.
    ///
    /// # Safety
    ///
    /// This thread polls the task.
    pub(crate) unsafe fn to_ref(&self) -> Option<TaskRef> {
        // SAFETY: INVARIANT R1: `hold` is taken after the last poll, on this thread.
        let hold = unsafe { (*self.hold.0.get()).clone() };
        hold.map(|waker| TaskRef::from_parts(waker, NonNull::from(self)))
    }

    /// The same for the epilogue, without counting a reference: valid until the task leaves.
    ///
    /// # Safety
    ///
    /// The task has ended on this thread and has not left yet.
    pub(crate) unsafe fn lend_ref(&self) -> Option<ManuallyDrop<TaskRef>> {
        // SAFETY: INVARIANT R1: `hold` is taken when the task leaves. The copy is never dropped.
        let hold = unsafe { std::ptr::read(self.hold.0.get()) };
        hold.map(|waker| ManuallyDrop::new(TaskRef::from_parts(waker, NonNull::from(self))))
    }
}

/// Takes a task out of the registry at the end of its epilogue. It may be freed in this call.
///
/// # Safety
///
/// The task was entered, has ended on this thread, and this is called once. Nobody holds a reference to its metadata
/// who does not hold a waker of it.
#[inline]
pub(crate) unsafe fn leave(task: NonNull<TaskMeta>) {
    // SAFETY: INVARIANT R1: the task is in its slot.
    let slot = unsafe { task.as_ref() }.slot.0;
    // SAFETY: INVARIANT R2: the slot is not empty.
    if unsafe { slot.as_ref() }.leave(task) {
        // SAFETY: INVARIANT B1: `leave` has answered `true`.
        unsafe { let_go(task) };
    }
}

/// Gives up what kept a task alive.
///
/// # Safety
///
/// The task has left its slot, and it fell to the caller to let go of it (INVARIANT B1).
unsafe fn let_go(task: NonNull<TaskMeta>) {
    let hold = {
        // SAFETY: INVARIANT R1: `hold` keeps the metadata alive until it is dropped, which is below.
        let meta = unsafe { task.as_ref() };
        let runtime = meta.runtime_ref().shared();
        if runtime.phase() != Phase::Open {
            runtime.wake_waiting();
        }
        // SAFETY: INVARIANT B1: it fell to the caller alone.
        unsafe { (*meta.hold.0.get()).take() }
    };
    drop(hold);
}
