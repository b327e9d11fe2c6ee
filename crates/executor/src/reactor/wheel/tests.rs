//! The wheel against a sorted map, under random operations from fixed seeds.

use std::collections::BTreeMap;

use super::{Key, NEVER, TICK, Wheel, beginning};

/// A plain model: deadline and order of setting give what fires when.
#[derive(Default)]
struct Model {
    /// Tick, deadline and order of setting; name of the timer.
    timers: BTreeMap<Place, u32>,
    order: u64,
    /// The present tick.
    now: u64,
}

type Place = (u64, u64, u64);

impl Model {
    fn set(&mut self, at: u64, name: u32) -> Place {
        self.order += 1;
        // What lies in the past fires with the present tick.
        let place = (at.div_ceil(TICK).max(self.now), at, self.order);
        self.timers.insert(place, name);
        place
    }

    /// Everything whose tick is reached, in order of tick, deadline and setting, but at most so many.
    fn advance(&mut self, now: u64, most: usize) -> Vec<u32> {
        let mut fired = Vec::new();
        while let Some((&place, &name)) = self.timers.first_key_value() {
            if place.0 > now / TICK || fired.len() == most {
                break;
            }
            assert!(place.1 <= now, "never early");
            self.now = place.0;
            self.timers.remove(&place);
            fired.push(name);
        }
        if fired.len() < most {
            self.now = self.now.max(now / TICK);
        }
        fired
    }

    fn earliest(&self) -> u64 {
        self.timers.keys().map(|place| place.1).min().unwrap_or(NEVER)
    }
}

/// xorshift: enough randomness to mix operations, the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Spans from below a tick up to 2^(scales + 12), each scale equally likely: with 40, to years.
    fn span(&mut self, scales: u64) -> u64 {
        let bits = 12 + self.below(scales);
        self.below(2 << bits)
    }
}

#[test]
fn random_operations_match_a_sorted_map() {
    for seed in 1..=60 {
        run_model(seed);
    }
}

fn run_model(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let (mut wheel, mut model) = (Wheel::new(), Model::default());
    let mut live: Vec<(Key, Place)> = Vec::new();
    // Few spans: crowds on the same ticks. Many: timers on all levels.
    let (mut now, mut names, scales) = (0_u64, 0_u32, 8 + 32 * random.below(2));
    for _ in 0..2_000 {
        match random.below(12) {
            0..4 => {
                let at = now.saturating_add(random.span(scales)).saturating_sub(random.below(3) * TICK);
                names += 1;
                live.push((wheel.insert(at, names), model.set(at, names)));
            }
            4..6 if !live.is_empty() => {
                let (key, place) = live.swap_remove(random.below(live.len() as u64) as usize);
                let name = model.timers.remove(&place).expect("only live timers are chosen");
                assert_eq!(wheel.remove(key), Some((place.1, name)), "seed {seed}");
                assert_eq!(wheel.remove(key), None);
            }
            6..8 if !live.is_empty() => {
                let chosen = random.below(live.len() as u64) as usize;
                let (key, place) = live[chosen];
                // Now and then to the deadline that it has already, which sets it anew.
                let at = if random.below(4) == 0 { place.1 } else { now.saturating_add(random.span(scales)) };
                let name = model.timers.remove(&place).expect("only live timers are chosen");
                live[chosen].1 = model.set(at, name);
                assert_eq!(wheel.reset(key, at), Some(place.1), "seed {seed}");
            }
            _ => {
                now += random.span(scales) / 64;
                let most = 1 + random.below(20) as usize;
                let mut fired = Vec::new();
                let count = wheel.advance(now, most, |name| fired.push(name));
                assert_eq!(count, fired.len());
                assert_eq!(fired, model.advance(now, most), "seed {seed}, at {now}");
                live.retain(|(_, place)| model.timers.contains_key(place));
            }
        }
        let latest = model.earliest().max(now).saturating_add(2 * TICK);
        assert!(beginning(wheel.next_tick()) <= latest, "never late, seed {seed}");
    }
}

#[test]
fn equal_deadlines_fire_in_the_order_of_setting_across_levels() {
    let mut wheel = Wheel::new();
    let deadline = 5_000 * TICK + 17;
    wheel.insert(deadline, 1);
    wheel.advance(4_990 * TICK, MANY, |_| panic!("nothing is due"));
    let moved = wheel.insert(NEVER, 2);
    wheel.insert(deadline, 3);
    assert_eq!(wheel.reset(moved, deadline), Some(NEVER));
    wheel.insert(deadline - 1, 0);
    let mut fired = Vec::new();
    wheel.advance(6_000 * TICK, MANY, |name| fired.push(name));
    assert_eq!(fired, [0, 1, 3, 2]);
}

