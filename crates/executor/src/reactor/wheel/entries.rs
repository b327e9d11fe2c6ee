//! The timers themselves: each lies in a place of its own, which its key names, from its setting to its end.
//!
//! A place is used again, so a key also says which use it means, its generation. Every setting of a timer, the first
//! and each move, leaves a record in some slot of the wheel. The timer's stamp tells the record of the last setting from
//! those before.

/// All timers of a wheel.
#[derive(Debug)]
pub(super) struct Entries<T> {
    list: Vec<Entry<T>>,
    /// Places that were used and are free, the last one first: a stack beside them, since places that are free for long
    /// are in no cache.
    free: Vec<u32>,
    /// The places from here on have not been used since there was no timer at all.
    untouched: usize,
    live: usize,
}

/// Names a timer: its place, and which use of the place is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) place: u32,
    pub(crate) generation: u32,
}

/// What a slot knows of a timer, so that time passes over waiting timers without a look at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) deadline: u64,
    place: u32,
    stamp: u32,
}

impl<T> Entries<T> {
    pub(super) const fn new() -> Self {
        Self { list: Vec::new(), free: Vec::new(), untouched: 0, live: 0 }
    }

    /// A new timer, and its first record.
    pub(super) fn insert(&mut self, deadline: u64, payload: T) -> (Key, Record) {
        let place = self.allocate();
        let entry = &mut self.list[place as usize];
        entry.deadline = deadline;
        entry.payload = Some(payload);
        (Key { place, generation: entry.generation }, entry.record(place))
    }

    /// Gives a timer another deadline. Returns the one that it had, and its new record.
    pub(super) fn reset(&mut self, key: Key, deadline: u64) -> Option<(u64, Record)> {
        let entry = self.find(key)?;
        let former = std::mem::replace(&mut entry.deadline, deadline);
        Some((former, entry.record(key.place)))
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.find(key)?.payload.as_mut()
    }

    /// Ends a timer; gives its deadline and what it carried.
    pub(super) fn remove(&mut self, key: Key) -> Option<(u64, T)> {
        let deadline = self.find(key)?.deadline;
        self.release(key.place).map(|payload| (deadline, payload))
    }

    /// Ends the timer of a record; gives what it carried, if the record is that of its last setting.
    pub(super) fn expire(&mut self, record: Record) -> Option<T> {
        if self.is_valid(record) { self.release(record.place) } else { None }
    }

    /// Whether a record is that of a timer's last setting.
    pub(super) fn is_valid(&self, record: Record) -> bool {
        let entry = &self.list[record.place as usize];
        // The stamp may come round while a record waits. The deadline makes sure that nothing would be early then.
        entry.stamp == record.stamp && entry.payload.is_some() && entry.deadline == record.deadline
    }

    /// Looks at the timers of these records, so that the processor fetches them all at once and not one by one.
    pub(super) fn fetch(&self, records: &[Record]) {
        let stamps = records.iter().map(|record| self.list[record.place as usize].stamp);
        std::hint::black_box(stamps.fold(0, |sum, stamp| sum ^ stamp));
    }

    /// Takes out what all timers carried.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::replace(self, Self::new()).list.into_iter().filter_map(|entry| entry.payload)
    }

    #[cfg(test)]
    pub(super) fn places(&self) -> usize {
        self.list.len()
    }

    /// As if a free place had been used almost as often as it can be.
    #[cfg(test)]
    pub(super) fn wear_out(&mut self, place: u32) {
        self.list[place as usize].generation = u32::MAX - 1;
    }

    fn find(&mut self, key: Key) -> Option<&mut Entry<T>> {
        // A free place is of a generation that no key has got yet.
        self.list.get_mut(key.place as usize).filter(|entry| entry.generation == key.generation)
    }

    fn allocate(&mut self) -> u32 {
        self.live += 1;
        if let Some(place) = self.free.pop() {
            return place;
        }
        // Those that are worn out stay as they are.
        while self.list.get(self.untouched).is_some_and(|entry| entry.generation == u32::MAX) {
            self.untouched += 1;
        }
        let place = u32::try_from(self.untouched).expect("fewer than 2^32 timers are set at a time");
        if self.untouched == self.list.len() {
            self.list.push(Entry { deadline: 0, payload: None, generation: 0, stamp: 0 });
        }
        self.untouched += 1;
        place
    }

    fn release(&mut self, place: u32) -> Option<T> {
        let entry = &mut self.list[place as usize];
        entry.generation += 1;
        self.live -= 1;
        if self.live == 0 {
            // From the beginning again, in the order of memory.
            self.free.clear();
            self.untouched = 0;
        } else if entry.generation < u32::MAX {
            // A place whose generations are used up is not used again, so no key ever means two timers.
            self.free.push(place);
        }
        entry.payload.take()
    }
}

/// Half a cache line, if it carries a waker.
#[derive(Debug)]
struct Entry<T> {
    deadline: u64,
    /// Empty while the place is free.
    payload: Option<T>,
    generation: u32,
    stamp: u32,
}

impl<T> Entry<T> {
    /// The record of a new setting; those of former ones are void.
    fn record(&mut self, place: u32) -> Record {
        self.stamp = self.stamp.wrapping_add(1);
        Record { deadline: self.deadline, place, stamp: self.stamp }
    }
}
