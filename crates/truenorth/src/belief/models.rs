//! How far have the logs drifted, and which of their columns are worth nothing? Exact averaging over the models that matter.
//!
//! A model names a deviation g by which every column of the dictionary may have moved, and the columns that have changed by
//! themselves instead. In units of s, the root of the mean square of a coefficient, a column's drift is
//!
//! | state | mean | deviation | prior |
//! |---|---|---|---|
//! | moved | 0 | g = 0.002, 0.1, 0.3, 1 or 3 | all alike; 0.8 for the first where the logs are the policy's own past |
//! | drawn anew | -θ_off / s | 0.1, 0.3, 1, 3 or 10 | a share of all columns may have changed (Jeffreys' prior), in ways that are all alike |
//! | moved apart | 0 | 0.1 | one of these ways where g = 0.002, but not where the logs are the policy's own past |
//!
//! (The dictionary's last column, a factor on all logged coefficients, is drawn anew with mean 0 and deviation 1.) With means m
//! and deviations τ of all columns, and the likelihood `hᵀw - ½ wᵀQw` of their drift w, a model's weight and its posterior are
//!
//! ```text
//! S = (Q + diag τ⁻²)⁻¹,   n = h + m/τ²,   μ = Sn
//! log Z = ½ nᵀμ + ½ log det S - ½ Σ m²/τ² - Σ log τ + log prior
//! ```
//!
//! and column j changes its state, (m, τ) to (m', τ'), at once:
//!
//! ```text
//! δ = 1/τ'² - 1/τ²,   c = m'/τ'² - m/τ²,   D = 1 + δ S_jj,       S' = S - (δ/D) S_j S_jᵀ,   μ' = μ + S_j (c - δμ_j)/D
//! 2 Δlog Z = 2cμ_j + c² S_jj - δ (μ_j + c S_jj)²/D - log D - (m'²/τ'² - m²/τ²) - 2 log(τ'/τ) + 2 Δlog prior
//! ```
//!
//! So all models that differ from a known one in a single column are weighed in O(d). From the models in which no column was
//! changed, and from the heaviest one of the last fit, a climb goes to ever heavier neighbours; then a beam of the heaviest goes
//! from all of these to their neighbours, until it stands.
//! Models that are as heavy as one that is left out are left out with it, so that neither rounding nor the order of columns decides.

use std::cmp::Ordering;

use crate::check;
use crate::error::Result;
use crate::kernel::{self, Contend};

/// Deviations by which all columns may have moved.
const MOVED: [f64; 5] = [0.002, 0.1, 0.3, 1.0, 3.0];
/// Deviations of what was drawn anew.
const ANEW: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];
/// Deviation of a column that has moved while the others have not.
const APART: f64 = 0.1;
/// Models that are averaged.
const WIDTH: usize = 16;
/// Models whose weight is smaller than that of the heaviest by this factor, as a logarithm, are not looked at.
const NEGLIGIBLE: f64 = 14.0;
/// Weights that are closer than this, as logarithms, are equal: where live data says nothing of a column, rounding alone tells
/// its states apart.
const EQUAL: f64 = 1e-6;
/// Of so many columns one may have changed before a model is made from nothing.
const FEW: usize = 16;
/// Steps of the beam, at most; the next fit goes on from where it stopped.
const STEPS: usize = 40;

/// What is assumed of the logs before live data comes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Past {
    /// Prior probability that columns have not moved, which is the first one of `MOVED`.
    still: f64,
    /// Whether a column may have moved by itself.
    apart: bool,
}

impl Past {
    /// Logs of another time, place or policy.
    pub(crate) const LOGS: Self = Self { still: 0.2, apart: true };
    /// The policy's own past, of the same actions and features: nothing has changed, or something was drawn anew.
    pub(crate) const OWN: Self = Self { still: 0.8, apart: false };
}

/// Which model: the deviation of what was moved, and each column's state: 0 if it was moved with the others, and if it has
/// changed by itself, the place in `ANEW` from 1 on, or one more if it was moved apart.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Named {
    moved: u8,
    states: Vec<u8>,
}

