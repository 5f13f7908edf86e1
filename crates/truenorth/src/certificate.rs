//! Directional bias certificate: how far live truth may have drifted from the logs, per direction.
//!
//! ```text
//! ‖θ_* - θ†‖ in M ≤ ρ      ⇔      |xᵀ(θ_* - θ†)| ≤ ρ ‖x‖ in M⁻¹ for every x        (Definition 1)
//! ```

use crate::check;
use crate::dense::{self, Matrix, Vector};
use crate::error::{Error, Reason, Result};

/// A symmetric positive definite matrix M and a radius ρ ≥ 0.
///
/// | constructor | what is known |
/// |---|---|
/// | [`from_matrix`](Self::from_matrix) | M and ρ themselves |
/// | [`from_budgets`](Self::from_budgets) | the largest drift of each coordinate |
/// | [`from_directions`](Self::from_directions) | the largest drift along each of some orthonormal directions |
/// | [`isotropic`](Self::isotropic) | only the length of the drift |
///
/// ```
/// use truenorth::Certificate;
///
/// // The first coefficient may have moved by 0.5, the second by 0.01.
/// let certificate = Certificate::from_budgets(&[0.5, 0.01])?;
/// assert!(certificate.admits(&[0.5, -0.01])?);
/// assert!(!certificate.admits(&[0.0, 0.1])?);
/// # Ok::<(), truenorth::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "Unchecked"))]
pub struct Certificate {
    matrix: Matrix,
    rho: f64,
    /// A root N of M⁻¹, NᵀN = M⁻¹: ‖N w‖ is the norm of w in M⁻¹.
    pub(crate) root: Matrix,
}

/// A certificate as it was read, which may have come from anywhere.
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
struct Unchecked {
    matrix: Matrix,
    // Its name in 0.1.0.
    #[cfg_attr(feature = "serde", serde(alias = "radius"))]
    rho: f64,
    root: Matrix,
}

impl TryFrom<Unchecked> for Certificate {
    type Error = Error;

    fn try_from(Unchecked { matrix, rho, root }: Unchecked) -> Result<Self> {
        check::at_least_zero("rho", rho)?;
        check::symmetric("the certificate's matrix", &matrix)?;
        check::length("the root of the certificate", matrix.len(), root.len())?;
        check::length("a row of the certificate's root", matrix.ncols(), root.ncols())?;
        check::numbers("the root of the certificate", root.as_slice())?;
        Ok(Self { matrix, rho, root })
    }
}

impl Certificate {
    /// From a matrix M, row by row, and a radius ρ.
    pub fn from_matrix(matrix: &[f64], rho: f64) -> Result<Self> {
        let side = matrix.len().isqrt().max(1);
        check::length("the certificate's matrix", side * side, matrix.len())?;
        Self::new(Matrix::from_row_slice(side, side, matrix), rho)
    }

    fn new(matrix: Matrix, rho: f64) -> Result<Self> {
        check::at_least_zero("rho", rho)?;
        check::symmetric("the certificate's matrix", &matrix)?;
        let factor = dense::cholesky("the certificate's matrix", &matrix)?;
        check::positive("eigenvalue", factor.diagonal().min().powi(2))?;
        Ok(Self { root: dense::invert_lower(&factor), matrix, rho })
    }

    /// From the largest drift v of each coordinate: M = diag(1/v²), ρ = √d.
    ///
    /// ρ = √d makes every drift within all budgets admissible: each coordinate adds at most 1 to
    /// ‖Δ‖². [`with_radius`](Self::with_radius) replaces it where more is known.
    pub fn from_budgets(budgets: &[f64]) -> Result<Self> {
        check_budgets(budgets)?;
        let diagonal = Vector::from_iterator(budgets.len(), budgets.iter().map(|v| v.powi(-2)));
        Self::new(Matrix::from_diagonal(&diagonal), (budgets.len() as f64).sqrt())
    }

