//! Which ready job runs next.
//!
//! The whole freedom of a scheduler is here: a simulation asks its schedule for the next job and nothing
//! else decides the order. [`Policy::Fifo`] is asyncio's order and the one in which the laws promise most
//! (T4, B3); policies that choose by a seed have their place beside it.

use std::collections::VecDeque;

use brigade_core::backend::Job;

/// The order in which a simulation runs what is ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// First woken, first run.
    #[default]
    Fifo,
}

/// The jobs that are ready, and the policy that chooses among them.
#[derive(Debug)]
pub(crate) struct Schedule {
    policy: Policy,
    ready: VecDeque<Job>,
}

impl Schedule {
    pub(crate) fn new(policy: Policy) -> Schedule {
        Schedule { policy, ready: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, job: Job) {
        self.ready.push_back(job);
    }

    pub(crate) fn pop(&mut self) -> Option<Job> {
        match self.policy {
            Policy::Fifo => self.ready.pop_front(),
        }
    }
}
