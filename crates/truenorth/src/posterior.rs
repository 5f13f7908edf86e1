//! Bayesian policies: one Gaussian about the live parameter, and three ways to explore by it.
//!
//! ```text
//! θ ~ N(θ̂, σ² V⁻¹),   V = W + A,   θ̂ = V⁻¹(W θ₀ + b),        xᵀθ̂ ± s σ ‖x‖ in V⁻¹,   s the exploration scale
//! ```
//!
//! | prior | W and θ₀ |
//! |---|---|
//! | ridge | σ²/S² I and 0; where nobody tells σ, from the live rewards themselves |
//! | warm | G_off and θ_off |
//! | told | σ² (σ² G_off⁻¹ + ρ² M⁻¹)⁻¹ and θ_off |
//! | adaptive | the mixture of the [`belief`](crate::belief), fitted anew now and then |

use crate::aside::Stirred;
use crate::belief::{Belief, Gaussian, Neglect};
use crate::branch::{Branch, Radius};
use crate::confidence::discounted_weight;
use crate::decide::{Played, Turn};
use crate::dense::Vector;
use crate::error::Result;
use crate::explain::PlayRule;
use crate::explore;
use crate::fit::{Asked, Waiting};
use crate::given::Given;
use crate::later::Later;
use crate::parted::{NO_LIMIT, Parted};
use crate::precision::Precision;
use crate::round::{Row, Toll};
use crate::score::Scoreboard;
use crate::settings::{Explore, Method, Prior};
use crate::spare;
use crate::statistic::RidgeStatistic;

/// Live data fades in steps of this share of its half-life, at least.
const STEP: f64 = 0.125;
/// Rewards that are taken in together.
const TOGETHER: usize = 16;

/// The state of a policy of this family.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Posterior {
    pub(crate) prior: Prior,
    pub(crate) data: RidgeStatistic,
    /// What is acted on.
    pub(crate) known: Known,
    /// Live data alone, where the belief rests on logs as well.
    pub(crate) alone: Option<Later>,
    /// What is learned about the logs, or about noise and scale.
    pub(crate) belief: Option<Belief>,
    /// The round of the last fit.
    fitted: u64,
    /// Whether the belief has spent its budget.
    pub(crate) overdrawn: bool,
    /// The fit that is due, where fits run beside decisions.
    pub(crate) waiting: Option<Waiting>,
}

/// The Gaussian.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Known {
    Whole(Precision),
    /// Of a sparse policy.
    Parted(Parted),
}

impl Known {
    /// Independent coefficients.
    fn ridge(sparse: bool, ridge: &Vector) -> Self {
        if sparse {
            Self::Parted(Parted::ridge(ridge.iter().copied()))
        } else {
            Self::Whole(Precision::ridge(ridge))
        }
    }

    pub(crate) fn whole(&self) -> Option<&Precision> {
        if let Self::Whole(precision) = self { Some(precision) } else { None }
    }

    pub(crate) fn estimate(&self) -> Vec<f64> {
        match self {
            Self::Whole(precision) => precision.estimate(),
            Self::Parted(parted) => parted.estimate(),
        }
    }

    pub(crate) fn log_det_growth(&self) -> f64 {
        match self {
            Self::Whole(precision) => precision.log_det_growth(),
            Self::Parted(parted) => parted.log_det_growth,
        }
    }

    #[inline]
    pub(crate) fn update(&mut self, features: Row<'_>, reward: f64, board: &mut Scoreboard) {
        match self {
            Self::Whole(precision) => precision.update(features.values(), reward, &mut board.carried),
            Self::Parted(parted) => parted.update(features, reward, &mut board.room),
        }
    }

