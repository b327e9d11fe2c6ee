//! An iterator as a stream.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

/// The stream of [`amap_iter`](crate::amap_iter): the items of an iterator, each ready at once.
#[derive(Clone, Debug)]
pub struct Items<I>(I);

impl<I> Items<I> {
    pub(super) fn new(items: I) -> Items<I> {
        Items(items)
    }
}

// The iterator is never pinned.
impl<I> Unpin for Items<I> {}

impl<I: Iterator> Stream for Items<I> {
    type Item = I::Item;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<I::Item>> {
        Poll::Ready(self.0.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}
