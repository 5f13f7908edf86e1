//! The monitor: rounds in, evidence out.

use serde::{Deserialize, Serialize};

use crate::bets::{Extremes, Purse, SIZES, stake, unstaked};
use crate::error::{Error, Result};
use crate::regression::{Regression, Standing};

/// Rows of equal weight whose squares are worth those that were seen: so many are wanted before anything is bet. Among clicks it is
/// about their number.
const ENOUGH: f64 = 20.0;
/// Shares of the level: for the features at the start, for bets on all of them together, and for those that join, the first of which
/// gets half of it.
const FEATURES: f64 = 0.5;
const TOGETHER: f64 = 0.25;
const JOINING: f64 = 0.25;
/// How far the reference may be off without anything having moved, in its own standard errors: a policy takes the actions that it overrates
/// (the winner's curse), so that their rewards disappoint as long as the reference errs.
const DOUBT: f64 = 1.0;
/// Rounds that the estimates of a movement in all features look back.
const LOOKING_BACK: [f64; 2] = [100.0, 1000.0];
/// What is bet on such an estimate, as shares of it.
const SHARES: [f64; 3] = [0.1, 0.3, 1.0];
/// Standard errors that a shift is away from 0 where a feature is named. Bets are limited on the rows that show a rare feature most, and
/// gain on all the others when rewards move alike: then there is evidence, but no shift.
const CLEAR: f64 = 3.0;
/// Size of numbers at most, so that no square overflows.
const LARGEST: f64 = 1e50;

/// A row of a round: the features of an action that was taken, those that are not 0, and what it paid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paid<'a> {
    /// Which features, and their values.
    pub features: &'a [(usize, f64)],
    /// The reward.
    pub reward: f64,
}

/// A test that may be looked at after every round: has the live world moved on since it began?
///
/// ```text
/// e = (r − xᵀθ̂) / (σ̂ √(1 + h)),   h = xᵀV⁻¹x,   factor of a bet = 1 + b·e − |b|·off
/// on feature j:    b ∝ what of x_j the others do not tell,   off = the standard error of θ̂_j, there
///                  b ∝ x_j, where they tell all of it,       off = as below
/// on all at once:  b = ± a constant, or ∝ what the last surprises expect,   off = √h / √(1 + h)
/// ```
///
/// θ̂, V and σ̂ are those of all rounds before. Factors make capital grow, and the average of all capital is the
/// evidence: by chance it ever reaches 1/level with at most the probability of the level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    level: f64,
    rounds: u64,
    regression: Regression,
    noise: Spread,
    extremes: Extremes,
    features: Vec<Feature>,
    /// How many of them were there at the start.
    first: usize,
    together: Together,
    alarm: Option<u64>,
    #[serde(skip)]
    scratch: Scratch,
}

impl PartialEq for Scratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Memory that is used again.
#[derive(Debug, Clone, Default)]
struct Scratch {
    standing: Standing,
    /// Features that rows of the round touch, and what its bets gain.
    touched: Vec<usize>,
    gains: Vec<[[f64; SIZES.len()]; 2]>,
}

/// Sums of squares and of their squares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Spread {
    count: f64,
    squares: f64,
    fourths: f64,
}

impl Spread {
    fn see(&mut self, number: f64) {
        let square = number * number;
        self.count += 1.0;
        self.squares += square;
        self.fourths += square * square;
    }

    /// How many numbers of one size would tell as much.
    fn enough(&self) -> bool {
        self.squares * self.squares >= ENOUGH * self.fourths && self.squares > 0.0
    }

    fn deviation(&self) -> f64 {
        (self.squares / self.count).sqrt()
    }
}

/// What is bet on one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Feature {
    /// Sum of squares of what is its own, and how many.
    own: f64,
    count: f64,
    scores: Spread,
    /// Rounds in which was bet.
    bets: u64,
    /// Up and down.
    purses: [[Purse; SIZES.len()]; 2],
    /// Of the same bets. They end with the alarm, which they explain: the reference learns what moved, and later rewards speak for
    /// nothing or for something else.
    runs: [[Run; SIZES.len()]; 2],
    alarm: Option<u64>,
}

/// A run of rounds that speak for a movement, and what they say of its size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Run {
    evidence: f64,
    since: u64,
    products: f64,
    squares: f64,
}

impl Run {
    /// Adds a row, which is so much of its round; the first one begins anew what has lost all of its evidence.
    fn add(&mut self, round: u64, share: f64, own: f64, surprise: f64) {
        if self.evidence <= 0.0 && self.since < round {
            *self = Self { since: round, ..Self::default() };
        }
        self.products += share * own * surprise;
        self.squares += share * own * own;
    }
}

