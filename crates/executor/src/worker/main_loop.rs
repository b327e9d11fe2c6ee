//! What a worker does all day: take a job, run it, look for another, sleep.

use std::rc::Rc;
use std::time::Duration;

use brigade_core::backend::Job;

use super::context::Worker;
use crate::scheduler::idle::Awoken;

impl Worker {
    /// Works until `done` says so, which is asked between jobs.
    pub(crate) fn work(self: &Rc<Self>, mut done: impl FnMut() -> bool) {
        while !done() {
            if let Some(job) = self.next_job().or_else(|| self.search()) {
                self.run(job);
            } else {
                self.sleep();
            }
        }
        self.stop_searching();
    }

    /// Drops every job that is left, at the end, on this worker's thread.
    pub(crate) fn drop_jobs(&self) {
        let next =
            || self.queue.take_lifo().or_else(|| self.queue.pop()).or_else(|| self.remote.inbox.take());
        while let Some(job) = next() {
            drop(job);
        }
    }

    #[inline]
    fn run(&self, job: Job) {
        if self.searching.get() {
            self.stop_searching();
        }
        self.remote.polls.begin(self.tick.get());
        self.running.set(true);
        job.run();
        self.running.set(false);
    }

    /// The next job of this worker's own: LIFO slot, inbox, local queue; now and then what comes from elsewhere first, so
    /// that nothing starves.
    #[inline]
    fn next_job(&self) -> Option<Job> {
        let tick = self.tick.get().wrapping_add(1);
        self.tick.set(tick);
        if let Some(job) = self.queue.take_lifo() {
            let streak = self.lifo_streak.get() + 1;
            if streak <= LONGEST_STREAK {
                self.lifo_streak.set(streak);
                return Some(job);
            }
            self.push_back(job);
        }
        self.lifo_streak.set(0);
        if self.tempo.is_due() {
            if let Some(job) = self.look_around() {
                return Some(job);
            }
        }
        // In turn, so that local tasks and others cannot starve each other.
        let first = if tick % 4 == 0 { self.remote.inbox.take() } else { None };
        first.or_else(|| self.queue.pop()).or_else(|| self.remote.inbox.take()).or_else(|| self.take_share())
    }

    /// Looks at timers, sockets and the shared queue. What they bring has waited already and goes ahead.
    #[cold]
    fn look_around(&self) -> Option<Job> {
        let now = self.shared.services.now();
        self.arrivals.replace(Some(Vec::new()));
        self.shared.services.look(now);
        let arrivals = self.arrivals.take().unwrap_or_default();
        let injected = self.shared.injector.pop();
        let ahead = usize::from(injected.is_some()) + self.bring_forward(arrivals);
        self.tempo.looked(now, ahead);
        injected
    }

    /// Puts what a look has brought at the front, if there is room. Gives how many those are.
    fn bring_forward(&self, mut arrivals: Vec<Job>) -> usize {
        let count = arrivals.len();
        if count > 0 {
            self.queue.push_front(&mut arrivals);
            self.note_arrivals();
        }
        let ahead = count - arrivals.len();
        arrivals.into_iter().for_each(|job| self.push_back(job));
        ahead
    }

    /// Timers and events have brought jobs: calls for help if the queue is not done with before help would come.
    fn note_arrivals(&self) {
        let jobs = self.queue.len().max(1);
        self.shared.note_jobs(if self.pace.is_brief(jobs) { 1 } else { jobs });
    }

    /// A share of the shared queue.
    fn take_share(&self) -> Option<Job> {
        let most = self.queue.room() / 2;
        self.shared.injector.pop_batch(self.shared.remotes.len(), most, |job| {
            // There is room: only this thread pushes here.
            let refused = self.queue.push(job);
            debug_assert!(refused.is_ok());
        })
    }

    /// Looks for jobs of others for a bounded time, if not too many do so already.
    fn search(&self) -> Option<Job> {
        if !self.searching.get() {
            if !self.shared.idle.start_searching() {
                return None;
            }
            self.searching.set(true);
        }
        if self.watch.due.replace(false) {
            if let Some(job) = self.steal_stale() {
                return Some(job);
            }
        }
        if self.is_deputy() {
            // What the others will have run soon is left to them.
            self.stop_searching();
            return None;
        }
        let rounds = self.rounds();
        for round in 1..=rounds {
            let least = if round == rounds { 2 } else { self.tempo.pile() };
            if let Some(job) = self.steal(least).or_else(|| self.take_share()) {
                self.patience.set((2 * self.patience.get()).min(MOST_ROUNDS));
                return Some(job);
            }
            if round == rounds || self.has_message() {
                break;
            }
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
        }
        self.patience.set((self.patience.get() / 2).max(LEAST_ROUNDS));
        None
    }

    /// How long a search may be. Only somebody who is awake can give work soon; if nobody is, the reactor is the place to
    /// wait.
    fn rounds(&self) -> u32 {
        let others = self.shared.spins && self.shared.idle.awake_count() > 1;
        if others { self.patience.get() } else { 1 }
    }

