//! Noise and size of the coefficients, estimated from data alone.

use super::level::Leveled;
use crate::dense::{Tridiagonal, Vector};
use crate::kernel::Solved;

/// Pseudo-observations of the prior, which takes a fifth of the rewards' mean square for noise; they only matter where
/// there is next to no data.
const PRIOR: f64 = 0.5;
/// Fixed-point steps; most data need fewer than ten.
const STEPS: usize = 200;
/// The smallest ridge, as a share of the trace of A. What A's rounding says of directions that no row has would be taken for
/// coefficients below it: the larger they are, the smaller the next ridge, without end.
const SMALLEST: f64 = 1e-13;

/// What a Bayesian ridge regression needs to know before it starts.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Evidence {
    /// σ² of the rewards' noise.
    pub(crate) variance: f64,
    /// Mean square of a coefficient: the prior is θ ~ N(0, scale · I).
    pub(crate) scale: f64,
}

impl Evidence {
    /// What is assumed without data.
    pub(crate) const NONE: Self = Self { variance: 1.0, scale: 1.0 };

    /// How much wider variances are than those of a Gaussian where a scale was estimated from so many rewards: Student's,
    /// with ν + 2 degrees of freedom, ν the rewards with those of the prior.
    pub(crate) fn student(rows: f64) -> f64 {
        1.0 + 2.0 / (rows + PRIOR)
    }

    /// Maximises the marginal likelihood of `y = zᵀθ + ε`, θ ~ N(0, s I), ε ~ N(0, σ²), in (σ², s), by
    /// MacKay's fixed point. Works for any number of rows; without one, both are 1.
    ///
    /// ```text
    /// γ = Σ l_i / (l_i + σ²/s)  over the eigenvalues l_i of A        (directions that the data decide)
    /// σ² = ‖y - Zθ̂‖² / (n - γ),    s = ‖θ̂‖² / γ
    /// ```
    pub(crate) fn of(data: &Leveled) -> Self {
        let (mut gram, trace) = (Tridiagonal::default(), data.gram.trace());
        let nothing = Vector::zeros(data.moment.len());
        gram.add(data.gram.clone(), [&data.moment, &nothing]);
        let mut room = Default::default();
        let solve = |ridge| solved(&gram, ridge, false, &mut room);
        Self::found((data.free(), data.squares, trace), 0.0, data.moment.len(), solve)
    }

    /// From rows, Σr² and the trace of A, and from what regressions on `A + share ff'` with b and f leave: A itself may be a matrix in
    /// parts but for what a level takes away.
    pub(super) fn found(
        (rows, squares, trace): (f64, f64, f64),
        share: f64,
        dimension: usize,
        mut solve: impl FnMut(f64) -> Solved,
    ) -> Self {
        let (mean_square, mean_length) = (squares / rows.max(1.0), trace / rows.max(1.0));
        // Squares of tiny numbers underflow; nothing can be learned from such data.
        if mean_square < 1e-200 || mean_length < 1e-200 {
            return Self::NONE;
        }
        let mut guess = Self { variance: 0.25 * mean_square, scale: mean_square / mean_length };
        for _ in 0..STEPS {
            let ridge = (guess.variance / guess.scale).max(SMALLEST * trace);
            let Solved { mut inverse, products: [mut explained, through, known, mut length, both, level] } =
                solve(ridge);
            if share > 0.0 {
                // (A + ridge)⁻¹ = B + zz'/(1/share - f'z) with z = Bf.
                let factor = (share.recip() - known).recip();
                let moved = factor * through;
                inverse += factor * level;
                explained += moved * through;
                length += moved * (2.0 * both + moved * level);
            }
            let used = (dimension as f64 - ridge * inverse).max(0.0);
            // θ'Aθ - 2θ'b with (A + ridge)θ = b.
            let fitted = -explained - ridge * length;
            // The sums nearly cancel on noiseless data.
            let residual = (squares + fitted).max(1e-12 * squares);
            let next = Self {
                variance: (residual + PRIOR * 0.2 * mean_square) / (rows - used + PRIOR).max(PRIOR),
                scale: (length + PRIOR * mean_square / mean_length) / (used + PRIOR),
            };
            if !((next.variance / next.scale).is_finite() && next.scale.is_finite()) {
                break;
            }
            let change = (next.variance / guess.variance).ln().abs() + (next.scale / guess.scale).ln().abs();
            guess = next;
            if change < 1e-8 {
                break;
            }
        }
        // The ridge that the last step had, at least.
        Self { scale: guess.scale.min(guess.variance / (SMALLEST * trace)), ..guess }
    }
}

/// Pivots and solutions.
pub(super) type Room = [Vec<f64>; 3];

/// Regressions on a matrix of three diagonals; on its second vector only if that is asked for.
pub(super) fn solved(gram: &Tridiagonal, ridge: f64, both: bool, room: &mut Room) -> Solved {
    let ([pivots, c, z], [moment, sums]) = (room, &gram.vectors);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let inverse = gram.pivots(ridge, pivots);
    gram.solve(pivots, moment, c);
    if !both {
        return Solved { inverse, products: [dot(moment, c), 0.0, 0.0, dot(c, c), 0.0, 0.0] };
    }
    gram.solve(pivots, sums, z);
    let products = [dot(moment, c), dot(sums, c), dot(sums, z), dot(c, c), dot(c, z), dot(z, z)];
    Solved { inverse, products }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::units::Units;
    use crate::statistic::RidgeStatistic;
    use rand::SeedableRng as _;
    use rand_distr::{Distribution as _, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn sample(rows: usize, dimension: usize, noise: f64, size: f64) -> RidgeStatistic {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let theta: Vec<f64> = (0..dimension).map(|_| size * normal()).collect();
        let mut data = RidgeStatistic::new(dimension).unwrap();
        for _ in 0..rows {
            let z: Vec<f64> = (0..dimension).map(|_| normal()).collect();
            let mean: f64 = z.iter().zip(&theta).map(|(z, theta)| z * theta).sum();
            data.observe(&z, mean + noise * normal()).unwrap();
        }
        data
    }

    /// Columns as they are, without a level.
    fn evidence(data: &RidgeStatistic) -> Evidence {
        let units = Units::none(data.dimension());
        Evidence::of(&Leveled::new(data, &units, 0.0, f64::INFINITY))
    }

    #[test]
    fn finds_noise_and_size_of_the_coefficients() {
        for (rows, dimension, noise, size) in
            [(2000, 40, 0.3, 2.0), (60, 30, 0.5, 1.0), (2000, 40, 30.0, 200.0)]
        {
            let found = evidence(&sample(rows, dimension, noise, size));
            assert!((found.variance.sqrt() / noise).ln().abs() < 0.4, "{rows} {found:?}");
            assert!((found.scale.sqrt() / size).ln().abs() < 0.4, "{rows} {found:?}");
        }
    }

    #[test]
    fn fewer_rows_than_directions_give_numbers_all_the_same() {
        for rows in [0, 1, 2, 10] {
            let found = evidence(&sample(rows, 40, 0.3, 1.0));
            assert!(found.variance > 0.0 && found.variance.is_finite(), "{rows} {found:?}");
            assert!(found.scale > 0.0 && found.scale.is_finite(), "{rows} {found:?}");
        }
    }
}
