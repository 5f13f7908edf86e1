//! What drift does to choices: what it costs to play what the logs recommend.
//!
//! ```text
//! â = argmax_a x_aᵀθ                                       what the logs recommend in a round
//! C(θ') = mean over rounds of max_a (x_a - x_â)ᵀθ'         what that costs under live coefficients
//! G(θ) = mean over rounds of max_a x_aᵀθ - mean_a x_aᵀθ    what choosing well earns over choosing at random
//! ```
//!
//! C is convex in θ', at least 0, and 0 where the best action stays the best: drift that all actions of a round share
//! costs nothing.

use std::collections::HashSet;

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::drift::Comparison;
use crate::fit::Units;
use crate::live::Rows;
use crate::maximum::root;
use crate::measured::FOLDS;
use crate::view::{Cost, MeasuredCost};
use crate::{Matrix, Vector, tail};

/// Rounds that are looked at; more would tell the same.
const ROUNDS: usize = 200;

/// Draws of the live coefficients.
const DRAWS: usize = 300;

/// How many of the audits a number of live rows has to settle.
const POWER: f64 = 0.8;

/// Audits that are imagined for that, and draws in each of them.
const IMAGINED: usize = 40;
const INNER: usize = 60;

/// Standard errors between two costs that cannot both be right.
const APART: f64 = 3.0;

/// Live rows beyond this are none that anybody brings.
const MOST_ROWS: f64 = 1e9;

/// The rounds of a pilot, or what stands for them, and what the logs recommend in each.
pub(crate) struct Choices {
    /// x_a - x_â of every action of every round, row by row.
    gaps: Matrix,
    /// Where each round ends in them.
    ends: Vec<usize>,
    /// Mean of (x_a - x̄)(x_a - x̄)ᵀ within rounds.
    pub(crate) within: Matrix,
    /// Rounds that were to be had, for the chance that is in them; none where they are always the same.
    rounds: Option<f64>,
    /// Whether rounds were given, and not made of rows.
    given: bool,
}

impl Choices {
    /// Of the pilot's rounds with at least two actions; without any, of `actions` different live rows at a time,
    /// drawn at random. None where all rows are the same.
    pub(crate) fn of(rows: Rows<'_>, units: &Units, logs: &Vector, actions: usize) -> Option<Self> {
        let (sets, rounds, given) = match given(rows, units.columns.len()) {
            sets if !sets.is_empty() => {
                let all = sets.len();
                let step = all.div_ceil(ROUNDS);
                (sets.into_iter().step_by(step).collect(), Some(all as f64), true)
            }
            _ => {
                let (sets, all) = drawn(rows, units.columns.len(), actions.max(2));
                (sets, all, false)
            }
        };
        let (d, cells) = (units.columns.len(), sets.iter().map(Vec::len).sum());
        if cells == 0 {
            return None;
        }
        let order: Vec<usize> = sets.iter().flatten().copied().collect();
        let mut gaps = Matrix::from_fn(cells, d, |i, j| rows.features[order[i] * d + j] / units.columns[j]);
        let scores = &gaps * logs;
        let mut ends = Vec::new();
        for set in &sets {
            let start = ends.last().copied().unwrap_or(0);
            let mut part = gaps.rows_mut(start, set.len());
            let mean = part.row_mean();
            part.row_iter_mut().for_each(|mut row| row -= &mean);
            ends.push(start + set.len());
        }
        let within = gaps.tr_mul(&gaps) / cells as f64;
        let mut start = 0;
        for &end in &ends {
            let mut part = gaps.rows_mut(start, end - start);
            // Ties go to the first, as policies have it.
            let best = (start..end).reduce(|best, i| if scores[i] > scores[best] { i } else { best });
            let recommended = part.row(best.unwrap_or(start) - start).into_owned();
            part.row_iter_mut().for_each(|mut row| row -= &recommended);
            start = end;
        }
        Some(Self { gaps, ends, within, rounds, given })
    }

    /// Mean and variance over rounds of a number that each round's scores give.
    fn over_rounds(&self, scores: &[f64], of: impl Fn(&[f64]) -> f64) -> (f64, f64) {
        let (mut start, mut sum, mut squares) = (0, 0.0, 0.0);
        for &end in &self.ends {
            let value = of(&scores[start..end]);
            (start, sum, squares) = (end, sum + value, squares + value * value);
        }
        let rounds = self.ends.len() as f64;
        (sum / rounds, (squares / rounds - (sum / rounds).powi(2)).max(0.0))
    }

