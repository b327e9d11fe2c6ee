//! `amap`: a concurrent map over a stream, with a limit, a rate, and bounded read-ahead.
//!
//! ```text
//!   source ──► Reader: room? rate? ──► call(item) ──► child of the group ──► Queue ──► Mapped ──► body
//!                 ▲    polled beside the body, in the caller's task                        │
//!                 └───────────────────── room, when the body has taken a result ◄──────────┘
//! ```
//!
//! It is a [`TaskGroup`] and a queue, so whoever ends it, and however, is told by the laws of groups. Files:
//! [`reader`] (who starts the calls), [`rate`] (when), [`queue`] (what reader, calls and body share),
//! [`mapped`] (the results), [`side_by_side`] (reader and body in one future), [`items`] (iterators).

mod items;
mod mapped;
mod queue;
mod rate;
mod reader;
mod side_by_side;

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use futures_core::Stream;

use self::queue::Queue;
use self::rate::Rate;
use self::reader::{Calls, Reader};
use self::side_by_side::SideBySide;
use crate::group::{ChildOutput, GroupError, TaskGroup};
use crate::sync::Arc;

pub use self::items::Items;
pub use self::mapped::{Mapped, NextMapped};

/// How many calls run at once if nobody says anything else.
const DEFAULT_LIMIT: usize = 16;

/// Calls an async function for every item of a stream, several at once, and gives the results as a
/// stream. This is the plan; [`scope`](Amap::scope) or [`collect`](Amap::collect) carries it out.
///
/// Each call is a task: a child of a group that the scope opens, so the calls run in parallel where the
/// backend does, also while the consumer is busy with a result, and all have ended when the scope ends.
/// `call` itself runs in the caller's task, as the source does, and both may borrow; what it returns must
/// be `Send + 'static`, with an output that children of groups may have: `()`, `!` or `Result<T, E>`.
///
/// | knob | says | default |
/// |---|---|---|
/// | [`limit`](Amap::limit) | how many calls run at once | 16 |
/// | [`read_ahead`](Amap::read_ahead) | how many calls and results may be under way | the limit |
/// | [`rate`](Amap::rate) | how many calls start within a time | as many as can |
/// | [`unordered`](Amap::unordered) | results as they come, instead of in the order of the items | ordered |
///
/// The source is polled only when a call could start at once, so an item that has been read is never
/// left waiting, and a slow consumer slows the source down.
///
/// # Cancellation
///
/// The calls that are running are cancelled and waited for, each with its cleanups; the source is read no further. A
/// `next()` that is dropped half-way, as by a timeout, loses neither an item nor a result.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::amap_iter;
/// use brigade_core::{BoxError, sleep};
///
/// async fn fetch(page: u64) -> Result<String, BoxError> {
///     sleep(Duration::from_secs(10 - page)).await;
///     Ok(format!("page {page}"))
/// }
///
/// brigade_testkit::simulate(async {
///     let read = amap_iter(1..=9, fetch).limit(3).scope(async |mut pages| {
///         let mut read = 0;
///         while let Some(page) = pages.next().await {
///             read += page.len();
///             if page == "page 5" {
///                 break; // Calls that are still running are cancelled and waited for.
///             }
///         }
///         Ok(read)
///     });
///     assert_eq!(read.await?, 5 * "page 1".len());
///     Ok::<_, BoxError>(())
/// }).unwrap();
/// ```
pub fn amap<S, F, Fut>(source: S, call: F) -> Amap<S, F>
where
    S: Stream,
    F: FnMut(S::Item) -> Fut,
    Fut: Future,
{
    Amap { source, call, plan: Plan::default() }
}