    /// From orthonormal directions q with a budget v each, and a budget for all that is orthogonal
    /// to them (needed unless there are d directions): M = Σ qqᵀ/v² + (I - Σ qqᵀ)/rest².
    ///
    /// ρ² counts one for each direction, and one for the rest as a whole.
    pub fn from_directions(directions: &[Vec<f64>], budgets: &[f64], rest: Option<f64>) -> Result<Self> {
        check::length("the list of budgets", directions.len(), budgets.len())?;
        check_budgets(budgets)?;
        let Some(first) = directions.first() else {
            return Err(check::missing("directions", "for a certificate by directions"));
        };
        let dimension = first.len();
        for (i, direction) in directions.iter().enumerate() {
            check::length("a direction", dimension, direction.len())?;
            check::numbers("direction entry", direction)?;
            for (j, other) in directions[..=i].iter().enumerate() {
                let product: f64 = direction.iter().zip(other).map(|(a, b)| a * b).sum();
                let expected = if i == j { 1.0 } else { 0.0 };
                if (product - expected).abs() > 1e-8 {
                    return Err(Reason::NotOrthonormal { first: j, second: i, product }.into());
                }
            }
        }
        let whole = directions.len() == dimension;
        if rest.is_none() && !whole {
            let purpose = "for the directions that no budget is given for";
            return Err(check::missing("rest", purpose));
        }
        check_budgets(rest.as_slice())?;
        // The root of M⁻¹ is put together, not M: sums of 1/v² would lose the wide directions to
        // rounding, and a certificate that is too tight is worse than none.
        let mut unnamed = Matrix::identity(dimension, dimension);
        let mut root = Matrix::zeros(dimension, dimension);
        let mut matrix = root.clone();
        for (direction, &budget) in directions.iter().zip(budgets) {
            let q = Vector::from_column_slice(direction);
            let projector = &q * q.transpose();
            root += &projector * budget;
            matrix += &projector * budget.powi(-2);
            unnamed -= projector;
        }
        if let Some(rest) = rest {
            root += &unnamed * rest;
            matrix += unnamed * rest.powi(-2);
        }
        let parts = directions.len() + usize::from(!whole);
        Ok(Self { matrix, rho: (parts as f64).sqrt(), root })
    }

    /// M = I: only the length ρ of the drift is known, as in prior work.
    pub fn isotropic(dimension: usize, rho: f64) -> Result<Self> {
        Self::new(Matrix::identity(dimension, dimension), rho)
    }

    /// Drift of a length up to ρ, in units of the columns.
    pub(crate) fn of_units(units: &Vector, rho: f64) -> Result<Self> {
        Self::new(Matrix::from_diagonal(&units.map(|unit| unit * unit)), rho)
    }

    /// From M⁻¹, where that is what has been computed.
    pub(crate) fn from_inverse(inverse: &Matrix, matrix: Matrix, rho: f64) -> Result<Self> {
        let factor = dense::cholesky("the certificate's inverse", inverse)?;
        Ok(Self { root: factor.transpose(), matrix, rho })
    }

    /// The same matrix with another radius ρ.
    pub fn with_radius(mut self, rho: f64) -> Result<Self> {
        check::at_least_zero("rho", rho)?;
        self.rho = rho;
        Ok(self)
    }

    /// The same about features that the logs never had, which come last.
    ///
    /// Where a feature was 0 in every row of the logs, no row depends on its logged coefficient, which may then be taken
    /// to be the live one: it has not drifted, and Definition 1 holds with the same ρ whatever M is there. It is taken to
    /// be as large as the largest entry of M's diagonal, so that [`isotropic`](Self::isotropic) stays isotropic.
    pub(crate) fn grown(&self, dimension: usize) -> Self {
        self.grown_by(dimension, self.matrix.diagonal().max())
    }