    /// C for scores of the gaps, which are 0 for the recommended action.
    fn cost(&self, scores: &[f64]) -> f64 {
        self.over_rounds(scores, largest).0
    }

    fn gain(&self, scores: &[f64]) -> f64 {
        self.over_rounds(scores, |round| largest(round) - mean(round)).0
    }

    /// What a feature does to the rewards of a round's actions, by the logs: their standard deviation, shared among
    /// the features that differ between actions.
    pub(crate) fn typical(&self, logs: &Vector) -> f64 {
        let differing = self.within.diagonal().iter().filter(|square| **square > 0.0).count();
        (logs.dot(&(&self.within * logs)).max(0.0) / differing.max(1) as f64).sqrt()
    }

    /// The largest s so that drifts of at most s / w_j, w_j the spread of column j within rounds, cost at most
    /// `most`, whatever their signs: mean over rounds of max_a (x_a - x_â)ᵀθ + s Σ_j |x_a - x_â|_j / w_j.
    fn allowed(&self, logs: &Vector, most: f64) -> f64 {
        let inverse =
            self.within.diagonal().map(|square| if square > 0.0 { square.sqrt().recip() } else { 0.0 });
        let (scores, reach) = (&self.gaps * logs, self.gaps.abs() * inverse);
        let cost = |s: f64| self.cost((&scores + &reach * s).as_slice());
        let (mut low, mut high) = (0.0, most.max(f64::MIN_POSITIVE));
        for _ in 0..200 {
            if cost(high) > most || !high.is_finite() {
                break;
            }
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if cost(middle) > most { high = middle } else { low = middle }
        }
        low
    }
}

fn largest(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// The rows of each round of at least two actions that differ.
fn given(rows: Rows<'_>, d: usize) -> Vec<Vec<usize>> {
    let Some(rounds) = rows.rounds else { return Vec::new() };
    let mut order: Vec<usize> = (0..rounds.len()).collect();
    order.sort_by_key(|&row| rounds[row]);
    let sets = order
        .chunk_by(|&a, &b| rounds[a] == rounds[b])
        .map(|round| different(round.iter(), rows, d, usize::MAX));
    sets.filter(|set| set.len() > 1).collect()
}

/// Sets of so many different rows, and how many rounds' worth of chance is in them: all different rows, if they are
/// no more than that.
fn drawn(rows: Rows<'_>, d: usize, actions: usize) -> (Vec<Vec<usize>>, Option<f64>) {
    let n = rows.rewards.len();
    let all: Vec<usize> = (0..n).collect();
    let few = different(all.iter(), rows, d, actions + 1);
    if few.len() <= actions {
        return (if few.len() > 1 { vec![few] } else { Vec::new() }, None);
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut set = || {
        // Rows that repeat are drawn again, a few times.
        let draws: Vec<usize> = (0..20 * actions).map(|_| rng.random_range(0..n)).collect();
        different(draws.iter(), rows, d, actions)
    };
    let sets = (0..ROUNDS).map(|_| set()).filter(|set| set.len() > 1).collect();
    (sets, Some(n as f64 / actions as f64))
}

/// The first rows that have features of their own, at most so many.
fn different<'a>(
    which: impl Iterator<Item = &'a usize>,
    rows: Rows<'_>,
    d: usize,
    most: usize,
) -> Vec<usize> {
    let mut seen = HashSet::new();
    let features =
        |row: usize| rows.features[row * d..][..d].iter().map(|x| (x + 0.0).to_bits()).collect::<Vec<_>>();
    which.copied().filter(|&row| seen.insert(features(row))).take(most).collect()
}

/// Choices under what logs and pilot say.
pub(crate) struct Ranking<'a> {
    choices: &'a Choices,
    /// Scores of the gaps, by the logs and by the pilot.
    logged: Vec<f64>,
    live: Vec<f64>,
    /// Errors of the live scores, draw after draw.
    errors: Matrix,
    /// Errors of the logged scores, for imagined audits.
    logged_errors: Matrix,
    /// A cost that does not matter.
    margin: f64,
    /// Drift times spread within a round that does not matter, for all features together.
    pub(crate) allowed: f64,
}

