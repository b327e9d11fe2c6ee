//! Medians and a bootstrap interval. Ratios are handled as logarithms, so that 2 and 1/2 are equally far from 1.

/// A ratio with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) ratio: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Estimate {
    /// The median of the ratios, with the interval between the 2.5th and the 97.5th percentile of medians of
    /// samples drawn from `groups`. The pairs of one group were measured next to each other, and are drawn
    /// together: what disturbed one disturbed the other.
    pub(crate) fn of(groups: &[[f64; 2]]) -> Estimate {
        let logs: Vec<[f64; 2]> = groups.iter().map(|pair| pair.map(f64::ln)).collect();
        let mut random = Random::new(0x9E37_79B9_7F4A_7C15);
        let draw = |_| {
            let sample = (0..logs.len()).flat_map(|_| logs[random.below(logs.len())]);
            median(&mut sample.collect::<Vec<_>>())
        };
        let mut medians: Vec<f64> = (0..RESAMPLES).map(draw).collect();
        medians.sort_by(f64::total_cmp);
        let at = |part: f64| medians[((RESAMPLES - 1) as f64 * part).round() as usize].exp();
        let ratio = median(&mut logs.concat()).exp();
        Estimate { ratio, low: at(0.025), high: at(0.975) }
    }

    pub(crate) fn contains_one(&self) -> bool {
        self.low <= 1.0 && 1.0 <= self.high
    }

    pub(crate) fn width(&self) -> f64 {
        self.high - self.low
    }
}

const RESAMPLES: usize = 2000;

/// The middle of the values, which are sorted in place. There is at least one.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// The value below which that part of the sorted values lies. There is at least one.
pub(crate) fn percentile(sorted: &[f64], part: f64) -> f64 {
    let index = (sorted.len() as f64 * part).ceil() as usize;
    sorted[index.clamp(1, sorted.len()) - 1]
}

/// xorshift64*: good enough to draw samples and orders, and the same on every run.
pub(crate) struct Random(u64);

impl Random {
    /// `seed` is not zero.
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        (drawn as usize) % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_an_outlier() {
        assert_eq!(median(&mut [3.0, 1.0, 100.0]), 3.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let sorted: Vec<f64> = (1..=1000).map(f64::from).collect();
        assert_eq!(
            [0.5, 0.99, 0.999, 1.0].map(|part| percentile(&sorted, part)),
            [500.0, 990.0, 999.0, 1000.0]
        );
        assert_eq!(percentile(&[7.0], 0.5), 7.0);
    }

    #[test]
    fn equal_ratios_have_no_width() {
        let estimate = Estimate::of(&[[0.5, 0.5]; 10]);
        assert!((estimate.ratio - 0.5).abs() < 1e-9 && estimate.width() < 1e-9 && !estimate.contains_one());
    }

    #[test]
    fn the_interval_holds_the_truth_and_shrinks_with_pairs() {
        let mut random = Random::new(7);
        let mut noisy = |pairs: usize| {
            let mut one = || 0.8 * (0.9 + 0.2 * random.below(1000) as f64 / 1000.0);
            Estimate::of(&(0..pairs).map(|_| [one(), one()]).collect::<Vec<_>>())
        };
        let (few, many) = (noisy(10), noisy(400));
        assert!(many.low < 0.8 && 0.8 < many.high, "{many:?}");
        assert!(many.width() < few.width() / 2.0, "{few:?} {many:?}");
    }

    #[test]
    fn drawing_reaches_every_value() {
        let mut random = Random::new(1);
        let mut seen = [false; 8];
        (0..200).for_each(|_| seen[random.below(8)] = true);
        assert_eq!(seen, [true; 8]);
    }
}
