//! The places of a group's children, in blocks: so that the end of a child touches what few others touch.
//!
//! ```text
//!   Station ◄──── Block ◄──── owner and sink of each of its children
//!      │ weak       ▲
//!      └────────────┴─ strong: the block that is being filled
//! ```
//!
//! Places are filled in order and not used again, so the number of a place tells when its child was spawned. A block
//! is gone with its last child.
//!
//! INVARIANT K3: the lock of a block is taken after that of the station, never the other way round, and under it nothing
//! happens but looking, entering and taking out.

use brigade_core::TaskRef;
use brigade_core::scope::Owner;

use super::station::Station;
use crate::sync::{Arc, Mutex, Weak, lock};

/// How many places a block has: few in a group's first ones, since most groups are small.
const FEW: usize = 8;
const MANY: usize = 64;

/// See the module.
pub(super) struct Block<E: 'static> {
    pub(super) station: Arc<Station<E>>,
    /// The number of its first place.
    first: usize,
    places: Mutex<Places>,
}

struct Places {
    /// Gone once nobody is left.
    tasks: Box<[Option<TaskRef>]>,
    /// How many were not given up, the ones that were never taken included.
    left: usize,
}

/// How many places a block has that begins with this one.
fn size(first: usize) -> usize {
    first.clamp(FEW, MANY)
}

impl<E: 'static> Block<E> {
    pub(super) fn new(station: Arc<Station<E>>, first: usize) -> Block<E> {
        let left = size(first);
        let tasks = std::iter::repeat_with(|| None).take(left).collect();
        Block { station, first, places: Mutex::new(Places { tasks, left }) }
    }

    /// The number of a place, unique in the group.
    pub(super) fn key(&self, index: usize) -> usize {
        self.first + index
    }

    /// The child is built.
    pub(super) fn seat(&self, index: usize, task: TaskRef) {
        lock(&self.places).tasks[index] = Some(task);
        if self.station.is_special() {
            let task = lock(&self.places).tasks[index].clone();
            task.iter().for_each(|task| self.station.greet(self.key(index), task));
        }
    }

    /// The place is given up, by a child that has ended or could not be built.
    pub(super) fn leave(&self, index: usize) {
        let mut places = lock(&self.places);
        let gone = places.tasks[index].take();
        places.left -= 1;
        let spent = if places.left == 0 { std::mem::take(&mut places.tasks) } else { Box::default() };
        drop(places);
        drop(spent);
        self.station.leave(self.key(index), gone);
    }

    /// Whether all have ended that could have been here; references to them may keep it.
    fn is_spent(&self) -> bool {
        lock(&self.places).left == 0
    }

    /// The children that are here, by the numbers of their places.
    pub(super) fn look(&self, mut look: impl FnMut(usize, &TaskRef)) {
        let places = lock(&self.places);
        let taken = places.tasks.iter().enumerate().filter_map(|(index, task)| Some((index, task.as_ref()?)));
        taken.for_each(|(index, task)| look(self.key(index), task));
    }
}

impl<E: Send + 'static> Owner for Block<E> {
    fn child_done(&self, index: usize, _task: &TaskRef) {
        self.leave(index);
    }
}

/// The blocks of a group, under the lock of its station.
pub(super) struct Blocks<E: 'static> {
    /// The one that is being filled.
    open: Option<Arc<Block<E>>>,
    /// All that may have children, in the order in which they were spawned.
    all: Vec<Weak<Block<E>>>,
    /// The number of the next place.
    next: usize,
    /// With so many blocks those that are gone are looked for.
    crowded: usize,
}

impl<E: 'static> Default for Blocks<E> {
    fn default() -> Blocks<E> {
        Blocks { open: None, all: Vec::new(), next: 0, crowded: 0 }
    }
}

impl<E: 'static> Blocks<E> {
    /// A place for the next child of the group with this station.
    pub(super) fn take_place(&mut self, station: &Arc<Station<E>>) -> (Arc<Block<E>>, usize) {
        let first = self.open.as_ref().map_or(self.next, |block| block.first);
        let index = self.next - first;
        self.next += 1;
        // The last place takes the block along: from then on its children hold it.
        let open = if index + 1 == size(first) { self.open.take() } else { self.open.clone() };
        (open.unwrap_or_else(|| self.add(station)), index)
    }

    fn add(&mut self, station: &Arc<Station<E>>) -> Arc<Block<E>> {
        if self.all.len() >= self.crowded {
            self.all.retain(|block| block.upgrade().is_some_and(|block| !block.is_spent()));
            self.crowded = 2 * self.all.len().max(FEW);
            self.all.shrink_to(self.crowded);
        }
        let block = Arc::new(Block::new(station.clone(), self.next - 1));
        self.all.push(Arc::downgrade(&block));
        self.open = Some(block.clone());
        block
    }

    /// Looks at all children that are seated, in the order in which they were spawned.
    pub(super) fn look(&self, mut look: impl FnMut(usize, &TaskRef)) {
        self.all.iter().filter_map(Weak::upgrade).for_each(|block| block.look(&mut look));
    }

    /// Nobody comes any more. Gives what keeps the station alive, to be dropped without its lock.
    #[must_use]
    pub(super) fn shut(&mut self) -> Option<Arc<Block<E>>> {
        self.open.take()
    }
}
