//! How the pilot's errors are spread: the cluster jackknife, which is HC3 where every row is on its own.
//!
//! ```text
//! u_c = X_cᵀ (I - H_cc)⁻¹ e_c       V = A⁻¹ (Σ_c u_c u_cᵀ) A⁻¹ (G - 1)/G        (CR3)
//! ```
//!
//! `A⁻¹u_c` is what leaving cluster c out changes. Rows are whitened first, z = Wᵀx with W Wᵀ = A⁻¹, so that A
//! is the identity and the middle of V is V.

use crate::{Matrix, Vector};
use nalgebra::Cholesky;

use crate::fit::{Fit, Units, quotient};
use crate::live::Rows;

/// 1 - leverage below which a cluster decides an axis alone.
const ALONE: f64 = 1e-8;

/// Rows without rounds are taken this many at a time.
const BLOCK: usize = 256;

/// Covariance of whitened coefficients, and what is known about it.
#[derive(Debug, Clone)]
pub(crate) struct Spread {
    /// V for whitened rows.
    pub(crate) covariance: Matrix,
    /// Axes that one cluster decides alone: leaving it out leaves nothing to compare with.
    alone: Vec<Vector>,
    /// Degrees of freedom of each contrast's variance.
    pub(crate) freedom: Vec<f64>,
}

impl Spread {
    /// Equal and independent errors: V = σ² A⁻¹.
    pub(crate) fn even(fit: &Fit, contrasts: usize) -> Self {
        Self {
            covariance: Matrix::identity(fit.rank(), fit.rank()) * fit.resolved.powi(2),
            alone: Vec::new(),
            freedom: vec![fit.freedom(); contrasts],
        }
    }

    /// From the rows. `contrasts` holds whitened contrasts Wᵀc as columns.
    pub(crate) fn of(rows: Rows<'_>, fit: &Fit, units: &Units, mut contrasts: Matrix) -> Self {
        for mut column in contrasts.column_iter_mut() {
            let norm = column.norm();
            column /= if norm > 0.0 { norm } else { 1.0 };
        }
        let covariance = Matrix::zeros(fit.rank(), fit.rank());
        let mut spread = Self { covariance, alone: Vec::new(), freedom: Vec::new() };
        let mut sums = vec![Sums::default(); contrasts.ncols()];
        let mut add = |(omegas, moved): (Matrix, Matrix)| {
            for ((sums, omegas), moved) in sums.iter_mut().zip(omegas.column_iter()).zip(moved.column_iter())
            {
                omegas.iter().zip(moved.iter()).for_each(|(omega, moved)| sums.add(*omega, moved * moved));
            }
        };
        let mut order: Vec<usize> = (0..rows.rewards.len()).collect();
        let mut most = fit.freedom();
        if let Some(rounds) = rows.rounds {
            order.sort_by_key(|&row| rounds[row]);
            let mut clusters = 0.0f64;
            for cluster in order.chunk_by(|&a, &b| rounds[a] == rounds[b]) {
                let (z, errors) = whitened(rows, cluster, fit, units);
                add(spread.cluster(&z, &errors, &contrasts));
                clusters += 1.0;
            }
            spread.covariance *= (clusters - 1.0).max(0.0) / clusters.max(1.0);
            most = most.min(clusters - 1.0);
        } else {
            for block in order.chunks(BLOCK) {
                let (z, errors) = whitened(rows, block, fit, units);
                add(spread.rows(z, &errors, &contrasts));
            }
        }
        spread.freedom = sums.iter().map(|sums| sums.freedom(most.max(0.0))).collect();
        spread
    }

    /// Whether one cluster alone decides a part of a whitened contrast that matters.
    pub(crate) fn rests_on_one(&self, contrast: &Vector) -> bool {
        let share: f64 = self.alone.iter().map(|axis| axis.dot(contrast).powi(2)).sum();
        share > 0.01 * contrast.norm_squared()
    }

    /// Rows that are clusters of their own: u = z e / (1 - h) with h = zᵀz. Returns ω = (cᵀz)² / (1 - h) and cᵀu of
    /// each row and contrast, which have length 1.
    fn rows(&mut self, mut z: Matrix, errors: &Vector, contrasts: &Matrix) -> (Matrix, Matrix) {
        let mut projected = &z * contrasts;
        for i in 0..z.nrows() {
            let slack = 1.0 - z.row(i).norm_squared();
            let mut factor = 0.0;
            if slack > ALONE {
                factor = errors[i] / slack;
                projected.row_mut(i).scale_mut(slack.sqrt().recip());
            } else {
                self.alone.push(z.row(i).transpose().normalize());
                projected.row_mut(i).fill(0.0);
            }
            z.row_mut(i).scale_mut(factor);
        }
        self.covariance.gemm_tr(1.0, &z, &z, 1.0);
        (projected.map(|entry| entry * entry), z * contrasts)
    }

