//! What is known of coefficients that fall into parts: for rows that touch a few columns each.
//!
//! ```text
//! θ = m + uξ + η,     η ~ N(0, σ²B), ξ ~ N(ξ̂, σ²c),  B one block for each part
//! xᵀθ ~ N(xᵀm + aξ̂, σ² (xᵀBx + a²c)),     a = xᵀu
//! ```
//!
//! ξ is one unknown that all coefficients depend on: the level of the rewards, as of the last fit. Given ξ, the parts know
//! nothing of each other, and a reward changes its own part alone. With `w = Bx` and `s = 1 + xᵀw`,
//!
//! ```text
//! e = r - xᵀm,   m ← m + we/s,   u ← u - wa/s,   B ← B - wwᵀ/s,   ξ̂ ← ξ̂ + ca(e - aξ̂)/(s + a²c),   c ← cs/(s + a²c)
//! ```
//!
//! is Bayes' rule, exactly. A row that touches several parts makes one of them. B is stored itself, not a factor of it: a form
//! then costs the square of what x touches, whatever the part is like, where `Lx` would fill up. What that loses in digits is
//! tested, and gone at the next fit.

use crate::blocks::Blocks;
use crate::branch::Radius;
use crate::kernel::{self, Outer, Product, Rows, Scores, Shrink};
use crate::round::{Actions, Row};

/// See the module's head.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Parted {
    /// B.
    pub(crate) inverse: Blocks,
    /// m and u.
    pub(crate) mean: Vec<f64>,
    pub(crate) shared: Vec<f64>,
    /// ξ̂ and c.
    pub(crate) common: (f64, f64),
    /// log det V - log det W.
    pub(crate) log_det_growth: f64,
}

/// Room for updates.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    outer: Outer,
    x: Vec<(usize, f64)>,
    product: Vec<f64>,
}

impl Parted {
    /// Coefficients that are independent of each other: `W = diag λ`.
    pub(crate) fn ridge(ridge: impl IntoIterator<Item = f64>) -> Self {
        let inverse = Blocks::diagonal(ridge.into_iter().map(f64::recip));
        let nothing = vec![0.0; inverse.dimension()];
        Self { inverse, mean: nothing.clone(), shared: nothing, common: (0.0, 0.0), log_det_growth: 0.0 }
    }

    /// Adds columns of this precision.
    pub(crate) fn grow(&mut self, dimension: usize, ridge: f64) {
        self.inverse.grow((self.mean.len()..dimension).map(|_| ridge.recip()));
        self.mean.resize(dimension, 0.0);
        self.shared.resize(dimension, 0.0);
    }

    /// Means and radii of all actions.
    pub(crate) fn score(&self, actions: Actions<'_>, radius: Radius, scores: &mut Scores, room: &mut Room) {
        let room = &mut room.outer;
        kernel::run(&mut Rows { known: self, actions, norm: radius.norm, scores, room });
    }

    /// Takes a reward in.
    pub(crate) fn update(&mut self, x: Row<'_>, reward: f64, room: &mut Room) {
        let Some(part) = self.inverse.join(x.entries().map(|(column, _)| column)) else { return };
        let Room { x: places, product, .. } = room;
        places.clear();
        places.extend(x.entries().map(|(column, value)| (self.inverse.place(column).1, value)));
        kernel::run(&mut Product { part: self.inverse.part(part), x: places, to: product });
        let (mut error, mut a) = (reward, 0.0);
        for (column, value) in x.entries() {
            error -= value * self.mean[column];
            a += value * self.shared[column];
        }
        let s = 1.0 + places.iter().map(|&(at, value)| value * product[at]).sum::<f64>().max(0.0);
        let (common, variance) = self.common;
        let all = s + a * a * variance;
        self.common = (common + variance * a * (error - a * common) / all, variance * s / all);
        self.log_det_growth += all.ln();
        let part = self.inverse.part_mut(part);
        for (column, w) in part.columns().zip(&*product) {
            self.mean[column] += w * error / s;
            self.shared[column] -= w * a / s;
        }
        kernel::run(&mut Shrink { part, w: product, factor: s.recip() });
    }

    /// θ̂.
    pub(crate) fn estimate(&self) -> Vec<f64> {
        self.mean.iter().zip(&self.shared).map(|(mean, shared)| mean + shared * self.common.0).collect()
    }

    /// Whether sizes and numbers can be right: deserialised data may be anything.
    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        let vectors = [&self.mean, &self.shared];
        let (common, variance) = self.common;
        self.inverse.is_consistent(dimension)
            && vectors.iter().all(|vector| vector.len() == dimension)
            && vectors.into_iter().flatten().chain([&common]).all(|number| number.is_finite())
            && (0.0..f64::INFINITY).contains(&variance)
            && (-1e-6..f64::INFINITY).contains(&self.log_det_growth)
    }
}
