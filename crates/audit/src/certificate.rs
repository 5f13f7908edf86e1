//! A bound on the drift, from what the pilot found or from what is stated.

use crate::drift::Tested;
use crate::fit::Units;
use crate::view::CertificateView;

/// Budgets outside of this are refused by certificates.
const BUDGETS: (f64, f64) = (1e-20, 1e20);

/// After a pilot: v_j = |Δ_j| + c se_j with the critical value c of all features together, M = diag(1/v²), and
/// ρ what the drift's length in M stays below with probability 1 - level; ρ = √d would hold the whole box of
/// these budgets, but features seldom reach their budgets all at once.
///
/// Features that could not be tested get `rest`, in the units of the files, and count in full.
pub(crate) fn measured(tested: &Tested, units: &Units, rest: f64) -> CertificateView {
    let d = tested.findings.len();
    let budget = |j: usize| {
        let raw = match &tested.findings[j] {
            Some(finding) => (finding.drift.abs() + finding.width) * units.raw(j),
            None => rest,
        };
        // What a policy is given is for scaled features: v / scale.
        (raw / units.scale).clamp(BUDGETS.0, BUDGETS.1) * units.scale
    };
    let mut matrix = vec![vec![0.0; d]; d];
    for (j, row) in matrix.iter_mut().enumerate() {
        row[j] = budget(j).powi(-2);
    }
    let untested = (d - tested.count()) as f64;
    CertificateView { matrix, rho: (tested.length.powi(2) + untested).sqrt() }
}

/// Without a pilot: M = I and ρ the stated length.
pub(crate) fn stated(dimension: usize, drift: f64) -> CertificateView {
    let row = |i: usize| (0..dimension).map(|j| f64::from(u8::from(i == j))).collect();
    CertificateView { matrix: (0..dimension).map(row).collect(), rho: drift }
}