    /// Rows of one round. Returns ω and cᵀu of each contrast.
    fn cluster(&mut self, z: &Matrix, errors: &Vector, contrasts: &Matrix) -> (Matrix, Matrix) {
        let (n, k) = z.shape();
        // The small one of two equal forms: (I - ZZᵀ)⁻¹ on rows, or (I - ZᵀZ)⁻¹ on coefficients.
        let by_rows = n <= k;
        let (slack, projected, moment) = if by_rows {
            (Matrix::identity(n, n) - z * z.transpose(), z * contrasts, errors.clone())
        } else {
            (Matrix::identity(k, k) - z.tr_mul(z), contrasts.clone(), z.tr_mul(errors))
        };
        let (solved, halves) = match Cholesky::new(slack.clone()) {
            Some(factor) if factor.l_dirty().diagonal().min().powi(2) > ALONE => {
                let mut halves = projected;
                factor.l_dirty().solve_lower_triangular_mut(&mut halves);
                (factor.solve(&moment), halves)
            }
            _ => {
                // What this cluster decides alone has no residual; the rest is solved on its own.
                let eigen = slack.symmetric_eigen();
                for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
                    if *value <= ALONE {
                        let axis = if by_rows { z.tr_mul(&vector) } else { vector.into_owned() };
                        self.alone.push(axis.normalize());
                    }
                }
                let inverse = eigen.eigenvalues.map(|value| if value > ALONE { value.recip() } else { 0.0 });
                let turned = eigen.eigenvectors.tr_mul(&moment).component_mul(&inverse);
                let mut halves = eigen.eigenvectors.tr_mul(&projected);
                for (mut row, inverse) in halves.row_iter_mut().zip(inverse.iter()) {
                    row *= inverse.sqrt();
                }
                (eigen.eigenvectors * turned, halves)
            }
        };
        let u = if by_rows { z.tr_mul(&solved) } else { solved };
        self.covariance.ger(1.0, &u, &u, 1.0);
        // ω = cᵀZᵀ(I - ZZᵀ)⁻¹Zc = cᵀ(I - ZᵀZ)⁻¹c - 1 for a c of length 1.
        let omegas = Matrix::from_fn(1, halves.ncols(), |_, j| {
            let squares = halves.column(j).norm_squared();
            if by_rows { squares } else { (squares - 1.0).max(0.0) }
        });
        let moved = u.tr_mul(contrasts);
        (omegas, Matrix::from_row_slice(1, moved.len(), moved.as_slice()))
    }
}

/// Sums over the clusters for one contrast, whose variance is Σ (cᵀu)².
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    omega: f64,
    omega_squared: f64,
    square: f64,
    square_squared: f64,
}

impl Sums {
    fn add(&mut self, omega: f64, square: f64) {
        self.omega += omega;
        self.omega_squared += omega * omega;
        self.square += square;
        self.square_squared += square * square;
    }

    /// Degrees of freedom, the smaller of two numbers of clusters. Few of them may carry the contrast by their
    /// features: (Σ ω)² / Σ ω² of them, one of which the mean takes up, as in Bell and McCaffrey; ω is the variance
    /// of cᵀu if errors are equal and independent. And few may carry it by their rewards: with m = (Σ (cᵀu)²)² / Σ (cᵀu)⁴
    /// and n clusters, the kurtosis is n/m, and a variance of such errors has 2n/(n/m - 1) degrees of freedom: n for normal
    /// errors, about 4 of a hundred rows with two clicks.
    fn freedom(&self, most: f64) -> f64 {
        let clusters = quotient(self.omega * self.omega, self.omega_squared);
        let telling = quotient(self.square * self.square, self.square_squared);
        let by_rewards = if 0.0 < telling && telling < clusters {
            2.0 * clusters * telling / (clusters - telling)
        } else {
            f64::INFINITY
        };
        (clusters - 1.0).min(by_rewards).clamp(0.0, most)
    }
}

