//! Sections 3 and 4 of docs/method.md, plainly.
//!
//! Every model of the drift is a Gaussian prior N(μ, P) of live truth, with `P = G⁻¹ + B diag(τ²) Bᵀ`, and its weight is
//! the marginal likelihood of the live rewards. All models are made, one by one, by inverses and determinants. There is no
//! likelihood of the drift, no rank-one update, and no sum that is kept from one round to the next.

use crate::support::{Matrix, Vector};

/// Features and reward.
pub(super) type Row = (Vec<f64>, f64);

const LARGEST_INDEX: &str = "plays the largest ucb, wider for what was long left alone";
pub(super) const LIVE_FAVOURITE: &str = "asks live data alone, lest the logs hide the best action";

/// Deviations of what was moved, of what was drawn anew, and of what was moved apart from the others; and the models that are
/// averaged.
const MOVED: [f64; 5] = [0.002, 0.1, 0.3, 1.0, 3.0];
const ANEW: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];
const APART: f64 = 0.1;
const MODELS: usize = 16;

#[derive(Clone)]
struct Gaussian {
    mean: Vector,
    covariance: Matrix,
}

/// Rows in units, with their level integrated out: c ~ N(c₀, v), share = 1/(n + σ²/v).
struct Regression {
    gram: Matrix,
    moment: Vector,
    squares: f64,
    count: f64,
    share: f64,
}

/// What the next decision rests on, and how the last fit went.
pub(super) struct Reference {
    dimension: usize,
    logs: Vec<Row>,
    pub(super) played: Vec<Row>,
    /// Actions that were looked at for their units.
    offered: Vec<Vec<f64>>,
    units: Vec<f64>,
    pub(super) rounds: u64,
    due: usize,
    /// Rewards at the last fit.
    fitted: usize,
    pub(super) variance: f64,
    /// Of the logs, and the mean square of a coefficient.
    logged: (f64, f64),
    levels: [f64; 2],
    pub(super) void: f64,
    credit: f64,
    belief: Gaussian,
    alone: Gaussian,
    heaviest: Option<(usize, Vec<usize>)>,
    /// By fit, how far the belief is from that of the heaviest of all models.
    pub(super) missed: Vec<f64>,
}

/// What an action is worth: mean, ucb, lcb, index.
pub(super) type Interval = [f64; 4];

pub(super) struct Decision {
    pub(super) intervals: Vec<Interval>,
    pub(super) action: usize,
    /// As the engine says it.
    pub(super) rule: &'static str,
    /// By how much the action's index is the largest.
    pub(super) lead: f64,
}

fn inverse(matrix: &Matrix) -> Matrix {
    matrix.clone().try_inverse().unwrap()
}

fn diagonal(entries: impl IntoIterator<Item = f64>) -> Matrix {
    Matrix::from_diagonal(&Vector::from_vec(entries.into_iter().collect()))
}

/// √(Σx⁴ / Σx²) of a column; 0 where it is 0.
fn unit(rows: &[Vec<f64>], column: usize) -> f64 {
    let power = |exponent| rows.iter().map(|row| row[column].powi(exponent)).sum::<f64>();
    if power(2) > 0.0 { (power(4) / power(2)).sqrt() } else { 0.0 }
}

fn regression(rows: &[Row], units: &[f64], expected: f64, ratio: f64) -> Regression {
    let count = rows.len() as f64;
    let share = if rows.is_empty() { 0.0 } else { 1.0 / (count + ratio) };
    let features = Matrix::from_fn(rows.len(), units.len(), |i, j| rows[i].0[j] / units[j]);
    let rewards = Vector::from_fn(rows.len(), |i, _| rows[i].1 - expected);
    let without_level =
        Matrix::identity(rows.len(), rows.len()) - Matrix::from_element(rows.len(), rows.len(), share);
    Regression {
        gram: features.transpose() * &without_level * &features,
        moment: features.transpose() * &without_level * &rewards,
        squares: rewards.dot(&(without_level * &rewards)),
        count,
        share,
    }
}