impl Named {
    /// Whether this can name a model: deserialised data may be anything.
    pub(crate) fn is_consistent(&self, columns: usize) -> bool {
        usize::from(self.moved) < MOVED.len()
            && self.states.len() == columns
            && self
                .states
                .iter()
                .all(|&state| usize::from(state) <= ANEW.len() + usize::from(self.moved == 0))
            && self.states.last().is_some_and(|&state| state <= 1)
    }

    /// Adds columns that have not changed by themselves, before the common one.
    pub(crate) fn grow(&mut self, columns: usize) {
        let common = self.states.pop();
        self.states.resize(columns - 1, 0);
        self.states.extend(common);
    }

    /// Columns that have changed by themselves.
    fn changed(&self) -> usize {
        self.states.iter().filter(|&&state| state > 0).count()
    }
}

/// What the models are weighed by: what is believed in each of them, in a form that a change of one column is cheap in.
pub(crate) trait Weighed {
    /// What is believed in a model.
    type State: Clone;
    /// Mean and covariance of several.
    type Mixed;

    /// What is believed with `1/τ²` and `m/τ²` of each column, and its weight, as [`Posterior`](super::stepped::Posterior) has it.
    fn start(&self, precision: &[f64], natural: &[f64]) -> Result<(Self::State, f64)>;

    /// μ and the diagonal of S, of all columns; there is room for them.
    fn marginals<'a>(&self, state: &'a Self::State, room: &'a mut [Vec<f64>; 2]) -> [&'a [f64]; 2];

    /// After a change of one column.
    fn changed(&self, state: &Self::State, column: usize, change: &Change) -> Self::State;

    /// With the weights of the models, which sum to 1.
    fn mixed(&self, models: Vec<(f64, Self::State)>) -> Self::Mixed;
}

/// The average of all models.
pub(crate) struct Averaged<M> {
    /// Mean and covariance of the drift.
    pub(crate) mixed: M,
    /// Log of the live data's probability, relative to no drift at all.
    pub(crate) log_evidence: f64,
    /// How much each column still counts, from 0 to 1.
    pub(crate) kept: Vec<f64>,
    /// The heaviest model.
    pub(crate) heaviest: Named,
}

/// What is weighed: the likelihood, and the mean of each column if it was drawn anew.
pub(crate) struct Models<'a, L> {
    likelihood: &'a L,
    past: Past,
    /// Log of the prior probability that no column has changed by itself.
    staying: f64,
    moved: [Component; MOVED.len()],
    /// The states of each column but the first.
    changed: Vec<[Component; ANEW.len() + 1]>,
}

/// N(m, τ²) as the formulas want it.
#[derive(Debug, Clone, Copy)]
struct Component {
    /// 1/τ² and m/τ².
    precision: f64,
    natural: f64,
    /// m²/τ² + 2 log τ.
    norm: f64,
}

impl Component {
    fn new(deviation: f64) -> Self {
        Self { precision: deviation.powi(-2), natural: 0.0, norm: 2.0 * deviation.ln() }
    }

    /// The same about another mean than 0.
    fn about(self, mean: f64) -> Self {
        let Self { precision, norm, .. } = self;
        Self { precision, natural: mean * precision, norm: mean * mean * precision + norm }
    }
}

/// A model at hand.
#[derive(Clone)]
struct Model<State> {
    named: Named,
    /// Tells most names apart.
    mark: u64,
    log_weight: f64,
    state: State,
    explored: bool,
}