/// The same for an iterator.
///
/// # Cancellation
///
/// As for [`amap()`].
///
/// # Examples
///
/// ```
/// use brigade_combinators::amap_iter;
/// use brigade_core::BoxError;
///
/// brigade_testkit::simulate(async {
///     let squares = amap_iter(1..=4, async |n: u32| Ok::<_, BoxError>(n * n)).collect().await?;
///     assert_eq!(squares, [1, 4, 9, 16]);
///     Ok::<_, BoxError>(())
/// }).unwrap();
/// ```
pub fn amap_iter<I, F, Fut>(items: I, call: F) -> Amap<Items<I::IntoIter>, F>
where
    I: IntoIterator,
    F: FnMut(I::Item) -> Fut,
    Fut: Future,
{
    amap(Items::new(items.into_iter()), call)
}

/// The plan of a concurrent map; made by [`amap()`] and [`amap_iter`].
#[must_use = "nothing is read or called until `scope` or `collect` is awaited"]
pub struct Amap<S, F> {
    source: S,
    call: F,
    plan: Plan,
}

/// The knobs.
#[derive(Clone, Debug)]
struct Plan {
    limit: usize,
    read_ahead: Option<usize>,
    rate: Option<Rate>,
    ordered: bool,
    grace: Option<Duration>,
    name: Option<Arc<str>>,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan { limit: DEFAULT_LIMIT, read_ahead: None, rate: None, ordered: true, grace: None, name: None }
    }
}

impl<S, F> Amap<S, F> {
    /// At most `n` calls run at once.
    ///
    /// # Panics
    ///
    /// If `n` is zero: nothing could ever be called.
    pub fn limit(mut self, n: usize) -> Amap<S, F> {
        assert!(n > 0, "a map with the limit 0 could never call anything; give it at least 1");
        self.plan.limit = n;
        self
    }

    /// At most `n` items are under way between the source and the consumer: calls that run and results
    /// that the consumer has not taken, together. The default is the limit.
    ///
    /// More than the limit lets calls go on while an ordered map waits for a slow one, or while the consumer
    /// is slow. Less than the limit is a lower limit.
    ///
    /// # Panics
    ///
    /// If `n` is zero: nothing could ever be read.
    pub fn read_ahead(mut self, n: usize) -> Amap<S, F> {
        assert!(n > 0, "a map with a read-ahead of 0 could never read anything; give it at least 1");
        self.plan.read_ahead = Some(n);
        self
    }

    /// At most `n` calls start within any time of length `per`, on the backend's clock: a call may start if
    /// the `n`th before it started at least `per` ago. So the first `n` may start at once, and a map that
    /// was idle saves nothing up.
    ///
    /// For evenly spaced starts say `rate(1, per / n)`. The last `n` starts are remembered.
    ///
    /// # Panics
    ///
    /// If `n` is zero: nothing could ever start.
    pub fn rate(mut self, n: usize, per: Duration) -> Amap<S, F> {
        assert!(n > 0, "a map with a rate of 0 could never call anything; give it at least 1");
        self.plan.rate = Some(Rate::new(n, per));
        self
    }

    /// Results come in the order of the items. This is the default.
    pub fn ordered(mut self) -> Amap<S, F> {
        self.plan.ordered = true;
        self
    }

    /// Results come in the order in which the calls end.
    pub fn unordered(mut self) -> Amap<S, F> {
        self.plan.ordered = false;
        self
    }

    /// Gives the map a name: its calls are called `name[0]`, `name[1]` … instead of `amap[0]` (law T7).
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Amap<S, F> {
        self.plan.name = Some(name.into());
        self
    }

    /// Bounds the time that cancelled calls and the consumer get to end, as
    /// [`GroupBuilder::grace`](crate::GroupBuilder::grace) does (law C13).
    pub fn grace(mut self, limit: Duration) -> Amap<S, F> {
        self.plan.grace = Some(limit);
        self
    }