/// Whitened rows and their residuals.
fn whitened(rows: Rows<'_>, which: &[usize], fit: &Fit, units: &Units) -> (Matrix, Vector) {
    let d = units.columns.len();
    let x = Matrix::from_fn(which.len(), d, |i, j| rows.features[which[i] * d + j] / units.columns[j]);
    let rewards = Vector::from_fn(which.len(), |i, _| rows.rewards[which[i]] / units.reward);
    let errors = rewards - &x * &fit.estimate;
    (x * &fit.whitening, errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use truenorth::RidgeStatistic;

    fn noise(rng: &mut Xoshiro256PlusPlus) -> f64 {
        rng.random::<f64>() + rng.random::<f64>() - 1.0
    }

    struct Example {
        features: Vec<f64>,
        rewards: Vec<f64>,
        rounds: Vec<usize>,
    }

    fn example(n: usize, d: usize, rounds: usize) -> Example {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let features: Vec<f64> = (0..n * d).map(|_| noise(&mut rng)).collect();
        let rewards = features.chunks(d).map(|x| x[0] + noise(&mut rng) * (1.0 + x[0].abs())).collect();
        Example { features, rewards, rounds: (0..n).map(|i| (i * 7) % rounds).collect() }
    }

    fn fitted(
        example: &Example,
        d: usize,
        keep: impl Fn(usize) -> bool,
        units: Option<&Units>,
    ) -> (Fit, Units) {
        let mut data = RidgeStatistic::new(d).unwrap();
        for (i, x) in example.features.chunks(d).enumerate().filter(|(i, _)| keep(*i)) {
            data.observe(x, example.rewards[i]).unwrap();
        }
        let units = units.cloned().unwrap_or_else(|| Units::of(&data, None, 1.0));
        (Fit::new(&data, &units), units)
    }

    /// Σ_c (θ₍₋c₎ - θ)(θ₍₋c₎ - θ)ᵀ, by leaving every cluster out in turn.
    fn jackknife(example: &Example, d: usize, cluster: impl Fn(usize) -> usize, clusters: usize) -> Matrix {
        let (all, units) = fitted(example, d, |_| true, None);
        let mut sum = Matrix::zeros(d, d);
        for left_out in 0..clusters {
            let (without, _) = fitted(example, d, |i| cluster(i) != left_out, Some(&units));
            let change = without.estimate - &all.estimate;
            sum.ger(1.0, &change, &change, 1.0);
        }
        sum
    }

    fn compare(example: &Example, d: usize, rounds: Option<&[usize]>, expected: &Matrix) {
        let (fit, units) = fitted(example, d, |_| true, None);
        let contrasts = fit.whitening.transpose();
        let rows = Rows { features: &example.features, rewards: &example.rewards, rounds };
        let spread = Spread::of(rows, &fit, &units, contrasts);
        let found = &fit.whitening * &spread.covariance * fit.whitening.transpose();
        assert!((&found - expected).amax() < 1e-10 * expected.amax(), "{found} against {expected}");
        assert!(spread.alone.is_empty());
    }

    #[test]
    fn hc3_is_leaving_every_row_out_in_turn() {
        let (n, d) = (600, 3);
        let example = example(n, d, 1);
        compare(&example, d, None, &jackknife(&example, d, |i| i, n));
    }

    #[test]
    fn cr3_is_leaving_every_cluster_out_in_turn() {
        // Clusters smaller and larger than the number of features take the two forms.
        for (n, d, g) in [(60, 4, 20), (60, 4, 8), (40, 1, 9)] {
            let example = example(n, d, g);
            let expected = jackknife(&example, d, |i| example.rounds[i], g) * ((g as f64 - 1.0) / g as f64);
            compare(&example, d, Some(&example.rounds), &expected);
        }
    }

    #[test]
    fn clusters_that_decide_an_axis_alone_are_told() {
        // The second feature is there in one row, or one round, only.
        for rounds in [None, Some(vec![0, 0, 1, 1, 2, 2, 2]), Some(vec![3, 0, 1, 1, 2, 3, 3])] {
            let mut features = vec![0.0; 14];
            for i in 0..7 {
                features[2 * i] = 1.0;
            }
            features[1] = 1.0;
            let rewards = vec![5.0, 1.0, 2.0, 1.5, 0.5, 1.2, 0.9];
            let example = Example { features, rewards, rounds: Vec::new() };
            let (fit, units) = fitted(&example, 2, |_| true, None);
            let contrasts = fit.whitening.transpose();
            let rows =
                Rows { features: &example.features, rewards: &example.rewards, rounds: rounds.as_deref() };
            let spread = Spread::of(rows, &fit, &units, contrasts.clone());
            assert_eq!(spread.alone.len(), 1);
            assert!(spread.rests_on_one(&contrasts.column(1).into_owned()));
            assert!(!spread.rests_on_one(&contrasts.column(0).into_owned()));
            assert!(spread.covariance.iter().all(|entry| entry.is_finite()));
        }
    }

    #[test]
    fn degrees_of_freedom_are_those_of_the_rows_that_matter() {
        // An indicator in 4 of 400 rows: as a mean of 4.
        let mut example = example(400, 2, 1);
        for (i, x) in example.features.chunks_mut(2).enumerate() {
            (x[0], x[1]) = (1.0, f64::from(u8::from(i % 100 == 0)));
        }
        let (fit, units) = fitted(&example, 2, |_| true, None);
        let rows = Rows { features: &example.features, rewards: &example.rewards, rounds: None };
        let spread = Spread::of(rows, &fit, &units, fit.whitening.transpose());
        // Of the others it is the kurtosis of 400 errors that tells, which is known roughly.
        assert!((spread.freedom[1] - 3.0).abs() < 0.1 && spread.freedom[0] > 250.0, "{:?}", spread.freedom);
    }
}
