//! The way of a child's outcome: errors and panics go to the group, the handle keeps the rest
//! (laws G1, G3).

use brigade_core::scope::Sink;
use brigade_core::{TaskError, TaskRef};

use super::block::Block;
use super::error::{ChildError, Origin};
use super::output::{GroupId, InGroup, Raised};
use super::policies::ChildEnd;
use super::station::Station;
use crate::sync::Arc;

/// Called in the child's last poll, so the group has the error before anybody can see that the child
/// has ended.
pub(super) struct ToGroup<E: 'static> {
    pub(super) block: Arc<Block<E>>,
    pub(super) index: usize,
}

impl<E: 'static> ToGroup<E> {
    fn judge<T>(&self, outcome: &Result<T, TaskError<Raised<E>>>, task: &dyn Fn() -> TaskRef) {
        let end = match outcome {
            Ok(_) => ChildEnd::Value,
            Err(TaskError::Failed(Raised(error))) => ChildEnd::Failed(error),
            Err(TaskError::Panicked(panic)) => ChildEnd::Panicked(panic),
            Err(TaskError::Cancelled(reason)) => ChildEnd::Cancelled(reason),
        };
        self.block.station.judge(self.block.key(self.index), end, task);
    }
}

impl<T, E: 'static> Sink<T, Raised<E>> for ToGroup<E> {
    type Error = InGroup;

    fn map(
        &mut self,
        outcome: Result<T, TaskError<Raised<E>>>,
        task: &dyn Fn() -> TaskRef,
    ) -> Result<T, TaskError<InGroup>> {
        if self.block.station.has_policy() {
            self.judge(&outcome, task);
        }
        hand_over(outcome, &self.block.station, task)
    }
}

/// The same for a child that the group has refused.
pub(super) struct Refused<E: 'static>(pub(super) Arc<Station<E>>);

impl<T, E: 'static> Sink<T, Raised<E>> for Refused<E> {
    type Error = InGroup;

    fn map(
        &mut self,
        outcome: Result<T, TaskError<Raised<E>>>,
        task: &dyn Fn() -> TaskRef,
    ) -> Result<T, TaskError<InGroup>> {
        hand_over(outcome, &self.0, task)
    }
}

fn hand_over<T, E: 'static>(
    outcome: Result<T, TaskError<Raised<E>>>,
    station: &Station<E>,
    task: &dyn Fn() -> TaskRef,
) -> Result<T, TaskError<InGroup>> {
    let (told, error) = part(outcome, station.id, task);
    if let Some(error) = error {
        station.record(error);
    }
    told
}

/// What the child's handle says of an outcome, and the error or the panic in it.
pub(super) fn part<T, E: 'static>(
    outcome: Result<T, TaskError<Raised<E>>>,
    group: GroupId,
    task: &dyn Fn() -> TaskRef,
) -> (Result<T, TaskError<InGroup>>, Option<ChildError<E>>) {
    let error = match outcome {
        Ok(value) => return (Ok(value), None),
        Err(TaskError::Cancelled(reason)) => return (Err(TaskError::Cancelled(reason)), None),
        Err(error) => error,
    };
    let task = task();
    let child = Origin { name: task.name(), id: Some(task.id()), location: task.location(), is_body: false };
    let told = match &error {
        TaskError::Panicked(panic) => TaskError::Panicked(panic.clone()),
        _ => TaskError::Failed(InGroup { group, child: task.id(), name: child.name.clone() }),
    };
    (Err(told), Some(ChildError::new(child, error.map(|Raised(error)| error))))
}