    /// Carries out the map: `consumer` gets the results as a stream, and runs in the caller's task, so it may
    /// borrow. Returns its value, or every error, once all calls have ended.
    ///
    /// An error of a call is an error of the group, as that of any child: the consumer and the other calls
    /// are cancelled (law G2). To get errors among the results instead, let the call return `Ok(result)`.
    ///
    /// # Cancellation
    ///
    /// - *The consumer leaves early*, by returning or by dropping the results: nothing more is read, calls
    ///   that are running are cancelled and waited for, and results that nobody took are dropped.
    /// - *A request from outside* is delivered inside the consumer first, where a handler may absorb it; the
    ///   calls go on meanwhile. When it has unwound the consumer, the calls are cancelled, once, and waited
    ///   for, and it unwinds further. If there were errors, they are returned instead, and the request goes
    ///   back to the scope around (laws G5, C9).
    /// - *A call that somebody else cancels* is no failure, and gives no result.
    /// - *Dropping the future* half-way cancels the calls and leaves them to the runtime (law C16).
    ///
    /// # Panics
    ///
    /// A panic of the source, of `call`, of a call or of the consumer is an entry in the error, with its payload
    /// (law G3).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use brigade_combinators::amap_iter;
    /// use brigade_core::{BoxError, sleep};
    ///
    /// brigade_testkit::simulate(async {
    ///     let naps = [30, 10, 20];
    ///     let order = amap_iter(naps, async |millis: u64| {
    ///         sleep(Duration::from_millis(millis)).await;
    ///         Ok::<_, BoxError>(millis)
    ///     });
    ///     let order = order.unordered().scope(async |mut naps| {
    ///         let mut order = Vec::new();
    ///         while let Some(nap) = naps.next().await {
    ///             order.push(nap);
    ///         }
    ///         Ok(order)
    ///     });
    ///     assert_eq!(order.await?, [10, 20, 30]);
    ///     Ok::<_, BoxError>(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn scope<E, Fut, T, B, Body, R>(self, consumer: B) -> impl Future<Output = Result<R, GroupError<E>>>
    where
        E: fmt::Debug + Send + 'static,
        S: Stream,
        F: FnMut(S::Item) -> Fut,
        Fut: Future + Send + 'static,
        Fut::Output: ChildOutput<E, Ok = T>,
        T: Send + 'static,
        B: FnOnce(Mapped<T>) -> Body,
        Body: Future,
        Body::Output: ChildOutput<E, Ok = R>,
        R: 'static,
    {
        let Amap { source, call, plan } = self;
        let name = plan.name.unwrap_or_else(|| "amap".into());
        let mut group = TaskGroup::builder().name(name.clone());
        if let Some(limit) = plan.grace {
            group = group.grace(limit);
        }
        let queue = Arc::new(Queue::new(plan.limit, plan.read_ahead.unwrap_or(plan.limit), plan.ordered));
        let location = Location::caller();
        group.scope(move |group| {
            let calls = Calls { group, queue: queue.clone(), name, location };
            SideBySide::new(consumer(Mapped::new(queue)), Reader::new(source, call, plan.rate, calls))
        })
    }

    /// Carries out the map and gives all results: [`gather_all`](crate::gather_all) with a limit.
    ///
    /// # Cancellation
    ///
    /// The calls are cancelled and waited for; see [`scope`](Amap::scope).
    ///
    /// # Panics
    ///
    /// As [`scope`](Amap::scope).
    #[track_caller]
    pub fn collect<E, Fut, T>(self) -> impl Future<Output = Result<Vec<T>, GroupError<E>>>
    where
        E: fmt::Debug + Send + 'static,
        S: Stream,
        F: FnMut(S::Item) -> Fut,
        Fut: Future + Send + 'static,
        Fut::Output: ChildOutput<E, Ok = T>,
        T: Send + 'static,
    {
        self.scope(async |mut results| {
            let mut all = Vec::new();
            while let Some(result) = results.next().await {
                all.push(result);
            }
            Ok(all)
        })
    }
}

impl<S, F> fmt::Debug for Amap<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)
    }
}
