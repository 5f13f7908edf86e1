//! Least squares from sums, in units in which every column and the reward have size 1.
//!
//! Columns may be 1e-30 and rewards 1e50 in size, and columns may depend on each other. So the Gram matrix is
//! brought to a unit diagonal, and inverted on what the rows span.

use truenorth::RidgeStatistic;

use crate::{Matrix, Vector};

/// Mean squares below this are those of a column of zeros.
const ZERO: f64 = 1e-120;

/// Eigenvalues of a Gram matrix with unit diagonal below this share of the largest are rounding. Not much more: eight weeks
/// about 201402 leave 1e-10 beside an intercept. Sums of very many rows are rounded more, see [`rank`].
const RANK: f64 = 1e-12;

/// Share of a contrast outside the rows' span from which it is not identified.
const OUTSIDE: f64 = 1e-8;

/// How far below 2 the eigenvalue of what two spans share may be.
const SHARED: f64 = 1e-7;

/// Share of a coefficient that has to be identified for it to be spoken of. Levels of a category beside an
/// intercept are known up to a number that is added to all of them: half of the intercept, a little of each.
const MOSTLY: f64 = 0.25;

/// Share of Σ y² below which a residual sum of squares is rounding.
const RESOLUTION: f64 = 1e-12;

/// The sizes by which columns and rewards are divided.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    pub(crate) columns: Vec<f64>,
    pub(crate) reward: f64,
    pub(crate) scale: f64,
}

impl Units {
    /// Root mean squares of the logs, of the pilot where the logs have only zeros, or 1.
    pub(crate) fn of(logs: &RidgeStatistic, pilot: Option<&RidgeStatistic>, scale: f64) -> Self {
        let live = pilot.map_or_else(|| vec![1.0; logs.dimension()], rms);
        let columns = rms(logs).into_iter().zip(live);
        let columns = columns.map(|(logged, live)| positive(logged, positive(live, 1.0))).collect();
        let (mut squares, mut rows) = (0.0, 0.0);
        for data in [Some(logs), pilot].into_iter().flatten() {
            squares += data.sum_squares().max(0.0);
            rows += data.count() as f64;
        }
        let reward = if squares > ZERO && rows > 0.0 { (squares / rows).sqrt() } else { 1.0 };
        Self { columns, reward, scale }
    }

    /// A coefficient of column j in the units of the files: θ = θ' · unit of y / unit of x · scale.
    pub(crate) fn raw(&self, j: usize) -> f64 {
        self.reward / self.columns[j] * self.scale
    }
}

/// What is rounding beside the largest eigenvalue, for sums of so many rows.
fn rank(rows: f64) -> f64 {
    RANK.max(8.0 * f64::EPSILON * rows.sqrt())
}

/// Root mean square of each column; 0 for a column of zeros, or without rows.
pub(crate) fn rms(data: &RidgeStatistic) -> Vec<f64> {
    let rows = data.count() as f64;
    let size = |square: f64| if rows > 0.0 && square / rows > ZERO { (square / rows).sqrt() } else { 0.0 };
    data.gram().iter().step_by(data.dimension() + 1).map(|&square| size(square)).collect()
}

/// `value / size`, or 0 where there is no size.
pub(crate) fn quotient(value: f64, size: f64) -> f64 {
    if size > 0.0 { value / size } else { 0.0 }
}

/// `value`, or `otherwise` where it is 0.
pub(crate) fn positive(value: f64, otherwise: f64) -> f64 {
    if value > 0.0 { value } else { otherwise }
}

/// Length of a vector whose entries' squares may overflow.
pub(crate) fn length(entries: &[f64]) -> f64 {
    let most = entries.iter().fold(0.0f64, |most, entry| most.max(entry.abs()));
    if most == 0.0 {
        return 0.0;
    }
    most * entries.iter().map(|entry| (entry / most).powi(2)).sum::<f64>().sqrt()
}

/// A regression in the units of [`Units`].
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    pub(crate) rows: f64,
    /// Coefficients; of all that fit as well, the ones of smallest length.
    pub(crate) estimate: Vector,
    /// W with W Wᵀ = A⁺, one column for each dimension that the rows span.
    pub(crate) whitening: Matrix,
    /// Standard deviation of the residuals, if there are degrees of freedom.
    pub(crate) noise: Option<f64>,
    /// The same, not below what rounding can hide: for standard errors.
    pub(crate) resolved: f64,
    /// Root mean squares of the columns.
    pub(crate) sizes: Vec<f64>,
    /// Orthonormal basis of the rows' span, for columns of size 1.
    span: Matrix,
}