    /// The same with this entry of M for each feature that is new.
    pub(crate) fn grown_by(&self, dimension: usize, entry: f64) -> Self {
        let widened = |matrix: &Matrix, entry: f64| {
            let mut widened = matrix.clone().resize(dimension, dimension, 0.0);
            (self.dimension()..dimension).for_each(|j| widened[(j, j)] = entry);
            widened
        };
        let (matrix, root) = (widened(&self.matrix, entry), widened(&self.root, entry.sqrt().recip()));
        Self { matrix, rho: self.rho, root }
    }

    /// Number of features d.
    pub fn dimension(&self) -> usize {
        self.matrix.nrows()
    }

    /// M, row by row.
    pub fn matrix(&self) -> &[f64] {
        self.matrix.as_slice()
    }

    /// ρ.
    pub fn rho(&self) -> f64 {
        self.rho
    }

    /// A vector that was given, checked.
    fn vector(&self, what: &'static str, entry: &'static str, numbers: &[f64]) -> Result<Vector> {
        check::length(what, self.dimension(), numbers.len())?;
        check::numbers(entry, numbers)?;
        Ok(Vector::from_column_slice(numbers))
    }

    /// N x.
    fn routed(&self, x: &[f64]) -> Result<Vector> {
        Ok(&self.root * self.vector("the direction", "direction entry", x)?)
    }

    /// Largest bias the certificate allows for the reward of `x`: ρ ‖x‖ in M⁻¹.
    pub fn bias_bound(&self, x: &[f64]) -> Result<f64> {
        Ok(self.rho * self.routed(x)?.norm())
    }

    /// The same for a unit vector: ρ √(M⁻¹)_jj. No allocation.
    pub(crate) fn axis_bound(&self, j: usize) -> f64 {
        self.rho * self.root.column(j).norm()
    }

    /// The admissible drift that moves the reward of `x` most.
    pub fn worst_drift(&self, x: &[f64]) -> Result<Vec<f64>> {
        let routed = self.routed(x)?;
        let norm = routed.norm();
        let scale = if norm > 0.0 { self.rho / norm } else { 0.0 };
        Ok((self.root.tr_mul(&routed) * scale).as_slice().to_vec())
    }

    /// Norm of a drift in M.
    pub fn norm(&self, drift: &[f64]) -> Result<f64> {
        let drift = self.vector("the drift", "drift entry", drift)?;
        // ‖Δ‖ in M = ‖N⁻ᵀΔ‖, since M⁻¹ = NᵀN.
        let solved = self.root.transpose().lu().solve(&drift).map(|solved| solved.norm());
        solved.ok_or_else(|| check::indefinite("the certificate's matrix", 0.0))
    }

    /// Whether the certificate allows this drift, up to rounding.
    pub fn admits(&self, drift: &[f64]) -> Result<bool> {
        Ok(self.norm(drift)? <= self.rho * (1.0 + 1e-12))
    }

    /// The eigenvalues of M with their unit vectors q, most drift first (appendix A): the certificate allows
    /// `|qᵀ(θ_* - θ†)|` up to ρ / √eigenvalue.
    pub fn directions(&self) -> Vec<(f64, Vec<f64>)> {
        // M⁻¹ = NᵀN: the right singular vectors of N are M's eigenvectors, the values 1/√eigenvalue.
        let svd = self.root.clone().svd(false, true);
        let vectors = svd.v_t.unwrap_or_else(|| Matrix::identity(self.dimension(), self.dimension()));
        let vectors = vectors.row_iter().map(|q| q.iter().copied().collect());
        let mut directions: Vec<_> =
            svd.singular_values.iter().map(|value| value.powi(-2)).zip(vectors).collect();
        directions.sort_by(|a: &(f64, _), b| a.0.total_cmp(&b.0));
        directions
    }

    /// ρ²M⁻¹: the covariance of the drift that is allowed.
    pub(crate) fn allowed(&self) -> Matrix {
        self.root.tr_mul(&self.root) * (self.rho * self.rho)
    }
}