impl<'a> Ranking<'a> {
    /// A cost of `margin` of what choosing well earns does not matter: the smaller of what logs and pilot say of that.
    /// Errors have so many degrees of freedom.
    pub(crate) fn of(choices: &'a Choices, both: &Comparison<'_>, margin: f64, freedom: f64) -> Self {
        let [logged, live] =
            [both.logs, both.pilot].map(|fit| (&choices.gaps * &fit.estimate).as_slice().to_vec());
        let gain = choices.gain(&logged).min(choices.gain(&live));
        let most = margin * gain;
        // As far as 95 % of a t distribution reach.
        let stretch = tail::student_critical(0.05, freedom.max(1.0)) / tail::normal_critical(0.05);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let d = choices.gaps.ncols();
        let mut errors = |covariance: &Matrix, draws: usize| {
            let normals = Matrix::from_fn(d, draws, |_, _| StandardNormal.sample(&mut rng));
            &choices.gaps * (root(covariance) * normals)
        };
        let mut live_errors = errors(&both.shown(&Matrix::identity(d, d)), DRAWS);
        live_errors *= stretch.min(1e3);
        let even = &both.logs.whitening * both.logs.resolved;
        let mut logged_errors = errors(&(&even * even.transpose()), IMAGINED);
        let inflation = both.inflation(&choices.gaps.transpose());
        for (mut row, inflation) in logged_errors.row_iter_mut().zip(inflation) {
            row *= inflation.sqrt();
        }
        Self {
            errors: live_errors,
            logged_errors,
            margin: most,
            allowed: if most > 0.0 { choices.allowed(&both.logs.estimate, most) } else { 0.0 },
            choices,
            logged,
            live,
        }
    }

    /// C for these live scores: found, and after errors are drawn, shrunk by a factor.
    fn costs(&self, scores: &[f64], shrunk: f64, draws: usize) -> Costs {
        let drawn = |errors: &[f64]| {
            let scores: Vec<f64> =
                scores.iter().zip(errors).map(|(score, error)| score + shrunk * error).collect();
            self.choices.cost(&scores)
        };
        let cells = scores.len();
        let errors = self.errors.as_slice().chunks_exact(cells).take(draws);
        let mut drawn: Vec<f64> = errors.map(drawn).collect();
        drawn.sort_by(f64::total_cmp);
        let (found, variance) = self.choices.over_rounds(scores, largest);
        let chance = self.choices.rounds.map_or(0.0, |rounds| shrunk * (variance / rounds).sqrt());
        Costs { found, drawn, chance }
    }

    /// What playing what the logs recommend would cost, in rewards of `unit`; `measured` is that by the rewards.
    pub(crate) fn cost(&self, level: f64, unit: f64, clicks: bool, measured: Option<MeasuredCost>) -> Cost {
        let costs = self.costs(&self.live, 1.0, DRAWS);
        let (worse, variance) = self.choices.over_rounds(&self.live, mean);
        let errors = self.errors.column_iter();
        let squares: Vec<f64> =
            errors.map(|errors| self.choices.over_rounds(errors.as_slice(), mean).0.powi(2)).collect();
        let chance = self.choices.rounds.map_or(0.0, |rounds| variance / rounds);
        let rounds = self.choices.ends.len() as u64;
        let measured = measured.map(|measured| MeasuredCost {
            contradicts: self.is_refuted(&costs, &measured, level, unit),
            ..measured
        });
        Cost {
            estimate: costs.estimate() * unit,
            stderr: costs.stderr() * unit,
            interval: costs.interval(level).map(|end| end * unit),
            gain: self.choices.gain(&self.logged).min(self.choices.gain(&self.live)) * unit,
            margin: self.margin * unit,
            advantage: -worse * unit,
            advantage_stderr: (mean(&squares) + chance).sqrt() * unit,
            rounds,
            actions: self.choices.gaps.nrows() as f64 / rounds as f64,
            given: self.choices.given,
            clicks,
            measured,
        }
    }