impl Fit {
    pub(crate) fn new(data: &RidgeStatistic, units: &Units) -> Self {
        let (d, n) = (data.dimension(), data.count().max(1) as f64);
        let scaled = rms(data);
        let sizes: Vec<f64> = scaled.iter().zip(&units.columns).map(|(size, unit)| size / unit).collect();
        // C_ij = A_ij / (n r_i r_j): at most 1 by Cauchy-Schwarz, and 1 on the diagonal.
        let gram = data.gram();
        let correlation = Matrix::from_fn(d, d, |i, j| {
            quotient(gram[i * d + j] / n, scaled[i] * scaled[j]).clamp(-1.0, 1.0)
        });
        let eigen = correlation.symmetric_eigen();
        let floor = rank(n) * eigen.eigenvalues.max().max(0.0);
        let kept: Vec<usize> = (0..d).filter(|&k| eigen.eigenvalues[k] > floor).collect();
        let span = eigen.eigenvectors.select_columns(&kept);
        // A⁺ = Σ_k q_k q_kᵀ / (n l_k), for columns of size 1.
        let root =
            Matrix::from_fn(d, kept.len(), |i, k| span[(i, k)] / (n * eigen.eigenvalues[kept[k]]).sqrt());
        let live = |i: usize| quotient(1.0, sizes[i]);
        let moment = Vector::from_fn(d, |i, _| quotient(data.moment()[i], scaled[i]) / units.reward);
        let projected = root.tr_mul(&moment);
        // RSS = Σ y² - bᵀ A⁺ b.
        let squares = data.sum_squares().max(0.0) / units.reward / units.reward;
        let residual = (squares - projected.norm_squared()).max(0.0);
        let freedom = data.count() as f64 - kept.len() as f64;
        let deviation = |residual: f64| (residual / freedom.max(1.0)).sqrt();
        let exact = residual < RESOLUTION * squares;
        let estimate = &root * &projected;
        Self {
            rows: data.count() as f64,
            estimate: Vector::from_fn(d, |i, _| estimate[i] * live(i)),
            whitening: Matrix::from_fn(d, kept.len(), |i, k| root[(i, k)] * live(i)),
            noise: (freedom >= 1.0).then(|| if exact { 0.0 } else { deviation(residual) }),
            resolved: deviation(residual.max(RESOLUTION * squares)),
            sizes,
            span,
        }
    }

    /// Number of dimensions that the rows span.
    pub(crate) fn rank(&self) -> usize {
        self.span.ncols()
    }

    /// n - rank.
    pub(crate) fn freedom(&self) -> f64 {
        self.rows - self.rank() as f64
    }

    /// Whether the rows decide cᵀθ: whether c lies in their span.
    pub(crate) fn identifies(&self, contrast: &[f64]) -> bool {
        let most = contrast.iter().fold(0.0f64, |most, entry| most.max(entry.abs()));
        if contrast.iter().zip(&self.sizes).any(|(c, &size)| size == 0.0 && c.abs() > 1e-9 * most) {
            return false;
        }
        let mut divided = Vector::from_fn(contrast.len(), |j, _| quotient(contrast[j], self.sizes[j]));
        divided /= divided.amax();
        let outside = &divided - &self.span * self.span.tr_mul(&divided);
        // Not so for a contrast of zeros, which is no number by now.
        outside.norm_squared() <= OUTSIDE * divided.norm_squared()
    }

    /// What of contrasts, as columns, the rows do not decide, for columns of size 1; of columns without a size all.
    pub(crate) fn outside(&self, contrasts: &Matrix) -> Matrix {
        let divided = Matrix::from_fn(contrasts.nrows(), contrasts.ncols(), |i, j| {
            contrasts[(i, j)] / positive(self.sizes[i], 1.0)
        });
        &divided - &self.span * self.span.tr_mul(&divided)
    }

    /// Rows of column j alone that would tell as much: n_j = 1 / ([A⁺]_jj h_j) with h_j = A_jj / n.
    pub(crate) fn coverage(&self, j: usize) -> f64 {
        if self.sizes[j] == 0.0 || self.span.row(j).norm_squared() < MOSTLY {
            return 0.0;
        }
        (1.0 / (self.whitening.row(j).norm_squared() * self.sizes[j].powi(2))).min(self.rows)
    }