impl Regression {
    fn free(&self) -> f64 {
        self.count * (1.0 - self.share)
    }

    /// σ² and s² that make the rewards likeliest, but for half a pseudo-observation.
    fn evidence(&self) -> (f64, f64) {
        let (rows, identity) = (self.free(), Matrix::identity(self.moment.len(), self.moment.len()));
        let (mean_square, mean_length) = (self.squares / rows.max(1.0), self.gram.trace() / rows.max(1.0));
        if mean_square < 1e-30 || mean_length < 1e-30 {
            return (1.0, 1.0);
        }
        let (mut variance, mut scale) = (0.25 * mean_square, mean_square / mean_length);
        for _ in 0..200 {
            let hat = inverse(&(&self.gram + &identity * (variance / scale)));
            let (estimate, used) = (&hat * &self.moment, (&hat * &self.gram).trace());
            let residual =
                self.squares + estimate.dot(&(&self.gram * &estimate)) - 2.0 * estimate.dot(&self.moment);
            let before = (variance, scale);
            variance =
                (residual.max(1e-12 * self.squares) + 0.1 * mean_square) / (rows - used + 0.5).max(0.5);
            scale = (estimate.norm_squared() + 0.5 * mean_square / mean_length) / (used + 0.5);
            if (variance / before.0).ln().abs() + (scale / before.1).ln().abs() < 1e-8 {
                break;
            }
        }
        (variance, scale)
    }

    /// What the level is if the coefficients are these, in units.
    fn level(&self, rows: &[Row], units: &[f64], expected: f64, coefficients: &Vector) -> f64 {
        let explained = |x: &[f64]| (0..units.len()).map(|j| x[j] / units[j] * coefficients[j]).sum::<f64>();
        expected + self.share * rows.iter().map(|(x, reward)| reward - expected - explained(x)).sum::<f64>()
    }
}

impl Gaussian {
    /// What is left of this belief after data of precision A and moment b, and the logarithm of ∫ exp(bᵀθ - ½θᵀAθ).
    fn after(&self, gram: &Matrix, moment: &Vector) -> (f64, Self) {
        let precision = inverse(&self.covariance);
        let covariance = inverse(&(gram + &precision));
        let natural = moment + &precision * &self.mean;
        let mean = &covariance * &natural;
        let volume = covariance.determinant().ln() - self.covariance.determinant().ln();
        let evidence = 0.5 * (natural.dot(&mean) - self.mean.dot(&(precision * &self.mean)) + volume);
        (evidence, Self { mean, covariance })
    }

    /// Mean and covariance of a mixture.
    fn mixture(parts: &[(f64, Self)]) -> Self {
        let total: f64 = parts.iter().map(|part| part.0).sum();
        let mean: Vector = parts.iter().map(|(weight, part)| &part.mean * (weight / total)).sum();
        let spread = |(weight, part): &(f64, Self)| {
            let apart = &part.mean - &mean;
            (&part.covariance + &apart * apart.transpose()) * (weight / total)
        };
        Self { covariance: parts.iter().map(spread).sum(), mean }
    }

    /// How far means are apart, in deviations, or deviations themselves: the larger of both.
    fn distance(&self, other: &Self) -> f64 {
        let apart = |j: usize| {
            let [one, two] = [self, other].map(|belief| belief.covariance[(j, j)].sqrt());
            (self.mean[j] - other.mean[j]).abs().max((one - two).abs()) / one.max(two)
        };
        (0..self.mean.len()).map(apart).fold(0.0, f64::max)
    }

    fn in_users_units(&self, units: &[f64]) -> Self {
        let scaling = diagonal(units.iter().map(|unit| 1.0 / unit));
        Self { mean: &scaling * &self.mean, covariance: &scaling * &self.covariance * &scaling }
    }
}

/// States of a column that has changed by itself: it was drawn anew, or has moved where the others have not.
fn ways(moved: usize) -> usize {
    if moved == 0 { 6 } else { 5 }
}

