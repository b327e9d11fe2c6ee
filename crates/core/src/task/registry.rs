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
//! | `returns` | see `returns.rs`; the one taker is the thread that has the seat |
//!
//! A block belongs to its tasks and to the thread that has its seat there; the registry only knows it. So it is the block
//! that holds the runtime, and counting its references is nothing that all threads contend for.
//!
//! INVARIANT R1: a task is in its slot from before its first schedule until after its epilogue, and until it is let go of
//! `hold` has a waker of it; so the metadata is valid, and async-task never closes a task whose handle and wakers
//! are gone.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::num::NonZeroU32;
use std::ptr::NonNull;
use std::task::Waker;

use crate::context;
use crate::runtime::handle::Handle;
use crate::runtime::shared::Phase;
use crate::sync::{Arc, Mutex, Weak, lock};
use crate::task::id::TaskId;
use crate::task::meta::TaskMeta;
use crate::task::reference::TaskRef;
use crate::task::returns::{Item, Returns};
use crate::task::slot::Slot;

/// How many places a block has, and how many numbers of tasks go with it.
const BLOCK: u8 = 64;

/// A task with a future of at most so many bytes is returned to the thread that allocated it.
const RETURNED: usize = 1024;

/// How many blocks a thread that needs a new one looks at, to forget those that are gone.
const LOOKS: usize = 4;

/// The places of one runtime's tasks.
pub(crate) struct Registry {
    blocks: Mutex<Blocks>,
}

struct Blocks {
    all: Vec<Weak<Block>>,
    /// The first number of the next block.
    next: u64,
    /// Where the next look begins.
    cursor: usize,
}

struct Block {
    runtime: Handle,
    first: u64,
    /// The thread that fills it, and where its tasks are returned to.
    thread: NonZeroU32,
    returns: Arc<Returns<TaskMeta>>,
    slots: [Slot<TaskMeta>; BLOCK as usize],
}

/// Where a thread enters its next task.
struct Seat {
    block: Arc<Block>,
    next: u8,
    own: Own,
}

/// The right to free what is returned to this thread.
struct Own(Arc<Returns<TaskMeta>>);

impl Drop for Own {
    fn drop(&mut self) {
        self.0.close().for_each(free);
    }
}

thread_local! {
    static SEAT: RefCell<Option<Seat>> = const { RefCell::new(None) };
}

/// The place of a task, which decides on its number.
pub(crate) struct Place {
    block: Arc<Block>,
    index: u8,
    /// The task is freed where it was allocated. A large one is not kept waiting for that.
    returns: bool,
}

impl Place {
    /// A place for a new task, whose future has this size in bytes.
    #[inline]
    pub(crate) fn take(runtime: &Handle, size: usize) -> Place {
        let known = SEAT.try_with(|seat| {
            let mut seat = seat.borrow_mut();
            seat.as_mut().filter(|seat| seat.block.runtime.is_same(runtime))?.place()
        });
        let place = known.ok().flatten().unwrap_or_else(|| Place::in_new_block(runtime));
        Place { returns: size <= RETURNED, ..place }
    }

    pub(crate) fn id(&self) -> TaskId {
        TaskId::new(self.block.first + u64::from(self.index))
    }

    #[inline]
    pub(crate) fn runtime(&self) -> &Handle {
        &self.block.runtime
    }

    fn slot(&self) -> &Slot<TaskMeta> {
        &self.block.slots[usize::from(self.index)]
    }

    #[cold]
    fn in_new_block(runtime: &Handle) -> Place {
        let former = SEAT.try_with(|seat| seat.borrow_mut().take()).ok().flatten();
        let own = match former {
            Some(seat) if seat.block.runtime.is_same(runtime) => seat.own,
            _ => Own(Arc::new(Returns::new())),
        };
        own.0.take().for_each(free);
        let block = runtime.shared().registry.add_block(runtime, own.0.clone());
        let place = Place { block: block.clone(), index: 0, returns: false };
        // A thread at its end keeps no seat.
        let former = SEAT.try_with(|seat| seat.borrow_mut().replace(Seat { block, next: 1, own }));
        drop(former);
        place
    }
}

/// Gives up this thread's seat, and with it a reference to the runtime.
pub(crate) fn give_up_seat() {
    let seat = SEAT.try_with(|seat| seat.borrow_mut().take());
    drop(seat);
}

impl Registry {
    pub(crate) fn new() -> Registry {
        Registry { blocks: Mutex::new(Blocks { all: Vec::new(), next: 1, cursor: 0 }) }
    }

