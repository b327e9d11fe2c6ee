//! Who is in a group: ordinary children, those of them that wait for a slot, and services (laws G7, G8,
//! G9). Plain books without user code, kept under the lock of the station.

use std::collections::BTreeMap;
use std::task::Waker;

use brigade_core::TaskRef;

use super::block::{Block, Blocks};
use super::limit::{Entry, Left, Slots, Ticket};
use super::policies::Next;
use super::station::Station;
use crate::sync::Arc;

/// See the module.
pub(super) struct Roster<E: 'static> {
    blocks: Blocks<E>,
    /// Boxed, as below.
    pub(super) slots: Option<Box<Slots>>,
    /// Boxed, since most groups have none of it.
    special: Option<Box<Special>>,
}

/// What is known of children beside their tasks, by the numbers of their places.
#[derive(Default)]
struct Special {
    /// Those who had to wait for their slots.
    tickets: BTreeMap<usize, Ticket>,
    ranks: BTreeMap<usize, Rank>,
    /// The services in the order in which they are relied on; `None` while one is being built.
    services: BTreeMap<Rank, Option<TaskRef>>,
    next_service: u64,
    /// The service that was dismissed and has not ended.
    dismissed: Option<Rank>,
    /// What the policy of the group has said about ends, if it was not to go on.
    verdicts: BTreeMap<usize, Next>,
}

/// Where a service stands among the services. They are dismissed from the last one backwards.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Rank {
    /// When it was spawned; its place in the plan if it is supervised, however often it was restarted.
    order: u64,
    /// Tells a child from the one that it replaces, which may not have left the books yet.
    serial: u64,
}

/// Why somebody does not get in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    Closed,
    Full,
}

/// A place for a child, with a ticket if it has to wait for a slot.
pub(super) struct Reserved<E: 'static> {
    pub(super) block: Arc<Block<E>>,
    pub(super) index: usize,
    pub(super) ticket: Option<Ticket>,
}

impl<E: 'static> Roster<E> {
    pub(super) fn new(limit: Option<usize>) -> Roster<E> {
        Roster {
            blocks: Blocks::default(),
            slots: limit.map(|limit| Box::new(Slots::new(limit))),
            special: None,
        }
    }

    pub(super) fn reserve(
        &mut self,
        station: &Arc<Station<E>>,
        entry: Entry,
    ) -> Result<Reserved<E>, Refused> {
        let ticket = match (entry, &mut self.slots) {
            (Entry::Queue, Some(slots)) => slots.take_or_wait(),
            (Entry::NowOrNever, Some(slots)) => match slots.take() {
                true => None,
                false => return Err(Refused::Full),
            },
            _ => None,
        };
        let (block, index) = self.blocks.take_place(station);
        let key = block.key(index);
        match entry {
            Entry::Service => self.special().enlist(key, None),
            Entry::Ranked(order) => self.special().enlist(key, Some(order)),
            _ => {
                if let Some(ticket) = ticket {
                    self.special().tickets.insert(key, ticket);
                }
            }
        }
        Ok(Reserved { block, index, ticket })
    }

    /// The child is built and seated. `true`: it may have missed the request that it was due.
    pub(super) fn greet(&mut self, key: usize, task: &TaskRef) -> bool {
        let Some(special) = &mut self.special else { return true };
        let Some(&rank) = special.ranks.get(&key) else { return true };
        special.services.insert(rank, Some(task.clone()));
        special.dismissed == Some(rank)
    }

    /// Somebody has ended, or was not built.
    pub(super) fn remove(&mut self, key: usize) -> (Next, Left) {
        let mut next = Next::default();
        let mut ticket = None;
        if let Some(special) = &mut self.special {
            next = special.verdicts.remove(&key).unwrap_or_default();
            if let Some(rank) = special.ranks.remove(&key) {
                special.services.remove(&rank);
                special.dismissed.take_if(|dismissed| *dismissed == rank);
                return (next, Left::default());
            }
            ticket = special.tickets.remove(&key);
        }
        (next, self.slots.as_mut().map(|slots| slots.leave(ticket)).unwrap_or_default())
    }

    /// The last service, unless another has to end before it, or an ordinary child is left: there are `left` in all.
    pub(super) fn dismiss(&mut self, left: usize) -> Option<Option<TaskRef>> {
        let special = self.special.as_mut()?;
        if special.dismissed.is_some() || left > special.services.len() {
            return None;
        }
        let (&rank, task) = special.services.last_key_value()?;
        special.dismissed = Some(rank);
        Some(task.clone())
    }

    pub(super) fn set_next(&mut self, key: usize, next: Next) {
        if next != Next::Continue {
            self.special().verdicts.insert(key, next);
        }
    }

    pub(super) fn is_service(&self, key: usize) -> bool {
        self.special.as_ref().is_some_and(|special| special.ranks.contains_key(&key))
    }

    pub(super) fn ordinary_tasks(&self) -> Vec<TaskRef> {
        self.tasks_where(|key| !self.is_service(key))
    }

    pub(super) fn all_tasks(&self) -> Vec<TaskRef> {
        self.tasks_where(|_| true)
    }

    fn tasks_where(&self, wanted: impl Fn(usize) -> bool) -> Vec<TaskRef> {
        let mut tasks = Vec::new();
        self.blocks.look(|key, task| {
            if wanted(key) {
                tasks.push(task.clone());
            }
        });
        tasks
    }

    /// Those who wait for a slot and have to hear that there will be none.
    pub(super) fn waiting(&mut self) -> Vec<Waker> {
        self.slots.iter_mut().flat_map(|slots| slots.wakers()).collect()
    }

    /// Nobody comes any more; see [`Blocks::shut`].
    #[must_use]
    pub(super) fn shut(&mut self) -> Option<Arc<Block<E>>> {
        self.blocks.shut()
    }

    fn special(&mut self) -> &mut Special {
        self.special.get_or_insert_default()
    }
}

impl Special {
    /// A service comes, with a place of its own in the order of dismissal or the last one.
    fn enlist(&mut self, key: usize, order: Option<u64>) {
        let serial = self.next_service;
        let rank = Rank { order: order.unwrap_or(serial), serial };
        self.ranks.insert(key, rank);
        self.services.insert(rank, None);
        self.next_service += 1;
    }
}