/// What a column's state adds to the mark of a model: any number that hardly another one has.
fn mark(column: usize, state: u8) -> u64 {
    (column as u64 * 8 + u64::from(state))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// A neighbour of a model: its weight, the model, and which column is in which state.
struct Neighbour {
    log_weight: f64,
    model: usize,
    column: usize,
    state: u8,
    /// μ and S_jj of the column before.
    before: (f64, f64),
}

impl Neighbour {
    /// The heavier one first; of several that are as heavy, the one that was found first.
    fn heavier(a: &Self, b: &Self) -> Ordering {
        let place = |neighbour: &Self| (neighbour.model, neighbour.column, neighbour.state);
        b.log_weight.total_cmp(&a.log_weight).then_with(|| place(a).cmp(&place(b)))
    }

    fn mark<State>(&self, from: &Model<State>) -> u64 {
        let old = mark(self.column, from.named.states[self.column]);
        from.mark.wrapping_sub(old).wrapping_add(mark(self.column, self.state))
    }
}

/// Room of a search.
#[derive(Default)]
struct Room {
    marginals: [Vec<f64>; 2],
    /// Columns of which another state may be heavy enough.
    contending: Vec<usize>,
}

/// How a change of one column's state changes all.
pub(crate) struct Change {
    /// δ, c, δ/D, (c - δμ_j)/D and D.
    pub(crate) delta: f64,
    pub(crate) c: f64,
    pub(crate) factor: f64,
    pub(crate) shift: f64,
    d: f64,
    /// Twice the evidence, prior and log D aside.
    rest: f64,
}

impl Change {
    /// The evidence, prior aside.
    fn log_weight(&self) -> f64 {
        0.5 * (self.rest - self.d.ln())
    }
}

impl<'a, L: Weighed> Models<'a, L> {
    pub(crate) fn new(likelihood: &'a L, anew: &[f64], past: Past) -> Self {
        let last = anew.len() - 1;
        let (drawn, apart, common) = (ANEW.map(Component::new), Component::new(APART), Component::new(1.0));
        let states = |(column, &mean): (usize, &f64)| {
            let state = |place: usize| match drawn.get(place) {
                _ if column == last => common.about(mean),
                Some(drawn) => drawn.about(mean),
                None => apart,
            };
            std::array::from_fn(state)
        };
        let moved = MOVED.map(Component::new);
        let staying = (0..anew.len()).map(|k| ((k as f64 + 0.5) / (k as f64 + 1.0)).ln()).sum();
        Self { likelihood, past, staying, moved, changed: anew.iter().enumerate().map(states).collect() }
    }

    fn columns(&self) -> usize {
        self.changed.len()
    }

    /// How a column's drift is distributed.
    fn component(&self, column: usize, moved: u8, state: u8) -> Component {
        match state {
            0 => self.moved[usize::from(moved)],
            state => self.changed[column][usize::from(state) - 1],
        }
    }

    /// Log of a model's prior probability.
    fn log_prior(&self, named: &Named) -> f64 {
        // B(k + ½, m - k + ½) / B(½, ½), a column at a time.
        let columns = self.columns();
        let changing: f64 = (0..named.changed()).map(|changed| self.gain(changed, 1)).sum();
        let still = self.past.still;
        let moved = if named.moved == 0 { still } else { (1.0 - still) / (MOVED.len() - 1) as f64 };
        let ways = |j: usize| (self.ways(j, named.moved) as f64).ln();
        let ways: f64 = (0..columns).filter(|&j| named.states[j] > 0).map(ways).sum();
        moved.ln() + self.staying + changing - ways
    }

    /// States in which a column has changed by itself, all alike.
    fn ways(&self, column: usize, moved: u8) -> usize {
        let apart = self.past.apart && moved == 0;
        if column + 1 == self.columns() { 1 } else { ANEW.len() + usize::from(apart) }
    }

    /// What the log prior gains if one more column, one that may do so in so many ways, has changed.
    fn gain(&self, changed: usize, ways: usize) -> f64 {
        ((changed as f64 + 0.5) / ((self.columns() - changed) as f64 - 0.5) / ways as f64).ln()
    }

    /// A model from nothing. O(d³).
    fn start(&self, named: Named) -> Result<Model<L::State>> {
        let components = || (0..self.columns()).map(|j| self.component(j, named.moved, named.states[j]));
        let precision: Vec<f64> = components().map(|component| component.precision).collect();
        let natural: Vec<f64> = components().map(|component| component.natural).collect();
        let (state, log_weight) = self.likelihood.start(&precision, &natural)?;
        let norm: f64 = components().map(|component| component.norm).sum();
        let log_weight = self.log_prior(&named) + 0.5 * (log_weight - norm);
        let marks = named.states.iter().enumerate().map(|(column, &state)| mark(column, state));
        let mark = marks.fold(u64::from(named.moved), u64::wrapping_add);
        Ok(Model { named, mark, log_weight, state, explored: false })
    }

    /// With μ and S_jj of the column.
    #[inline]
    fn change(&self, named: &Named, column: usize, state: u8, (mean, variance): (f64, f64)) -> Change {
        let component = |state| self.component(column, named.moved, state);
        let (old, new) = (component(named.states[column]), component(state));
        let (delta, c) = (new.precision - old.precision, new.natural - old.natural);
        let d = 1.0 + delta * variance;
        let rest = 2.0 * c * mean + c * c * variance
            - delta * (mean + c * variance).powi(2) / d
            - (new.norm - old.norm);
        Change { delta, c, factor: delta / d, shift: (c - delta * mean) / d, d, rest }
    }

    /// The neighbours of a model that are heavier than that, all or those that are no lighter than the ones before them. O(d).
    ///
    /// A column that has not changed by itself, in a state that it was moved to by g, cannot gain more than the most likely drift of all
    /// would, whatever its other states are:
    ///
    /// ```text
    /// 2 Δlog Z ≤ p μ_j²/q - log(1 - q) + 2 Δlog prior,     p = 1/g²,   q = 1 - p S_jj
    /// ```
    fn neighbours(
        &self,
        models: &[Model<L::State>],
        place: usize,
        (mut least, all): (f64, bool),
        room: &mut Room,
        found: &mut Vec<Neighbour>,
    ) {
        let model = &models[place];
        let changed = model.named.changed();
        let (moved, last) = (model.named.moved, self.columns() - 1);
        let [means, variances] = self.likelihood.marginals(&model.state, &mut room.marginals);
        // What a column gains by changing, and by changing back; the last one has ways of its own.
        let gains = |ways| {
            (self.gain(changed, ways), changed.checked_sub(1).map_or(0.0, |fewer| -self.gain(fewer, ways)))
        };
        let (gained, last_gained) = (gains(self.ways(0, moved)), gains(self.ways(last, moved)));
        kernel::run(&mut Contend {
            means: &means[..last],
            variances: &variances[..last],
            changed: &model.named.states[..last],
            precision: self.moved[usize::from(moved)].precision,
            least: 2.0 * (least - model.log_weight - gained.0) - EQUAL,
            to: &mut room.contending,
        });
        for &column in room.contending.iter().chain([&last]) {
            let old = model.named.states[column];
            let (to, back) = if column == last { last_gained } else { gained };
            for state in (0..=self.ways(column, moved))
                .filter_map(|state| u8::try_from(state).ok())
                .filter(|&state| state != old)
            {
                let prior = match (old, state) {
                    (0, _) => to,
                    (_, 0) => back,
                    _ => 0.0,
                };
                let before = (means[column], variances[column]);
                let change = self.change(&model.named, column, state, before);
                // Most are too light whatever their log D is.
                if change.d >= 1.0 && model.log_weight + 0.5 * change.rest + prior <= least {
                    continue;
                }
                let log_weight = model.log_weight + change.log_weight() + prior;
                // Of those that are as heavy, the last one.
                if log_weight > least || !all && !found.is_empty() && log_weight >= least {
                    least = if all { least } else { log_weight };
                    found.push(Neighbour { log_weight, model: place, column, state, before });
                }
            }
        }
    }

    /// A neighbour, made from the model that it is one of.
    fn moved(&self, models: &[Model<L::State>], to: &Neighbour) -> Model<L::State> {
        let from = &models[to.model];
        let mut named = from.named.clone();
        named.states[to.column] = to.state;
        let change = self.change(&from.named, to.column, to.state, to.before);
        let state = self.likelihood.changed(&from.state, to.column, &change);
        Model { named, mark: to.mark(from), log_weight: to.log_weight, state, explored: false }
    }

    /// From a model to its heaviest neighbour, and on, as long as they grow heavier. A beam alone would not go through
    /// models that are light to one that is heavy, as where several columns have changed and no other has moved.
    fn climbed(&self, from: &Model<L::State>, room: &mut Room) -> Model<L::State> {
        let (mut model, mut found) = (from.clone(), Vec::new());
        for _ in 0..STEPS {
            found.clear();
            let least = model.log_weight + EQUAL;
            self.neighbours(std::slice::from_ref(&model), 0, (least, false), room, &mut found);
            let Some(heavier) = found.last() else { break };
            model = self.moved(std::slice::from_ref(&model), heavier);
        }
        model
    }

    /// The models in which no column has changed, and the heaviest one of the last fit, each with the one that a climb from it leads
    /// to; but for those from which there is no way to a model that matters. O(d³).
    fn peaks(&self, last: Option<&Named>, room: &mut Room) -> Result<Vec<Model<L::State>>> {
        // Beside the heaviest, most of the others are negligible, and their matrices need not be kept.
        let first = last.map_or(0, |last| last.moved);
        let others = (0..MOVED.len()).filter_map(|moved| u8::try_from(moved).ok());
        let mut heaviest = f64::NEG_INFINITY;
        let mut found: Vec<(f64, Vec<Model<L::State>>)> = Vec::new();
        for moved in [first].into_iter().chain(others.filter(|&moved| moved != first)) {
            let mut own = vec![self.start(Named { moved, states: vec![0; self.columns()] })?];
            if let Some(last) = last.filter(|last| last.moved == moved && last.changed() > 0) {
                own.push(self.reached(&own[0], last)?);
            }
            for place in 0..own.len() {
                let peak = self.climbed(&own[place], room);
                if own.iter().all(|model| model.named != peak.named) {
                    own.push(peak);
                }
            }
            let weights = own.iter().map(|model| model.log_weight).filter(|weight| weight.is_finite());
            let peak = weights.fold(f64::NEG_INFINITY, f64::max);
            heaviest = heaviest.max(peak);
            found.push((peak, own));
            // What is next to one of these is no heavier than their peak, unless the climb to it was cut short.
            found.retain(|(peak, _)| *peak + NEGLIGIBLE + EQUAL >= heaviest);
        }
        Ok(found.into_iter().flat_map(|(_, own)| own).collect())
    }

    /// A model that has this name, from the one in which no column has changed: a column at a time, if they are few.
    fn reached(&self, start: &Model<L::State>, named: &Named) -> Result<Model<L::State>> {
        if named.changed() > self.columns() / FEW {
            return self.start(named.clone());
        }
        let mut room = Room::default();
        let mut model = start.clone();
        for (column, &state) in named.states.iter().enumerate().filter(|(_, state)| **state > 0) {
            let [means, variances] = self.likelihood.marginals(&model.state, &mut room.marginals);
            let before = (means[column], variances[column]);
            let change = self.change(&model.named, column, state, before);
            let prior = self.gain(model.named.changed(), self.ways(column, named.moved));
            let log_weight = model.log_weight + change.log_weight() + prior;
            let to = Neighbour { log_weight, model: 0, column, state, before };
            model = self.moved(std::slice::from_ref(&model), &to);
        }
        Ok(model)
    }

    /// Weighs the models, from the heaviest one of the last fit on. O(d³).
    pub(crate) fn average(&self, last: Option<&Named>) -> Result<Averaged<L::Mixed>> {
        self.average_of(WIDTH, last)
    }

    /// The same with so many models.
    fn average_of(&self, used: usize, last: Option<&Named>) -> Result<Averaged<L::Mixed>> {
        let mut room = Room::default();
        let mut models = self.peaks(last, &mut room)?;
        // One more, to see what is left out.
        let width = used + 1;
        for _ in 0..STEPS {
            models.sort_by(|a, b| b.log_weight.total_cmp(&a.log_weight));
            models.truncate(width);
            if models.iter().all(|model| model.explored) {
                break;
            }
            let lightest =
                if models.len() == width { models[width - 1].log_weight } else { f64::NEG_INFINITY };
            let least = lightest.max(models[0].log_weight - NEGLIGIBLE);
            let mut found = Vec::new();
            for place in 0..models.len() {
                if !models[place].explored {
                    self.neighbours(&models, place, (least, true), &mut room, &mut found);
                    models[place].explored = true;
                }
            }
            let known = models.len();
            // A neighbour is one of so many models at most, and there are so many, so that those behind do not matter.
            let enough = known * (known + width);
            if found.len() > enough {
                found.select_nth_unstable_by(enough, Neighbour::heavier);
                found.truncate(enough);
            }
            found.sort_unstable_by(Neighbour::heavier);
            for neighbour in &found {
                let from = &models[neighbour.model];
                let mark = neighbour.mark(from);
                let is_it = |model: &Model<L::State>| {
                    let named = &model.named;
                    model.mark == mark
                        && named.moved == from.named.moved
                        && named.states[neighbour.column] == neighbour.state
                        && (0..self.columns())
                            .all(|j| j == neighbour.column || named.states[j] == from.named.states[j])
                };
                if !models.iter().any(is_it) {
                    models.push(self.moved(&models[..known], neighbour));
                }
                if models.len() == known + width {
                    break;
                }
            }
        }
        // Numbers at the edge of overflow may give none.
        models.retain(|model| model.log_weight.is_finite());
        if models.is_empty() {
            return Err(check::indefinite("the precision of the drift", f64::NAN));
        }
        models.sort_by(|a, b| b.log_weight.total_cmp(&a.log_weight));
        if let Some(left_out) = models.get(used).map(|model| model.log_weight + EQUAL) {
            models.truncate(used);
            if models[0].log_weight > left_out {
                models.retain(|model| model.log_weight > left_out);
            }
        }
        Ok(self.mixed(models))
    }

    /// Mean and covariance of the mixture; the heaviest comes first.
    fn mixed(&self, mut models: Vec<Model<L::State>>) -> Averaged<L::Mixed> {
        let peak = models[0].log_weight;
        models.retain(|model| model.log_weight >= peak - NEGLIGIBLE);
        let mut weights: Vec<f64> = models.iter().map(|model| (model.log_weight - peak).exp()).collect();
        let (total, columns) = (weights.iter().sum::<f64>(), self.columns());
        for weight in &mut weights {
            *weight /= total;
        }
        let each = || weights.iter().copied().zip(&models);
        // A coefficient that may have moved by g has a prior of that width instead of one of width 1; the common factor
        // holds or not.
        let counts = |model: &Model<L::State>, j: usize| match model.named.states[j] {
            0 if j + 1 == columns => 1.0,
            0 => (1.0 + MOVED[usize::from(model.named.moved)].powi(2)).recip(),
            state if usize::from(state) > ANEW.len() => (1.0 + APART * APART).recip(),
            _ => 0.0,
        };
        let kept = |j| each().map(|(weight, model)| weight * counts(model, j)).sum();
        let kept = (0..columns).map(kept).collect();
        // The models at hand stand for all: their evidence is relative to their own prior.
        let prior: f64 = models.iter().map(|model| self.log_prior(&model.named).exp()).sum();
        let heaviest = models[0].named.clone();
        let states = weights.into_iter().zip(models.into_iter().map(|model| model.state)).collect();
        let mixed = self.likelihood.mixed(states);
        Averaged { mixed, log_evidence: peak + total.ln() - prior.ln(), kept, heaviest }
    }
}

#[cfg(test)]
mod tests {
    use super::super::quadratic::Whole;
    use super::*;
    use crate::dense::{Matrix, Vector};

    fn problem(columns: usize, seed: usize) -> (Whole, Vec<f64>) {
        let number = |i: usize, j: usize| ((i * 7919 + j * 104_729 + seed * 31) % 1009) as f64 / 1009.0 - 0.5;
        let root = Matrix::from_fn(columns, columns, |i, j| 4.0 * number(i, j));
        let q = root.tr_mul(&root) * 3.0;
        let drift = Vector::from_fn(columns, |i, _| if i == 1 { 1.3 } else { 0.0 });
        let h = &q * drift + Vector::from_fn(columns, |i, _| number(i, 99));
        (Whole { q, h }, (0..columns).map(|j| number(j, 5)).collect())
    }

    const PAST: Past = Past { still: 0.3, apart: true };

    /// All models of three columns.
    fn every(past: Past) -> Vec<Named> {
        let of = |moved: u8| {
            let states = if past.apart && moved == 0 { 7 } else { 6 };
            let named = move |k: u8| Named {
                moved,
                states: vec![k % states, k / states % states, k / states / states],
            };
            (0..2 * states * states).map(named)
        };
        (0..5).flat_map(of).collect()
    }

    /// Log weight and posterior mean of a model, by a determinant and an inverse.
    fn plain(models: &Models<'_, Whole>, anew: &[f64], named: &Named) -> (f64, Vector) {
        let (columns, last) = (models.columns(), models.columns() - 1);
        let parts = |j: usize| match named.states[j] {
            0 => (0.0, MOVED[usize::from(named.moved)]),
            _ if j == last => (anew[j], 1.0),
            6 => (0.0, APART),
            state => (anew[j], ANEW[usize::from(state) - 1]),
        };
        let precision = &models.likelihood.q
            + Matrix::from_diagonal(&Vector::from_fn(columns, |j, _| parts(j).1.powi(-2)));
        let natural = &models.likelihood.h + Vector::from_fn(columns, |j, _| parts(j).0 / parts(j).1.powi(2));
        let inverse = precision.clone().try_inverse().unwrap();
        let mean = &inverse * &natural;
        let prior: f64 =
            (0..columns).map(|j| (parts(j).0 / parts(j).1).powi(2) / 2.0 + parts(j).1.ln()).sum();
        let log_weight = 0.5 * natural.dot(&mean) - 0.5 * precision.determinant().ln() - prior;
        (log_weight + models.log_prior(named), mean)
    }

    #[test]
    fn a_change_of_one_column_is_the_model_made_from_nothing() {
        for seed in 0..20u8 {
            let (whole, anew) = problem(4, seed.into());
            let models = Models::new(&whole, &anew, PAST);
            let moved = seed % 5;
            let ways = if moved == 0 { 6 } else { 5 };
            let named = Named { moved, states: vec![0, seed % (ways + 1), 2, seed % 2] };
            let start = models.start(named).unwrap();
            let (mut found, mut room) = (Vec::new(), Room::default());
            let least = (f64::NEG_INFINITY, true);
            models.neighbours(std::slice::from_ref(&start), 0, least, &mut room, &mut found);
            assert_eq!(found.len(), 3 * usize::from(ways) + 1);
            for neighbour in &found {
                let moved = models.moved(std::slice::from_ref(&start), neighbour);
                let (log_weight, mean) = plain(&models, &anew, &moved.named);
                assert!((moved.log_weight - log_weight).abs() < 1e-7, "{} {log_weight}", moved.log_weight);
                assert!((moved.state.mean - mean).amax() < 1e-7);
            }
        }
    }

    #[test]
    fn a_model_reached_column_by_column_is_the_one_made_from_nothing() {
        let columns = 2 * FEW;
        for seed in 0..5 {
            let (whole, anew) = problem(columns, seed);
            let models = Models::new(&whole, &anew, PAST);
            let moved = u8::try_from(seed).unwrap();
            let start = models.start(Named { moved, states: vec![0; columns] }).unwrap();
            let mut states = vec![0; columns];
            (states[1], states[7]) = (3, 2);
            let named = Named { moved, states };
            let (reached, made) = (models.reached(&start, &named).unwrap(), models.start(named).unwrap());
            assert_eq!((&reached.named, reached.mark), (&made.named, made.mark));
            assert!((reached.log_weight - made.log_weight).abs() < 1e-7, "{seed}");
            assert!((reached.state.mean - made.state.mean).amax() < 1e-7, "{seed}");
            assert_eq!(reached.state.changes.len(), 2);
        }
    }

    #[test]
    fn the_beam_finds_what_enumeration_finds() {
        for seed in 0..10 {
            let (whole, anew) = problem(3, seed);
            let models = Models::new(&whole, &anew, PAST);
            let all: Vec<_> = every(PAST).iter().map(|named| plain(&models, &anew, named)).collect();
            let peak = all.iter().map(|(weight, _)| *weight).fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = all.iter().map(|(weight, _)| (weight - peak).exp()).sum();
            let mean = all
                .iter()
                .fold(Vector::zeros(3), |sum, (weight, mean)| sum + mean * ((weight - peak).exp() / total));
            // As wide as there are models, and as wide as it is.
            for (width, tolerance) in [(386, 1e-4), (WIDTH, 0.1)] {
                let averaged = models.average_of(width, None).unwrap();
                assert!(
                    (averaged.mixed.mean - &mean).amax() < tolerance * (1.0 + mean.amax()),
                    "{seed} {width}: {mean}"
                );
                let (heaviest, _) = plain(&models, &anew, &averaged.heaviest);
                assert!((heaviest - peak).abs() < 1e-9, "{seed}");
            }
        }
    }

    #[test]
    fn prior_probabilities_of_all_models_sum_to_one() {
        let (whole, anew) = problem(3, 0);
        for (past, count) in [(PAST, 386), (Past::LOGS, 386), (Past::OWN, 360)] {
            let models = Models::new(&whole, &anew, past);
            let all: Vec<_> = every(past).iter().map(|named| models.log_prior(named).exp()).collect();
            assert_eq!(all.len(), count);
            assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