/// Prior probability of a model with these states: the share of columns that have changed by themselves has Jeffreys' prior,
/// and the ways in which all but the last column may do so are alike.
fn prior(moved: usize, states: &[usize]) -> f64 {
    let changed = |states: &[usize]| states.iter().filter(|&&state| state > 0).count();
    let (columns, but_last) = (states.len(), changed(&states[..states.len() - 1]));
    let changed = changed(states);
    // Γ(k + ½) Γ(m - k + ½) / (Γ(½)² m!)
    let rising = |count: usize| (0..count).map(|k| k as f64 + 0.5).product::<f64>();
    let factorial: f64 = (1..=columns).map(|k| k as f64).product();
    let ways = (ways(moved) as f64).powi(i32::try_from(but_last).unwrap());
    rising(changed) * rising(columns - changed) / factorial / ways / MOVED.len() as f64
}

/// A model: the deviation of what was moved, the state of each column (0 if it was moved), and what they make of live truth.
struct Model {
    moved: usize,
    states: Vec<usize>,
    prior: f64,
    log_weight: f64,
    belief: Gaussian,
}

impl Model {
    /// Live truth before live data, and then after it.
    fn new(moved: usize, states: Vec<usize>, logs: &Gaussian, unit: f64, data: (&Matrix, &Vector)) -> Self {
        let last = logs.mean.len();
        let mut columns = Matrix::identity(last, last + 1) * unit;
        columns.set_column(last, &logs.mean);
        let part = |j: usize| match states[j] {
            0 => (0.0, MOVED[moved]),
            _ if j == last => (0.0, 1.0),
            6 => (0.0, APART),
            state => (-logs.mean[j] / unit, ANEW[state - 1]),
        };
        let spread = diagonal((0..=last).map(|j| part(j).1.powi(2)));
        let before = Gaussian {
            mean: &logs.mean + &columns * Vector::from_fn(last + 1, |j, _| part(j).0),
            covariance: &logs.covariance + &columns * spread * columns.transpose(),
        };
        let prior = prior(moved, &states);
        let (evidence, belief) = before.after(data.0, data.1);
        Self { moved, states, prior, log_weight: prior.ln() + evidence, belief }
    }

    fn is_neighbour(&self, other: &Self) -> bool {
        let differs = |j: &usize| self.states[*j] != other.states[*j];
        self.moved == other.moved && (0..self.states.len()).filter(differs).count() == 1
    }
}

/// All models, the heaviest first.
fn models(logs: &Gaussian, unit: f64, data: (&Matrix, &Vector)) -> Vec<Model> {
    let of = |moved: usize| {
        let mut names = vec![Vec::new()];
        for states in logs.mean.iter().map(|_| ways(moved) + 1).chain([2]) {
            let longer = |state: usize| names.iter().map(move |names| [&names[..], &[state]].concat());
            names = (0..states).flat_map(longer).collect::<Vec<Vec<usize>>>();
        }
        names.into_iter().map(move |states| Model::new(moved, states, logs, unit, data))
    };
    let mut all: Vec<_> = (0..MOVED.len()).flat_map(of).collect();
    all.sort_by(|a, b| b.log_weight.total_cmp(&a.log_weight));
    all
}

/// What is averaged of these, the heaviest first: sixteen of them, but none that is as heavy as the next one, and none that is
/// negligible.
fn cut(mut found: Vec<&Model>) -> Vec<&Model> {
    let left_out = found.get(MODELS).map_or(f64::NEG_INFINITY, |model| model.log_weight + 1e-6);
    let least = left_out.max(found[0].log_weight - 14.0);
    found.retain(|model| model.log_weight > least);
    found
}

