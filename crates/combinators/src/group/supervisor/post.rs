//! How a supervisor learns that a child has ended, and with what.
//!
//! INVARIANT P1: an outcome is in the post before it is readable. So who has waited for the end of a child
//! finds its letter, and a letter may come a moment before the end.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use brigade_core::scope::Sink;
use brigade_core::{TaskError, TaskRef};

use super::super::error::ChildError;
use super::super::output::{InGroup, Raised};
use super::super::sink::part;
use super::super::station::Station;
use super::budget::RestartsExhausted;
use crate::sync::{Arc, Mutex, lock, wake_safely};

/// Between the children of a supervisor and its watch.
pub(super) struct Post<E: 'static>(Mutex<Mail<E>>);

struct Mail<E: 'static> {
    letters: VecDeque<Letter<E>>,
    /// The watch is gone: failures are the group's from now on.
    closed: bool,
    waker: Option<Waker>,
    account: Option<Box<RestartsExhausted>>,
}

/// A child has ended.
pub(super) struct Letter<E: 'static> {
    /// Its place in the plan.
    pub(super) seat: usize,
    pub(super) task: TaskRef,
    pub(super) end: End<E>,
}

/// How it ended.
pub(super) enum End<E: 'static> {
    Value,
    Cancelled,
    Failed(ChildError<E>),
}

impl<E: 'static> End<E> {
    pub(super) fn into_failure(self) -> Option<ChildError<E>> {
        match self {
            End::Failed(error) => Some(error),
            End::Value | End::Cancelled => None,
        }
    }
}

impl<E: 'static> Post<E> {
    pub(super) fn new() -> Arc<Post<E>> {
        let mail = Mail { letters: VecDeque::new(), closed: false, waker: None, account: None };
        Arc::new(Post(Mutex::new(mail)))
    }

    /// Gives the letter back if nobody reads it any more.
    fn deliver(&self, letter: Letter<E>) -> Result<(), Letter<E>> {
        let mut mail = lock(&self.0);
        if mail.closed {
            return Err(letter);
        }
        mail.letters.push_back(letter);
        let waker = mail.waker.take();
        drop(mail);
        waker.into_iter().for_each(wake_safely);
        Ok(())
    }

    /// The next letter.
    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Letter<E>> {
        let fresh = cx.waker().clone();
        let mut mail = lock(&self.0);
        let letter = mail.letters.pop_front();
        let retired = match letter {
            Some(_) => Some(fresh),
            None => mail.waker.replace(fresh),
        };
        drop(mail);
        drop(retired);
        letter.map_or(Poll::Pending, Poll::Ready)
    }

    /// The letter of a child that has ended.
    pub(super) fn take(&self, seat: usize) -> Option<Letter<E>> {
        let letters = &mut lock(&self.0).letters;
        let at = letters.iter().position(|letter| letter.seat == seat)?;
        letters.remove(at)
    }

    /// Nobody reads any more; gives the letters that nobody has read.
    pub(super) fn close(&self) -> VecDeque<Letter<E>> {
        let mut mail = lock(&self.0);
        mail.closed = true;
        let retired = mail.waker.take();
        let letters = std::mem::take(&mut mail.letters);
        drop(mail);
        drop(retired);
        letters
    }

    /// Why the supervisor gives up.
    pub(super) fn leave_account(&self, account: RestartsExhausted) {
        lock(&self.0).account = Some(Box::new(account));
    }

    pub(super) fn take_account(&self) -> Option<Box<RestartsExhausted>> {
        lock(&self.0).account.take()
    }
}

/// The way of a supervised child's outcome.
pub(super) struct ToSupervisor<E: 'static> {
    pub(super) post: Arc<Post<E>>,
    pub(super) station: Arc<Station<E>>,
    pub(super) seat: usize,
}

impl<E: 'static> Sink<(), Raised<E>> for ToSupervisor<E> {
    type Error = InGroup;

    fn map(
        &mut self,
        outcome: Result<(), TaskError<Raised<E>>>,
        task: &dyn Fn() -> TaskRef,
    ) -> Result<(), TaskError<InGroup>> {
        let (told, error) = part(outcome, self.station.id, task);
        let end = match (error, &told) {
            (Some(error), _) => End::Failed(error),
            (None, Ok(())) => End::Value,
            (None, Err(_)) => End::Cancelled,
        };
        let unread = self.post.deliver(Letter { seat: self.seat, task: task(), end }).err();
        let failure = unread.and_then(|letter| letter.end.into_failure());
        failure.into_iter().for_each(|error| self.station.record(error));
        told
    }
}
