//! Water-filling: the most information that a budget of features can add to the logs.
//!
//! ```text
//! Φ_G(B) = max { Σ_j log(1 + a_j / g_j) : a_j ≥ 0, Σ_j a_j ≤ B }
//!        = Σ_{g_j < τ} log(τ / g_j)      where Σ_j (τ - g_j)₊ = B              (Definition 2)
//! ```
//!
//! `g_j` are the eigenvalues of the offline precision. The budget goes where the logs know least,
//! and raises the weakest directions to one common level τ.

use truenorth::Result;

use crate::check;

/// Eigenvalues of an offline precision, all positive.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum(Vec<f64>);

/// How a budget is spread over a [`Spectrum`].
#[derive(Debug, Clone, PartialEq)]
pub struct WaterFilling {
    /// `Φ_G(B)`.
    pub value: f64,
    /// τ; the smallest eigenvalue where the budget is 0.
    pub level: f64,
    /// `a_j = (τ - g_j)₊`, in the order of the spectrum.
    pub amounts: Vec<f64>,
}

impl Spectrum {
    /// From eigenvalues in any order.
    pub fn new(eigenvalues: Vec<f64>) -> Result<Self> {
        check::length("a spectrum", eigenvalues.len().max(1), eigenvalues.len())?;
        for &eigenvalue in &eigenvalues {
            check::positive("eigenvalue", eigenvalue)?;
        }
        Ok(Self(eigenvalues))
    }

    /// Of a symmetric positive definite matrix, row by row.
    pub fn of(matrix: &[f64]) -> Result<Self> {
        let what = "the offline precision";
        let eigenvalues = check::matrix(what, matrix)?.symmetric_eigenvalues();
        // Rounding of an eigenvalue is relative to the largest one: below it, a sign means nothing.
        let floor = f64::EPSILON * eigenvalues.max();
        let eigenvalue = eigenvalues.min();
        if eigenvalue > floor {
            Self::new(eigenvalues.as_slice().to_vec())
        } else {
            Err(check::indefinite(what, eigenvalue))
        }
    }

    /// `Φ_G(B)` for the budget B, exactly, in O(d log d): try the k weakest directions for every k.
    pub fn water_filling(&self, budget: f64) -> Result<WaterFilling> {
        check::at_least_zero("budget", budget)?;
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        // Everything is measured from the lowest eigenvalue: τ/g ≈ 1 for strong logs, and
        // log(τ/g) would lose what log(1 + a/g) keeps.
        let lowest = sorted[0];
        let mut depth = 0.0;
        let mut raised = 0.0;
        for (k, eigenvalue) in sorted.iter().enumerate() {
            let above = eigenvalue - lowest;
            if k > 0 && depth <= above {
                break;
            }
            raised += above;
            depth = (budget + raised) / (k + 1) as f64;
        }
        let amounts: Vec<f64> = self.0.iter().map(|g| (depth - (g - lowest)).max(0.0)).collect();
        let value = std::iter::zip(&self.0, &amounts).map(|(g, a)| (a / g).ln_1p()).sum();
        Ok(WaterFilling { value, level: lowest + depth, amounts })
    }
}
