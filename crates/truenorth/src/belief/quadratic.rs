//! The likelihood of the drift as a quadratic form of all columns.

use super::stepped::{Likelihood, Posterior, Spread};
use crate::dense::{self, Beside, Matrix, Vector};
use crate::error::Result;
use crate::kernel;
use crate::spare;

/// `hᵀw - ½ wᵀQw`.
pub(crate) struct Whole {
    pub(crate) q: Matrix,
    pub(crate) h: Vector,
}

/// The same with `Q = YYᵀ` of few columns.
pub(crate) struct Thin {
    /// Y.
    pub(crate) root: Matrix,
    pub(crate) h: Vector,
}

/// Columns up to which a covariance is worth while that few may ask for.
const FEW: usize = 64;

/// S as it is; for more columns, its root U, upper triangular: S = UUᵀ; or, with few columns in W and the deviations D of the prior,
/// what is left of it: S = D(I - WWᵀ)D.
pub(crate) enum Covariance {
    Itself(Matrix),
    Root(Matrix),
    Left(Vector, Matrix),
}

impl Likelihood for Whole {
    type Covariance = Covariance;

    fn posterior(&self, added: &[f64], natural: &[f64]) -> Result<Posterior<Covariance>> {
        let mut precision = spare::lower(&self.q);
        added.iter().enumerate().for_each(|(j, added)| precision[(j, j)] += added);
        let natural = &self.h + Vector::from_column_slice(natural);
        let (factor, root) = dense::roots("the precision of the drift", precision)?;
        let mean = dense::solve_from_roots((&factor, &root), &natural);
        let log_weight = natural.dot(&mean) - dense::log_det_from_factor(&factor);
        spare::keep([factor]);
        if mean.len() <= FEW {
            let covariance = dense::symmetric_product((&root, true), (&root, true));
            let variances = covariance.diagonal();
            return Ok(Posterior { mean, log_weight, variances, covariance: Covariance::Itself(covariance) });
        }
        let variances = dense::diagonal_from_root(&root);
        Ok(Posterior { mean, log_weight, variances, covariance: Covariance::Root(root) })
    }

    fn column(&self, covariance: &Covariance, j: usize) -> Vector {
        covariance.column(j)
    }
}

impl Likelihood for Thin {
    type Covariance = Covariance;

    fn posterior(&self, precision: &[f64], natural: &[f64]) -> Result<Posterior<Covariance>> {
        let side = precision.len();
        let deviations = Vector::from_fn(side, |j, _| precision[j].sqrt().recip());
        let mut scaled = self.root.clone();
        for mut column in scaled.column_iter_mut() {
            column.component_mul_assign(&deviations);
        }
        let transposed = scaled.transpose();
        let mut square = dense::symmetric_product((&transposed, false), (&transposed, false));
        (0..square.nrows()).for_each(|j| square[(j, j)] += 1.0);
        let mut w = scaled;
        let beside = &mut [Beside { rows: &mut w, upper: false }];
        let factor = dense::eliminated("the precision of the drift", square, beside)?;
        let natural = (&self.h + Vector::from_column_slice(natural)).component_mul(&deviations);
        let taken = dense::combined((&w, false), 0, w.tr_mul(&natural).as_slice());
        let mean = (&natural - taken).component_mul(&deviations);
        let prior: f64 = precision.iter().map(|precision| precision.ln()).sum();
        let log_weight =
            natural.dot(&mean.component_div(&deviations)) - dense::log_det_from_factor(&factor) - prior;
        let mut variances = Vector::from_element(side, 1.0);
        let left = variances.as_mut_slice();
        kernel::wide(|| {
            for column in w.as_slice().chunks_exact(side) {
                left.iter_mut().zip(column).for_each(|(variance, entry)| *variance -= entry * entry);
            }
        });
        variances.zip_apply(&deviations, |variance, deviation| *variance *= deviation * deviation);
        Ok(Posterior { mean, log_weight, variances, covariance: Covariance::Left(deviations, w) })
    }

    fn column(&self, covariance: &Covariance, j: usize) -> Vector {
        covariance.column(j)
    }
}

impl Drop for Covariance {
    fn drop(&mut self) {
        if let Self::Root(root) = self {
            spare::keep([std::mem::take(root)]);
        }
    }
}

impl Covariance {
    /// S_j.
    fn column(&self, j: usize) -> Vector {
        match self {
            Self::Itself(covariance) => covariance.column(j).into_owned(),
            Self::Root(root) => {
                let weights: Vec<f64> = root.row(j).iter().skip(j).copied().collect();
                dense::combined((root, true), j, &weights)
            }
            Self::Left(deviations, w) => {
                let weights: Vec<f64> = w.row(j).iter().copied().collect();
                let mut column = -dense::combined((w, false), 0, &weights);
                column[j] += 1.0;
                column.component_mul(deviations) * deviations[j]
            }
        }
    }
}

impl Spread<Covariance> {
    /// As one matrix of this side. O(d³).
    pub(crate) fn matrix(&self, side: usize) -> Matrix {
        let mut sum = spare::zeros(side, side);
        for (weight, covariance) in &self.starts {
            match &**covariance {
                Covariance::Itself(covariance) => sum += covariance * *weight,
                Covariance::Root(root) => dense::add_symmetric(&mut sum, *weight, (root, true), (root, true)),
                Covariance::Left(deviations, w) => {
                    let mut scaled = w.clone();
                    for mut column in scaled.column_iter_mut() {
                        column.component_mul_assign(deviations);
                    }
                    dense::add_symmetric(&mut sum, -weight, (&scaled, false), (&scaled, false));
                    for (j, deviation) in deviations.iter().enumerate() {
                        sum[(j, j)] += weight * deviation * deviation;
                    }
                }
            }
        }
        if side <= FEW {
            self.terms.iter().for_each(|(weight, vector)| sum.ger(*weight, vector, vector, 1.0));
            return sum;
        }
        let columns = self.terms.len();
        let mut terms = spare::zeros(side, columns);
        for (mut column, (_, vector)) in terms.column_iter_mut().zip(&self.terms) {
            column.copy_from(vector);
        }
        let mut weighted = spare::copied(&terms);
        for (mut column, (weight, _)) in weighted.column_iter_mut().zip(&self.terms) {
            column *= *weight;
        }
        dense::add_symmetric(&mut sum, 1.0, (&terms, false), (&weighted, false));
        spare::keep([terms, weighted]);
        dense::mirror_up(&mut sum);
        sum
    }
}
