//! Mistakes that must not compile, each with a twin that does: they are tests only, and nobody sees them.
//!
//! A twin keeps its `compile_fail` honest, since that would also "fail" because of a typing error.

#[cfg(feature = "macros")]
mod attributes;

/// Law T1: a task returns `()`, `!` or a `Result`, as `main` does; the twin returns `Ok(..)`.
///
/// ```compile_fail,E0277
/// brigade::spawn(async { 42 });
/// ```
///
/// ```no_run
/// brigade::spawn(async { Ok::<_, brigade::BoxError>(42) });
/// ```
pub mod output_that_is_no_result {}

/// `spawn` may move a task between threads; the twin is for values that must stay.
///
/// ```compile_fail,E0277
/// let shared = std::rc::Rc::new(1);
/// brigade::spawn(async move {
///     brigade::yield_now().await;
///     drop(shared);
/// });
/// ```
///
/// ```no_run
/// let shared = std::rc::Rc::new(1);
/// brigade::spawn_local(async move {
///     brigade::yield_now().await;
///     drop(shared);
/// });
/// ```
pub mod future_that_is_not_send {}

/// Law G1: the body of a group may borrow, its children may not; the twin gives the child its own copy.
///
/// ```compile_fail,E0597
/// async fn cook() {
///     let dishes = vec!["soup"];
///     let _ = brigade::TaskGroup::<brigade::BoxError>::scope(async |group| {
///         let dishes = &dishes;
///         group.spawn(async move { println!("{dishes:?}") });
///         Ok(())
///     })
///     .await;
/// }
/// ```
///
/// ```
/// async fn cook() {
///     let dishes = vec!["soup"];
///     let _ = brigade::TaskGroup::<brigade::BoxError>::scope(async |group| {
///         let own = dishes.clone();
///         group.spawn(async move { println!("{own:?}") });
///         Ok(())
///     })
///     .await;
/// }
/// ```
pub mod child_that_borrows {}

/// Law A1: a task is given to an aggregate once, because it is moved; the twin shares it (law T13).
///
/// ```compile_fail,E0382
/// async fn twice(task: brigade::Task<u32, brigade::BoxError>) {
///     let _ = brigade::gather([task, task]).await;
/// }
/// ```
///
/// ```
/// async fn twice(task: brigade::Task<u32, brigade::BoxError>) {
///     let task = task.shared();
///     let _ = brigade::gather([task.clone(), task]).await;
/// }
/// ```
pub mod task_that_is_awaited_twice {}

/// Law C4: a caught cancellation is no error, so `?` cannot carry it off in a box; the twin resumes it.
///
/// ```compile_fail,E0277
/// async fn swallow() -> Result<(), brigade::BoxError> {
///     brigade::catch_cancel(std::future::pending::<()>()).await?;
///     Ok(())
/// }
/// ```
///
/// ```
/// async fn go_on() -> Result<(), brigade::BoxError> {
///     match brigade::catch_cancel(std::future::pending::<()>()).await {
///         Ok(()) => Ok(()),
///         Err(cancelled) => cancelled.resume().await,
///     }
/// }
/// ```
pub mod cancellation_behind_a_question_mark {}
