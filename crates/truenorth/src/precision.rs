//! A precision matrix and its estimate, kept current by rank-one updates in O(d²).
//!
//! For `V = W + Σ x xᵀ` and a prior mean `θ₀` with weight `W`, the state is
//!
//! ```text
//! L    lower triangular, V⁻¹ = LᵀL          (the inverse of V's Cholesky factor)
//! Fᵀ   lower triangular, one for each map N, ‖F L x‖ = ‖N V⁻¹ x‖ for every x
//! θ̂    V⁻¹(W θ₀ + Σ x r)
//! ℓ    log det V - log det W
//! ```
//!
//! Why the inverse factor, and not the inverse? `x ↦ Lx` has the square root of V's condition number,
//! so the quadratic form `‖Lx‖²` keeps its digits where `xᵀV⁻¹x` loses them; triangles halve the
//! memory and the flops; and because an update multiplies `U = Lᵀ` from the right by an upper
//! triangular matrix (Carlson's square-root update), every `F` stays triangular with it.

use serde::{Deserialize, Serialize};

use crate::dense::{self, Matrix, Vector};
use crate::error::Result;
use crate::kernel::{self, Column};
use crate::lower::Lower;
use crate::statistic::RidgeStatistic;

/// Inverse Cholesky factor, maps, estimate and log-determinant of one layer's branch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Precision {
    factor: Lower,
    maps: Vec<Lower>,
    estimate: Vec<f64>,
    log_det_growth: f64,
}

/// Scratch space of an update; holds no state between calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    columns: Vec<Column>,
    carried: Vec<f64>,
}

impl Scratch {
    pub(crate) fn new(dimension: usize) -> Self {
        Self { columns: vec![Column::default(); dimension], carried: vec![0.0; dimension] }
    }
}

impl Precision {
    /// `W = λI`, `θ₀ = 0`.
    pub(crate) fn ridge(dimension: usize, ridge: f64) -> Self {
        Self {
            factor: Lower::scaled_identity(dimension, ridge.sqrt().recip()),
            maps: Vec::new(),
            estimate: vec![0.0; dimension],
            log_det_growth: 0.0,
        }
    }

    /// `V = W + A` with all of `data` absorbed at once, and one F for each of `maps`. O(d³).
    pub(crate) fn assemble(
        weight: &Matrix,
        prior: &[f64],
        data: &RidgeStatistic,
        maps: &[Matrix],
    ) -> Result<Self> {
        let (precision, prior) = (weight + data.gram(), Vector::from_column_slice(prior));
        let cholesky = dense::cholesky("the pooled precision", &precision)?;
        // θ₀ + V⁻¹(b - Aθ₀): exactly θ₀ without data.
        let residual = Vector::from_column_slice(data.moment()) - data.gram() * &prior;
        let estimate = &prior + dense::solve_from_factor(&cholesky, &residual);
        let before = dense::log_det_from_factor(&dense::cholesky("the pooling weight", weight)?);
        let mut assembled = Self {
            factor: Lower::from_matrix(&dense::invert_lower(&cholesky)),
            maps: Vec::new(),
            estimate: estimate.as_slice().to_vec(),
            log_det_growth: dense::log_det_from_factor(&cholesky) - before,
        };
        assembled.set_maps(maps);
        Ok(assembled)
    }

    /// Replaces the maps N whose `‖N V⁻¹ x‖` is tracked. O(d³).
    ///
    /// `NV⁻¹x = (NU)(Lx)`, and the triangular factor F of `NU = QF` gives the same norms without
    /// forming a Gram matrix, which would square the condition number.
    pub(crate) fn set_maps(&mut self, maps: &[Matrix]) {
        let upper = self.factor.to_triangular().transpose();
        self.maps = maps.iter().map(|map| Lower::from_matrix(&(map * &upper).qr().r().transpose())).collect();
    }

    /// Absorbs one observation: `V + xxᵀ`. O(d²), no allocation.
    pub(crate) fn update(&mut self, x: &[f64], reward: f64, scratch: &mut Scratch) {
        for (j, column) in scratch.columns.iter_mut().enumerate() {
            column.whitened = kernel::dot(self.factor.row(j), x);
        }
        let squares = kernel::columns(&mut scratch.columns);
        for map in &mut self.maps {
            kernel::multiply(map, &scratch.columns, &mut scratch.carried);
        }
        // Last, because it leaves Uv = V⁻¹x behind, the direction in which the estimate moves.
        kernel::multiply(&mut self.factor, &scratch.columns, &mut scratch.carried);
        let step = (reward - kernel::dot(x, &self.estimate)) / (1.0 + squares);
        for (estimate, direction) in self.estimate.iter_mut().zip(&scratch.carried) {
            *estimate += step * direction;
        }
        self.log_det_growth += squares.ln_1p(); // det(V + xxᵀ) = det V (1 + xᵀV⁻¹x)
    }

    pub(crate) fn factor(&self) -> &Lower {
        &self.factor
    }

    pub(crate) fn maps(&self) -> &[Lower] {
        &self.maps
    }

    pub(crate) fn estimate(&self) -> &[f64] {
        &self.estimate
    }

    /// log det V - log det W.
    pub(crate) fn log_det_growth(&self) -> f64 {
        self.log_det_growth
    }

    pub(crate) fn is_consistent(&self, dimension: usize, maps: usize) -> bool {
        self.maps.len() == maps
            && self.maps.iter().chain([&self.factor]).all(|lower| lower.is_consistent(dimension))
            && self.estimate.len() == dimension
            && self.estimate.iter().all(|entry| entry.is_finite())
            && self.log_det_growth >= 0.0
    }
}
