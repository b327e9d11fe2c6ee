//! The consumer and the reader of a map in one future: each is polled when it was woken (law A6), and the
//! end of the consumer is the end of both.
//!
//! Both are in the scope of the group's body, so a request meets them as one: whoever receives it, in the
//! consumer or in the source, may handle it (law C3).

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::slots::Slots;

const CONSUMER: usize = 0;

pin_project! {
    pub(super) struct SideBySide<B, R> {
        #[pin]
        consumer: B,
        // Gone once there is nothing more to read, and the source with it.
        #[pin]
        reader: Option<R>,
        slots: Slots,
    }
}

impl<B, R> SideBySide<B, R> {
    pub(super) fn new(consumer: B, reader: R) -> SideBySide<B, R> {
        SideBySide { consumer, reader: Some(reader), slots: Slots::new(2) }
    }
}

impl<B: Future, R: Future<Output = ()>> Future for SideBySide<B, R> {
    type Output = B::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        let mut this = self.project();
        for index in this.slots.take_woken(cx.waker()) {
            let waker = this.slots.waker(index);
            let mut cx = Context::from_waker(&waker);
            if index == CONSUMER {
                if let Poll::Ready(output) = this.consumer.as_mut().poll(&mut cx) {
                    return Poll::Ready(output);
                }
            } else if this.reader.as_mut().as_pin_mut().is_some_and(|reader| reader.poll(&mut cx).is_ready())
            {
                this.reader.set(None);
            }
        }
        Poll::Pending
    }
}
