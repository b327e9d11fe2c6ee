//! How long to wait before the next attempt, and when to give up.
//!
//! ```text
//!   attempt ─fails─► pause: first × factor^n, at most max, less a random part ─► attempt …
//!                      └─ no attempt left, or the next one would begin after the window ─► give up
//! ```

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use brigade_core::{Handle, Instant};

/// A plan of pauses that grow: exponential, bounded, with jitter, and with a budget.
///
/// Without a budget ([`attempts`](Backoff::attempts), [`within`](Backoff::within)) it never gives up.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use brigade_combinators::Backoff;
/// use brigade_core::Instant;
///
/// let backoff = Backoff::new(Duration::from_millis(100)).max(Duration::from_millis(300)).attempts(5);
/// let mut pauses = backoff.begin(Instant::ZERO);
/// let waits: Vec<_> = std::iter::from_fn(|| pauses.next_after(Instant::ZERO)).collect();
/// assert_eq!(waits, [100, 200, 300, 300].map(Duration::from_millis));
/// ```
#[derive(Clone, Debug)]
#[must_use = "a plan does nothing by itself; give it to `retry`"]
pub struct Backoff {
    first: Duration,
    factor: u32,
    max: Duration,
    jitter: f64,
    attempts: Option<u32>,
    window: Option<Duration>,
    seed: Option<u64>,
}

impl Backoff {
    /// Pauses of `first`, twice that, four times that, and so on, up to a minute; without jitter and
    /// without an end.
    pub fn new(first: Duration) -> Backoff {
        let max = Duration::from_secs(60).max(first);
        Backoff { first, factor: 2, max, jitter: 0.0, attempts: None, window: None, seed: None }
    }

    /// By what a pause is longer than the one before; 1 keeps them equal.
    pub fn factor(mut self, factor: u32) -> Backoff {
        self.factor = factor;
        self
    }

    /// No pause is longer than this.
    pub fn max(mut self, max: Duration) -> Backoff {
        self.max = max;
        self
    }

    /// Shortens every pause by a random part of up to `share` of it, so that those who failed together
    /// do not come again together. 0 is none; with 1 a pause is anything between nothing and its length.
    ///
    /// # Panics
    ///
    /// If `share` is not between 0 and 1.
    pub fn jitter(mut self, share: f64) -> Backoff {
        assert!((0.0..=1.0).contains(&share), "the jitter is a share between 0 and 1, not {share}");
        self.jitter = share;
        self
    }

    /// The seed of the jitter. With the same seed the pauses are the same. Without one it is drawn from the
    /// runtime: then they differ, except in a simulation, where each run of the same seed has the same.
    pub fn seed(mut self, seed: u64) -> Backoff {
        self.seed = Some(seed);
        self
    }

    /// Gives up after so many attempts, the first one included.
    pub fn attempts(mut self, attempts: u32) -> Backoff {
        self.attempts = Some(attempts);
        self
    }

    /// Gives up when the next attempt would begin later than this after the first one.
    pub fn within(mut self, window: Duration) -> Backoff {
        self.window = Some(window);
        self
    }

    /// Begins with the pauses; the first attempt is made at `now`.
    #[must_use]
    pub fn begin(&self, now: Instant) -> Pauses {
        let ambient = || Handle::try_current().map(|handle| handle.backend().random_seed());
        let drawn = || ambient().unwrap_or_else(|| RandomState::new().build_hasher().finish());
        let state = self.seed.unwrap_or_else(drawn);
        Pauses { plan: self.clone(), next: self.first, failed: 0, since: now, state }
    }
}

/// The pauses of one [`Backoff`], one after the other; made by [`Backoff::begin`].
#[derive(Clone, Debug)]
pub struct Pauses {
    plan: Backoff,
    next: Duration,
    failed: u32,
    since: Instant,
    /// Of the generator.
    state: u64,
}

impl Pauses {
    /// An attempt has failed at `now`: how long to wait before the next, or `None` to give up.
    #[must_use]
    pub fn next_after(&mut self, now: Instant) -> Option<Duration> {
        self.failed = self.failed.saturating_add(1);
        if self.plan.attempts.is_some_and(|attempts| self.failed >= attempts) {
            return None;
        }
        let full = self.next.min(self.plan.max);
        self.next = full.saturating_mul(self.plan.factor);
        let pause = full.saturating_sub(full.mul_f64(self.plan.jitter * self.share()));
        let begins = now.saturating_add(pause).duration_since(self.since);
        match self.plan.window {
            Some(window) if begins > window => None,
            _ => Some(pause),
        }
    }

    /// A random number from 0 up to 1, by SplitMix64: small, and good enough to spread attempts.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit, by the shift")]
    fn share(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
