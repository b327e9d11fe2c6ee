//! The wheel against a sorted map, under random operations from fixed seeds.

use std::collections::BTreeMap;

use super::{Key, NEVER, TICK, Wheel};

/// A plain model: deadline and order of setting give what fires when.
#[derive(Default)]
struct Model {
    /// Deadline and order of setting; name and tick of the timer.
    timers: BTreeMap<(u64, u64), (u32, u64)>,
    order: u64,
}

impl Model {
    fn set(&mut self, at: u64, name: u32, now: u64) -> (u64, u64) {
        self.order += 1;
        // What lies in the past fires with the present tick.
        let tick = at.div_ceil(TICK).max(now / TICK);
        self.timers.insert((at, self.order), (name, tick));
        (at, self.order)
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

    /// Spans from below a tick to years, each scale equally likely.
    fn span(&mut self) -> u64 {
        let bits = self.below(52);
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
    let mut live: Vec<(Key, (u64, u64))> = Vec::new();
    let (mut now, mut names) = (0_u64, 0_u32);
    for _ in 0..2_000 {
        match random.below(10) {
            0..4 => {
                let at = now.saturating_add(random.span()).saturating_sub(random.below(3) * TICK);
                names += 1;
                live.push((wheel.insert(at, names), model.set(at, names, now)));
            }
            4 if !live.is_empty() => {
                let (key, place) = live.swap_remove(random.below(live.len() as u64) as usize);
                assert_eq!(
                    wheel.remove(key),
                    model.timers.remove(&place).map(|timer| timer.0),
                    "seed {seed}"
                );
                assert_eq!(wheel.remove(key), None);
            }
            5 if !live.is_empty() => {
                let chosen = random.below(live.len() as u64) as usize;
                let at = now.saturating_add(random.span());
                let (name, _) = model.timers.remove(&live[chosen].1).expect("only live timers are chosen");
                live[chosen].1 = model.set(at, name, now);
                assert!(wheel.reset(live[chosen].0, at), "seed {seed}");
            }
            _ => {
                now += random.span() / 64;
                check_advance(&mut wheel, &mut model, now, seed);
                live.retain(|(_, place)| model.timers.contains_key(place));
            }
        }
        let earliest = model.timers.keys().next().map_or(NEVER, |key| key.0);
        assert!(
            wheel.next_deadline() <= earliest.max(now).saturating_add(2 * TICK),
            "never late, seed {seed}"
        );
    }
}

/// Everything whose tick is reached fires, in order of tick, deadline and setting; nothing fires early.
fn check_advance(wheel: &mut Wheel<u32>, model: &mut Model, now: u64, seed: u64) {
    let mut fired = Vec::new();
    wheel.advance(now, |name| fired.push(name));
    let mut expected = Vec::new();
    model.timers.retain(|place, &mut (name, tick)| {
        let due = tick <= now / TICK;
        if due {
            assert!(place.0 <= now, "seed {seed}: never early");
            expected.push((tick, *place, name));
        }
        !due
    });
    expected.sort_unstable();
    let names = expected.into_iter().map(|(_, _, name)| name).collect::<Vec<_>>();
    assert_eq!(fired, names, "seed {seed}, at {now}");
}

#[test]
fn equal_deadlines_fire_in_the_order_of_setting_across_levels() {
    let mut wheel = Wheel::new();
    let deadline = 5_000 * TICK + 17;
    wheel.insert(deadline, 1);
    wheel.advance(4_990 * TICK, |_| panic!("nothing is due"));
    let moved = wheel.insert(NEVER, 2);
    wheel.insert(deadline, 3);
    assert!(wheel.reset(moved, deadline));
    wheel.insert(deadline - 1, 0);
    let mut fired = Vec::new();
    wheel.advance(6_000 * TICK, |name| fired.push(name));
    assert_eq!(fired, [0, 1, 3, 2]);
}

#[test]
fn the_next_deadline_is_exact_on_every_level() {
    for shift in 0..47 {
        let mut wheel = Wheel::new();
        let deadline = (1_u64 << shift) * TICK + 3;
        let key = wheel.insert(deadline, ());
        let next = wheel.next_deadline();
        assert!(next >= deadline && next < deadline + TICK, "one wake-up is enough, 2^{shift} ticks ahead");
        wheel.advance(next - 1, |()| panic!("early"));
        let mut fired = 0;
        wheel.advance(next, |()| fired += 1);
        assert_eq!((fired, wheel.remove(key)), (1, None));
        assert_eq!(wheel.next_deadline(), NEVER);
    }
}

#[test]
fn a_key_of_a_fired_timer_does_not_touch_its_successor() {
    let mut wheel = Wheel::new();
    let old = wheel.insert(TICK, "old");
    wheel.advance(3 * TICK, drop);
    let new = wheel.insert(9 * TICK, "new");
    assert_eq!(old.place, new.place);
    assert!(!wheel.reset(old, 100 * TICK));
    assert_eq!(wheel.get_mut(old), None);
    assert_eq!(wheel.remove(old), None);
    assert_eq!(wheel.remove(new), Some("new"));
}

#[test]
fn a_million_timers_take_no_more_room_when_they_are_set_again() {
    let mut wheel = Wheel::new();
    let mut random = Random(7);
    for round in 0..3 {
        let keys = (0..100_000).map(|name| wheel.insert(random.span(), name)).collect::<Vec<_>>();
        assert_eq!(wheel.entries.len(), 100_000, "round {round}");
        keys.into_iter().for_each(|key| assert!(wheel.remove(key).is_some()));
    }
}