    /// The unfinished tasks by their numbers. Linear in how many there were at a time, but for the sorting.
    pub(crate) fn snapshot(&self) -> Vec<TaskRef> {
        let (mut tasks, mut left) = (Vec::new(), Vec::new());
        let blocks = lock(&self.blocks);
        // Kept until the lock is gone: the end of a block may be the end of the runtime.
        let known: Vec<_> = blocks.all.iter().filter_map(Weak::upgrade).collect();
        for slot in known.iter().flat_map(|block| &block.slots) {
            let Some(task) = slot.begin_look() else { continue };
            // SAFETY: INVARIANT R1: the task is in its slot until `end_look`.
            let meta = unsafe { task.as_ref() };
            // SAFETY: INVARIANT B1: nobody takes `hold` during the look.
            let hold = unsafe { meta.hold.waker() };
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
        let full = order.find(|&index| blocks.all[index].upgrade().is_some_and(|block| !block.is_empty()));
        blocks.cursor = full.unwrap_or(0);
        full.is_none()
    }

    fn add_block(&self, runtime: &Handle, returns: Arc<Returns<TaskMeta>>) -> Arc<Block> {
        let thread = context::thread_token();
        let mut blocks = lock(&self.blocks);
        blocks.forget_some();
        let (first, slots) = (blocks.next, std::array::from_fn(|_| Slot::new()));
        let block = Arc::new(Block { runtime: runtime.clone(), first, thread, returns, slots });
        blocks.next += u64::from(BLOCK);
        blocks.all.push(Arc::downgrade(&block));
        block
    }
}

impl Blocks {
    /// Forgets blocks that are gone, a few at a time, but more than one comes.
    fn forget_some(&mut self) {
        for _ in 0..LOOKS.min(self.all.len()) {
            self.cursor = if self.cursor < self.all.len() { self.cursor } else { 0 };
            if self.all[self.cursor].strong_count() == 0 {
                self.all.swap_remove(self.cursor);
            } else {
                self.cursor += 1;
            }
        }
    }
}

impl Block {
    fn is_empty(&self) -> bool {
        self.slots.iter().all(Slot::is_empty)
    }
}

impl Seat {
    #[inline]
    fn place(&mut self) -> Option<Place> {
        let index = self.next;
        if index == BLOCK {
            return None;
        }
        self.next += 1;
        Some(Place { block: self.block.clone(), index, returns: false })
    }
}

impl TaskMeta {
    /// Enters this new task, which `hold` keeps alive from now on.
    ///
    /// # Safety
    ///
    /// Once, before the task is scheduled.
    #[inline]
    pub(crate) unsafe fn enter(&self, hold: Waker) {
        // SAFETY: INVARIANT R1: nobody else knows of the task.
        unsafe { self.hold.set_waker(hold) };
        self.place.slot().fill(NonNull::from(self));
    }

    /// A reference to the task that is being polled on this thread.
    ///
    /// # Safety
    ///
    /// This thread polls the task.
    pub(crate) unsafe fn to_ref(&self) -> Option<TaskRef> {
        // SAFETY: INVARIANT R1: `hold` is taken after the last poll, on this thread.
        let hold = unsafe { self.hold.waker() };
        hold.map(|waker| TaskRef::from_parts(waker, NonNull::from(self)))
    }

    /// The same for the epilogue, without counting a reference: valid until the task leaves.
    ///
    /// # Safety
    ///
    /// The task has ended on this thread and has not left yet.
    pub(crate) unsafe fn lend_ref(&self) -> Option<ManuallyDrop<TaskRef>> {
        // SAFETY: INVARIANT R1: `hold` is taken when the task leaves. The copy is never dropped.
        let hold = unsafe { self.hold.lend_waker() };
        let lend = |waker| TaskRef::from_parts(ManuallyDrop::into_inner(waker), NonNull::from(self));
        hold.map(|waker| ManuallyDrop::new(lend(waker)))
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
    let left = {
        // SAFETY: INVARIANT R1: the task is in its slot. The block is kept until nobody touches it.
        let place = unsafe { &(*task.as_ptr()).place };
        place.slot().leave(task)
    };
    if left {
        // SAFETY: INVARIANT B1: `leave` has answered `true`.
        unsafe { let_go(task) };
    }
}

/// Gives up what kept a task alive, here or on the thread that allocated it.
///
/// # Safety
///
/// The task has left its slot, and it fell to the caller to let go of it (INVARIANT B1).
unsafe fn let_go(task: NonNull<TaskMeta>) {
    let returned = {
        // SAFETY: INVARIANT R1: `hold` keeps the metadata alive until it is dropped, which is below or elsewhere.
        let meta = unsafe { task.as_ref() };
        let runtime = meta.runtime_ref().shared();
        if runtime.phase() != Phase::Open {
            runtime.wake_waiting();
        }
        // SAFETY: INVARIANT B1: it fell to the caller alone.
        unsafe { meta.hold.drop_locals() };
        let Place { block, returns, .. } = &meta.place;
        let far = *returns && block.thread != context::thread_token();
        // SAFETY: INVARIANT V1: it fell to the caller alone. The task holds its block, and that the stack.
        far && unsafe { block.returns.push(task) }
    };
    if !returned {
        free(task);
    }
}

/// Gives up the reference to a task that has left, which may free it.
fn free(task: NonNull<TaskMeta>) {
    let hold = {
        // SAFETY: INVARIANT R1: `hold` keeps the metadata alive until it is dropped, which is below.
        let meta = unsafe { task.as_ref() };
        // SAFETY: INVARIANT B1 and V1: it fell to the caller alone.
        unsafe { meta.hold.take_waker() }
    };
    drop(hold);
}

impl Item for TaskMeta {
    unsafe fn set_next(item: NonNull<TaskMeta>, next: *mut TaskMeta) {
        // SAFETY: INVARIANT R1: alive until it is freed.
        let meta = unsafe { item.as_ref() };
        // SAFETY: INVARIANT V1: it is the caller's.
        unsafe { meta.hold.set_next(next) };
    }

    unsafe fn next(item: NonNull<TaskMeta>) -> *mut TaskMeta {
        // SAFETY: INVARIANT R1: alive until it is freed.
        let meta = unsafe { item.as_ref() };
        // SAFETY: INVARIANT V1: it is the caller's.
        unsafe { meta.hold.next() }
    }
}
