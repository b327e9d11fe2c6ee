//! No aggregate polls a branch that was not woken, none is quadratic, and a ready future touches no
//! timer (laws A6, D5).

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use brigade_combinators::{as_completed, gather_all, race, timeout, wait};
use brigade_core::{BoxError, sleep, spawn, yield_now};
use brigade_testkit::simulate;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const MANY: usize = if cfg!(miri) { 50 } else { 2_000 };

/// Ready once told so; counts its polls, and keeps its waker.
#[derive(Clone, Default)]
struct Manual {
    polls: Rc<Cell<usize>>,
    ready: Rc<Cell<bool>>,
    waker: Rc<RefCell<Option<Waker>>>,
}

impl Manual {
    fn finish(&self) {
        self.ready.set(true);
        self.wake();
    }

    fn wake(&self) {
        let waker = self.waker.borrow_mut().take();
        waker.expect("it was polled").wake();
    }
}

impl Future for Manual {
    type Output = Result<usize, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.polls.set(self.polls.get() + 1);
        *self.waker.borrow_mut() = Some(cx.waker().clone());
        if self.ready.get() { Poll::Ready(Ok(self.polls.get())) } else { Poll::Pending }
    }
}

#[test]
fn law_a6_gather_polls_only_the_branches_that_were_woken() {
    simulate(async {
        let branches: Vec<_> = (0..MANY).map(|_| Manual::default()).collect();
        let told = branches.clone();
        let driver = async move {
            yield_now().await;
            // Each wake-up is followed by a turn of its own: a poll of everything would be quadratic.
            for branch in told.iter().rev() {
                branch.finish();
                yield_now().await;
            }
        };
        let polls = brigade_core::spawn_local(gather_all(branches));
        driver.await;
        assert!(polls.await?.into_iter().all(|polls| polls == 2), "once to start, once when woken");
        Ok::<_, BoxError>(())
    })
    .unwrap();
}

#[test]
fn law_a6_a_wake_up_without_news_polls_that_branch_alone() {
    simulate(async {
        let branches = [Manual::default(), Manual::default(), Manual::default()];
        let told = branches.clone();
        let racing = brigade_core::spawn_local(race(branches));
        yield_now().await;
        for _ in 0..10 {
            told[1].wake();
            yield_now().await;
        }
        assert_eq!(told.each_ref().map(|branch| branch.polls.get()), [1, 11, 1]);
        told[2].finish();
        assert_eq!(racing.await?, 2);
        Ok::<_, BoxError>(())
    })
    .unwrap();
}

#[test]
fn law_a6_a_stale_waker_of_a_branch_that_ended_is_harmless() {
    simulate(async {
        let (first, second) = (Manual::default(), Manual::default());
        let branches = vec![first.clone(), second.clone()];
        let gathering = brigade_core::spawn_local(gather_all(branches));
        yield_now().await;
        first.finish();
        yield_now().await;
        let stale = first.waker.borrow_mut().take().expect("it was polled twice");
        stale.wake_by_ref();
        yield_now().await;
        assert_eq!((first.polls.get(), second.polls.get()), (2, 1));
        second.finish();
        gathering.await?;
        stale.wake();
        Ok::<_, BoxError>(())
    })
    .unwrap();
}

/// Counts how often the future inside is polled.
struct Counted<F>(F, Rc<Cell<usize>>);

impl<F: Future + Unpin> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.1.set(self.1.get() + 1);
        Pin::new(&mut self.0).poll(cx)
    }
}

#[test]
fn law_a6_wait_and_as_completed_are_linear_in_many_tasks() {
    simulate(async {
        let mut tasks: Vec<_> =
            (0..MANY as u64).map(|index| spawn(async move { sleep(ms(index % 10)).await })).collect();
        let polls = Rc::new(Cell::new(0));
        let (done, pending) = Counted(wait(&mut tasks), polls.clone()).await;
        assert_eq!((done.len(), pending.len()), (MANY, 0));
        // The budget of a turn (law D7) may split those that end at one of the ten instants.
        assert!(polls.get() < 50, "a few for each instant at which tasks end, not {}", polls.get());
        let mut seen = 0;
        let mut stream = as_completed(tasks);
        while let Some(task) = stream.next().await {
            task.await?;
            seen += 1;
        }
        assert_eq!(seen, MANY);
        Ok::<_, BoxError>(())
    })
    .map_err(|error| error.to_string())
    .unwrap();
}

#[test]
fn law_d5_a_ready_future_under_a_timeout_needs_no_runtime_and_no_timer() {
    let mut future = Box::pin(timeout(None, async { 7 }));
    let mut cx = Context::from_waker(Waker::noop());
    assert_eq!(future.as_mut().poll(&mut cx), Poll::Ready(Ok(7)));
}