    /// Several rewards, one after the other.
    pub(crate) fn update_many(&mut self, rows: &[(Row<'_>, f64)], level: f64, board: &mut Scoreboard) {
        match self {
            Self::Whole(precision) => {
                for rows in rows.chunks(TOGETHER) {
                    let rows: Vec<_> =
                        rows.iter().map(|(row, reward)| (row.values(), reward - level)).collect();
                    precision.update_many(&rows, &mut board.carried_many);
                }
            }
            Self::Parted(parted) => {
                for (row, reward) in rows {
                    parted.update(*row, reward - level, &mut board.room);
                }
            }
        }
    }

    /// Takes over what another thread has found, in the memory that this thread's decisions have been reading: the first one
    /// after a fit is not to fetch a matrix from another core.
    pub(crate) fn become_like(&mut self, found: Self) {
        match (self, found) {
            (Self::Whole(current), Self::Whole(found)) => current.become_like(&found),
            (current, found) => *current = found,
        }
    }

    /// Whether this is of the kind of a `fresh` one, and sizes and numbers can be right.
    fn fits(&self, fresh: &Self, dimension: usize) -> bool {
        match (self, fresh) {
            (Self::Whole(read), Self::Whole(_)) => read.maps.is_empty() && read.is_consistent(dimension),
            (Self::Parted(read), Self::Parted(_)) => read.is_consistent(dimension),
            _ => false,
        }
    }
}

impl Posterior {
    pub(crate) fn new(given: &Given, prior: Prior, belief: Option<Belief>) -> Result<Self> {
        let dimension = given.settings.dimension;
        let data = if given.settings.sparse { RidgeStatistic::sparse } else { RidgeStatistic::new };
        let data = data(dimension)?;
        let known = Self::assembled(given, prior, &data)?;
        let logs = given.logs().weight() > 0.0;
        let alone = (prior == Prior::Adaptive && logs).then(|| Later::from(known.clone()));
        let mut policy =
            Self { prior, data, known, alone, belief, fitted: 0, overdrawn: false, waiting: None };
        policy.fit(given, 0, 0)?;
        Ok(policy)
    }

    /// The posterior of live data, where it does not follow from a belief.
    fn assembled(given: &Given, prior: Prior, data: &RidgeStatistic) -> Result<Known> {
        let data = data.about(given.level);
        let assembled =
            |weight| Precision::assemble(weight, given.offline.estimate(), &data, &[]).map(Known::Whole);
        match (prior, &given.certificate) {
            (Prior::Ridge | Prior::Adaptive, _) => Ok(Known::ridge(given.settings.sparse, &given.ridge)),
            (Prior::Told, Some(told)) => assembled(&discounted_weight(given, told, given.noise)?),
            (Prior::Warm | Prior::Told, _) => assembled(given.offline.precision_matrix()),
        }
    }

    /// Adds features, at the prior's mean and width.
    pub(crate) fn grow(&mut self, given: &Given) -> Result<()> {
        let dimension = given.settings.dimension;
        // A fit of fewer features is of no use; the first round that offers a new one asks for another.
        self.waiting = None;
        self.data.grow(dimension)?;
        let ridge = self.belief.as_mut().map(|belief| belief.grow(dimension));
        let fresh = match ridge {
            _ if given.settings.sparse => None,
            Some(ridge) => Some(Precision::ridge(&Vector::from_element(dimension, ridge))),
            None => {
                let fresh = Self::assembled(given, self.prior, &RidgeStatistic::new(dimension)?)?;
                fresh.whole().cloned()
            }
        };
        let alone = self.alone.iter_mut().map(Later::caught_up);
        for known in [&mut self.known].into_iter().chain(alone) {
            match known {
                Known::Whole(precision) => fresh.iter().for_each(|fresh| precision.grow(fresh)),
                Known::Parted(parted) => {
                    parted.grow(dimension, ridge.unwrap_or_else(|| given.ridge[dimension - 1]));
                }
            }
        }
        Ok(())
    }

    /// Takes the logs as they are given now; with so many rounds and rewards of this season so far.
    pub(crate) fn read_logs(&mut self, given: &Given, (rounds, rewards): (u64, u64)) -> Result<()> {
        let Some(belief) = &mut self.belief else {
            self.known = Self::assembled(given, self.prior, &self.data)?;
            return Ok(());
        };
        belief.read_again(given.logs());
        self.fit(given, rounds, rewards)
    }

    /// Takes note of what a round offers, before it is decided: units of columns, a fit that is due. Tells whether live data alone was
    /// asked on the way, so that the board has its word.
    #[inline]
    pub(crate) fn see(&mut self, turn: Turn<'_>, board: &mut Scoreboard) -> Result<bool> {
        let Turn { given, actions, round, rewards, .. } = turn;
        let look = |belief: &mut Belief| belief.is_due((round, rewards), actions, given.logs());
        self.catch_up(given, (round, turn.dice));
        if self.belief.as_mut().is_some_and(look) || self.has_faded(turn) {
            let fit = if given.settings.are_fits_beside() { Self::ask } else { Self::fit };
            match fit(self, given, round, rewards) {
                // Features of wildly different sizes can make a precision singular by rounding. What was
                // believed before stays in force, and follows each reward.
                Err(error) if error.is_singular() => self.wake(),
                done => done?,
            }
        }
        let Stirred { wakes, asked } = self.stirred(turn, board);
        if wakes {
            self.wake();
        }
        Ok(asked)
    }

    /// What [`see`](Self::see) tells, if it changes nothing.
    pub(crate) fn unchanged(&self, turn: Turn<'_>, board: &mut Scoreboard) -> Option<bool> {
        let waits = turn.given.settings.are_fits_beside() && self.waiting.is_some();
        let due = |belief: &Belief| {
            belief.is_looking(turn.round, turn.actions) || belief.is_due_after(turn.rewards) && !waits
        };
        let behind = self.is_behind(turn.given, (turn.round, turn.dice));
        let Stirred { wakes, asked } = self.stirred(turn, board);
        let changes =
            behind || wakes || self.belief.as_ref().is_some_and(due) || self.has_faded(turn) && !waits;
        (!changes).then_some(asked)
    }

    #[inline]
    fn has_faded(&self, turn: Turn<'_>) -> bool {
        let since = (turn.round - self.fitted) as f64;
        turn.given.settings.half_life.is_some_and(|rounds| since >= STEP * rounds)
    }

    pub(crate) fn choose(&self, turn: Turn<'_>, board: &mut Scoreboard) -> Played {
        let Turn { given, actions, .. } = turn;
        let settings = &given.settings;
        let Method::Posterior { explore, .. } = settings.method else { unreachable!("of this family") };
        let dice = || explore::generator(settings.seed, turn.dice);
        let budgeted = self.prior == Prior::Adaptive;
        match explore {
            Explore::Ucb if budgeted => self.choose_believed(turn, &mut dice(), board),
            Explore::Ucb => {
                self.score(turn, false, board);
                Played::at(board.largest_index().unwrap_or(0), PlayRule::LargestIndex)
            }
            Explore::Sampling => {
                self.score(turn, true, board);
                let (mut dice, deviation) = (dice(), settings.exploration_scale * self.noise(given));
                let Scoreboard { draws, panels, .. } = board;
                let position = match &self.known {
                    Known::Whole(known) => draws.play(known, deviation, panels, &mut dice),
                    Known::Parted(known) => draws.play_parted(known, deviation, actions, &mut dice),
                };
                if budgeted {
                    return self.sample_believed(turn, position, &mut dice, board);
                }
                let propensity = board.draws.share(position);
                Played { propensity, ..Played::at(position, PlayRule::Sampled) }
            }
            Explore::Epsilon(epsilon) => {
                self.score(turn, false, board);
                let favourite = board.largest_mean().unwrap_or(0);
                let (position, propensity) =
                    explore::epsilon_greedy(epsilon, favourite, actions.count(), &mut dice());
                Played { propensity, ..Played::at(position, PlayRule::Epsilon(epsilon)) }
            }
        }
    }

    /// Takes note of a decision that was made.
    #[inline]
    pub(crate) fn count(&mut self, method: &Method, toll: &Toll) {
        if matches!(method, Method::Posterior { explore: Explore::Ucb, .. })
            && self.prior == Prior::Adaptive
            && self.alone.is_some()
            && let Some(belief) = &mut self.belief
        {
            belief.count_probe(toll.probe);
        }
        if toll.priced {
            self.overdrawn = toll.forced;
        }
        if toll.forced {
            // What it decides, it learns.
            self.wake();
        }
    }

    pub(crate) fn learn(&mut self, features: Row<'_>, reward: f64, level: f64, board: &mut Scoreboard) {
        self.data.add(features, reward);
        if let Some(waiting) = &mut self.waiting {
            waiting.learn(features, reward);
        }
        if let Some(belief) = &mut self.belief {
            belief.learn(features);
        }
        let [level, alone] = self.levels(level);
        self.known.update(features, reward - level, board);
        if let Some(known) = &mut self.alone {
            known.learn(features, reward - alone, board);
        }
    }

    /// What rewards have in common that is no feature's, by the belief and by live data alone.
    pub(crate) fn levels(&self, level: f64) -> [f64; 2] {
        self.belief.as_ref().map_or([level; 2], Belief::levels)
    }

    pub(crate) fn learn_many(&mut self, rows: &[(Row<'_>, f64)], level: f64, board: &mut Scoreboard) {
        for &(features, reward) in rows {
            self.data.add(features, reward);
            self.waiting.iter_mut().for_each(|waiting| waiting.learn(features, reward));
        }
        self.follow(rows, level, board);
    }

    pub(crate) fn score(&self, turn: Turn<'_>, keep: bool, board: &mut Scoreboard) {
        let Turn { given, actions, .. } = turn;
        let scale = given.settings.exploration_scale;
        let norm = scale * self.noise(given);
        let radius = Radius { norm, ..Radius::default() };
        let informed = match self.prior {
            Prior::Ridge => None,
            Prior::Warm => Some(Branch::Warm),
            // A posterior that has given the logs up rests on live data.
            _ if self.belief.as_ref().is_some_and(|belief| belief.void() > 0.5) => Some(Branch::Online),
            _ => Some(Branch::Pooled),
        };
        let neglect = Neglect { rounds: turn.rounds_per_feature(), norm, scale };
        let news = self.belief.as_ref().map(Belief::news).filter(|news| !news.is_empty());
        // A scale of 0 explores nothing, and one of 1 everything at full width.
        let news = news.filter(|_| 0.0 < scale && scale < 1.0);
        match (&self.known, informed) {
            (Known::Whole(known), Some(branch)) => {
                board.score(actions, (false, keep), None, Some((known, radius)), branch);
            }
            (Known::Whole(known), None) => {
                board.score(actions, (false, keep), Some((known, radius)), None, Branch::Online);
            }
            (Known::Parted(known), branch) => {
                let ucb = matches!(given.settings.method, Method::Posterior { explore: Explore::Ucb, .. });
                let widest = (ucb && !board.all).then(|| neglect.widest(news.is_some()));
                board.score_parted(actions, known, (radius, widest), branch);
            }
        }
        board.neglect = Some(neglect);
        if let Some(news) = news {
            board.add_news(|action| news.variance(actions.row(action)));
        }
    }

    /// Fits the belief anew, where there is one. O(d³).
    fn fit(&mut self, given: &Given, round: u64, rewards: u64) -> Result<()> {
        self.waiting = None;
        self.fade(given, round);
        let Some(belief) = &mut self.belief else { return Ok(()) };
        let (known, alone) = Self::fitted(belief, given, &self.data, rewards)?;
        (self.known, self.alone) = (known, alone.map(Later::from));
        self.rest(given, rewards);
        Ok(())
    }

    /// Asks for a fit to run elsewhere, unless one does.
    #[expect(clippy::unnecessary_wraps, reason = "it stands for a fit, which may fail")]
    fn ask(&mut self, given: &Given, round: u64, rewards: u64) -> Result<()> {
        if self.waiting.is_none() {
            self.fade(given, round);
            let asked = |belief: &Belief| Asked { belief: belief.clone(), data: self.data.clone(), rewards };
            self.waiting = self.belief.as_ref().map(asked).map(Waiting::new);
        }
        Ok(())
    }

    /// Asks for a fit if so many rewards make it due.
    pub(crate) fn ask_if_due(&mut self, given: &Given, round: u64, rewards: u64) {
        if self.waiting.is_none() && self.belief.as_ref().is_some_and(|belief| belief.is_due_after(rewards)) {
            // It cannot fail: it only copies.
            let _ = self.ask(given, round, rewards);
        }
    }

    /// Lets live data count less since the last fit, where that is wanted.
    fn fade(&mut self, given: &Given, round: u64) {
        if let Some(half_life) = given.settings.half_life {
            self.data = self.data.weighted(0.5f64.powf((round - self.fitted) as f64 / half_life));
        }
        self.fitted = round;
    }

    /// What there is to know of the live parameter, and by live data alone.
    pub(crate) fn fitted(
        belief: &mut Belief,
        given: &Given,
        data: &RidgeStatistic,
        rewards: u64,
    ) -> Result<(Known, Option<Known>)> {
        if given.settings.sparse {
            let (known, alone) = belief.fit_parted(given.logs(), data, rewards)?;
            return Ok((Known::Parted(known), alone.map(Known::Parted)));
        }
        let whole = |belief: &mut Belief| {
            let found = belief.fit(given.logs(), data, rewards)?;
            let known = |believed: &Gaussian| {
                Precision::from_belief(believed, belief.noise().powi(2)).map(Known::Whole)
            };
            let both = (known(&found.belief)?, found.alone.as_ref().map(known).transpose()?);
            found.keep();
            Ok(both)
        };
        let both = whole(belief);
        spare::rest();
        both
    }

    /// All that is known so far, as logs; nothing where the logs are never doubted.
    pub(crate) fn known(&mut self, given: &Given) -> Result<Option<RidgeStatistic>> {
        let Some(belief) = self.belief.as_ref().filter(|_| self.prior == Prior::Adaptive) else {
            return Ok(None);
        };
        let weight = given.logs().weight() + self.data.weight();
        let estimate = Vector::from_vec(self.known.estimate());
        match &self.known {
            Known::Whole(known) => belief.imagined(weight, &known.inverse(), &estimate).map(Some),
            Known::Parted(known) => belief.imagined_parts(weight, known, &estimate).map(Some),
        }
    }

    /// Finds what follows from a state that was read.
    pub(crate) fn limit(&mut self) {
        self.belief.iter_mut().for_each(Belief::weigh_news);
        let alone = self.alone.iter_mut().map(Later::caught_up);
        for known in [&mut self.known].into_iter().chain(alone) {
            if let Known::Parted(parted) = known {
                parted.limit(|_| NO_LIMIT);
            }
        }
    }

    /// σ in force.
    pub(crate) fn noise(&self, given: &Given) -> f64 {
        self.belief.as_ref().map_or(given.noise, Belief::noise)
    }

    /// Whether what was read is of the kind of a `fresh` one, its data aside.
    pub(crate) fn fits(&self, fresh: &Self, dimension: usize) -> bool {
        self.prior == fresh.prior
            && self.data.dimension() == dimension
            && self.known.fits(&fresh.known, dimension)
            && self.alone.is_some() == fresh.alone.is_some()
            && self.alone.iter().all(|alone| alone.so_far().fits(&fresh.known, dimension))
            && self.data.blocks().is_some() == fresh.data.blocks().is_some()
            && self
                .waiting
                .iter()
                .all(|waiting| waiting.is_consistent(dimension, self.data.blocks().is_some()))
            && self.belief.is_some() == fresh.belief.is_some()
            && self.belief.iter().all(|belief| belief.is_consistent(dimension))
    }
}
