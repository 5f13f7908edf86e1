//! Decisions with a dice: posterior sampling and ε-greedy, with the probability of what was chosen.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::kernel::{self, Aligned, Panels, Sampled};
use crate::parted::Parted;
use crate::precision::Precision;
use crate::round::Actions;

/// Draws from the posterior for one decision.
pub(crate) const DRAWS: usize = 128;

/// What chance is made of.
pub(crate) type Dice = Xoshiro256PlusPlus;

/// The generator of one round: no state has to be kept, and a decision can be made again.
pub(crate) fn generator(seed: u64, round: u64) -> Dice {
    // An odd factor keeps different rounds of different seeds apart; the generator mixes the rest.
    Dice::seed_from_u64(seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Room for the draws.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draws {
    normals: Vec<f64>,
    best: Vec<(f64, usize)>,
    whitened: Aligned,
}

impl Draws {
    /// Thompson sampling. Every draw has its favourite among the actions; the first draw's is played, and its
    /// probability is the [`share`](Self::share) of draws with the same favourite. The draws are exchangeable, so that, given
    /// the set of them, this is exactly the probability with which the action was chosen.
    pub(crate) fn play(
        &mut self,
        precision: &Precision,
        deviation: f64,
        panels: &Panels,
        dice: &mut Dice,
    ) -> usize {
        let dimension = precision.whitened_estimate.len();
        self.normals.clear();
        self.normals.extend((0..DRAWS * dimension).map(|_| -> f64 { StandardNormal.sample(dice) }));
        self.best.clear();
        self.best.resize(DRAWS, (f64::NEG_INFINITY, 0));
        let Self { normals, best, whitened } = self;
        // θ ~ N(θ̂, deviation² V⁻¹).
        kernel::run(&mut Sampled { precision, panels, deviation, normals, best, whitened });
        self.best[0].1
    }

    /// The same for what is known in parts: the actions' rewards are drawn, those of actions without a part in common apart
    /// from each other.
    pub(crate) fn play_parted(
        &mut self,
        known: &Parted,
        deviation: f64,
        actions: Actions<'_>,
        dice: &mut Dice,
    ) -> usize {
        let count = actions.count();
        let along = |vector: &[f64], k| -> f64 {
            actions.row(k).entries().map(|(column, value)| value * vector[column]).sum()
        };
        let mean: Vec<f64> = known.estimate();
        let mean: Vec<f64> = (0..count).map(|k| along(&mean, k)).collect();
        // What the unknowns in common bring, by independent ones.
        let unknowns = known.common.len();
        let common = root(unknowns, |i, j| known.spread[i * unknowns + j]);
        let turned = |k: usize| -> Vec<f64> {
            let a = known.along(actions.row(k));
            let column = |j: usize| common.iter().zip(&a).skip(j).map(|(row, a)| row[j] * a).sum();
            (0..unknowns).map(column).collect()
        };
        let shared: Vec<Vec<f64>> = (0..count).map(turned).collect();
        let roots: Vec<(Vec<usize>, Vec<Vec<f64>>)> = together(known, actions)
            .into_iter()
            .map(|group| {
                let root = root(group.len(), |i, j| {
                    known.inverse.product(actions.row(group[i]), actions.row(group[j]))
                });
                (group, root)
            })
            .collect();
        self.best.clear();
        self.best.resize(DRAWS, (f64::NEG_INFINITY, 0));
        let mut drawn = vec![0.0; count];
        let Self { normals, best, .. } = self;
        for best in best {
            normals.clear();
            normals.extend((0..count + unknowns).map(|_| -> f64 { StandardNormal.sample(dice) }));
            for (group, root) in &roots {
                for (&k, row) in group.iter().zip(root) {
                    let own: f64 = row.iter().zip(group).map(|(entry, &j)| entry * normals[j]).sum();
                    let common: f64 =
                        shared[k].iter().zip(&normals[count..]).map(|(a, normal)| a * normal).sum();
                    drawn[k] = mean[k] + deviation * (own + common);
                }
            }
            for (k, &value) in drawn.iter().enumerate() {
                *best = if value > best.0 { (value, k) } else { *best };
            }
        }
        self.best[0].1
    }

    /// Share of the draws with this favourite.
    pub(crate) fn share(&self, favourite: usize) -> f64 {
        self.best.iter().filter(|best| best.1 == favourite).count() as f64 / DRAWS as f64
    }
}

/// Actions by what they have parts in common with, directly or through others.
fn together(known: &Parted, actions: Actions<'_>) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..actions.count()).collect();
    let mut touched: Vec<(usize, usize)> = (0..actions.count())
        .flat_map(|k| actions.row(k).entries().map(move |(column, _)| (known.inverse.place(column).0, k)))
        .collect();
    touched.sort_unstable();
    touched.dedup();
    for same in touched.chunk_by(|a, b| a.0 == b.0) {
        for pair in same.windows(2) {
            let (a, b) = (first(&mut group, pair[0].1), first(&mut group, pair[1].1));
            group[a.max(b)] = a.min(b);
        }
    }
    let mut groups = vec![Vec::new(); actions.count()];
    for k in 0..actions.count() {
        groups[first(&mut group, k)].push(k);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The first one of a group.
fn first(group: &mut [usize], mut k: usize) -> usize {
    while group[k] != k {
        group[k] = group[group[k]];
        k = group[k];
    }
    k
}

/// Rows of a lower triangular root of a covariance, which may be singular.
fn root(side: usize, covariance: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(side);
    for i in 0..side {
        let mut row = Vec::with_capacity(i + 1);
        for (j, above) in rows.iter().enumerate() {
            let rest = covariance(i, j) - row.iter().zip(above).map(|(a, b)| a * b).sum::<f64>();
            row.push(if above[j] > 0.0 { rest / above[j] } else { 0.0 });
        }
        let variance = covariance(i, i);
        let rest = variance - row.iter().map(|entry| entry * entry).sum::<f64>();
        // What rounding leaves of an action that follows from others.
        row.push(if rest > 1e-12 * variance { rest.sqrt() } else { 0.0 });
        rows.push(row);
    }
    rows
}

/// With probability ε any action, all alike, and otherwise the `favourite`; with the probability of the result.
pub(crate) fn epsilon_greedy(
    epsilon: f64,
    favourite: usize,
    actions: usize,
    dice: &mut Dice,
) -> (usize, f64) {
    let played = if dice.random::<f64>() < epsilon { dice.random_range(0..actions) } else { favourite };
    let chance = epsilon / actions as f64;
    (played, if played == favourite { 1.0 - epsilon + chance } else { chance })
}
