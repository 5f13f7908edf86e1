//! Sums of data by parts, and the ridge regression on them.

use super::evidence::solved;
use super::span::Span;
use super::units::Units;
use super::{Evidence, batch};
use crate::blocks::{Blocks, Part, start};
use crate::dense::{Matrix, Tridiagonal, Vector};
use crate::error::Result;
use crate::kernel::{self, Diagonals, ReduceLanes, SMALL, SolveLanes};
use crate::statistic::RidgeStatistic;
use crate::triangle::SIDE;

/// Columns of a part from which on it matters whether there are fewer rows.
const MANY: usize = 256;
/// A diagonal whose inverse counts for nothing.
const NOTHING: f64 = 1e150;
/// Rows of a matrix that are written together.
const TOGETHER: usize = 64;

/// Sums of a part's columns, in their units.
pub(super) struct PartSums {
    pub(super) columns: Vec<usize>,
    /// Of rewards by their distance from what is expected of their level.
    pub(super) moment: Vector,
    pub(super) sums: Vector,
}

/// A of a part.
#[derive(Clone)]
pub(super) enum Gram {
    Whole(Matrix),
    /// Of fewer rows than half its columns.
    Few(Span),
}

/// What the matrices of parts are wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// Anything.
    Any,
    /// A regression, which may be cheaper where there are few rows.
    Few,
}

/// Products of columns in their units, as in [`Leveled`](super::Leveled), but that the level is not taken out.
pub(super) struct Sums {
    pub(super) parts: Vec<PartSums>,
    /// One for each part. They are large: who is the last to need them takes them.
    pub(super) grams: Vec<Gram>,
    pub(super) squares: f64,
    pub(super) share: f64,
    expected: f64,
    pub(super) count: f64,
    /// Σ of the rewards' distances from what is expected.
    pub(super) rewards: f64,
}

impl Sums {
    pub(super) fn new(
        data: &RidgeStatistic,
        (together, rows): (&Blocks, Rows),
        units: &Units,
        (expected, ratio): (f64, f64),
    ) -> Self {
        let count = data.weight();
        let share = if count > 0.0 { (count + ratio).recip() } else { 0.0 };
        let rewards = data.reward_sum() - count * expected;
        let about = data.sum_squares() - expected * (rewards + data.reward_sum());
        let squares = about - rewards * rewards * share;
        let part = |columns: Vec<usize>| {
            let (side, unit) = (columns.len(), |i: usize| units.known(columns[i]));
            let entry = |i: usize, j: usize| {
                let entry = data.blocks().map_or(0.0, |blocks| blocks.get(columns[i], columns[j]));
                entry / unit(i) / unit(j)
            };
            let sums = Vector::from_fn(side, |i, _| data.sums()[columns[i]] / unit(i));
            let moment = Vector::from_fn(side, |i, _| data.moment()[columns[i]] / unit(i)) - &sums * expected;
            let few = (rows == Rows::Few && side >= MANY && 2.0 * count < side as f64)
                .then(|| {
                    let column = |j: usize, to: &mut [f64]| {
                        to.iter_mut().enumerate().for_each(|(i, to)| *to = entry(i, j));
                    };
                    Span::new((0..side).map(|i| entry(i, i)).collect(), column, side / 2)
                })
                .flatten();
            let gram = few.map_or_else(|| Gram::Whole(whole(data, &columns, units)), Gram::Few);
            (PartSums { columns, moment, sums }, gram)
        };
        let (parts, grams) = together.parts().map(|whole| part(whole.columns().collect())).unzip();
        let squares = if squares > super::level::ROUNDING * data.sum_squares() { squares } else { 0.0 };
        Self { parts, grams, squares, share, expected, count, rewards }
    }

    /// A of a part itself.
    pub(super) fn whole(&self, place: usize) -> &Matrix {
        match &self.grams[place] {
            Gram::Whole(gram) => gram,
            Gram::Few(_) => unreachable!("only a regression alone asks for less"),
        }
    }

    pub(super) fn free(&self) -> f64 {
        self.count * (1.0 - self.share)
    }

    /// The moment of a part without the level.
    pub(super) fn moment(&self, part: &PartSums) -> Vector {
        &part.moment - &part.sums * (self.share * self.rewards)
    }

