//! A bound on the drift, from what the pilot found or from what is stated.

use crate::drift::Family;
use crate::fit::Units;
use crate::view::CertificateView;

/// Budgets outside of this are refused by certificates.
const BUDGETS: (f64, f64) = (1e-20, 1e20);

/// After a pilot: v_j = |Δ_j| + c se_j with the critical value c of all features together, M = diag(1/v²), and
/// ρ what the drift's length in M stays below with probability 1 - level; ρ = √d would hold the whole box of
/// these budgets, but features seldom reach their budgets all at once.
///
/// Features that could not be tested get `rest`, in the units of the files, and count in full.
pub(crate) fn measured(features: &Family, units: &Units, rest: f64) -> CertificateView {
    let d = features.measured.len();
    let budget = |j: usize| {
        let raw = features.measured[j]
            .map_or(rest, |measured| (measured.drift.abs() + measured.width) * units.raw(j));
        // What a policy is given is for scaled features: v / scale.
        (raw / units.scale).clamp(BUDGETS.0, BUDGETS.1) * units.scale
    };
    let untested = (d - features.tested()) as f64;
    let rho = (features.length.powi(2) + untested).sqrt();
    CertificateView { matrix: diagonal(d, |j| budget(j).powi(-2)), rho }
}

/// Without a pilot: M = I and ρ the stated length.
pub(crate) fn stated(dimension: usize, drift: f64) -> CertificateView {
    CertificateView { matrix: diagonal(dimension, |_| 1.0), rho: drift }
}

fn diagonal(dimension: usize, entry: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
    let row = |i: usize| (0..dimension).map(|j| if i == j { entry(i) } else { 0.0 }).collect();
    (0..dimension).map(row).collect()
}
