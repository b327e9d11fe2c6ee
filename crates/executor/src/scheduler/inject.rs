//! The shared queue: jobs from threads that are no workers, and what overflows from the workers' own queues.
//!
//! A lock around a `VecDeque`, because nearly everything here moves in batches of a hundred jobs under one lock, where
//! a lock-free queue would pay for each. The length is kept beside it, so that looking into an empty queue is a load.
//!
//! Whether the queue is closed is decided under the same lock: a job is either taken before the end or refused, never
//! forgotten.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A first-in, first-out queue that can be closed.
#[derive(Debug)]
pub(crate) struct Injector<T> {
    /// What `state` holds; written under its lock only.
    len: AtomicUsize,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    closed: bool,
}

impl<T> Injector<T> {
    pub(crate) fn new() -> Self {
        Self { len: AtomicUsize::new(0), state: Mutex::new(State { items: VecDeque::new(), closed: false }) }
    }

    /// Puts one item at the back; a closed queue gives it back.
    pub(crate) fn push(&self, item: T) -> Result<(), T> {
        let mut state = self.lock();
        if state.closed {
            return Err(item);
        }
        state.items.push_back(item);
        self.publish(&state);
        Ok(())
    }

    /// Puts many items at the back under one lock: `fill` is given the function that takes them. They are accepted
    /// even by a closed queue, since only a worker has batches, and it empties this queue again before it ends.
    pub(crate) fn push_batch(&self, fill: impl FnOnce(&mut dyn FnMut(T))) {
        let mut state = self.lock();
        fill(&mut |item| state.items.push_back(item));
        self.publish(&state);
    }

    /// Takes the item at the front.
    pub(crate) fn pop(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut state = self.lock();
        let item = state.items.pop_front();
        self.publish(&state);
        item
    }

    /// Takes a worker's share: gives one item and moves up to `share` others to `sink`.
    pub(crate) fn pop_batch(&self, workers: usize, most: usize, mut sink: impl FnMut(T)) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut state = self.lock();
        let first = state.items.pop_front()?;
        let share = (state.items.len() / workers).min(most);
        state.items.drain(..share).for_each(&mut sink);
        self.publish(&state);
        Some(first)
    }

    /// Whether nothing is there, as far as this thread can know.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // SeqCst: pairs with the store in `publish`. A worker that goes to sleep announces it and then looks here; a
        // thread that pushes publishes and then looks for sleepers. One of them sees the other (`idle.md`).
        self.len.load(Ordering::SeqCst) == 0
    }

    /// Refuses items from now on. What is in the queue stays.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
    }

    /// Takes everything.
    pub(crate) fn drain(&self) -> VecDeque<T> {
        let mut state = self.lock();
        let items = std::mem::take(&mut state.items);
        self.publish(&state);
        items
    }

    fn publish(&self, state: &State<T>) {
        // SeqCst: pairs with the load in `is_empty`.
        self.len.store(state.items.len(), Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