/// What is bet on all features together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Together {
    bets: u64,
    /// On a movement of all rewards alike, up and down.
    level: [[Purse; SIZES.len()]; 2],
    /// On a movement as estimated from the last rounds.
    directions: [[Purse; SHARES.len()]; LOOKING_BACK.len()],
    /// Sums of features times surprises, the older the less, and the sums of their weights.
    pulls: [Vec<f64>; LOOKING_BACK.len()],
    weights: [f64; LOOKING_BACK.len()],
}

/// How strong the evidence is that something has moved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Evidence {
    /// Bets against "nothing has moved" turned 1 into so much; at `needed`, it is an alarm.
    pub evidence: f64,
    /// What an alarm needs: by chance it is ever reached with at most the probability of the level, by any of all.
    pub needed: f64,
    /// The round of the first alarm, from 1.
    pub alarm: Option<u64>,
}

/// What is known of the movement of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Moved {
    /// How strong the evidence is.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// Since which round, from 1, rewards spoke for it when the alarm was given; without one, for what they speak now, which may be
    /// chance. None before anything is bet.
    pub since: Option<u64>,
    /// By how much the coefficient had moved from then to the alarm, roughly, and its standard error; a little too small, since the
    /// reference learns from the rounds after the movement as well. Of a feature that follows from the others: by how much the
    /// rewards of rows that show it had.
    pub shift: f64,
    /// Standard error of the shift.
    pub stderr: f64,
}

impl Moved {
    fn is_clear(&self) -> bool {
        self.shift.abs() >= CLEAR * self.stderr
    }
}

