//! The likelihood of the drift as a quadratic form of all columns.

use super::models::{Likelihood, Posterior, Spread};
use crate::dense::{self, Matrix, Vector};
use crate::error::Result;

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

/// S as it is; for more columns, its root R, lower triangular: S = RᵀR; or, with few columns in W and the deviations D of the prior,
/// what is left of it: S = D(I - WWᵀ)D.
pub(crate) enum Covariance {
    Itself(Matrix),
    Root(Matrix),
    Left(Vector, Matrix),
}

impl Likelihood for Whole {
    type Covariance = Covariance;

    fn posterior(&self, added: &[f64], natural: &[f64]) -> Result<Posterior<Covariance>> {
        let mut precision = self.q.clone();
        added.iter().enumerate().for_each(|(j, added)| precision[(j, j)] += added);
        let natural = &self.h + Vector::from_column_slice(natural);
        let factor = dense::cholesky("the precision of the drift", &precision)?;
        let mean = dense::solve_from_factor(&factor, &natural);
        let log_weight = natural.dot(&mean) - dense::log_det_from_factor(&factor);
        let root = dense::invert_lower(&factor);
        if mean.len() <= FEW {
            let covariance = dense::square_of_lower(&root);
            let variances = covariance.diagonal();
            return Ok(Posterior { mean, log_weight, variances, covariance: Covariance::Itself(covariance) });
        }
        let squares = root.column_iter().map(|column| column.norm_squared());
        let variances = Vector::from_iterator(mean.len(), squares);
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
        let square = dense::symmetric_product(&transposed, &scaled);
        let rank = square.nrows();
        let factor = dense::cholesky("the precision of the drift", &(square + Matrix::identity(rank, rank)))?;
        let w = dense::lower_product(&dense::invert_lower(&factor), &transposed).transpose();
        let natural = (&self.h + Vector::from_column_slice(natural)).component_mul(&deviations);
        let mean = (&natural - &w * w.tr_mul(&natural)).component_mul(&deviations);
        let prior: f64 = precision.iter().map(|precision| precision.ln()).sum();
        let log_weight =
            natural.dot(&mean.component_div(&deviations)) - dense::log_det_from_factor(&factor) - prior;
        let mut variances = Vector::from_element(side, 1.0);
        for column in w.column_iter() {
            variances.zip_apply(&column, |variance, entry| *variance -= entry * entry);
        }
        variances.zip_apply(&deviations, |variance, deviation| *variance *= deviation * deviation);
        Ok(Posterior { mean, log_weight, variances, covariance: Covariance::Left(deviations, w) })
    }

    fn column(&self, covariance: &Covariance, j: usize) -> Vector {
        covariance.column(j)
    }
}

impl Covariance {
    /// S_j.
    fn column(&self, j: usize) -> Vector {
        match self {
            Self::Itself(covariance) => covariance.column(j).into_owned(),
            Self::Root(root) => {
                let rows = root.rows_range(j..);
                rows.tr_mul(&rows.column(j))
            }
            Self::Left(deviations, w) => {
                let mut column = -(w * w.row(j).transpose());
                column[j] += 1.0;
                column.component_mul(deviations) * deviations[j]
            }
        }
    }
}

impl Spread<Covariance> {
    /// As one matrix of this side. O(d³).
    pub(crate) fn matrix(&self, side: usize) -> Matrix {
        let mut sum = Matrix::zeros(side, side);
        for (weight, covariance) in &self.starts {
            match &**covariance {
                Covariance::Itself(covariance) => sum += covariance * *weight,
                Covariance::Root(root) => sum += dense::square_of_lower(root) * *weight,
                Covariance::Left(deviations, w) => {
                    let mut scaled = w.clone();
                    for mut column in scaled.column_iter_mut() {
                        column.component_mul_assign(deviations);
                    }
                    sum -= dense::symmetric_product(&scaled, &scaled.transpose()) * *weight;
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
        let terms = Matrix::from_fn(side, columns, |i, k| self.terms[k].1[i]);
        let weighted = Matrix::from_fn(columns, side, |k, j| self.terms[k].0 * self.terms[k].1[j]);
        sum + dense::symmetric_product(&terms, &weighted)
    }
}
