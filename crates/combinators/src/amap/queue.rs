//! What the reader, the calls and the consumer of a map share: who runs, and which results wait.
//!
//! ```text
//!   begin ──► running ──1 finish: with a value ──► done ──2 poll_result──► (the consumer)
//!                 └─────1 finish: without one ───► (gone)
//! ```
//!
//! INVARIANT M1: an item is in `running` from before its call is spawned until the call's future is gone, then
//! its result is in `done` until the consumer takes it. `running` and `done` together are never more than
//! `read_ahead`, and `running` never more than `limit`.
//!
//! INVARIANT M2: under the lock nothing of the user runs: no request is made, no waker woken, and nothing
//! dropped but plain data.

use std::collections::BTreeMap;
use std::task::{Context, Poll, Waker};

use brigade_core::scope::Level;
use brigade_core::{CancelKind, CancelReason, TaskRef};

use crate::sync::{Mutex, MutexGuard, lock, wake_safely};

/// See the module.
#[derive(Debug)]
pub(super) struct Queue<T> {
    limit: usize,
    read_ahead: usize,
    ordered: bool,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    /// By the number of the item; the task is known once it is spawned.
    running: BTreeMap<u64, Option<TaskRef>>,
    /// By the number of the item if ordered, else by that of the end.
    done: BTreeMap<u64, T>,
    begun: u64,
    ended: u64,
    /// Nothing more is read.
    read_all: bool,
    /// Nobody wants results any more.
    left: bool,
    reader: Option<Waker>,
    /// It is for room that the reader waits, not for its source or for time.
    wants_room: bool,
    consumer: Option<Waker>,
}

/// Whether the reader may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// There is room for a call.
    Free,
    /// Nobody wants results any more.
    Left,
}

impl<T> Queue<T> {
    pub(super) fn new(limit: usize, read_ahead: usize, ordered: bool) -> Queue<T> {
        let state = State {
            running: BTreeMap::new(),
            done: BTreeMap::new(),
            begun: 0,
            ended: 0,
            read_all: false,
            left: false,
            reader: None,
            wants_room: false,
            consumer: None,
        };
        Queue { limit, read_ahead, ordered, state: Mutex::new(state) }
    }

    /// Waits until a call could begin, or until nobody wants it.
    pub(super) fn poll_room(&self, cx: &Context<'_>) -> Poll<Room> {
        let mut retired = Some(cx.waker().clone());
        let mut state = self.lock();
        let answer = match (state.left, self.has_room(&state)) {
            (true, _) => Poll::Ready(Room::Left),
            (false, true) => Poll::Ready(Room::Free),
            (false, false) => Poll::Pending,
        };
        state.wants_room = answer.is_pending();
        // Also with room: a reader that waits for its source, or for time, must hear of a consumer that leaves.
        std::mem::swap(&mut state.reader, &mut retired);
        drop(state);
        drop(retired);
        answer
    }

    /// Books a call, and gives its number.
    pub(super) fn begin(&self) -> u64 {
        let mut state = self.lock();
        let number = state.begun;
        state.begun += 1;
        state.running.insert(number, None);
        number
    }

    /// The call is spawned. It may have ended already, and the consumer may have left meanwhile.
    pub(super) fn seat(&self, number: u64, task: TaskRef) {
        let mut state = self.lock();
        let late = state.left.then(|| task.clone());
        let unused = match state.running.get_mut(&number) {
            Some(place) => place.replace(task),
            None => Some(task),
        };
        drop(state);
        drop(unused);
        late.iter().for_each(cancel);
    }

    /// Edge 1.
    pub(super) fn finish(&self, number: u64, result: Option<T>) {
        let mut state = self.lock();
        // The second time it says nothing new.
        let Some(task) = state.running.remove(&number) else { return };
        let key = if self.ordered { number } else { state.ended };
        state.ended += 1;
        let unwanted =
            if state.left { result } else { result.and_then(|value| state.done.insert(key, value)) };
        self.release(state);
        drop((task, unwanted));
    }

    /// Edge 2; `None` is the end.
    pub(super) fn poll_result(&self, cx: &Context<'_>) -> Poll<Option<T>> {
        let mut waker = Some(cx.waker().clone());
        let mut state = self.lock();
        if self.has_result(&state) {
            let result = state.done.pop_first().map(|(_, result)| result);
            self.release(state);
            return Poll::Ready(result);
        }
        if state.is_over() {
            return Poll::Ready(None);
        }
        std::mem::swap(&mut state.consumer, &mut waker);
        drop(state);
        drop(waker);
        Poll::Pending
    }

    /// Whether [`poll_result`](Queue::poll_result) would be ready.
    pub(super) fn is_ready(&self) -> bool {
        let state = self.lock();
        self.has_result(&state) || state.is_over()
    }

    /// How many calls are running, and how many results wait.
    pub(super) fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        (state.running.len(), state.done.len())
    }

    /// Nothing more is read.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.read_all = true;
        let reader = state.reader.take();
        self.release(state);
        drop(reader);
    }

    /// The consumer leaves: calls that are running are cancelled, results that wait are dropped.
    pub(super) fn leave(&self) {
        let mut state = self.lock();
        state.left = true;
        let unwanted = std::mem::take(&mut state.done);
        let running: Vec<_> = state.running.values().flatten().cloned().collect();
        let (reader, consumer) = (state.reader.take(), state.consumer.take());
        drop(state);
        running.iter().for_each(cancel);
        reader.into_iter().for_each(wake_safely);
        drop((unwanted, consumer));
    }

    /// Unlocks, and wakes who can go on now and is waiting for it.
    fn release(&self, mut state: MutexGuard<'_, State<T>>) {
        let consumer = if self.has_result(&state) || state.is_over() { state.consumer.take() } else { None };
        let roomy = state.wants_room && self.has_room(&state);
        let reader = if roomy { state.reader.take() } else { None };
        drop(state);
        consumer.into_iter().chain(reader).for_each(wake_safely);
    }

    fn has_room(&self, state: &State<T>) -> bool {
        state.running.len() < self.limit && state.running.len() + state.done.len() < self.read_ahead
    }

    /// In order: every item before the first result has been given or is gone.
    fn has_result(&self, state: &State<T>) -> bool {
        let Some((&first, _)) = state.done.first_key_value() else { return false };
        !self.ordered || state.running.first_key_value().is_none_or(|(&running, _)| first < running)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        lock(&self.state)
    }
}

impl<T> State<T> {
    fn is_over(&self) -> bool {
        self.read_all && self.running.is_empty() && self.done.is_empty()
    }
}

fn cancel(task: &TaskRef) {
    let reason =
        CancelReason::with_text(CancelKind::GroupCancelled, "nobody takes the results of the map any more");
    task.request(Level::Soft, reason);
}