impl Monitor {
    /// Watches so many features; `level` is the probability of a false alarm at most, of any kind, for ever.
    pub fn new(dimension: usize, level: f64) -> Result<Self> {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::Level(level));
        }
        let new = [[Purse::NEW; SIZES.len()]; 2];
        let together = Together {
            bets: 0,
            level: new,
            directions: [[Purse::NEW; SHARES.len()]; LOOKING_BACK.len()],
            pulls: std::array::from_fn(|_| Vec::new()),
            weights: [0.0; LOOKING_BACK.len()],
        };
        let mut monitor = Self {
            level,
            rounds: 0,
            regression: Regression::new(0),
            noise: Spread::default(),
            extremes: Extremes::default(),
            features: Vec::new(),
            first: dimension,
            together,
            alarm: None,
            scratch: Scratch::default(),
        };
        monitor.grow(dimension);
        Ok(monitor)
    }

    /// Watches more features, which were all 0 so far.
    pub fn grow(&mut self, dimension: usize) {
        if dimension <= self.dimension() {
            return;
        }
        self.regression.grow(dimension);
        let new = Feature {
            own: 0.0,
            count: 0.0,
            scores: Spread::default(),
            bets: 0,
            purses: [[Purse::NEW; SIZES.len()]; 2],
            runs: [[Run::default(); SIZES.len()]; 2],
            alarm: None,
        };
        self.features.resize(dimension, new);
        for pull in &mut self.together.pulls {
            pull.resize(dimension, 0.0);
        }
    }

    /// Whether its parts fit together, as they do unless bytes that it was read from were damaged.
    pub fn is_sound(&self) -> bool {
        let d = self.dimension();
        self.regression.is_sound()
            && self.regression.dimension() == d
            && self.first <= d
            && self.together.pulls.iter().all(|pull| pull.len() == d)
            && self.level > 0.0
            && self.level < 1.0
    }

    /// Number of features.
    pub fn dimension(&self) -> usize {
        self.features.len()
    }

    /// Rounds that were observed.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Probability of a false alarm at most.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Observes a round with one reward.
    pub fn observe(&mut self, features: &[(usize, f64)], reward: f64) -> Result<()> {
        self.observe_round(&[Paid { features, reward }])
    }

    /// Observes a round: the actions that were taken together, whose rewards may depend on each other. All of them are predicted before
    /// any is learned. Rounds have to come in an order that does not depend on their rewards. O(d²) a row.
    pub fn observe_round(&mut self, rows: &[Paid<'_>]) -> Result<()> {
        for row in rows {
            for &(feature, value) in row.features {
                if feature >= self.dimension() {
                    return Err(Error::Feature { feature, dimension: self.dimension() });
                }
                check("a feature", value)?;
            }
            check("a reward", row.reward)?;
        }
        self.rounds += 1;
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.gains.resize(self.dimension(), Default::default());
        let mut together = Gains::default();
        let share = 1.0 / rows.len() as f64;
        let mut surprises = Vec::new();
        for row in rows {
            self.regression.stand(row.features, &mut scratch.standing);
            surprises.push(self.bet(row.reward, share, &mut scratch, &mut together));
        }
        self.settle(&mut scratch, &together);
        for (row, surprise) in rows.iter().zip(surprises) {
            if rows.len() > 1 {
                self.regression.stand(row.features, &mut scratch.standing);
            }
            self.learn(row.reward, surprise, &scratch.standing);
        }
        self.scratch = scratch;
        self.look();
        Ok(())
    }

    /// Places all bets on a row, and notes what they gain. Gives back its surprise, if it can be one.
    fn bet(&mut self, reward: f64, share: f64, scratch: &mut Scratch, together: &mut Gains) -> Option<f64> {
        let Scratch { standing, touched, gains } = scratch;
        // The prediction is less certain than the reward itself: there is nothing to be surprised about.
        if standing.variance >= 1.0 {
            return None;
        }
        let width = (1.0 + standing.variance).sqrt();
        let raw = (reward - standing.prediction) / width;
        let ready = self.noise.enough();
        let off = DOUBT * standing.variance.sqrt() / width;
        let surprise = if ready { raw / self.noise.deviation() } else { 0.0 };
        for (place, feature) in self.features.iter_mut().enumerate() {
            let (own, doubt) = if self.regression.is_apart(place) {
                // What of the feature the others do not tell: where it is large, its coefficient shows.
                let (gain, diagonal) = (standing.gain[place], self.regression.diagonal(place));
                (gain / diagonal, DOUBT * gain.abs() / diagonal.sqrt() / width)
            } else {
                // It follows from the others, and so do its coefficients; the rewards of rows that show it may move all the same.
                (standing.value(place), off)
            };
            if own == 0.0 {
                continue;
            }
            let own = own * self.regression.unit(place);
            feature.own += own * own;
            feature.count += 1.0;
            if ready && feature.scores.enough() {
                let size = own / (feature.own / feature.count).sqrt() / width;
                if !touched.contains(&place) {
                    touched.push(place);
                }
                for (gains, sign) in gains[place].iter_mut().zip([1.0, -1.0]) {
                    for (gain, bet) in gains.iter_mut().zip(SIZES) {
                        *gain += share * (self.extremes.factor(sign * bet * size, surprise, doubt) - 1.0);
                    }
                }
                if feature.alarm.is_none() {
                    for run in feature.runs.as_flattened_mut() {
                        run.add(self.rounds, share, own, raw * width);
                    }
                }
            }
            feature.scores.see(own * raw);
        }
        if ready {
            self.together.bet(
                standing,
                width,
                surprise,
                share,
                &self.extremes,
                self.noise.count,
                off,
                together,
            );
            self.extremes.see(surprise);
        }
        self.noise.see(raw);
        ready.then_some(surprise)
    }

    /// Pays out the bets of a round.
    fn settle(&mut self, scratch: &mut Scratch, together: &Gains) {
        for place in scratch.touched.drain(..) {
            let feature = &mut self.features[place];
            let stake = stake(feature.bets);
            feature.bets += 1;
            let gains = scratch.gains[place].as_flattened_mut();
            let bets = feature.purses.as_flattened_mut().iter_mut().zip(feature.runs.as_flattened_mut());
            for ((purse, run), gain) in bets.zip(gains) {
                let factor = 1.0 + std::mem::take(gain);
                purse.play(stake, factor);
                if feature.alarm.is_none() {
                    run.evidence += factor.ln();
                }
            }
        }
        if together.any {
            self.together.settle(together);
        }
    }

    fn learn(&mut self, reward: f64, surprise: Option<f64>, standing: &Standing) {
        if let Some(surprise) = surprise {
            self.together.pull(standing, surprise);
        }
        self.regression.learn(standing, reward);
    }

    /// Notes alarms.
    fn look(&mut self) {
        let round = Some(self.rounds);
        for place in 0..self.dimension() {
            let Evidence { evidence, needed, alarm } = self.evidence_of(place);
            if alarm.is_none() && evidence >= needed && self.feature(place).is_clear() {
                self.features[place].alarm = round;
            }
        }
        if self.alarm.is_none() && self.evidence().evidence >= 1.0 / self.level {
            self.alarm = round;
        }
    }

    /// The part of the level that a feature has.
    fn share(&self, place: usize) -> f64 {
        if place < self.first {
            return FEATURES / self.first as f64;
        }
        let joined = (place - self.first) as f64 + 1.0;
        self.joining() / (joined * (joined + 1.0))
    }

    /// What is left for features that join: of a monitor that began without any, also what those would have had.
    fn joining(&self) -> f64 {
        if self.first == 0 { JOINING + FEATURES } else { JOINING }
    }

    /// Evidence that anything has moved. Never later than that of a feature.
    pub fn evidence(&self) -> Evidence {
        let features: f64 =
            (0..self.dimension()).map(|place| self.share(place) * self.features[place].worth()).sum();
        let joined = (self.dimension() - self.first) as f64;
        // What nobody has bet with is still there.
        let rest = self.joining() / (joined + 1.0);
        let evidence = features + rest + TOGETHER * self.together.worth();
        Evidence { evidence, needed: 1.0 / self.level, alarm: self.alarm }
    }

    fn evidence_of(&self, place: usize) -> Evidence {
        let feature = &self.features[place];
        Evidence {
            evidence: feature.worth(),
            needed: 1.0 / (self.level * self.share(place)),
            alarm: feature.alarm,
        }
    }

    /// What is known of the movement of a feature.
    ///
    /// # Panics
    ///
    /// If there is no such feature.
    pub fn feature(&self, place: usize) -> Moved {
        let feature = &self.features[place];
        let run = feature.runs.as_flattened().iter().max_by(|a, b| a.evidence.total_cmp(&b.evidence));
        let run = run.copied().unwrap_or_default();
        let known = run.squares > 0.0;
        Moved {
            evidence: self.evidence_of(place),
            since: known.then_some(run.since),
            shift: if known { run.products / run.squares } else { 0.0 },
            stderr: if known { self.noise.deviation() / run.squares.sqrt() } else { 0.0 },
        }
    }

    /// What a row is expected to pay, by all rounds so far.
    pub fn predict(&self, features: &[(usize, f64)]) -> f64 {
        self.regression.predict(features)
    }

    /// Standard deviation of the surprises so far; none before the second.
    pub fn noise(&self) -> Option<f64> {
        (self.noise.count > 1.0).then(|| self.noise.deviation())
    }

    /// Whether anything is bet yet: before that, rounds only make the reference.
    pub fn is_watching(&self) -> bool {
        self.together.bets > 0
    }
}

