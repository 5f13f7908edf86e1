//! Sums of powers of columns, and the units that follow from them: see [units](crate::belief).

use pulp::{Simd, WithSimd};

use crate::round::Actions;

/// Columns that are looked at together, so that the processor divides several numbers at once.
const LANES: usize = 8;

/// Σx² and Σx⁴ of the numbers of some columns, whose order makes no difference: the shares of the largest square are rounded to multiples
/// of what an f64 of the size of their count has as its last bit, and sums of these are exact.
#[inline(always)]
pub(crate) fn powers<const N: usize>(
    values: impl ExactSizeIterator<Item = [f64; N]> + Clone,
) -> [(f64, f64); N] {
    let count = values.len().next_power_of_two() as f64;
    let mut largest = [0.0_f64; N];
    for values in values.clone() {
        for (largest, value) in largest.iter_mut().zip(values) {
            *largest = largest.max(value * value);
        }
    }
    let rounded = |share: f64| (share + count) - count;
    // What is all zeros has sums of 0, whatever it is divided by.
    let divisor = largest.map(|largest| if largest > 0.0 { largest } else { 1.0 });
    let (mut square, mut fourth) = ([0.0; N], [0.0; N]);
    for values in values {
        for lane in 0..N {
            let share = values[lane] * values[lane] / divisor[lane];
            square[lane] += rounded(share);
            fourth[lane] += rounded(share * share);
        }
    }
    std::array::from_fn(|lane| (square[lane] * largest[lane], fourth[lane] * largest[lane] * largest[lane]))
}

/// Adds Σx² and Σx⁴ of the columns of a round's actions, as vectors of the machine.
pub(crate) struct Offered<'a> {
    pub(crate) actions: Actions<'a>,
    pub(crate) to: &'a mut [(f64, f64)],
}

impl WithSimd for &mut Offered<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (values, dimension) = (self.actions.values, self.actions.dimension());
        for (place, to) in self.to.chunks_mut(LANES).enumerate() {
            let lanes = |row: &[f64]| {
                let mut lanes = [0.0; LANES];
                lanes[..to.len()].copy_from_slice(&row[place * LANES..][..to.len()]);
                lanes
            };
            let powers = powers(values.chunks_exact(dimension).map(lanes));
            for ((square, fourth), powers) in to.iter_mut().zip(powers) {
                (*square, *fourth) = (*square + powers.0, *fourth + powers.1);
            }
        }
    }
}

/// A column's unit, by its sums.
#[inline(always)]
pub(crate) fn unit(square: f64, fourth: f64) -> f64 {
    let ratio = fourth / square;
    // Fourth powers of tiny numbers underflow.
    if fourth > 0.0 { ratio } else { square }.sqrt()
}

/// The larger one of each column's two units, as vectors of the machine.
pub(crate) struct JoinUnits<'a> {
    pub(crate) logged: &'a [f64],
    pub(crate) offered: &'a [(f64, f64)],
    pub(crate) to: &'a mut Vec<f64>,
}

impl WithSimd for &mut JoinUnits<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let offered = self.offered.iter().map(|&(square, fourth)| unit(square, fourth));
        self.to.clear();
        self.to.extend(self.logged.iter().zip(offered).map(|(logged, offered)| logged.max(offered)));
    }
}

/// `Σ(x/u)²` with the columns' units u, as vectors of the machine.
pub(crate) struct SquareInUnits<'a> {
    pub(crate) features: &'a [f64],
    pub(crate) units: &'a [f64],
}

impl WithSimd for &mut SquareInUnits<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut sums = [0.0; LANES];
        let (features, last) = self.features.as_chunks::<LANES>();
        let (units, rest) = self.units.as_chunks::<LANES>();
        for (x, unit) in features.iter().zip(units) {
            for lane in 0..LANES {
                let share = x[lane] / unit[lane];
                sums[lane] += share * share;
            }
        }
        for (sum, (x, unit)) in sums.iter_mut().zip(last.iter().zip(rest)) {
            *sum += (x / unit) * (x / unit);
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_powers_are_the_same_in_any_order_and_right() {
        let mut values: Vec<f64> =
            (0..37).map(|i| f64::from(i * i % 101).sin() * 10f64.powi(i % 7)).collect();
        let powers = |values: &[f64]| powers(values.iter().map(|&value| [value, 2.0 * value, 0.0]));
        let [(square, fourth), twice, none] = powers(&values);
        assert_eq!((twice, none), ((4.0 * square, 16.0 * fourth), (0.0, 0.0)));
        let plain = |power: i32| values.iter().map(|value| value.powi(power)).sum::<f64>();
        assert!((square / plain(2) - 1.0).abs() < 1e-13 && (fourth / plain(4) - 1.0).abs() < 1e-13);
        for turn in 1..37 {
            values.rotate_left(turn);
            values.swap(3, turn);
            assert_eq!(powers(&values)[0], (square, fourth));
        }
    }
}
