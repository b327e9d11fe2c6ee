//! Who reads the source and starts the calls.
//!
//! ```text
//!   1 room for a call ──► 2 the rate allows one ──► 3 an item is read ──► 4 its call starts, in the same poll
//!         ▲                                                                    │
//!         └────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! All waiting comes before the item: once it is read nothing is awaited any more, so no item is ever held
//! that a cancellation could take with it.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use brigade_core::{Instant, Sleep, budget, sleep_until};
use futures_core::Stream;
use pin_project_lite::pin_project;

use super::queue::{Queue, Room};
use super::rate::Rate;
use crate::group::{ChildOutput, TaskGroup};
use crate::sync::Arc;

pin_project! {
    /// See the module. Its end means that nothing more is read.
    pub(super) struct Reader<S, F, T, E>
    where
        E: 'static,
    {
        #[pin]
        source: S,
        call: F,
        rate: Option<Rate>,
        pause: Option<Sleep>,
        calls: Calls<T, E>,
    }
}

/// What a call needs to start.
pub(super) struct Calls<T, E: 'static> {
    pub(super) group: TaskGroup<E>,
    pub(super) queue: Arc<Queue<T>>,
    pub(super) name: Arc<str>,
    pub(super) location: &'static Location<'static>,
}

impl<S, F, T, E> Reader<S, F, T, E> {
    pub(super) fn new(source: S, call: F, rate: Option<Rate>, calls: Calls<T, E>) -> Reader<S, F, T, E> {
        Reader { source, call, rate, pause: None, calls }
    }

    /// Steps 1 and 2.
    fn poll_leave_to_read(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Room> {
        let this = self.project();
        loop {
            if ready!(this.calls.queue.poll_room(cx)) == Room::Left {
                return Poll::Ready(Room::Left);
            }
            if let Some(pause) = this.pause {
                ready!(Pin::new(pause).poll(cx));
                *this.pause = None;
            }
            match this.rate.as_ref().map(Rate::next) {
                Some(at) if at > Instant::now() => *this.pause = Some(sleep_until(at)),
                _ => return Poll::Ready(Room::Free),
            }
        }
    }
}

impl<S, F, Fut, T, E> Future for Reader<S, F, T, E>
where
    E: fmt::Debug + Send + 'static,
    S: Stream,
    F: FnMut(S::Item) -> Fut,
    Fut: Future + Send + 'static,
    Fut::Output: ChildOutput<E, Ok = T>,
    T: Send + 'static,
{
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let room = ready!(self.as_mut().poll_leave_to_read(cx));
            // A group that ends takes nobody, so nothing is read for it.
            if room == Room::Left || !self.calls.group.is_open() {
                return Poll::Ready(());
            }
            ready!(budget::poll_proceed(cx));
            let this = self.as_mut().project();
            let Some(item) = ready!(this.source.poll_next(cx)) else { return Poll::Ready(()) };
            if let Some(rate) = this.rate {
                rate.note(Instant::now());
            }
            this.calls.start((this.call)(item));
        }
    }
}

impl<T, E> Calls<T, E>
where
    E: fmt::Debug + Send + 'static,
    T: Send + 'static,
{
    /// Step 4.
    fn start<C>(&self, call: C)
    where
        C: Future + Send + 'static,
        C::Output: ChildOutput<E, Ok = T>,
    {
        let number = self.queue.begin();
        let place = InQueue { queue: self.queue.clone(), number };
        let child = Call { call: Some(call), place: Some(place), error: PhantomData };
        let named = self.group.child().name(format!("{}[{number}]", self.name));
        // A group that has begun to end since it was asked gives the call back: then it never runs, like any
        // child that is cancelled before its first poll (law C7).
        if let Ok(task) = named.try_spawn_at(self.location, child) {
            self.queue.seat(number, task.to_ref());
        }
    }
}

impl<T, E: 'static> Drop for Calls<T, E> {
    fn drop(&mut self) {
        self.queue.close();
    }
}

pin_project! {
    /// A call that puts its result into the queue. Not an async block, which would hold the call twice.
    struct Call<C, T, E> {
        // Declared before `place`: the call is gone when its place is free (INVARIANT M1 of the queue).
        #[pin]
        call: Option<C>,
        place: Option<InQueue<T>>,
        error: PhantomData<fn() -> E>,
    }
}

impl<C, T, E> Future for Call<C, T, E>
where
    C: Future,
    C::Output: ChildOutput<E, Ok = T>,
{
    type Output = Result<(), E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), E>> {
        let mut this = self.project();
        let call = this.call.as_mut().as_pin_mut().expect("it is not polled after its end");
        let output = ready!(call.poll(cx));
        this.call.set(None);
        let place = this.place.take();
        let result = output.into_child_result();
        Poll::Ready(result.map(|value| place.expect("it ends once").finish(value)))
    }
}

/// A call's place in the queue, which it leaves however it ends.
struct InQueue<T> {
    queue: Arc<Queue<T>>,
    number: u64,
}

impl<T> InQueue<T> {
    fn finish(self, value: T) {
        self.queue.finish(self.number, Some(value));
    }
}

impl<T> Drop for InQueue<T> {
    fn drop(&mut self) {
        self.queue.finish(self.number, None);
    }
}