impl Feature {
    fn worth(&self) -> f64 {
        worth(self.purses.as_flattened(), self.bets)
    }
}

fn worth(purses: &[Purse], bets: u64) -> f64 {
    let unstaked = unstaked(bets);
    purses.iter().map(|purse| purse.worth(unstaked)).sum::<f64>() / purses.len() as f64
}

/// What the bets on all features together gain in a round.
#[derive(Default)]
struct Gains {
    any: bool,
    level: [[f64; SIZES.len()]; 2],
    directions: [[f64; SHARES.len()]; LOOKING_BACK.len()],
}

impl Together {
    #[expect(clippy::too_many_arguments, reason = "the parts of one row")]
    fn bet(
        &self,
        standing: &Standing,
        width: f64,
        surprise: f64,
        share: f64,
        extremes: &Extremes,
        rows: f64,
        off: f64,
        gains: &mut Gains,
    ) {
        gains.any = true;
        for (gains, sign) in gains.level.iter_mut().zip([1.0, -1.0]) {
            for (gain, bet) in gains.iter_mut().zip(SIZES) {
                *gain += share * (extremes.factor(sign * bet / width, surprise, off) - 1.0);
            }
        }
        for ((gains, pull), weight) in gains.directions.iter_mut().zip(&self.pulls).zip(self.weights) {
            let expected: f64 = standing.gain.iter().zip(pull).map(|(gain, pull)| gain * pull).sum();
            let expected = expected * rows / weight.max(1.0) / width;
            for (gain, part) in gains.iter_mut().zip(SHARES) {
                *gain += share * (extremes.factor(part * expected, surprise, off) - 1.0);
            }
        }
    }

    fn settle(&mut self, gains: &Gains) {
        let stake = stake(self.bets);
        self.bets += 1;
        let purses = self.level.as_flattened_mut().iter_mut().chain(self.directions.as_flattened_mut());
        for (purse, gain) in
            purses.zip(gains.level.as_flattened().iter().chain(gains.directions.as_flattened()))
        {
            purse.play(stake, 1.0 + gain);
        }
    }

    fn pull(&mut self, standing: &Standing, surprise: f64) {
        for ((pull, weight), back) in self.pulls.iter_mut().zip(&mut self.weights).zip(LOOKING_BACK) {
            let kept = 1.0 - 1.0 / back;
            for pull in pull.iter_mut() {
                *pull *= kept;
            }
            *weight = *weight * kept + 1.0;
            for &(feature, value) in &standing.row {
                pull[feature] += value * surprise;
            }
        }
    }

    fn worth(&self) -> f64 {
        f64::midpoint(
            worth(self.level.as_flattened(), self.bets),
            worth(self.directions.as_flattened(), self.bets),
        )
    }
}

fn check(name: &'static str, value: f64) -> Result<()> {
    if value.abs() <= LARGEST { Ok(()) } else { Err(Error::Number { name, value }) }
}