/// The models that a walk finds: from those without a column drawn anew and from the last fit's heaviest, and from where one
/// gets from these by way of ever heavier neighbours, to all that differ in one column, as long as they are among the seventeen heaviest of those met so far.
fn walk<'a>(all: &'a [Model], last: Option<&(usize, Vec<usize>)>) -> Vec<&'a Model> {
    let is_last = |model: &Model| last.is_some_and(|last| *last == (model.moved, model.states.clone()));
    let is_start = |model: &Model| model.states.iter().all(|&state| state == 0) || is_last(model);
    let mut met: Vec<usize> = (0..all.len()).filter(|&k| is_start(&all[k])).collect();
    let climbed = |start: &usize| {
        let mut place = *start;
        let heavier = |from: usize| {
            let heavier = |k: &usize| all[*k].log_weight > all[from].log_weight + 1e-6;
            (0..from).filter(heavier).find(|&k| all[k].is_neighbour(&all[from]))
        };
        while let Some(next) = heavier(place) {
            place = next;
        }
        place
    };
    let peaks: Vec<usize> = met.iter().map(climbed).collect();
    met.extend(peaks);
    met.sort_unstable();
    met.dedup();
    let mut left: Vec<usize> = Vec::new();
    loop {
        // They are numbered by weight.
        met.sort_unstable();
        met.truncate(MODELS + 1);
        let from: Vec<usize> = met.iter().copied().filter(|k| !left.contains(k)).collect();
        if from.is_empty() {
            return met.into_iter().map(|k| &all[k]).collect();
        }
        let end = if met.len() > MODELS { met[MODELS] } else { all.len() };
        let worthwhile = |k: &usize| all[*k].log_weight > all[met[0]].log_weight - 14.0 && !met.contains(k);
        let next =
            (0..end).filter(worthwhile).filter(|&k| from.iter().any(|&j| all[k].is_neighbour(&all[j])));
        let next: Vec<usize> = next.take(MODELS + 1).collect();
        left.extend(from);
        met.extend(next);
    }
}

/// Mean and covariance of some models, and the logarithm of their evidence: they stand for all, so it is relative to their
/// own prior.
fn averaged(models: &[&Model]) -> (f64, Gaussian) {
    let peak = models[0].log_weight;
    let weight = |model: &Model| (model.log_weight - peak).exp();
    let (total, priors) =
        models.iter().fold((0.0, 0.0), |sum, model| (sum.0 + weight(model), sum.1 + model.prior));
    let parts: Vec<_> = models.iter().map(|model| (weight(model), model.belief.clone())).collect();
    (peak + (total / priors).ln(), Gaussian::mixture(&parts))
}

impl Reference {
    pub(super) fn new(dimension: usize, logs: Vec<Row>) -> Self {
        let nothing =
            Gaussian { mean: Vector::zeros(dimension), covariance: Matrix::identity(dimension, dimension) };
        let (played, offered, missed, units) = Default::default();
        let (rounds, due, fitted, credit, levels) = Default::default();
        let (variance, logged, void, belief, alone, heaviest) =
            (1.0, (1.0, 1.0), 1.0, nothing.clone(), nothing, None);
        let mut reference = Self {
            dimension,
            logs,
            played,
            offered,
            units,
            rounds,
            due,
            fitted,
            variance,
            logged,
            levels,
            void,
            credit,
            belief,
            alone,
            heaviest,
            missed,
        };
        reference.units = reference.measured_units();
        reference.fit();
        reference
    }

    /// The larger unit of logs and offered actions; 0 for a column that nobody has seen.
    fn measured_units(&self) -> Vec<f64> {
        let logged: Vec<_> = self.logs.iter().map(|row| row.0.clone()).collect();
        (0..self.dimension).map(|j| unit(&logged, j).max(unit(&self.offered, j))).collect()
    }

    /// Whether units are others than they were, by more than a tenth in some column.
    fn look(&mut self, actions: &[Vec<f64>]) -> bool {
        let unseen = |x: &Vec<f64>| (0..self.dimension).any(|j| self.units[j] == 0.0 && x[j] != 0.0);
        if (self.rounds + 1).is_power_of_two() || actions.iter().any(unseen) {
            self.offered.extend_from_slice(actions);
            let units = self.measured_units();
            if units.iter().zip(&self.units).any(|(new, old)| (new - old).abs() > 0.1 * old) {
                self.units = units;
                return true;
            }
        }
        false
    }

