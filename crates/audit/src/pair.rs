//! Two coefficients for a picture: the two that moved most, or the two that the logs know least.

use crate::{Matrix, Vector};

use crate::drift::{Comparison, Family};
use crate::fit::{Fit, Units, length};
use crate::spectrum::Spectrum;
use crate::view::{CertificateView, Pair, PairEstimate};

/// The two features with the largest |Δ| / se. None where fewer than two are tested.
pub(crate) fn moved_most(
    names: &[String],
    family: &Family,
    both: &Comparison<'_>,
    certificate: &CertificateView,
) -> Option<Pair> {
    let score = |j: usize| family.measured[j].map(|found| found.drift.abs() / found.stderr.max(1e-300));
    let mut order: Vec<(usize, f64)> = (0..names.len()).filter_map(|j| Some((j, score(j)?))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let &[(first, _), (second, _), ..] = order.as_slice() else { return None };
    let which = [first, second];
    Pair {
        names: which.map(|j| names[j].clone()),
        logs: estimate(family, which, &both.logs.estimate, |contrasts| both.logged(contrasts)),
        live: Some(estimate(family, which, &both.pilot.estimate, |contrasts| both.live(contrasts))),
        // ρ √(M⁻¹)_jj of a diagonal M.
        budgets: which.map(|j| certificate.rho / certificate.matrix[j][j].sqrt()),
    }
    .finite()
}

/// The two directions that the logs cover least, of those that they cover at all. M is the identity.
pub(crate) fn known_least(
    names: &[String],
    family: &Family,
    spectrum: &Spectrum,
    logs: &Fit,
    (units, certificate): (&Units, &CertificateView),
) -> Option<Pair> {
    logs.noise?;
    let covered =
        |k: &usize| spectrum.values[*k] > 0.0 && logs.identifies(family.weights.column(*k).as_slice());
    let covered: Vec<usize> = (0..names.len()).filter(covered).collect();
    let &[.., second, first] = covered.as_slice() else { return None };
    let which = [first, second];
    let covariance = |contrasts: &Matrix| {
        let root = logs.whitening.tr_mul(contrasts) * logs.resolved;
        root.tr_mul(&root)
    };
    let name = |k: usize| {
        let leading = spectrum.vectors.column(k).icamax();
        format!("direction {} (mostly {})", k + 1, names[leading])
    };
    Pair {
        names: which.map(name),
        logs: estimate(family, which, &logs.estimate, covariance),
        live: None,
        budgets: which.map(|k| {
            // ρ √(cᵀc) for the contrast c of raw coefficients, of an M that is the identity.
            let raw: Vec<f64> =
                (0..names.len()).map(|j| spectrum.vectors[(j, k)] * units.reward / units.raw(j)).collect();
            certificate.rho * length(&raw)
        }),
    }
    .finite()
}

/// Two combinations of coefficients in the units of the files.
fn estimate(
    family: &Family,
    which: [usize; 2],
    coefficients: &Vector,
    covariance: impl Fn(&Matrix) -> Matrix,
) -> PairEstimate {
    let weights = family.weights.select_columns(&which);
    let (raw, between) = (which.map(|k| family.raw[k]), covariance(&weights));
    let sized = |i: usize, j: usize| raw[i] * between[(i.min(j), i.max(j))] * raw[j];
    PairEstimate {
        estimate: [0, 1].map(|i| raw[i] * weights.column(i).dot(coefficients)),
        covariance: [0, 1].map(|i| [0, 1].map(|j| sized(i, j))),
    }
}

impl Pair {
    /// Itself, unless a number overflows.
    fn finite(self) -> Option<Self> {
        let parts = [Some(self.logs), self.live].into_iter().flatten();
        let numbers = parts.flat_map(|part| [part.estimate, part.covariance[0], part.covariance[1]]);
        numbers.chain([self.budgets]).flatten().all(f64::is_finite).then_some(self)
    }
}
