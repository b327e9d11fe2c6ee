//! What `wait` and `as_completed` take: handles by value, which come back, or borrowed ones.

use brigade_core::{Finished, Task, TaskState};

/// Tasks to wait for: a `Vec` or an array of [`Task`]s, whose handles come back, or `&mut` of either or of
/// a slice, which gives borrows.
///
/// It cannot be implemented outside this crate.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of tasks",
    note = "give a `Vec<Task<..>>`, or `&mut tasks[..]`; futures are spawned first"
)]
pub trait TaskSet {
    /// A handle: `Task<T, E>` or `&mut Task<T, E>`.
    type Handle: TaskHandle;

    #[doc(hidden)]
    fn into_handles(self) -> Vec<Self::Handle>;
}

/// A handle of a task, owned or borrowed.
pub trait TaskHandle {
    #[doc(hidden)]
    fn watch(&self) -> Finished;

    #[doc(hidden)]
    fn task_state(&self) -> TaskState;
}

impl<T, E> TaskHandle for Task<T, E> {
    fn watch(&self) -> Finished {
        self.finished()
    }

    fn task_state(&self) -> TaskState {
        self.state()
    }
}

impl<T, E> TaskHandle for &mut Task<T, E> {
    fn watch(&self) -> Finished {
        self.finished()
    }

    fn task_state(&self) -> TaskState {
        self.state()
    }
}

impl<T, E> TaskSet for Vec<Task<T, E>> {
    type Handle = Task<T, E>;

    fn into_handles(self) -> Vec<Task<T, E>> {
        self
    }
}

impl<T, E, const N: usize> TaskSet for [Task<T, E>; N] {
    type Handle = Task<T, E>;

    fn into_handles(self) -> Vec<Task<T, E>> {
        self.into()
    }
}

impl<'a, T, E> TaskSet for &'a mut [Task<T, E>] {
    type Handle = &'a mut Task<T, E>;

    fn into_handles(self) -> Vec<&'a mut Task<T, E>> {
        self.iter_mut().collect()
    }
}

impl<'a, T, E> TaskSet for &'a mut Vec<Task<T, E>> {
    type Handle = &'a mut Task<T, E>;

    fn into_handles(self) -> Vec<&'a mut Task<T, E>> {
        self.iter_mut().collect()
    }
}

impl<'a, T, E, const N: usize> TaskSet for &'a mut [Task<T, E>; N] {
    type Handle = &'a mut Task<T, E>;

    fn into_handles(self) -> Vec<&'a mut Task<T, E>> {
        self.iter_mut().collect()
    }
}