    /// Whether the measured cost is another one, by more than chance can do, or shown to matter where the linear one is
    /// shown not to.
    fn is_refuted(&self, costs: &Costs, measured: &MeasuredCost, level: f64, unit: f64) -> bool {
        let [found, error, low] =
            [measured.estimate, measured.stderr, measured.interval[0]].map(|amount| amount / unit);
        let (_, variance) = self.choices.over_rounds(&self.live, largest);
        // Not all rounds were looked at.
        let all = self.choices.rounds.unwrap_or(f64::INFINITY);
        let sampled = variance * (1.0 / self.choices.ends.len() as f64 - 1.0 / all).max(0.0);
        let stderr = (costs.stderr().powi(2) + error.powi(2) + sampled).sqrt();
        let critical = tail::student_critical(tail::normal(APART), measured.rounds as f64 - 1.0);
        let size = self.live.iter().fold(0.0f64, |size, score| size.max(score.abs()));
        let beside = critical * stderr + 1e-9 * size;
        let shown_small = costs.interval(level)[1] <= self.margin;
        found - costs.estimate() > beside
            || costs.estimate() - self.still_to_learn() - found > beside
            || shown_small && low > self.margin
    }

    /// What choosing by a fit of the pilot loses, for its errors: as much less a measured cost may be.
    fn still_to_learn(&self) -> f64 {
        // A fit leaves one of the folds out.
        let larger = (FOLDS as f64 / (FOLDS as f64 - 1.0)).sqrt();
        let lost = |errors: &[f64]| {
            let (mut start, mut sum) = (0, 0.0);
            for &end in &self.choices.ends {
                let believed = |&i: &usize| self.live[i] + larger * errors[i];
                let chosen = (start..end).max_by(|a, b| believed(a).total_cmp(&believed(b)));
                sum += largest(&self.live[start..end]) - chosen.map_or(0.0, |i| self.live[i]);
                start = end;
            }
            sum / self.choices.ends.len() as f64
        };
        let draws = self.errors.as_slice().chunks_exact(self.live.len());
        mean(&draws.map(lost).collect::<Vec<_>>())
    }

    /// Live rows in all, of `rows` today, with which 8 of 10 audits would show that the logs' choice costs no more
    /// than the margin, if nothing has drifted; none where no number of rows would.
    pub(crate) fn settled_by(&self, rows: f64, margin: f64, level: f64) -> Option<f64> {
        let gain = self.choices.gain(&self.logged);
        let shows = |k: usize, shrunk: f64| {
            let imagined = |i: usize| {
                self.logged[i] + self.logged_errors[(i, k)] + shrunk * self.errors[(i, DRAWS - 1 - k)]
            };
            let live: Vec<f64> = (0..self.logged.len()).map(imagined).collect();
            let [_, high] = self.costs(&live, shrunk, INNER).interval(level);
            high <= margin * gain.min(self.choices.gain(&live))
        };
        // Some audits raise a false alarm instead.
        let fine = |rows_then: f64| {
            let shown = (0..IMAGINED).filter(|&k| shows(k, (rows / rows_then).sqrt())).count();
            shown as f64 * (1.0 - level) >= POWER * IMAGINED as f64
        };
        let (mut low, mut high) = (rows, 2.0 * rows);
        while !fine(high) {
            (low, high) = (high, 4.0 * high);
            if high > MOST_ROWS {
                return None;
            }
        }
        for _ in 0..4 {
            let middle = (low * high).sqrt();
            if fine(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}

/// C as it was found, and as draws around that have it.
struct Costs {
    found: f64,
    /// In their order.
    drawn: Vec<f64>,
    /// Standard error for the rounds that happened to be there.
    chance: f64,
}

impl Costs {
    /// Errors make the best action look better than it is: what is left after the draws' own excess is taken off.
    fn estimate(&self) -> f64 {
        (2.0 * self.found - mean(&self.drawn)).max(0.0)
    }

    fn stderr(&self) -> f64 {
        let middle = mean(&self.drawn);
        let squares: f64 = self.drawn.iter().map(|cost| (cost - middle).powi(2)).sum();
        (squares / self.drawn.len() as f64 + self.chance.powi(2)).sqrt()
    }

    /// The interval of the draws and its mirror image together, which is cautious on both sides.
    fn interval(&self, level: f64) -> [f64; 2] {
        // So many draws lie outside on each side.
        let outside = (0..self.drawn.len())
            .take_while(|&i| (i + 1) as f64 <= 0.5 * level * self.drawn.len() as f64)
            .count();
        let (low, high) = (self.drawn[outside], self.drawn[self.drawn.len() - 1 - outside]);
        let (low, high) = (low.min(2.0 * self.found - high), high.max(2.0 * self.found - low));
        let beside = tail::normal_critical(level) * self.chance;
        [(low - beside).max(0.0), high + beside]
    }
}
