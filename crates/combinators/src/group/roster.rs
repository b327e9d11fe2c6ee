//! Who is in a group: ordinary children, those of them that wait for a slot, and services (laws G7, G8,
//! G9). Plain books without user code, kept under the lock of the station.

use std::collections::BTreeMap;
use std::task::Waker;

use brigade_core::TaskRef;
use slab::Slab;

use super::limit::{Entry, Left, Slots, Ticket};
use super::policies::Next;

/// A spike of children must not be felt for ever (law G7).
const KEPT_PLACES: usize = 64;

/// See the module.
#[derive(Default)]
pub(super) struct Roster {
    places: Slab<Place>,
    /// The services in the order in which they are relied on: by rank.
    services: BTreeMap<Rank, usize>,
    next_service: u64,
    /// The service that was dismissed and has not ended.
    dismissed: Option<Rank>,
    pub(super) slots: Option<Slots>,
}

/// A child in the books.
pub(super) struct Place {
    /// `None` while the child is being built.
    pub(super) task: Option<TaskRef>,
    role: Role,
    /// What the policy of the group has said about its end.
    pub(super) next: Next,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// With a ticket if it had to wait for its slot.
    Ordinary(Option<Ticket>),
    Service(Rank),
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Reserved {
    pub(super) key: usize,
    pub(super) ticket: Option<Ticket>,
}

impl Roster {
    pub(super) fn new(limit: Option<usize>) -> Roster {
        Roster { slots: limit.map(Slots::new), ..Roster::default() }
    }

    pub(super) fn reserve(&mut self, entry: Entry) -> Result<Reserved, Refused> {
        let ticket = match (entry, &mut self.slots) {
            (Entry::Queue, Some(slots)) => slots.take_or_wait(),
            (Entry::NowOrNever, Some(slots)) => match slots.take() {
                true => None,
                false => return Err(Refused::Full),
            },
            _ => None,
        };
        let serial = self.next_service;
        let role = match entry {
            Entry::Service => Role::Service(Rank { order: serial, serial }),
            Entry::Ranked(order) => Role::Service(Rank { order, serial }),
            _ => Role::Ordinary(ticket),
        };
        let key = self.places.insert(Place { task: None, role, next: Next::Continue });
        if let Role::Service(rank) = role {
            self.services.insert(rank, key);
            self.next_service += 1;
        }
        Ok(Reserved { key, ticket })
    }

    /// The child is built. `true`: it may have missed the request that it was due.
    pub(super) fn seat(&mut self, key: usize, task: TaskRef) -> bool {
        let place = &mut self.places[key];
        place.task = Some(task);
        match place.role {
            Role::Ordinary(_) => true,
            Role::Service(rank) => self.dismissed == Some(rank),
        }
    }

    /// Somebody has ended, or was not built.
    pub(super) fn remove(&mut self, key: usize) -> (Place, Left) {
        let place = self.places.remove(key);
        if self.places.is_empty() && self.places.capacity() > KEPT_PLACES {
            self.places = Slab::new();
        }
        let left = match (place.role, &mut self.slots) {
            (Role::Ordinary(ticket), Some(slots)) => slots.leave(ticket),
            (Role::Ordinary(_), None) => Left::default(),
            (Role::Service(rank), _) => {
                self.services.remove(&rank);
                self.dismissed.take_if(|dismissed| *dismissed == rank);
                Left::default()
            }
        };
        (place, left)
    }

    /// The last service, unless another has to end before it, or an ordinary child is left.
    pub(super) fn dismiss(&mut self) -> Option<Option<TaskRef>> {
        if self.dismissed.is_some() || self.places.len() > self.services.len() {
            return None;
        }
        let (&rank, &key) = self.services.last_key_value()?;
        self.dismissed = Some(rank);
        Some(self.places[key].task.clone())
    }

    pub(super) fn set_next(&mut self, key: usize, next: Next) {
        self.places[key].next = next;
    }

    pub(super) fn is_service(&self, key: usize) -> bool {
        matches!(self.places[key].role, Role::Service(_))
    }

    pub(super) fn ordinary_tasks(&self) -> Vec<TaskRef> {
        self.tasks_where(|role| matches!(role, Role::Ordinary(_)))
    }

    pub(super) fn all_tasks(&self) -> Vec<TaskRef> {
        self.tasks_where(|_| true)
    }

    fn tasks_where(&self, wanted: impl Fn(Role) -> bool) -> Vec<TaskRef> {
        let places = self.places.iter().filter(|(_, place)| wanted(place.role));
        places.filter_map(|(_, place)| place.task.clone()).collect()
    }

    /// Those who wait for a slot and have to hear that there will be none.
    pub(super) fn waiting(&mut self) -> Vec<Waker> {
        self.slots.iter_mut().flat_map(Slots::wakers).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}
