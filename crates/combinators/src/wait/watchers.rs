//! Watching many tasks at once: each is looked at once at the start, and then only when it has ended
//! (law A6).

use std::pin::Pin;
use std::task::{Context, Waker};

use brigade_core::Finished;

use super::tasks::TaskHandle;
use crate::slots::Slots;

/// The watchers of a set of tasks.
#[derive(Debug)]
pub(crate) struct Watchers {
    slots: Slots,
    /// `None` once the task has ended.
    watched: Vec<Option<Finished>>,
    running: usize,
}

impl Watchers {
    pub(crate) fn new<H: TaskHandle>(handles: &[H]) -> Watchers {
        let watched: Vec<_> = handles.iter().map(|handle| Some(handle.watch())).collect();
        Watchers { slots: Slots::new(watched.len()), running: watched.len(), watched }
    }

    /// How many have not been found to have ended.
    pub(crate) fn running(&self) -> usize {
        self.running
    }

    /// The tasks that have ended since the last call, in the order in which they did.
    ///
    /// # Panics
    ///
    /// If one of them is the current task (law T11).
    pub(crate) fn take_ended(&mut self, parent: &Waker) -> Vec<usize> {
        let mut woken = self.slots.take_woken(parent);
        woken.retain(|&index| self.has_ended(index));
        self.running -= woken.len();
        woken
    }

    fn has_ended(&mut self, index: usize) -> bool {
        let Some(watched) = &mut self.watched[index] else { return false };
        let waker = self.slots.waker(index);
        let mut cx = Context::from_waker(&waker);
        let ended = Pin::new(watched).poll(&mut cx).is_ready();
        if ended {
            self.watched[index] = None;
        }
        ended
    }
}
