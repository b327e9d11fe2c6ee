//! `bracket`: work and cleanup that use one resource (law C12).

use std::panic::Location;

use crate::cancel::catch::catch_cancel;
use crate::cancel::finally::Cleanup;
use crate::cancel::shield::shield;

/// Lends `resource` to `work`, and gives it to `cleanup` however the work ends: with a value, an error
/// or a cancellation (not a panic or an abort).
///
/// It is [`finally`](crate::CancelExt::finally) for the case in which both use the same resource. The
/// cleanup runs shielded; its error becomes the outcome if there was no other error.
///
/// # Cancellation
///
/// Delivered in the work; the unwinding goes on after the cleanup.
///
/// # Examples
///
/// ```
/// # struct Session; impl Session { async fn work(&mut self) -> u32 { 1 } async fn close(self) {} }
/// # async fn example(session: Session) {
/// let rows = brigade_core::bracket(
///     session,
///     async |session: &mut Session| session.work().await,
///     async |session: Session| session.close().await,
/// )
/// .await;
/// # }
/// ```
#[track_caller]
pub fn bracket<R, T, C>(
    resource: R,
    work: impl AsyncFnOnce(&mut R) -> T,
    cleanup: impl AsyncFnOnce(R) -> C,
) -> impl Future<Output = T>
where
    C: Cleanup<T>,
{
    let location = Location::caller();
    async move {
        let mut resource = resource;
        let ended = catch_cancel(work(&mut resource)).await;
        let cleaned = shield(cleanup(resource)).await;
        match ended {
            Ok(value) => match cleaned.merge(Some(value), location) {
                Some(value) => value,
                None => std::future::pending().await,
            },
            Err(cancelled) => match cleaned.merge(None, location) {
                Some(failed) => {
                    drop(cancelled);
                    failed
                }
                None => cancelled.resume().await,
            },
        }
    }
}