    fn fit(&mut self) {
        self.fitted = self.played.len();
        self.due = self.fitted + (self.fitted / 4).max(1);
        let units: Vec<f64> = self.units.iter().map(|&unit| if unit > 0.0 { unit } else { 1.0 }).collect();
        let logs = regression(&self.logs, &units, 0.0, 0.0);
        let identity = Matrix::identity(self.dimension, self.dimension);
        let wide =
            |scale: f64| Gaussian { mean: Vector::zeros(self.dimension), covariance: &identity * scale };
        if self.logs.is_empty() {
            let live = regression(&self.played, &units, 0.0, 0.0);
            let (variance, scale) = live.evidence();
            let (_, mut alone) = wide(scale).after(&(&live.gram / variance), &(&live.moment / variance));
            // Student's variances, as neither noise nor size is known.
            let freedom = live.free() + 0.5;
            alone.covariance *= if live.free() > 0.0 { ((freedom + 2.0) / freedom).powi(2) } else { 1.0 };
            self.variance = variance;
            self.levels = [live.level(&self.played, &units, 0.0, &alone.mean); 2];
            self.belief = alone.in_users_units(&units);
            self.alone = self.belief.clone();
            return;
        }
        let (logged_variance, scale) = logs.evidence();
        self.logged = (logged_variance, scale);
        if self.rounds == 0 && self.played.is_empty() {
            self.variance = logged_variance;
        }
        let covariance = inverse(&(&logs.gram / logged_variance + &identity / scale));
        let known = Gaussian { mean: &covariance * &logs.moment / logged_variance, covariance };
        let level = logs.level(&self.logs, &units, 0.0, &known.mean);
        // The live level is as far from that as 0.3 deviations of the logged rewards.
        let width = 0.09 * logs.squares / logs.free().max(1.0);
        let live = regression(&self.played, &units, level, self.variance / width);
        let (gram, moment) = (&live.gram / self.variance, &live.moment / self.variance);

        let (void_evidence, alone) = wide(scale).after(&gram, &moment);
        let all = models(&known, scale.sqrt(), (&gram, &moment));
        let found = walk(&all, self.heaviest.as_ref());
        self.heaviest = Some((found[0].moved, found[0].states.clone()));
        let mixed = |found: Vec<&Model>| {
            let (evidence, informed) = averaged(&cut(found));
            let void = 1.0 / (1.0 + 19.0 * (evidence - void_evidence).exp());
            (void, Gaussian::mixture(&[(1.0 - void, informed), (void, alone.clone())]))
        };
        let (void, belief) = mixed(found);
        self.missed.push(belief.distance(&mixed(all.iter().collect()).1));
        self.void = void;

        self.levels =
            [&belief, &alone].map(|believed| live.level(&self.played, &units, level, &believed.mean));
        let residual = live.squares + belief.mean.dot(&(&live.gram * &belief.mean))
            - 2.0 * belief.mean.dot(&live.moment);
        let used = (gram * &belief.covariance).trace() + live.count * live.share;
        let (worth, freedom) = (logs.count.min(100.0), (live.count - used).max(0.1 * live.count));
        self.variance = (worth * logged_variance + residual.max(0.0)) / (worth + freedom);
        self.belief = belief.in_users_units(&units);
        self.alone = alone.in_users_units(&units);
    }

    /// A belief of the last fit after the rewards since then.
    fn current(&self, fitted: &Gaussian, level: f64) -> Gaussian {
        let since = &self.played[self.fitted..];
        let features = Matrix::from_fn(since.len(), self.dimension, |i, j| since[i].0[j]);
        let rewards = Vector::from_fn(since.len(), |i, _| since[i].1 - level);
        let (gram, moment) = (features.tr_mul(&features), features.tr_mul(&rewards));
        fitted.after(&(gram / self.variance), &(moment / self.variance)).1
    }