    /// The level, if the coefficients, in units, are these.
    pub(super) fn level(&self, means: &[Vector]) -> f64 {
        let explained: f64 = self.parts.iter().zip(means).map(|(part, mean)| part.sums.dot(mean)).sum();
        self.expected + self.share * (self.rewards - explained)
    }

    pub(super) fn evidence(&mut self) -> Evidence {
        let (mut gram, mut small) = (Tridiagonal::default(), Vec::new());
        let (mut trace, mut level) = (0.0, 0.0);
        let mut grams = std::mem::take(&mut self.grams);
        for (part, own) in self.parts.iter().zip(&mut grams) {
            level += part.sums.norm_squared();
            match own {
                Gram::Whole(whole) => {
                    trace += whole.trace();
                    if part.columns.len() <= SMALL {
                        small.push((part, &*whole));
                    } else {
                        gram.add(whole.clone(), [&self.moment(part), &part.sums]);
                    }
                }
                Gram::Few(span) => {
                    trace += span.trace();
                    span.add_to(&mut gram, [&self.moment(part), &part.sums]);
                }
            }
        }
        small.sort_by_key(|(part, _)| part.columns.len());
        let alike = small.chunk_by(|a, b| a.0.columns.len() == b.0.columns.len());
        let groups: Vec<Diagonals> =
            alike.flat_map(|alike| alike.chunks(SIDE)).map(|parts| self.reduced(parts)).collect();
        self.grams = grams;
        let (mut room, mut lanes) = Default::default();
        let both = self.share > 0.0;
        let solve = |ridge| {
            let mut all = kernel::run(&mut SolveLanes { groups: &groups, ridge, room: &mut lanes });
            all.add(&solved(&gram, ridge, both, &mut room));
            all
        };
        let dimension = self.parts.iter().map(|part| part.columns.len()).sum();
        let known = (self.free(), self.squares, trace - self.share * level);
        Evidence::found(known, self.share, dimension, solve)
    }

    /// Three diagonals of up to eight parts that have as many columns.
    fn reduced(&self, parts: &[(&PartSums, &Matrix)]) -> Diagonals {
        let side = parts[0].0.columns.len();
        // Where there are fewer, the others are so large that they leave nothing.
        let mut matrices = vec![[0.0; SIDE]; side * side];
        (0..side).for_each(|i| matrices[i * side + i] = [NOTHING; SIDE]);
        let [mut moments, mut sums] = [0, 1].map(|_| vec![[0.0; SIDE]; side]);
        for (lane, (part, whole)) in parts.iter().enumerate() {
            for (to, entry) in matrices.iter_mut().zip(whole.iter()) {
                to[lane] = *entry;
            }
            let share = self.share * self.rewards;
            for i in 0..side {
                moments[i][lane] = part.moment[i] - part.sums[i] * share;
                sums[i][lane] = part.sums[i];
            }
        }
        let mut found = Diagonals { vectors: [moments, sums], ..Diagonals::default() };
        kernel::run(&mut ReduceLanes { side, matrices: &mut matrices, to: &mut found });
        found
    }
}

/// A of some columns, in their units.
fn whole(data: &RidgeStatistic, columns: &[usize], units: &Units) -> Matrix {
    let side = columns.len();
    let mut whole = Matrix::zeros(side, side);
    let Some(blocks) = data.blocks() else { return whole };
    let inverse: Vec<f64> = columns.iter().map(|&column| units.known(column).recip()).collect();
    let places: Vec<(usize, usize)> = columns.iter().map(|&column| blocks.place(column)).collect();
    for i in 0..side {
        for j in 0..=i {
            if places[i].0 == places[j].0 {
                let entry = blocks.part(places[i].0).get(places[i].1, places[j].1) * inverse[i] * inverse[j];
                whole[(i, j)] = entry;
                whole[(j, i)] = entry;
            }
        }
    }
    whole
}

/// Ridge regression in parts: θ ~ N(0, scale I), and a level.
pub(super) struct Regression {
    /// Blocks of the covariance given the level, and what the level moves.
    pub(super) covariance: Vec<Covariance>,
    pub(super) moved: Vec<Vector>,
    /// Variance of the level.
    pub(super) level: f64,
    pub(super) mean: Vec<Vector>,
    /// log det of the precision over that of the prior.
    pub(super) growth: f64,
    /// log ∫ p(data | θ) N(θ; 0, scale I) dθ.
    pub(super) log_evidence: f64,
}

