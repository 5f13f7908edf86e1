//! A precision matrix and its estimate, kept current by rank-one updates in O(d²).
//!
//! For `V = W + Σ x xᵀ` and a prior mean `θ₀` with weight `W`, the state is
//!
//! ```text
//! L    lower triangular, V⁻¹ = LᵀL          (the inverse of V's Cholesky factor)
//! Fᵀ   lower triangular, one for each map N, ‖F L x‖ = ‖N V⁻¹ x‖ for every x
//! z    the estimate θ̂ = V⁻¹(Wθ₀ + Σ x r), whitened: θ̂ = Lᵀz, so that xᵀθ̂ = (Lx)ᵀz
//! ℓ    log det V - log det W
//! ```
//!
//! Why the inverse factor, and not the inverse? `x ↦ Lx` has the square root of V's condition number,
//! so the quadratic form `‖Lx‖²` keeps its digits where `xᵀV⁻¹x` loses them; triangles halve the
//! memory and the flops; and because an update multiplies `U = Lᵀ` from the right by an upper
//! triangular K (Carlson's square-root update), every `F` stays triangular with it. With `v = Lx`,
//!
//! ```text
//! KKᵀ = I - vvᵀ/(1 + ‖v‖²),    U ← UK,    F ← FK,    z ← Kᵀ(z + r v),    ℓ ← ℓ + log(1 + ‖v‖²)
//! ```
//!
//! The estimate is never corrected by a gain that has lost its digits: z does without one.

use crate::belief::{Gaussian, Shape};
use crate::dense::{self, Matrix, Vector};
use crate::error::Result;
use crate::kernel::{self, Absorb, AbsorbMany, Carried};
use crate::spare;
use crate::statistic::RidgeStatistic;
use crate::triangle::Triangle;

/// Inverse Cholesky factor, maps, estimate and log-determinant of one layer's branch.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Precision {
    /// L.
    pub(crate) factor: Triangle,
    /// Every Fᵀ.
    pub(crate) maps: Vec<Triangle>,
    /// z.
    pub(crate) whitened_estimate: Vec<f64>,
    /// ℓ is this and the logarithm of `growth`: logarithms are taken when they are needed.
    log_det_growth: f64,
    growth: f64,
}

/// Growth of det V at which its logarithm is taken; one reward may multiply it by 1e200 at most.
const LARGEST_GROWTH: f64 = 1e50;

impl Precision {
    /// `W = diag λ`, `θ₀ = 0`.
    pub(crate) fn ridge(ridge: &Vector) -> Self {
        let entry = |i: usize, j: usize| if i == j { ridge[i].sqrt().recip() } else { 0.0 };
        Self::new(Triangle::from_fn(ridge.len(), entry), vec![0.0; ridge.len()])
    }

    fn new(factor: Triangle, whitened_estimate: Vec<f64>) -> Self {
        Self { factor, maps: Vec::new(), whitened_estimate, log_det_growth: 0.0, growth: 1.0 }
    }

    /// `V = W + A` with all of `data` absorbed at once, and one F for each of `maps`. O(d³).
    pub(crate) fn assemble(
        weight: &Matrix,
        prior: &[f64],
        data: &RidgeStatistic,
        maps: &[Matrix],
    ) -> Result<Self> {
        let (precision, prior) = (weight + data.gram_matrix(), Vector::from_column_slice(prior));
        let cholesky = dense::cholesky("the pooled precision", &precision)?;
        // θ₀ + V⁻¹(b - Aθ₀): exactly θ₀ without data.
        let residual = Vector::from_column_slice(data.moment()) - data.gram_matrix() * &prior;
        let estimate = &prior + dense::solve_from_factor(&cholesky, &residual);
        let before = dense::log_det_from_factor(&dense::cholesky("the pooling weight", weight)?);
        let factor = Triangle::from_matrix(&dense::invert_lower(&cholesky));
        let assembled = Self {
            log_det_growth: dense::log_det_from_factor(&cholesky) - before,
            ..Self::new(factor, cholesky.tr_mul(&estimate).as_slice().to_vec())
        };
        Ok(assembled.with_maps(maps))
    }

    /// A Gaussian belief about the live parameter: `V = σ² covariance⁻¹`. O(d³).
    pub(crate) fn from_belief(belief: &Gaussian, variance: f64) -> Result<Self> {
        let scale = variance.sqrt().recip();
        let (factor, whitened) = match &belief.shape {
            // L is its transpose.
            Shape::Root(root, whitened) => (Triangle::from_upper(root, scale), whitened / scale),
            // L is lower triangular with LᵀL = V⁻¹; the Cholesky factor of V⁻¹ turned by 180° is Lᵀ, turned.
            Shape::Covariance(covariance) => {
                let (side, factor) = (covariance.nrows(), variance.recip());
                let mut turned = spare::any(side, side);
                let both = turned.as_mut_slice().iter_mut().zip(covariance.as_slice().iter().rev());
                both.for_each(|(to, from)| *to = from * factor);
                let factor = dense::eliminated("the covariance of the belief", turned, &mut [])?;
                let mut whitened = Vector::from_iterator(side, belief.mean.iter().rev().copied());
                dense::solve_lower(&factor, &mut whitened);
                whitened.as_mut_slice().reverse();
                let turned = Triangle::from_turned(&factor);
                spare::keep([factor]);
                (turned, whitened)
            }
        };
        let fresh = Self::new(factor, whitened.as_slice().to_vec());
        Ok(Self { log_det_growth: belief.growth, ..fresh })
    }