#[test]
fn the_next_deadline_is_exact_on_every_level() {
    for shift in 0..47 {
        let mut wheel = Wheel::new();
        let deadline = (1_u64 << shift) * TICK + 3;
        let key = wheel.insert(deadline, ());
        let next = beginning(wheel.next_tick());
        assert!(next >= deadline && next < deadline + TICK, "one wake-up is enough, 2^{shift} ticks ahead");
        wheel.advance(next - 1, MANY, |()| panic!("early"));
        let mut fired = 0;
        wheel.advance(next, MANY, |()| fired += 1);
        assert_eq!((fired, wheel.remove(key)), (1, None));
        assert_eq!(beginning(wheel.next_tick()), NEVER);
    }
}

#[test]
fn a_key_of_a_fired_timer_does_not_touch_its_successor() {
    let mut wheel = Wheel::new();
    let old = wheel.insert(TICK, "old");
    wheel.advance(3 * TICK, MANY, drop);
    let new = wheel.insert(9 * TICK, "new");
    assert_eq!(old.place, new.place);
    assert_eq!(wheel.reset(old, 100 * TICK), None);
    assert_eq!(wheel.get_mut(old), None);
    assert_eq!(wheel.remove(old), None);
    assert_eq!(wheel.remove(new), Some((9 * TICK, "new")));
}

#[test]
fn a_place_whose_generations_are_used_up_is_not_used_again() {
    let mut wheel = Wheel::new();
    let worn = wheel.insert(TICK, "worn");
    wheel.remove(worn).expect("it is set");
    wheel.entries.wear_out(worn.place);
    let last = wheel.insert(TICK, "last");
    assert_eq!((last.place, last.generation), (worn.place, u32::MAX - 1));
    wheel.remove(last).expect("it is set");
    assert_ne!(wheel.insert(TICK, "next").place, worn.place);
    assert_eq!(wheel.remove(worn), None);
}

#[test]
fn timers_that_are_set_again_take_no_more_room() {
    let mut wheel = Wheel::new();
    let mut random = Random(7);
    for round in 0..3 {
        let keys = (0..100_000).map(|name| wheel.insert(random.span(40), name)).collect::<Vec<_>>();
        assert_eq!(wheel.entries.places(), 100_000, "round {round}");
        keys.into_iter().for_each(|key| assert!(wheel.remove(key).is_some()));
    }
}

#[test]
fn void_records_take_no_more_room_than_valid_ones() {
    let mut wheel = Wheel::new();
    let keys = (0..100).map(|name| wheel.insert(name * TICK, name)).collect::<Vec<_>>();
    for step in 1..10_000 {
        // All of them come to lie in one slot, and one of them always comes to be due.
        keys.iter().for_each(|&key| assert!(wheel.reset(key, 1_000_000 * TICK + step).is_some()));
        assert!(wheel.reset(keys[0], 0).is_some());
    }
    assert!(wheel.records() <= 2 * 100 + 2 * 64 + 2, "{} records", wheel.records());
    wheel.insert(5 * TICK, 100);
    let mut fired = Vec::new();
    wheel.advance(2_000_000 * TICK, MANY, |name| fired.push(name));
    assert_eq!(fired, [0, 100].into_iter().chain(1..100).collect::<Vec<_>>());
}

#[test]
fn a_crowd_on_one_tick_fires_bit_by_bit_and_can_be_cancelled_meanwhile() {
    let mut wheel = Wheel::new();
    let keys = (0..1_000).map(|name| wheel.insert(7 * TICK, name)).collect::<Vec<_>>();
    let mut fired = Vec::new();
    assert_eq!(wheel.advance(7 * TICK, 300, |name| fired.push(name)), 300);
    assert_eq!(beginning(wheel.next_tick()), 7 * TICK, "the others are due");
    (300..900).for_each(|name| assert_eq!(wheel.remove(keys[name]), Some((7 * TICK, name))));
    assert!(wheel.reset(keys[900], 9 * TICK).is_some());
    assert_eq!(wheel.advance(8 * TICK, MANY, |name| fired.push(name)), 99);
    assert_eq!(beginning(wheel.next_tick()), 9 * TICK);
    wheel.advance(9 * TICK, MANY, |name| fired.push(name));
    assert_eq!(fired, (0..300).chain(901..1_000).chain([900]).collect::<Vec<_>>());
}

/// More than there are.
const MANY: usize = usize::MAX;