/// A covariance itself, or what rows have left of that of the prior: `scale (I - WWᵀ)`.
pub(super) enum Covariance {
    Whole(Matrix),
    Left(f64, Matrix),
}

impl Covariance {
    /// As a matrix.
    pub(super) fn matrix(&self) -> Matrix {
        match self {
            Self::Whole(covariance) => covariance.clone(),
            Self::Left(scale, w) => (Matrix::identity(w.nrows(), w.nrows()) - w * w.transpose()) * *scale,
        }
    }

    /// Writes it into a part, divided by the units of both columns and times a factor.
    pub(super) fn write(&self, part: &mut Part, units: &Vector, factor: f64) {
        let inverse: Vec<f64> = units.iter().map(|unit| unit.recip()).collect();
        let mut write = |i: usize, entry: &dyn Fn(usize) -> f64| {
            for (j, to) in part.entries[start(i)..=start(i) + i].iter_mut().enumerate() {
                *to = entry(j) * (factor * inverse[i] * inverse[j]);
            }
        };
        let side = units.len();
        match self {
            Self::Whole(covariance) => (0..side).for_each(|i| write(i, &|j| covariance[(i, j)])),
            Self::Left(scale, w) => {
                for first in (0..side).step_by(TOGETHER) {
                    let last = (first + TOGETHER).min(side);
                    // Columns side by side are the rows that are written.
                    let products = w.rows(0, last) * w.rows(first, last - first).transpose();
                    for i in first..last {
                        let products = products.column(i - first);
                        write(i, &|j| scale * (f64::from(u8::from(i == j)) - products[j]));
                    }
                }
            }
        }
    }
}

impl Regression {
    /// With what was taken of the data's matrices, or a copy.
    pub(super) fn new(data: &Sums, grams: Vec<Gram>, variance: f64, scale: f64) -> Result<Self> {
        let (mut covariance, mut moved, mut mean) = (Vec::new(), Vec::new(), Vec::new());
        let (mut growth, mut known, mut through) = (0.0, 0.0, 0.0);
        let mut inverses: Vec<Matrix> = Vec::new();
        let few = grams.into_iter().map(|gram| match gram {
            Gram::Whole(mut precision) => {
                precision /= variance;
                (0..precision.nrows()).for_each(|i| precision[(i, i)] += scale.recip());
                inverses.push(precision);
                None
            }
            Gram::Few(span) => Some(span),
        });
        let few: Vec<Option<Span>> = few.collect();
        let log_dets = batch::invert("the live precision", &mut inverses)?;
        let mut inverses = inverses.into_iter().zip(log_dets);
        for (part, few) in data.parts.iter().zip(few) {
            let side = part.columns.len();
            let (sums, moment) = (&part.sums / variance, data.moment(part) / variance);
            let (z, own) = match few {
                None => {
                    let Some((inverse, log_det)) = inverses.next() else { unreachable!("each has one") };
                    growth += log_det + side as f64 * scale.ln();
                    let found = (&inverse * &sums, &inverse * &moment);
                    covariance.push(Covariance::Whole(inverse));
                    found
                }
                Some(span) => {
                    let ([z, own], grown, w) =
                        span.regression(variance / scale, [&part.sums, &data.moment(part)])?;
                    growth += grown;
                    covariance.push(Covariance::Left(scale, w));
                    (z, own)
                }
            };
            known += sums.dot(&z);
            through += z.dot(&moment);
            mean.push(own);
            moved.push(z);
        }
        let mut level = 0.0;
        if data.share > 0.0 {
            let all = (data.share * variance).recip();
            level = (all - known).max(f64::EPSILON * all).recip();
            growth -= (all * level).ln();
        }
        for (mean, z) in mean.iter_mut().zip(&moved) {
            mean.axpy(level * through, z, 1.0);
        }
        let fitted: f64 = data.parts.iter().zip(&mean).map(|(part, mean)| data.moment(part).dot(mean)).sum();
        let log_evidence = 0.5 * (fitted / variance - growth);
        Ok(Self { covariance, moved, level, mean, growth, log_evidence })
    }

    /// The covariance of a part, whatever the level is.
    pub(super) fn marginal(&self, part: usize) -> Matrix {
        let mut covariance = self.covariance[part].matrix();
        covariance.ger(self.level, &self.moved[part], &self.moved[part], 1.0);
        covariance
    }
}
