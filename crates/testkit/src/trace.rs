//! Traces: what happened when, compared as a whole.
//!
//! A [`Trace`] records `(milliseconds, word)`. A test writes down the whole list that it expects, so that an
//! event too many fails it as well as an event too few.

use std::sync::{Arc, Mutex, PoisonError};

use brigade_core::{Handle, Instant};

/// A list of events with their times.
///
/// Clones write into the same list.
///
/// # Examples
///
/// ```
/// use brigade_core::sleep;
/// use brigade_testkit::{Trace, simulate};
/// use std::time::Duration;
///
/// let trace = Trace::new();
/// let log = trace.clone();
/// simulate(async move {
///     log.add("start");
///     sleep(Duration::from_millis(20)).await;
///     log.add("end");
/// })
/// .expect("nothing fails here");
/// trace.expect(&[(0, "start"), (20, "end")]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Trace {
    events: Arc<Mutex<Vec<Event>>>,
    /// Real clocks may be late, so their times are lower bounds.
    late_is_fine: bool,
}

/// Milliseconds on the backend's clock, and what happened.
pub type Event = (u64, String);

impl Trace {
    /// An empty trace whose times are compared exactly.
    #[must_use]
    pub fn new() -> Trace {
        Trace::default()
    }

    /// An empty trace for a backend whose clock is real: events may come later than expected, never earlier.
    #[must_use]
    pub fn with_lower_bounds() -> Trace {
        Trace { late_is_fine: true, ..Trace::default() }
    }

    /// Records an event, with the time of the ambient runtime; outside one, the time of the event before.
    pub fn add(&self, word: impl Into<String>) {
        let now = Handle::try_current().map(|handle| handle.backend().now());
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let at = now.map_or_else(|| events.last().map_or(0, |event| event.0), millis);
        events.push((at, word.into()));
    }

    /// The events until now.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The words until now, without times.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        self.events().into_iter().map(|(_, word)| word).collect()
    }

    /// Compares the whole trace, word by word and time by time.
    ///
    /// # Panics
    ///
    /// When they differ; the message shows both.
    #[track_caller]
    pub fn expect(&self, expected: &[(u64, &str)]) {
        let seen = self.events();
        let same = seen.len() == expected.len()
            && seen.iter().zip(expected).all(|((at, word), (expected_at, expected_word))| {
                word == expected_word && if self.late_is_fine { at >= expected_at } else { at == expected_at }
            });
        assert!(same, "the trace differs\n    seen: {seen:?}\nexpected: {expected:?}");
    }
}

fn millis(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000
}
