//! The direct method and, with it, the doubly robust estimate, from sums.
//!
//! The model of rewards is linear in features: q(x) = θᵀx, by ridge regression. Then, with x̄ = Σ_b π(b) x(b), a term of the doubly
//! robust estimate is w r + θᵀ(x̄ - w x), and its mean and variance follow from sums of products of (w r, x̄ - w x): no row is
//! kept. The log is dealt into folds, and each fold is judged by a model of the other four, so that no decision has a say in its own
//! prediction.

use nalgebra::{Cholesky, DMatrix, DVector};
use serde::Serialize;

use crate::estimates::{Decision, Estimate, mean};

/// Features up to which sums of products are kept.
pub const MOST_FEATURES: usize = 1000;
const FOLDS: usize = 5;
/// What the prior of the regression is worth, in rows.
const PRIOR: f64 = 1.0;

/// Features that are not 0, each once.
pub type Row = [(usize, f64)];

/// Estimates with a model of rewards.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Modelled {
    /// The direct method: its interval would not know its bias, so it has none.
    pub direct: f64,
    /// Doubly robust.
    pub dr: Estimate,
}

/// Both estimates with a model that is given: what it says of the action that was taken, and of the other policy, Σ_b π(b) q(b), for each
/// decision. It must not know the decision's own reward.
pub fn modelled(decisions: &[Decision], predictions: &[(f64, f64)]) -> Modelled {
    let both = decisions.iter().zip(predictions);
    let term = |(decision, &(taken, target)): (&Decision, &(f64, f64))| {
        (target + decision.ratio() * (decision.reward - taken), decision.weight)
    };
    let direct = mean(both.clone().map(|(decision, &(_, target))| (target, decision.weight))).value;
    Modelled { direct, dr: mean(both.map(term)) }
}

/// Sums over decisions and their features.
#[derive(Debug, Clone)]
pub struct Direct {
    dimension: usize,
    count: usize,
    folds: Vec<Fold>,
}

#[derive(Debug, Clone)]
struct Fold {
    weight: f64,
    /// Of the regression.
    gram: DMatrix<f64>,
    moment: DVector<f64>,
    /// Σ x̄.
    target: DVector<f64>,
    /// With c = x̄ - w x and a = w r, weighted and weighted twice: Σ a, Σ c; Σ a², Σ a c, Σ c cᵀ, and the sums of the means there.
    a: f64,
    c: DVector<f64>,
    twice: f64,
    a_twice: f64,
    c_twice: DVector<f64>,
    aa: f64,
    ac: DVector<f64>,
    cc: DMatrix<f64>,
}

impl Direct {
    /// For so many features, at most [`MOST_FEATURES`].
    pub fn new(dimension: usize) -> Self {
        let vector = || DVector::zeros(dimension);
        let matrix = || DMatrix::zeros(dimension, dimension);
        let fold = || Fold {
            weight: 0.0,
            gram: matrix(),
            moment: vector(),
            target: vector(),
            a: 0.0,
            c: vector(),
            twice: 0.0,
            a_twice: 0.0,
            c_twice: vector(),
            aa: 0.0,
            ac: vector(),
            cc: matrix(),
        };
        Self { dimension, count: 0, folds: (0..FOLDS).map(|_| fold()).collect() }
    }

    /// Adds a decision, with the features of the action that was taken, and those of all actions, each times the probability with
    /// which the other policy takes it, added up.
    pub fn add(&mut self, decision: &Decision, taken: &Row, target: &Row) {
        let fold = &mut self.folds[self.count % FOLDS];
        self.count += 1;
        let (weight, ratio) = (decision.weight, decision.ratio());
        fold.weight += weight;
        for &(i, x) in taken {
            fold.moment[i] += weight * x * decision.reward;
            for &(j, y) in taken {
                fold.gram[(i, j)] += weight * x * y;
            }
        }
        let a = ratio * decision.reward;
        let twice = weight * weight;
        let mut difference: Vec<(usize, f64)> = target.to_vec();
        difference.extend(taken.iter().map(|&(i, x)| (i, -ratio * x)));
        difference.sort_unstable_by_key(|&(i, _)| i);
        difference.dedup_by(|next, first| {
            let same = next.0 == first.0;
            first.1 += if same { next.1 } else { 0.0 };
            same
        });
        fold.a += weight * a;
        fold.twice += twice;
        fold.a_twice += twice * a;
        fold.aa += twice * a * a;
        for &(i, x) in target {
            fold.target[i] += weight * x;
        }
        for &(i, c) in &difference {
            fold.c[i] += weight * c;
            fold.c_twice[i] += twice * c;
            fold.ac[i] += twice * a * c;
            for &(j, other) in &difference {
                fold.cc[(i, j)] += twice * c * other;
            }
        }
    }

    /// Both estimates; none with fewer decisions than folds, or if the regression has no solution.
    pub fn estimate(&self) -> Option<Modelled> {
        if self.count < 2 * FOLDS || self.dimension == 0 {
            return None;
        }
        let models = (0..FOLDS).map(|out| self.model_without(out)).collect::<Option<Vec<_>>>()?;
        let weight: f64 = self.folds.iter().map(|fold| fold.weight).sum();
        let (mut direct, mut dr) = (0.0, 0.0);
        for (fold, model) in self.folds.iter().zip(&models) {
            direct += model.dot(&fold.target);
            dr += fold.a + model.dot(&fold.c);
        }
        let (direct, dr) = (direct / weight, dr / weight);
        // Σ weight² (term - mean)², with term = a + θᵀc.
        let squares: f64 = self
            .folds
            .iter()
            .zip(&models)
            .map(|(fold, model)| {
                let terms = fold.a_twice + model.dot(&fold.c_twice);
                let squared = fold.aa + 2.0 * model.dot(&fold.ac) + model.dot(&(&fold.cc * model));
                squared - 2.0 * dr * terms + dr * dr * fold.twice
            })
            .sum();
        let count = self.count as f64;
        let variance = squares.max(0.0) / (weight * weight) * count / (count - 1.0);
        Some(Modelled { direct, dr: Estimate::new(dr, variance, count) })
    }

    /// Ridge regression on all folds but one, in the units of each column.
    fn model_without(&self, out: usize) -> Option<DVector<f64>> {
        let mut gram = DMatrix::zeros(self.dimension, self.dimension);
        let mut moment = DVector::zeros(self.dimension);
        let mut weight = 0.0;
        for (_, fold) in self.folds.iter().enumerate().filter(|(place, _)| *place != out) {
            gram += &fold.gram;
            moment += &fold.moment;
            weight += fold.weight;
        }
        for i in 0..self.dimension {
            // A column that was never seen has no unit, and no coefficient either.
            let square = gram[(i, i)] / weight;
            gram[(i, i)] += if square > 0.0 { PRIOR * square } else { 1.0 };
        }
        Some(Cholesky::new(gram)?.solve(&moment))
    }
}