    /// Steals half of another worker's queue, if it is worth that. A lone job is left to its owner, who will run it sooner
    /// than the theft would pay.
    fn steal(&self, least: u32) -> Option<Job> {
        let stolen =
            self.victims().find_map(|victim| self.shared.remotes[victim].stealer.steal(&self.queue, least));
        self.remote.counts.stole(stolen.is_some());
        stolen
    }

    /// Takes even lone jobs from workers whose present poll lasts since the last look.
    fn steal_stale(&self) -> Option<Job> {
        let mut seen = self.watch.seen.borrow_mut();
        seen.resize(self.shared.remotes.len(), 0);
        self.victims().find_map(|victim| {
            let remote = &self.shared.remotes[victim];
            let polls = remote.polls.present();
            if std::mem::replace(&mut seen[victim], polls) != polls {
                return None;
            }
            remote.stealer.steal(&self.queue, 1).or_else(|| remote.stealer.steal_lifo())
        })
    }

    /// The others, beginning with the next one.
    fn victims(&self) -> impl Iterator<Item = usize> + use<> {
        let (index, count) = (self.index, self.shared.remotes.len());
        (1..count).map(move |offset| (index + offset) % count)
    }

    fn stop_searching(&self) {
        if self.searching.replace(false) && self.shared.idle.stop_searching() && self.sees_more_work() {
            self.shared.wake_for_shared_queue();
        }
    }

    fn sees_more_work(&self) -> bool {
        self.queue.len() > 0 || !self.shared.injector.is_empty()
    }

    /// Whether something is there that a search does not look at: a job in the inbox, or the end.
    fn has_message(&self) -> bool {
        !self.remote.inbox.is_empty() || self.shared.is_closed()
    }

    /// Sleeps until there may be something to do.
    fn sleep(&self) {
        let shared = &self.shared;
        self.pace.end(|| shared.services.now(), self.tick.get());
        shared.idle.fall_asleep(self.index, self.searching.replace(false));
        let something = self.has_message()
            || !shared.injector.is_empty()
            || !self.is_deputy() && self.victims().any(|victim| shared.remotes[victim].stealer.len() >= 2);
        self.asleep.set(true);
        self.remote.counts.parked(!something);
        let found = if something { 0 } else { self.sleep_somewhere() };
        self.asleep.set(false);
        self.tempo.pause();
        let awoken = shared.idle.awake(self.index);
        self.watch.rested.set((awoken == Awoken::ByItself).then_some(self.tick.get().wrapping_add(1)));
        match awoken {
            Awoken::ToSearch => {
                self.searching.set(true);
                self.watch.deputy.set(None);
            }
            Awoken::ByItself if found > 0 => self.leave_seat(),
            Awoken::ByItself => {}
        }
    }

    /// The seat in the reactor is empty now, so somebody should help, or watch that this worker comes back.
    fn leave_seat(&self) {
        self.pace.begin(self.shared.services.now(), self.tick.get());
        if self.pace.is_brief(self.queue.len().max(1)) {
            self.shared.idle.keep_seat(self.index);
        }
        self.note_arrivals();
    }

    /// Gives how many events and timers came.
    fn sleep_somewhere(&self) -> usize {
        let Self { shared, watch, index, remote, .. } = self;
        let deputy = self.is_deputy();
        let is_rested = watch.rested.get() == Some(self.tick.get());
        let mut watches = shared.idle.begin_watch(deputy);
        let seen = shared.idle.sits();
        let aside = deputy || (watch.sits.replace(seen) != seen && shared.idle.is_kept_from(*index));
        let limit = |watches: bool| watches.then_some(WATCH);
        let sits = |sits: bool| shared.idle.set_sitter(sits.then_some(*index));
        let found =
            if aside { None } else { remote.parker.sleep_in_reactor(&shared.services, limit(watches), sits) };
        if found.is_none() {
            // Who sits there may have something to do at once: to call somebody would cost it more than this watch.
            watches = watches || !is_rested && shared.idle.begin_watch_if_none();
            remote.parker.sleep_aside(limit(watches));
        }
        if watches {
            shared.idle.end_watch();
        }
        // The others come back to the seat again and again, or have left it and called: this one keeps watch, if there is
        // nothing to run before the next sleep.
        let useful = shared.idle.sits() != seen || (!watches && shared.idle.seat_is_empty());
        watch.deputy.set((found.is_none() && useful).then_some(self.tick.get().wrapping_add(1)));
        watch.due.set(watches && found.unwrap_or(0) == 0);
        found.unwrap_or(0)
    }

    /// Whether this worker was woken to keep watch aside, and has run nothing since.
    fn is_deputy(&self) -> bool {
        self.watch.deputy.get() == Some(self.tick.get())
    }
}

/// How many jobs in a row may come out of the LIFO slot while others wait.
const LONGEST_STREAK: u32 = 8;

/// How many rounds a search takes at least and at most, a few hundred nanoseconds each: about what falling asleep costs,
/// and what being woken does.
pub(crate) const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 30;

/// How many processor pauses lie between two rounds of a search.
const PAUSES: u32 = 20;

/// How long a sleeping worker lets the others work before it looks whether one of them is stuck in a long poll.
const WATCH: Duration = Duration::from_millis(1);
