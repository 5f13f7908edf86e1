//! The room of a round: its candidates, their scores by up to two branches, and the intervals that these make.

use crate::belief::Neglect;
use crate::branch::{ActionInterval, Branch, BranchInterval, Radius};
use crate::error::Result;
use crate::explore::Draws;
use crate::kernel::{self, Aligned, Carried, Contenders, IndexBounds, Measured, Panels, Scores};
use crate::parted::{Parted, Room};
use crate::posterior::Known;
use crate::precision::Precision;
use crate::round::Actions;

/// What was scored last, besides the numbers themselves.
#[derive(Debug, Clone, Copy, Default)]
struct Scored {
    online: bool,
    /// What the informed branch is called, where there is one.
    informed: Option<Branch>,
}

/// A branch, and what its radius is made of.
pub(crate) type Scoring<'a> = Option<(&'a Precision, Radius)>;

/// Room that `choose` and `learn` reuse; no state lives here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scoreboard {
    pub(crate) candidates: Vec<usize>,
    /// Whether a layer has left some candidates out.
    some_left_out: bool,
    pub(crate) panels: Panels,
    online: Scores,
    informed: Scores,
    /// Bounds of the candidates' rewards, or of their indices.
    pub(crate) lower: Vec<f64>,
    upper: Vec<f64>,
    whitened: Aligned,
    scored: Scored,
    /// Whether the intervals of all candidates are wanted, and not only that of the one with the largest index.
    pub(crate) all: bool,
    /// How the index of an action that was scored exceeds its UCB.
    pub(crate) neglect: Option<Neglect>,
    /// Part of each candidate's variance that is due to new columns; empty where there are none.
    pub(crate) news: Vec<f64>,
    pub(crate) carried: Carried,
    pub(crate) carried_many: Vec<Carried>,
    pub(crate) room: Room,
    /// Draws from the posterior, and actions that may be the best, as of the last price.
    pub(crate) draws: Draws,
    pub(crate) possible: Vec<usize>,
    /// Actions of the last round in the other form than they came in.
    pub(crate) other: OtherForm,
}

/// Rows that were filled up, or from which zeros were left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct OtherForm {
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl OtherForm {
    /// The same actions with all their features, if they were sparse, and otherwise without those that are 0.
    pub(crate) fn of<'a>(&'a mut self, actions: Actions<'a>) -> Result<Actions<'a>> {
        let Self { starts, columns, values } = self;
        let dimension = actions.dimension();
        values.clear();
        if actions.is_sparse() {
            values.resize(actions.count() * dimension, 0.0);
            for (k, filled) in values.chunks_exact_mut(dimension).enumerate() {
                actions.row(k).entries().for_each(|(column, value)| filled[column] = value);
            }
            return Actions::new(values, dimension);
        }
        columns.clear();
        starts.clear();
        starts.push(0);
        for k in 0..actions.count() {
            for (column, value) in actions.row(k).entries().filter(|&(_, value)| value != 0.0) {
                columns.push(column);
                values.push(value);
            }
            starts.push(values.len());
        }
        Actions::sparse(starts, columns, values, dimension)
    }
}

impl Scoreboard {
    /// Makes all of a round's actions candidates.
    pub(crate) fn all_candidates(&mut self, count: usize) {
        if self.some_left_out || self.candidates.len() != count {
            self.candidates.clear();
            self.candidates.extend(0..count);
            self.some_left_out = false;
        }
    }

    /// Keeps the candidates whose upper bound survives; returns whether all of them did.
    pub(crate) fn retain(&mut self, survives: impl Fn(f64) -> bool) -> bool {
        let before = self.candidates.len();
        let mut upper = self.upper.iter();
        self.candidates.retain(|_| upper.next().is_some_and(|&ucb| survives(ucb)));
        let all = self.candidates.len() == before;
        self.some_left_out |= !all;
        all
    }

    /// Scores the candidates. Where they are those that were scored last, they may have been `gathered` already; `keep`
    /// makes that possible.
    pub(crate) fn score(
        &mut self,
        actions: Actions<'_>,
        (gathered, keep): (bool, bool),
        online: Scoring<'_>,
        informed: Scoring<'_>,
        branch: Branch,
    ) {
        self.scored = Scored { online: online.is_some(), informed: informed.map(|_| branch) };
        self.neglect = None;
        self.news.clear();
        self.run((!gathered).then_some(actions), actions.dimension(), keep, [online, informed]);
    }