    /// The same state with other maps N, whose `‖N V⁻¹ x‖` is tracked. O(d³).
    ///
    /// `NV⁻¹x = (NU)(Lx)`, and the triangular factor F of `NU = QF` gives the same norms without
    /// forming a Gram matrix, which would square the condition number.
    pub(crate) fn with_maps(&self, maps: &[Matrix]) -> Self {
        let upper = self.factor.to_triangular().transpose();
        let maps =
            maps.iter().map(|map| Triangle::from_matrix(&(map * &upper).qr().r().transpose())).collect();
        Self { maps, ..self.clone() }
    }

    /// Adds the features that a `fresh` one of more features has last. W has no entry for one of these and one of the
    /// others, so L and F have none either, and what is known of the others stays as it is, to the last bit. O(d²).
    pub(crate) fn grow(&mut self, fresh: &Self) {
        let before = self.whitened_estimate.len();
        let widened = |old: &Triangle, fresh: &Triangle| {
            Triangle::from_fn(fresh.dimension, |i, j| match (i < before, j < before) {
                (true, _) => old.get(i, j),
                (false, true) => 0.0,
                (false, false) => fresh.get(i, j),
            })
        };
        self.factor = widened(&self.factor, &fresh.factor);
        self.maps = self.maps.iter().zip(&fresh.maps).map(|(map, fresh)| widened(map, fresh)).collect();
        self.whitened_estimate.extend(&fresh.whitened_estimate[before..]);
    }

    /// Copies another one's numbers to where this one's are. There are no maps.
    pub(crate) fn become_like(&mut self, other: &Self) {
        let Self { factor, whitened_estimate, log_det_growth, growth, .. } = other;
        self.factor.dimension = factor.dimension;
        self.factor.blocks.clone_from(&factor.blocks);
        self.whitened_estimate.clone_from(whitened_estimate);
        (self.log_det_growth, self.growth) = (*log_det_growth, *growth);
    }

    /// Absorbs one observation: `V + xxᵀ`. O(d²), no allocation.
    pub(crate) fn update(&mut self, x: &[f64], reward: f64, carried: &mut Carried) {
        // det(V + xxᵀ) = det V (1 + xᵀV⁻¹x)
        self.growth *= kernel::run(&mut Absorb {
            factor: &mut self.factor,
            maps: &mut self.maps,
            estimate: &mut self.whitened_estimate,
            features: x,
            reward,
            carried,
        });
        self.settle();
    }

    /// Absorbs several observations, one after the other, as [`update`](Self::update) does, but in one pass over memory. There are
    /// no maps.
    pub(crate) fn update_many(&mut self, rows: &[(&[f64], f64)], carried: &mut Vec<Carried>) {
        if rows.is_empty() {
            return;
        }
        kernel::run(&mut AbsorbMany {
            factor: &mut self.factor,
            estimate: &mut self.whitened_estimate,
            rows,
            carried,
        });
        for carried in &carried[..rows.len()] {
            self.growth *= carried.growth;
            self.settle();
        }
    }

    fn settle(&mut self) {
        if self.growth > LARGEST_GROWTH {
            self.log_det_growth += self.growth.ln();
            self.growth = 1.0;
        }
    }

    /// Measures a column that nothing is known of in another unit: its prior weight becomes that of `unit` times the
    /// column. L has no other entry in its row and column, F stays as it is, and z is 0 there.
    pub(crate) fn measure(&mut self, column: usize, unit: f64) {
        *self.factor.entry_mut(column, column) /= unit;
    }

    /// θ̂ = Lᵀz. O(d²).
    pub(crate) fn estimate(&self) -> Vec<f64> {
        let mut estimate = vec![0.0; self.whitened_estimate.len()];
        for (i, z) in self.whitened_estimate.iter().enumerate() {
            for (j, sum) in estimate[..=i].iter_mut().enumerate() {
                *sum += z * self.factor.get(i, j);
            }
        }
        estimate
    }

    /// V⁻¹ = LᵀL. O(d³).
    pub(crate) fn inverse(&self) -> Matrix {
        let factor = self.factor.to_triangular();
        factor.tr_mul(&factor)
    }

    /// log det V - log det W.
    pub(crate) fn log_det_growth(&self) -> f64 {
        self.log_det_growth + self.growth.ln()
    }

    /// Whether sizes and numbers can be a precision's: deserialised data may be anything.
    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        let mut triangles = self.maps.iter().chain([&self.factor]);
        triangles.all(|triangle| triangle.dimension == dimension && triangle.entries().all(f64::is_finite))
            && (0..dimension).all(|i| self.factor.get(i, i) > 0.0)
            && self.whitened_estimate.len() == dimension
            && self.whitened_estimate.iter().all(|number| number.is_finite())
            && (-1e-6..f64::INFINITY).contains(&self.log_det_growth)
            && (1.0..=LARGEST_GROWTH).contains(&self.growth)
    }
}
