//! What is known of coefficients that fall into parts: for rows that touch a few columns each.
//!
//! ```text
//! θ = m + Uξ + η,     η ~ N(0, σ²B), ξ ~ N(ξ̂, σ²C),  B one block for each part
//! xᵀθ ~ N(xᵀm + aᵀξ̂, σ² (xᵀBx + aᵀCa)),     a = Uᵀx
//! ```
//!
//! ξ are a few unknowns that all coefficients depend on: the level of the rewards, and, with logs, what else the last fit has found
//! that parts have in common. Given ξ, the parts know nothing of each other, and a reward changes its own part alone. With
//! `w = Bx` and `s = 1 + xᵀw`,
//!
//! ```text
//! e = r - xᵀm,   m ← m + we/s,   U ← U - waᵀ/s,   B ← B - wwᵀ/s
//! g = Ca/(s + aᵀCa),   ξ̂ ← ξ̂ + g(e - aᵀξ̂),   C ← C - gaᵀC
//! ```
//!
//! is Bayes' rule, exactly. A row that touches several parts makes one of them. B is stored itself, not a factor of it: a form
//! then costs the square of what x touches, whatever the part is like, where `Lx` would fill up. What that loses in digits is
//! tested, and gone at the next fit.

use crate::blocks::Blocks;
use crate::branch::Radius;
use crate::kernel::{self, Product, Rows, Scores, Shrink, Table};
use crate::round::{Actions, Row};

/// See the module's head.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Parted {
    /// B.
    pub(crate) inverse: Blocks,
    /// m and the columns of U.
    pub(crate) mean: Vec<f64>,
    pub(crate) shared: Vec<Vec<f64>>,
    /// ξ̂, and C row after row.
    pub(crate) common: Vec<f64>,
    pub(crate) spread: Vec<f64>,
    /// log det V - log det W.
    pub(crate) log_det_growth: f64,
    /// A diagonal that is no less than B, which rewards only make smaller.
    #[cfg_attr(feature = "serde", serde(skip))]
    limits: Vec<f64>,
    /// m, U and the limits, column by column, as decisions read them.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) table: Table,
}

/// Columns up to which a part is bounded by its diagonal.
const BOUNDED: usize = 64;
/// The limit of a column that has none. Features are at most 1e50, so that sums of their squares times this stay numbers: a table is
/// multiplied as a whole, and 0 times infinity would be none.
pub(crate) const NO_LIMIT: f64 = 1e200;

/// Unknowns that may be in common: a table has room for them.
const MOST_UNKNOWNS: usize = 5;

/// Room for updates.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    round: kernel::Room,
    x: Vec<(usize, f64)>,
    product: Vec<f64>,
}

impl Parted {
    /// Coefficients that are independent of each other: `W = diag λ`.
    pub(crate) fn ridge(ridge: impl IntoIterator<Item = f64>) -> Self {
        let mut known = Self::of(Blocks::diagonal(ridge.into_iter().map(f64::recip)));
        known.limit(|_| NO_LIMIT);
        known
    }

    /// With this B, and nothing else known; its limits are to be found.
    pub(crate) fn of(inverse: Blocks) -> Self {
        let mean = vec![0.0; inverse.dimension()];
        let (shared, common, spread, limits, table) = Default::default();
        Self { inverse, mean, shared, common, spread, log_det_growth: 0.0, limits, table }
    }

    /// Finds the limits and the table, once all else is there. The limits of a part are its diagonal, times the largest eigenvalue that its correlations can have by the sums of
    /// their rows, or, where that is less, what B is less than from the start on.
    ///
    /// ```text
    /// B = DCD ≤ max_i Σ_j |C_ij| D²,     D² the diagonal
    /// ```
    pub(crate) fn limit(&mut self, start: impl Fn(usize) -> f64) {
        self.limits.clear();
        self.limits.extend((0..self.mean.len()).map(start));
        let (mut inverse, mut sums) = (Vec::new(), Vec::new());
        for part in self.inverse.parts().filter(|part| part.side() <= BOUNDED) {
            let side = part.side();
            inverse.clear();
            inverse.extend((0..side).map(|i| part.get(i, i).sqrt().recip()));
            sums.clear();
            sums.resize(side, 0.0);
            for i in 0..side {
                for (j, entry) in part.row(i)[..i].iter().enumerate() {
                    let correlation = (entry * inverse[i] * inverse[j]).abs();
                    sums[i] += correlation;
                    sums[j] += correlation;
                }
            }
            let largest = 1.0 + sums.iter().copied().fold(0.0, f64::max);
            let limit = |i: usize| largest * part.get(i, i);
            // What is no number is no limit. A column by itself has no other limit than what it is.
            if side == 1 || part.columns().enumerate().all(|(i, column)| limit(i) < self.limits[column]) {
                part.columns().enumerate().for_each(|(i, column)| self.limits[column] = limit(i));
            }
        }
        self.table = Table::new(&self.mean, &self.shared, &self.limits, &self.inverse);
    }

