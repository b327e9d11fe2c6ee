//! How often somebody who has jobs looks up from them: at timers, at sockets, and at what other threads have left.
//!
//! Not after a number of polls, which may last a nanosecond or a millisecond each, and not by asking the clock after each
//! one, which costs as much as a short poll. The clock is read at each look, and tells how many polls fit between that one
//! and the next.
//!
//! What a look brings runs ahead of the jobs that were there, for it has waited for the look already. So that it cannot
//! starve them, as many of them run before the next look, or as many as run between two looks that bring nothing.

use std::cell::Cell;

use brigade_core::Instant;

/// The tempo of one worker.
#[derive(Debug)]
pub(crate) struct Tempo {
    /// Polls until the next look.
    left: Cell<u32>,
    /// Polls from the last look to the next.
    interval: Cell<u32>,
    /// When the last look was, unless the worker has slept since.
    last: Cell<Option<Instant>>,
    /// Whether the interval stays what it is, however long the polls last.
    fixed: bool,
}

impl Default for Tempo {
    fn default() -> Self {
        Self { left: Cell::new(FIRST), interval: Cell::new(FIRST), last: Cell::new(None), fixed: false }
    }
}

impl Tempo {
    /// A look after each so many polls, beside those of what a look has brought.
    pub(crate) fn fixed(polls: u32) -> Self {
        let polls = polls.max(1);
        Self { left: Cell::new(polls), interval: Cell::new(polls), last: Cell::new(None), fixed: true }
    }

    /// Counts a poll that is about to begin. True if a look comes first.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.wrapping_sub(1));
        left == 0
    }

    /// A look at this time has brought that many jobs that run ahead of the others.
    pub(crate) fn looked(&self, now: Instant, ahead: usize) {
        let interval = self.interval.get();
        if let (Some(last), false) = (self.last.replace(Some(now)), self.fixed) {
            let took = now.as_nanos().saturating_sub(last.as_nanos()).max(1);
            let fitting = u64::from(interval) * BETWEEN_LOOKS / took;
            self.interval.set(fitting.clamp(1, u64::from(MOST.min(2 * interval))) as u32);
        }
        let ahead = ahead as u32;
        self.left.set(self.interval.get().max(ahead + ahead.min(MOST)) - 1);
    }

    /// How many jobs another worker's queue should have for a theft to pay: it makes both sides wait for each other's
    /// memory, again and again if a thief runs off with one short job at a time.
    pub(crate) fn pile(&self) -> u32 {
        self.interval.get().max(2)
    }

    /// The time until now was none of work.
    pub(crate) fn pause(&self) {
        self.last.set(None);
    }
}

/// How much time there should be between two looks, in nanoseconds: little beside what somebody outside notices, and much
/// beside what it costs to read the clock.
const BETWEEN_LOOKS: u64 = 10_000;

/// After how many polls the first look is.
const FIRST: u32 = 16;

/// How many polls may be between two looks, however short they were, beside those of what the first of them has brought.
const MOST: u32 = 61;

#[cfg(test)]
mod tests {
    use super::*;

    /// How many polls begin before the next look.
    fn until_look(tempo: &Tempo) -> u32 {
        (0..).take_while(|_| !tempo.is_due()).count() as u32
    }

    fn after_looks(tempo: &Tempo, nanos_per_poll: u64) -> u32 {
        let (mut now, mut polls) = (Instant::from_nanos(1), FIRST);
        tempo.looked(now, 0);
        for _ in 0..20 {
            now = Instant::from_nanos(now.as_nanos() + u64::from(polls) * nanos_per_poll);
            tempo.looked(now, 0);
            polls = until_look(tempo) + 1;
        }
        polls
    }

    #[test]
    fn there_are_as_many_polls_between_looks_as_fit() {
        assert_eq!(after_looks(&Tempo::default(), 2), MOST);
        assert_eq!(after_looks(&Tempo::default(), 1_000), 10);
        assert_eq!(after_looks(&Tempo::default(), 4_000), 2);
        assert_eq!(after_looks(&Tempo::default(), 1_000_000), 1);
    }

    #[test]
    fn a_thief_of_long_polls_is_content_with_two() {
        let tempo = Tempo::default();
        after_looks(&tempo, 2);
        assert_eq!(tempo.pile(), MOST);
        after_looks(&tempo, 1_000_000);
        assert_eq!(tempo.pile(), 2);
    }

    #[test]
    fn others_run_before_the_next_look_brings_more() {
        let tempo = Tempo::default();
        after_looks(&tempo, 1_000_000);
        tempo.looked(Instant::from_nanos(u64::MAX / 2), 3);
        assert_eq!(until_look(&tempo), 5, "one more begins at once: three ahead and three others");
    }

    #[test]
    fn a_fixed_tempo_does_not_depend_on_time() {
        let tempo = Tempo::fixed(7);
        for now in [1, 2, 1_000_000_000] {
            tempo.looked(Instant::from_nanos(now), 0);
            assert_eq!(until_look(&tempo), 6);
        }
    }

    #[test]
    fn a_sleep_is_no_long_poll() {
        let tempo = Tempo::default();
        after_looks(&tempo, 1_000);
        tempo.pause();
        tempo.looked(Instant::from_nanos(u64::MAX / 2), 0);
        assert_eq!(until_look(&tempo), 9);
    }
}