    /// Interval and neglect of an action in this round, with this exploration scale.
    fn interval(&self, belief: &Gaussian, scale: f64, action: &[f64]) -> (Interval, f64) {
        let x = Vector::from_column_slice(action);
        let (mean, deviation) = (x.dot(&belief.mean), x.dot(&(&belief.covariance * &x)).sqrt());
        let square = deviation.powi(2) / self.variance;
        let neglect = (self.rounds + 1) as f64 / self.dimension as f64 / (1.0 + 1.0 / square);
        let index = mean + (scale * (scale + 2.0 * neglect.ln().max(0.0))).sqrt() * deviation;
        ([mean, mean + scale * deviation, mean - scale * deviation, index], neglect)
    }

    /// The exploration scale of an action: more than 0.2 as far as its variance is that of new columns, of which logs and
    /// live data together say less than the prior.
    fn scale(&self, belief: &Gaussian, action: &[f64]) -> f64 {
        let squares = |rows: &[Row], j: usize| rows.iter().map(|(x, _)| x[j] * x[j]).sum::<f64>();
        let mut new = 0.0;
        for j in (0..self.dimension).filter(|&j| self.units[j] > 0.0 && !self.logs.is_empty()) {
            let prior = self.logged.1 / self.units[j].powi(2);
            let said = squares(&self.logs, j) / self.logged.0 + squares(&self.played, j) / self.variance;
            if prior * said < 1.0 {
                // The variance of a coefficient of that prior after so much is said of it alone.
                new += action[j] * action[j] / (1.0 / prior + said);
            }
        }
        let x = Vector::from_column_slice(action);
        let share = if new > 0.0 { (new / x.dot(&(&belief.covariance * &x))).min(1.0) } else { 0.0 };
        (0.04 + 0.96 * share).sqrt()
    }

    pub(super) fn intervals(&self, actions: &[Vec<f64>]) -> Vec<Interval> {
        let belief = self.current(&self.belief, self.levels[0]);
        let interval = |action: &Vec<f64>| {
            let [mean, ucb, lcb, _] = self.interval(&belief, 0.2, action).0;
            let [.., index] = self.interval(&belief, self.scale(&belief, action), action).0;
            [mean, ucb, lcb, index]
        };
        actions.iter().map(interval).collect()
    }

    pub(super) fn decide(&mut self, actions: &[Vec<f64>]) -> Decision {
        if self.look(actions) || self.played.len() >= self.due {
            self.fit();
        }
        let intervals = self.intervals(actions);
        let (action, lead) = largest(intervals.iter().map(|interval| interval[3]));
        let mut decision = Decision { intervals, action, rule: LARGEST_INDEX, lead };
        if !self.logs.is_empty() {
            self.credit += self.void;
            let probe = self.credit >= 1.0;
            if probe {
                self.credit -= 1.0;
            }
            let asked = |rounds: u64| ((rounds as f64).powf(2.0 / 3.0) + 1e-9).floor();
            let recheck = asked(self.rounds + 1) > asked(self.rounds);
            let scale = if probe { 0.2 } else { 0.5 };
            let alone = self.current(&self.alone, self.levels[1]);
            let told: Vec<_> = actions.iter().map(|action| self.interval(&alone, scale, action)).collect();
            let (favourite, lead) = largest(told.iter().map(|(interval, _)| interval[3]));
            if probe || recheck && told[favourite].1 > 4.0 {
                decision = Decision { action: favourite, rule: LIVE_FAVOURITE, lead, ..decision };
            }
        }
        self.rounds += 1;
        decision
    }
}

/// The place of the largest number, and by how much it is that.
fn largest(numbers: impl Iterator<Item = f64> + Clone) -> (usize, f64) {
    let (place, most) = numbers.clone().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    let others = numbers.enumerate().filter(|other| other.0 != place).map(|other| other.1);
    (place, most - others.fold(f64::NEG_INFINITY, f64::max))
}
