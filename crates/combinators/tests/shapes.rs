//! What must compile: futures that can be sent, bodies that borrow, and the ways to write a body
//! (laws G1, A1, D1). What must not is in `src/misuse.rs`.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use brigade_combinators::{
    BranchExt as _, GroupError, InGroup, TaskGroup, Timeout, as_completed, first_success, gather, gather_all,
    move_on_after, race, timeout, timeout_at, wait, wait_for,
};
use brigade_core::{BoxError, Instant, Task, TaskError, sleep, spawn};
use brigade_testkit::simulate;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn is_send<T: Send>(value: T) -> T {
    value
}

async fn work(value: u32) -> Result<u32, BoxError> {
    sleep(ms(1)).await;
    Ok(value)
}

/// Proves in one place that a task can hold every construct across an await, with the error type for
/// which that is hardest to prove.
#[test]
fn law_g1_a1_d1_every_future_is_send_inside_a_task() {
    simulate(async {
        let task = spawn(is_send(async {
            let text = "borrowed".to_owned();
            let total = TaskGroup::<BoxError>::scope(async |group| {
                let child = group.spawn(work(1));
                let inner = TaskGroup::<BoxError>::scope(async |inner| {
                    inner.spawn(work(text.len() as u32)).await.map_err(BoxError::from)
                });
                Ok(child.await? + inner.await?)
            });
            let total = is_send(timeout(ms(100), total)).await??;
            is_send(gather((spawn(work(1)), async { Ok::<_, BoxError>(text.len()) }.as_branch()))).await?;
            is_send(gather(vec![spawn(work(1))])).await?;
            is_send(gather([spawn(work(1))]).leave_running()).await?;
            let _ = is_send(gather([work(1), work(2)]).return_errors()).await;
            is_send(gather_all((0..3).map(work))).await?;
            is_send(race((work(1), work(1)))).await?;
            is_send(first_success([work(1), work(2)])).await?;
            let mut tasks = vec![spawn(work(1)), spawn(work(2))];
            let _ = is_send(wait(&mut tasks).timeout(ms(1))).await;
            let mut stream = is_send(as_completed(&mut tasks));
            while is_send(stream.next()).await.is_some() {}
            is_send(timeout_at(Instant::FAR_FUTURE, work(1))).await??;
            is_send(wait_for(spawn(work(1)), ms(100))).await??;
            is_send(move_on_after(ms(100), work(1))).await;
            is_send(Timeout::scope(ms(100), async |_t| work(1).await)).await??;
            Ok::<_, BoxError>(total)
        }));
        assert_eq!(task.await?, 9);
        Ok::<_, BoxError>(())
    })
    .unwrap();
}

/// What foreign combinators do: keep the output beside the future.
enum Stored<F: Future> {
    Running(Pin<Box<F>>),
    #[expect(dead_code, reason = "only its type matters")]
    Done(F::Output),
}

impl<F: Future> Unpin for Stored<F> {}

impl<F: Future> Future for Stored<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match &mut *self {
            Stored::Running(future) => future.as_mut().poll(cx),
            Stored::Done(_) => Poll::Pending,
        }
    }
}

fn stored<F: Future>(future: F) -> Stored<F> {
    Stored::Running(Box::pin(future))
}

/// The same where the output is stored by a stranger, who knows nothing of our parameters.
#[test]
fn law_g1_a1_d1_every_future_is_send_inside_a_strangers_future() {
    simulate(async {
        let task = spawn(is_send(async {
            let group = TaskGroup::<BoxError>::scope(async |group| Ok(group.spawn(work(1)).await?));
            let value = stored(group).await?;
            stored(gather(vec![spawn(work(1))])).await?;
            stored(gather((work(1), async { Ok::<_, BoxError>("text") }))).await?;
            stored(gather([spawn(work(1))]).leave_running()).await?;
            let _ = stored(gather([spawn(work(1))]).return_errors()).await;
            stored(race([spawn(work(1))])).await?;
            stored(first_success((spawn(work(1)), spawn(work(2))))).await?;
            stored(timeout(ms(100), gather((spawn(work(1)), spawn(work(2)))))).await??;
            let _ = stored(wait(vec![spawn(work(1))])).await;
            let mut tasks = [spawn(work(1))];
            let mut stream = as_completed(&mut tasks);
            let _ = stored(stream.next()).await;
            stored(move_on_after(ms(100), TaskGroup::<BoxError>::scope(async |_| Ok("text")))).await;
            stored(Timeout::scope(ms(100), async |_t| work(1).await)).await??;
            Ok::<_, BoxError>(value)
        }));
        assert_eq!(task.await?, 1);
        Ok::<_, BoxError>(())
    })
    .unwrap();
}