fn check_budgets(budgets: &[f64]) -> Result<()> {
    // Squares of budgets and their inverses must stay finite.
    budgets.iter().try_for_each(|&budget| {
        check::range((1e-20..=1e20).contains(&budget), "budget", "between 1e-20 and 1e20", budget).map(drop)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_bound_each_coordinate() {
        let certificate = Certificate::from_budgets(&[0.5, 2.0]).unwrap().with_radius(1.0).unwrap();
        assert!((certificate.bias_bound(&[1.0, 0.0]).unwrap() - 0.5).abs() < 1e-15);
        assert!((certificate.bias_bound(&[0.0, 1.0]).unwrap() - 2.0).abs() < 1e-15);
        // ‖(3, 1)‖ in M⁻¹ = √(9 · 0.25 + 4).
        assert!((certificate.bias_bound(&[3.0, 1.0]).unwrap() - 2.5).abs() < 1e-15);
    }

    #[test]
    fn eigen_directions_are_ordered_by_the_drift_they_allow() {
        let certificate = Certificate::new(Matrix::from_row_slice(2, 2, &[5.0, 4.0, 4.0, 5.0]), 3.0).unwrap();
        let directions = certificate.directions();
        // Eigenvalues 1 along (1, -1) and 9 along (1, 1): drifts 3 and 1.
        assert!((directions[0].0 - 1.0).abs() < 1e-12 && (directions[1].0 - 9.0).abs() < 1e-12);
        assert!((directions[0].1[0] + directions[0].1[1]).abs() < 1e-12);
        for ((_, direction), drift) in directions.into_iter().zip([3.0, 1.0]) {
            let bound = certificate.bias_bound(&direction).unwrap();
            assert!((bound - drift).abs() < 1e-12);
        }
    }

    #[test]
    fn worst_drift_is_admissible_and_attains_the_bound() {
        let certificate = Certificate::new(Matrix::from_row_slice(2, 2, &[5.0, 4.0, 4.0, 5.0]), 3.0).unwrap();
        let x = [0.3, -0.8];
        let drift = certificate.worst_drift(&x).unwrap();
        assert!(certificate.admits(drift.as_slice()).unwrap());
        let moved = drift[0] * x[0] + drift[1] * x[1];
        assert!((moved - certificate.bias_bound(&x).unwrap()).abs() < 1e-13);
    }

    #[test]
    fn directions_with_a_rest_budget_cover_all_of_space() {
        let q = vec![0.6, 0.8, 0.0];
        let certificate =
            Certificate::from_directions(&[q], &[2.0], Some(0.5)).unwrap().with_radius(1.0).unwrap();
        assert!((certificate.bias_bound(&[0.6, 0.8, 0.0]).unwrap() - 2.0).abs() < 1e-12);
        assert!((certificate.bias_bound(&[-0.8, 0.6, 0.0]).unwrap() - 0.5).abs() < 1e-12);
        assert!((certificate.bias_bound(&[0.0, 0.0, 1.0]).unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn tight_and_wide_directions_do_not_spoil_each_other() {
        for (budget, rest) in [(1e-9, 10.0), (10.0, 1e-9)] {
            let certificate = Certificate::from_directions(&[vec![0.6, 0.8]], &[budget], Some(rest)).unwrap();
            let scale = certificate.rho();
            let along = certificate.bias_bound(&[0.6, 0.8]).unwrap() / scale;
            let across = certificate.bias_bound(&[-0.8, 0.6]).unwrap() / scale;
            // Rounding of the projectors leaks 1e-16 of the wide one into the tight one, never less than it says.
            assert!(
                (along / budget - 1.0).abs() < 1e-6 && (across / rest - 1.0).abs() < 1e-6,
                "{along} {across}"
            );
            let widest = certificate.directions()[0].0.sqrt().recip();
            assert!((widest / budget.max(rest) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn features_that_the_logs_never_had_change_nothing_for_the_others() {
        let q = vec![0.6, 0.8, 0.0];
        let told = Certificate::from_directions(&[q], &[2.0], Some(0.5)).unwrap();
        let grown = told.grown(5);
        assert_eq!((grown.dimension(), grown.rho()), (5, told.rho()));
        let (few, more) = ([0.3, -0.2, 0.9], [0.3, -0.2, 0.9, 0.0, 0.0]);
        assert!((grown.bias_bound(&more).unwrap() - told.bias_bound(&few).unwrap()).abs() < 1e-15);
        assert!((grown.norm(&more).unwrap() - told.norm(&few).unwrap()).abs() < 1e-12);
        // The largest entry of M's diagonal is that of the last feature, 1/0.5².
        assert!((grown.matrix()[24] - 4.0).abs() < 1e-12 && grown.matrix()[23] == 0.0);
        assert!((grown.axis_bound(4) - told.axis_bound(2)).abs() < 1e-12);
        let isotropic = Certificate::isotropic(2, 0.3).unwrap();
        assert_eq!(isotropic.grown(4), Certificate::isotropic(4, 0.3).unwrap());
    }

    #[test]
    fn numbers_that_are_none_are_not_admitted() {
        let certificate = Certificate::isotropic(2, 1.0).unwrap();
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(certificate.norm(&[bad, 0.0]).is_err() && certificate.admits(&[bad, 0.0]).is_err());
            assert!(
                certificate.bias_bound(&[0.0, bad]).is_err() && certificate.worst_drift(&[0.0, bad]).is_err()
            );
        }
        assert!(Certificate::new(Matrix::identity(2, 2) * 1e-320, 1.0).is_err());
    }

    #[test]
    fn drift_within_all_budgets_is_admitted_whatever_its_signs() {
        let (a, b) = (vec![0.6, 0.8], vec![-0.8, 0.6]);
        let certificate = Certificate::from_directions(&[a.clone(), b.clone()], &[0.3, 0.01], None).unwrap();
        for (s, t) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let drift: Vec<f64> = (0..2).map(|i| s * 0.3 * a[i] + t * 0.01 * b[i]).collect();
            assert!(certificate.admits(&drift).unwrap());
        }
    }

    #[test]
    fn refuses_what_is_no_certificate_and_says_why() {
        let says = |result: Result<Certificate>| result.unwrap_err().to_string();
        assert_eq!(
            says(Certificate::new(Matrix::from_row_slice(2, 2, &[1.0, 2.0, 2.0, 1.0]), 1.0)),
            "the certificate's matrix must be positive definite, but its smallest eigenvalue is -1"
        );
        assert_eq!(
            says(Certificate::new(Matrix::from_row_slice(2, 2, &[1.0, 0.2, 0.1, 1.0]), 1.0)),
            "the certificate's matrix must be symmetric, but entry (1, 0) is 0.1 and its mirror image 0.2"
        );
        assert_eq!(
            says(Certificate::isotropic(2, -1.0)),
            "`rho` must be at least 0 and at most 1e50, but is -1"
        );
        assert!(says(Certificate::isotropic(2, f64::NAN)).contains("NaN"));
        assert!(says(Certificate::from_budgets(&[0.1, 0.0])).contains("`budget` must be between"));
        assert_eq!(
            says(Certificate::from_directions(&[vec![1.0, 0.0]], &[0.1], None)),
            "`rest` is needed for the directions that no budget is given for"
        );
        assert_eq!(
            says(Certificate::from_directions(&[vec![1.0, 0.0], vec![0.8, 0.6]], &[0.1, 0.1], None)),
            "directions must be orthonormal, but the inner product of 0 and 1 is 0.8"
        );
        assert!(Certificate::new(Matrix::from_element(2, 2, f64::INFINITY), 1.0).is_err());
        assert!(Certificate::new(Matrix::zeros(0, 0), 1.0).is_err());
        assert!(Certificate::new(Matrix::from_element(2, 3, 1.0), 1.0).is_err());
    }
}