    fn run(
        &mut self,
        actions: Option<Actions<'_>>,
        dimension: usize,
        keep: bool,
        [online, informed]: [Scoring<'_>; 2],
    ) {
        let Self { candidates, panels, whitened, .. } = self;
        let scores = [(online, &mut self.online), (informed, &mut self.informed)];
        kernel::run(&mut kernel::Branches {
            actions: actions.map(|actions| (actions.values, &**candidates)),
            dimension,
            panels,
            keep,
            measured: scores.map(|(scoring, scores)| {
                scoring.map(|(precision, radius)| Measured { precision, radius, scores })
            }),
            whitened,
        });
    }

    /// Scores the actions of a sparse policy, which has no layers, all or those that may have the largest index; the branch is the
    /// informed one, if it has a name.
    pub(crate) fn score_parted(
        &mut self,
        actions: Actions<'_>,
        known: &Parted,
        radius: (Radius, Option<f64>),
        branch: Option<Branch>,
    ) {
        self.scored = Scored { online: branch.is_none(), informed: branch };
        self.neglect = None;
        self.news.clear();
        let scores = if branch.is_some() { &mut self.informed } else { &mut self.online };
        known.score(actions, radius, scores, &mut self.room);
    }

    /// What another branch says of the candidates that were scored last, and were kept. The scores stay what they were,
    /// but for those of an online branch.
    pub(crate) fn aside(&mut self, actions: Actions<'_>, known: &Known, radius: Radius) {
        match known {
            Known::Whole(known) => self.run(None, actions.dimension(), true, [Some((known, radius)), None]),
            Known::Parted(known) => known.score(actions, (radius, None), &mut self.online, &mut self.room),
        }
    }

    /// Means and radii that an online branch has said of the candidates last.
    pub(crate) fn said_aside(&self) -> (&[f64], &[f64]) {
        let (Scores { mean, statistical, .. }, count) = (&self.online, self.candidates.len());
        (&mean[..count], &statistical[..count])
    }

    /// The part of each candidate's variance that is due to new columns; one without a radius cannot have the largest index.
    pub(crate) fn add_news(&mut self, new: impl Fn(usize) -> f64) {
        let scores = if self.scored.informed.is_some() { &self.informed } else { &self.online };
        let radii = scores.statistical.iter().zip(&self.candidates);
        self.news.extend(radii.map(|(&radius, &action)| if radius > 0.0 { new(action) } else { 0.0 }));
    }

    /// Scores that come from elsewhere: the intervals of each candidate by both branches.
    pub(crate) fn set<E>(
        &mut self,
        intervals: impl Fn(usize) -> Result<(BranchInterval, BranchInterval), E>,
    ) -> Result<(), E> {
        self.online.resize(0);
        self.informed.resize(0);
        for &action in &self.candidates {
            let (online, informed) = intervals(action)?;
            self.online.push(online);
            self.informed.push(informed);
        }
        self.scored = Scored { online: true, informed: Some(Branch::Pooled) };
        Ok(())
    }

    /// The interval of one of the candidates that were scored last.
    pub(crate) fn interval(&self, k: usize) -> ActionInterval {
        let interval = self.aggregated(k);
        let index = |neglect: Neglect| match self.news.get(k) {
            Some(&new) if new > 0.0 => neglect.index_of_new(interval.mean(), interval.ucb, new),
            _ => neglect.index(interval.mean(), interval.ucb),
        };
        let neglected = self.neglect.map(index);
        ActionInterval { index: neglected.unwrap_or(interval.index), ..interval }
    }

    /// The same, but that its index is its UCB.
    pub(crate) fn aggregated(&self, k: usize) -> ActionInterval {
        let Scored { online, informed } = self.scored;
        let of = |there: bool, scores: &Scores| there.then(|| BranchInterval::of(scores, k));
        let (online, pooled) = (of(online, &self.online), of(informed.is_some(), &self.informed));
        ActionInterval::aggregate(self.candidates[k], online, pooled, informed.unwrap_or(Branch::Online))
    }

    /// The intervals of all candidates that were scored last.
    pub(crate) fn intervals(&self) -> impl Iterator<Item = ActionInterval> {
        (0..self.candidates.len()).map(|k| self.interval(k))
    }

    /// Lower and upper ends of all intervals that were scored last; returns the number of conflicts.
    pub(crate) fn bound(&mut self) -> usize {
        self.lower.clear();
        self.upper.clear();
        let mut conflicts = 0;
        for k in 0..self.candidates.len() {
            let interval = self.aggregated(k);
            conflicts += usize::from(interval.conflict);
            self.lower.push(interval.lcb);
            self.upper.push(interval.ucb);
        }
        conflicts
    }

    /// Position of the candidate with the largest upper bound among those wider than `width`, if there are any.
    pub(crate) fn largest_ucb(&self, wider_than: Option<f64>) -> Option<usize> {
        let wide = |&k: &usize| wider_than.is_none_or(|width| self.upper[k] - self.lower[k] > width);
        first_largest((0..self.candidates.len()).filter(wide), |k| self.upper[k])
    }

    /// Position of the candidate with the largest mean.
    pub(crate) fn largest_mean(&self) -> Option<usize> {
        first_largest(0..self.candidates.len(), |k| self.aggregated(k).mean())
    }

    /// Position of the first candidate with the largest index; logarithms are taken only where bounds do not decide.
    pub(crate) fn largest_index(&mut self) -> Option<usize> {
        let count = self.candidates.len();
        let Some(neglect) = self.neglect.filter(|_| self.news.is_empty()) else {
            return first_largest(0..count, |k| self.interval(k).index);
        };
        let scores = if self.scored.informed.is_some() { &self.informed } else { &self.online };
        let (lower, upper) = (&mut self.lower, &mut self.upper);
        let found = kernel::run(&mut IndexBounds { scores, count, neglect, lower, upper });
        let (index, upper) = (|k| self.interval(k).index, &self.upper);
        match found {
            Contenders::One(position) => Some(position),
            Contenders::AtLeast(least) => first_largest((0..count).filter(|&k| upper[k] >= least), index),
            Contenders::Any => first_largest(0..count, index),
        }
    }
}

/// The position with the largest key; the first of several.
fn first_largest(positions: impl IntoIterator<Item = usize>, key: impl Fn(usize) -> f64) -> Option<usize> {
    let largest = positions.into_iter().map(|k| (k, key(k))).reduce(|best, next| {
        // A key that is no number gives way to the next one.
        if best.1 >= next.1 { best } else { next }
    });
    largest.map(|(position, _)| position)
}