async fn body(group: TaskGroup<BoxError>) -> Result<u32, BoxError> {
    Ok(group.spawn(work(7)).await?)
}

#[test]
fn law_g1_the_ways_to_write_a_body() {
    simulate(async {
        let numbers = vec![1, 2, 3];
        let mut seen = Vec::new();
        let sum = TaskGroup::<BoxError>::scope(async |group| {
            for &number in &numbers {
                seen.push(group.spawn(work(number)).await?);
            }
            Ok(seen.iter().sum::<u32>())
        });
        assert_eq!(sum.await?, 6);
        assert_eq!(seen, numbers, "the body borrows the caller's locals");
        assert_eq!(TaskGroup::scope(body).await?, 7);
        assert_eq!(TaskGroup::<BoxError>::scope(|group| async move { body(group).await }).await?, 7);
        let annotated: Result<(), GroupError<String>> = TaskGroup::scope(async move |group| {
            group.spawn(async { Err::<(), _>("annotated".to_owned()) });
            Ok(())
        })
        .await;
        assert_eq!(annotated.unwrap_err().len(), 1);
        let inferred = TaskGroup::scope(async |group| {
            group.spawn(work(1));
            group.spawn(async {});
            let _service: Task<_, InGroup> = group.spawn(async {
                loop {
                    sleep(ms(1)).await;
                }
            });
            group.cancel();
            Ok(())
        });
        inferred.await?;
        let stored = TaskGroup::scope(body);
        let boxed: std::pin::Pin<Box<dyn Future<Output = Result<u32, GroupError<BoxError>>> + Send>> =
            Box::pin(stored);
        assert_eq!(boxed.await?, 7);
        Ok::<_, BoxError>(())
    })
    .unwrap();
}

#[test]
fn law_g1_children_that_are_not_send_are_spawned_locally() {
    simulate(async {
        let value = TaskGroup::<BoxError>::scope(async |group| {
            let shared = Rc::new(5);
            let inside = shared.clone();
            let child = group.spawn_local(async move {
                sleep(ms(1)).await;
                Ok(*inside)
            });
            let named = group.child().name("local").spawn_local(async move { Ok(*shared) });
            Ok(child.await? + named.await?)
        });
        assert_eq!(value.await?, 10);
        Ok::<_, BoxError>(())
    })
    .unwrap();
}

#[test]
fn law_a1_branches_borrow_and_need_not_be_send() {
    simulate(async {
        let words = ["fish".to_owned(), "rice".to_owned()];
        let lengths = gather_all(words.iter().map(async |word| Ok::<_, BoxError>(word.as_str()))).await?;
        assert_eq!(lengths, ["fish", "rice"]);
        let shared = Rc::new(1);
        let (a, b) = gather((async { Ok::<_, BoxError>(*shared) }, async { Ok("b") })).await?;
        assert_eq!((a, b), (1, "b"));
        Ok::<_, BoxError>(())
    })
    .unwrap();
}

/// One `?` carries each error into the box of the caller.
#[test]
fn law_t2_every_error_goes_through_a_question_mark() {
    async fn all() -> Result<(), BoxError> {
        TaskGroup::<BoxError>::scope(async |_group| Ok(())).await?;
        gather(vec![spawn(work(1))]).await?;
        timeout(None, async {}).await?;
        first_success([work(1)]).await?;
        let closed = {
            let mut kept = None;
            TaskGroup::<BoxError>::scope(async |group| {
                kept = Some(group);
                Ok(())
            })
            .await?;
            kept.map(|group| group.try_spawn(work(1)))
        };
        closed.ok_or("no group")??.await?;
        Ok(())
    }
    let error = simulate(async { all().await }).unwrap_err();
    let TaskError::Failed(error) = error else { panic!("{error}") };
    assert_eq!(error.to_string(), "the group takes no more children");
}
