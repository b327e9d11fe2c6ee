//! Probes: values that count their lives, for "exactly once".
//!
//! Law C17 is an equation: `created == delivered + dropped`. A [`Probe`] is its ledger, an [`Item`] one
//! entry. A test hands items through the code under test, calls [`Item::deliver`] where a value arrives, and
//! asks the ledger at the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ledger of a kind of value: how many were made, delivered and dropped.
///
/// # Examples
///
/// ```
/// use brigade_testkit::Probe;
///
/// let probe = Probe::new();
/// let (kept, lost) = (probe.item(), probe.item());
/// kept.deliver();
/// drop(lost);
/// assert_eq!((probe.created(), probe.delivered(), probe.dropped()), (2, 1, 1));
/// assert!(probe.is_balanced());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Probe {
    ledger: Arc<Ledger>,
}

#[derive(Debug, Default)]
struct Ledger {
    created: AtomicUsize,
    delivered: AtomicUsize,
    dropped: AtomicUsize,
}

impl Probe {
    /// An empty ledger. Clones are the same ledger.
    #[must_use]
    pub fn new() -> Probe {
        Probe::default()
    }

    /// Makes a value that is counted.
    #[must_use = "an item that is dropped at once counts as dropped"]
    pub fn item(&self) -> Item {
        // SeqCst here and below, partner is every other access of the ledger: a test that reads the
        // ledger after it learned of an event by any way sees the event.
        self.ledger.created.fetch_add(1, Ordering::SeqCst);
        Item { ledger: Some(self.ledger.clone()) }
    }

    /// How many items were made.
    #[must_use]
    pub fn created(&self) -> usize {
        // SeqCst: partner is `item`.
        self.ledger.created.load(Ordering::SeqCst)
    }

    /// How many items arrived.
    #[must_use]
    pub fn delivered(&self) -> usize {
        // SeqCst: partner is `Item::deliver`.
        self.ledger.delivered.load(Ordering::SeqCst)
    }

    /// How many items were dropped without having arrived.
    #[must_use]
    pub fn dropped(&self) -> usize {
        // SeqCst: partner is `Item::drop`.
        self.ledger.dropped.load(Ordering::SeqCst)
    }

    /// How many items are alive.
    #[must_use]
    pub fn alive(&self) -> usize {
        self.created() - self.delivered() - self.dropped()
    }

    /// Whether every item that was made was delivered or dropped.
    #[must_use]
    pub fn is_balanced(&self) -> bool {
        self.created() == self.delivered() + self.dropped()
    }
}

/// One counted value.
#[derive(Debug)]
pub struct Item {
    ledger: Option<Arc<Ledger>>,
}

impl Item {
    /// Says that the value has arrived where it should.
    pub fn deliver(mut self) {
        if let Some(ledger) = self.ledger.take() {
            // SeqCst: partner is `Probe::delivered`.
            ledger.delivered.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        if let Some(ledger) = self.ledger.take() {
            // SeqCst: partner is `Probe::dropped`.
            ledger.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
}