    /// For each column, the part of its coefficient that the rows of both identify, as a contrast: the unit
    /// vector, or what is left of it on the span that both share, for columns of size 1.
    pub(crate) fn shared(&self, other: &Self) -> Matrix {
        let d = self.sizes.len();
        if self.rank() == d && other.rank() == d {
            return Matrix::identity(d, d);
        }
        let size = |j: usize| positive(self.sizes[j], positive(other.sizes[j], 1.0));
        // Contrasts c with c / sizes in the span, divided by the common sizes; on the shared part both
        // projectors are 1, so that their sum has the eigenvalue 2 there.
        let projector = |fit: &Self| {
            let basis =
                Matrix::from_fn(d, fit.rank(), |i, k| fit.span[(i, k)] * fit.sizes[i] / size(i)).qr().q();
            &basis * basis.transpose()
        };
        let eigen = (projector(self) + projector(other)).symmetric_eigen();
        let kept: Vec<usize> = (0..d).filter(|&k| eigen.eigenvalues[k] > 2.0 - SHARED).collect();
        let basis = eigen.eigenvectors.select_columns(&kept);
        let shared = &basis * basis.transpose();
        Matrix::from_fn(d, d, |i, j| {
            if shared[(j, j)] >= MOSTLY {
                shared[(i, j)] * size(i) / size(j)
            } else {
                f64::from(u8::from(i == j))
            }
        })
    }

    /// Sets of columns that depend on each other.
    pub(crate) fn dependent(&self) -> Vec<Vec<usize>> {
        let d = self.sizes.len();
        // The projector on what the rows do not span: entries join the columns of a dependence.
        let outside = Matrix::identity(d, d) - &self.span * self.span.transpose();
        let mut free: Vec<usize> = (0..d).filter(|&j| self.sizes[j] > 0.0).collect();
        let mut groups = Vec::new();
        while let Some(first) = free.iter().position(|&j| outside[(j, j)] > OUTSIDE) {
            let (mut members, mut next) = (vec![free.remove(first)], 0);
            while let Some(&i) = members.get(next) {
                members.extend(free.extract_if(.., |k| outside[(i, *k)].abs() > OUTSIDE.sqrt()));
                next += 1;
            }
            members.sort_unstable();
            groups.push(members);
        }
        groups.retain(|members| members.len() > 1);
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(rows: &[(&[f64], f64)]) -> RidgeStatistic {
        let mut data = RidgeStatistic::new(rows[0].0.len()).unwrap();
        for (features, reward) in rows {
            data.observe(*features, *reward).unwrap();
        }
        data
    }

    fn fit(data: &RidgeStatistic) -> (Fit, Units) {
        let units = Units::of(data, None, 1.0);
        (Fit::new(data, &units), units)
    }

    #[test]
    fn line_through_three_dots_by_hand() {
        // y = 1, 2, 4 at x = 0, 1, 2: slope 3/2, intercept 5/6, residual sum of squares 1/6.
        let (fit, units) = fit(&data(&[(&[1.0, 0.0], 1.0), (&[1.0, 1.0], 2.0), (&[1.0, 2.0], 4.0)]));
        assert!((fit.estimate[0] * units.raw(0) - 5.0 / 6.0).abs() < 1e-12);
        assert!((fit.estimate[1] * units.raw(1) - 1.5).abs() < 1e-12);
        assert!((fit.noise.unwrap() * units.reward - (1f64 / 6.0).sqrt()).abs() < 1e-12);
        // [A⁻¹]_11 = 1/2 and h = 5/3: as much as 6/5 rows of the slope alone.
        assert!((fit.coverage(1) - 1.2).abs() < 1e-12);
    }

    #[test]
    fn what_depends_on_each_other_is_not_identified() {
        // Column 0 is 1 + 2 (levels and intercept), 3 is free, 4 is zero.
        let rows: [(&[f64], f64); 5] = [
            (&[1.0, 1.0, 0.0, 0.3, 0.0], 1.0),
            (&[1.0, 0.0, 1.0, -0.5, 0.0], 2.0),
            (&[1.0, 1.0, 0.0, 0.9, 0.0], 1.5),
            (&[1.0, 0.0, 1.0, 0.1, 0.0], 0.0),
            (&[1.0, 0.0, 1.0, 0.4, 0.0], 0.5),
        ];
        let (fit, units) = fit(&data(&rows));
        assert_eq!(fit.rank(), 3);
        let identified: Vec<bool> = (0..5)
            .map(|j| fit.identifies(&(0..5).map(|i| f64::from(u8::from(i == j))).collect::<Vec<_>>()))
            .collect();
        assert_eq!(identified, [false, false, false, true, false]);
        // Intercept plus a level is the level's mean, which is identified.
        assert!(fit.identifies(&[1.0, 1.0 / units.columns[1], 0.0, 0.0, 0.0]));
        assert_eq!(fit.dependent(), [vec![0, 1, 2]]);
        assert!(fit.coverage(4) == 0.0 && fit.coverage(3) > 1.0);
    }

    #[test]
    fn lengths_do_not_overflow() {
        assert!((length(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-14);
        assert!(length(&[0.0, 0.0]) == 0.0);
    }
}