    /// With unknowns in common: their vectors, and their covariance over σ².
    pub(crate) fn with_common(self, shared: Vec<Vec<f64>>, spread: Vec<f64>) -> Self {
        Self { common: vec![0.0; shared.len()], shared, spread, ..self }
    }

    /// `aᵀCb`.
    pub(crate) fn shared_product(&self, a: &[f64], b: &[f64]) -> f64 {
        let rows = self.spread.chunks_exact(self.common.len().max(1));
        a.iter().zip(rows).map(|(a, row)| a * row.iter().zip(b).map(|(c, b)| c * b).sum::<f64>()).sum()
    }

    /// `a = Uᵀx`.
    pub(crate) fn along(&self, x: Row<'_>) -> Vec<f64> {
        let along = |shared: &Vec<f64>| x.entries().map(|(column, value)| value * shared[column]).sum();
        self.shared.iter().map(along).collect()
    }

    /// Adds columns of this precision.
    pub(crate) fn grow(&mut self, dimension: usize, ridge: f64) {
        self.inverse.grow((self.mean.len()..dimension).map(|_| ridge.recip()));
        self.mean.resize(dimension, 0.0);
        self.limits.resize(dimension, ridge.recip());
        self.shared.iter_mut().for_each(|shared| shared.resize(dimension, 0.0));
        self.table = Table::new(&self.mean, &self.shared, &self.limits, &self.inverse);
    }

    /// Means and radii of all actions, or of those that may have the largest index, which lies no more than `widest` times
    /// the radius above the mean.
    pub(crate) fn score(
        &self,
        actions: Actions<'_>,
        (radius, widest): (Radius, Option<f64>),
        scores: &mut Scores,
        room: &mut Room,
    ) {
        let room = &mut room.round;
        kernel::run(&mut Rows { known: self, actions, norm: radius.norm, widest, scores, room });
    }

    /// Takes a reward in.
    pub(crate) fn update(&mut self, x: Row<'_>, reward: f64, room: &mut Room) {
        let Some(part) = self.inverse.join(x.entries().map(|(column, _)| column)) else { return };
        let Room { x: places, product, .. } = room;
        places.clear();
        places.extend(x.entries().map(|(column, value)| (self.inverse.place(column).1, value)));
        kernel::run(&mut Product { part: self.inverse.part(part), x: places, to: product });
        let error = reward - x.entries().map(|(column, value)| value * self.mean[column]).sum::<f64>();
        let s = 1.0 + places.iter().map(|&(at, value)| value * product[at]).sum::<f64>().max(0.0);
        let mut all = s;
        if !self.common.is_empty() {
            let a = self.along(x);
            let rows = self.spread.chunks_exact(a.len());
            let c: Vec<f64> = rows.map(|row| row.iter().zip(&a).map(|(c, a)| c * a).sum()).collect();
            all += a.iter().zip(&c).map(|(a, c)| a * c).sum::<f64>().max(0.0);
            let known: f64 = a.iter().zip(&self.common).map(|(a, common)| a * common).sum();
            for (i, row) in self.spread.chunks_exact_mut(a.len()).enumerate() {
                self.common[i] += c[i] * (error - known) / all;
                row.iter_mut().zip(&c).for_each(|(entry, c_j)| *entry -= c[i] * c_j / all);
            }
            let part = self.inverse.part(part);
            for (shared, a) in self.shared.iter_mut().zip(&a) {
                part.columns().zip(&*product).for_each(|(column, w)| shared[column] -= w * a / s);
            }
        }
        self.log_det_growth += all.ln();
        let part = self.inverse.part_mut(part);
        for (column, w) in part.columns().zip(&*product) {
            self.mean[column] += w * error / s;
        }
        kernel::run(&mut Shrink { part, w: product, factor: s.recip() });
        let joined = part.side() > 1;
        for column in part.columns() {
            let limit = &mut self.limits[column];
            *limit = if joined { *limit } else { part.entries[0] };
            self.table.set(column, (self.mean[column], &self.shared), joined, *limit);
        }
    }

    /// θ̂.
    pub(crate) fn estimate(&self) -> Vec<f64> {
        let mut estimate = self.mean.clone();
        for (shared, common) in self.shared.iter().zip(&self.common) {
            estimate.iter_mut().zip(shared).for_each(|(estimate, shared)| *estimate += shared * common);
        }
        estimate
    }

    /// Whether sizes and numbers can be right: deserialised data may be anything.
    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        let unknowns = self.common.len();
        let numbers = self.shared.iter().chain([&self.mean, &self.common, &self.spread]).flatten();
        self.inverse.is_consistent(dimension)
            && self.shared.iter().chain([&self.mean]).all(|vector| vector.len() == dimension)
            && (self.shared.len(), self.spread.len()) == (unknowns, unknowns * unknowns)
            && unknowns <= MOST_UNKNOWNS
            && numbers.into_iter().all(|number| number.is_finite())
            && (-1e-6..f64::INFINITY).contains(&self.log_det_growth)
    }
}
