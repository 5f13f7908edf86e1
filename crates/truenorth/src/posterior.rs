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

use crate::belief::{Belief, Neglect, Rechecks};
use crate::branch::{Branch, Radius};
use crate::confidence::discounted_weight;
use crate::error::{Error, Result};
use crate::explain::PlayRule;
use crate::explore::{self, Draws};
use crate::given::Given;
use crate::policy::{Played, Turn};
use crate::precision::Precision;
use crate::score::Scoreboard;
use crate::settings::{Explore, Method, Prior};
use crate::statistic::RidgeStatistic;

/// Neglect from which on a recheck plays the favourite of live data.
const NEGLECTED: f64 = 4.0;

/// The state of a policy of this family.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Posterior {
    pub(crate) prior: Prior,
    pub(crate) data: RidgeStatistic,
    /// What is acted on.
    pub(crate) precision: Precision,
    /// Live data alone, which rechecks ask.
    pub(crate) alone: Option<Precision>,
    /// What is learned about the logs, or about noise and scale.
    pub(crate) belief: Option<Belief>,
    #[cfg_attr(feature = "serde", serde(skip))]
    room: Room,
}

/// Room that decisions reuse; no state lives here.
#[derive(Debug, Clone, Default)]
struct Room {
    draws: Draws,
    rechecks: Rechecks,
}

impl Posterior {
    pub(crate) fn new(given: &Given, prior: Prior, belief: Option<Belief>) -> Result<Self> {
        let (dimension, ridge) = (given.settings.dimension, given.offline.ridge());
        let data = RidgeStatistic::new(dimension)?;
        let assembled = |weight| Precision::assemble(weight, given.offline.estimate(), &data, &[]);
        let precision = match (prior, &given.settings.certificate) {
            (Prior::Ridge | Prior::Adaptive, _) => Precision::ridge(dimension, ridge),
            (Prior::Told, Some(told)) => assembled(&discounted_weight(given, told, given.noise)?)?,
            (Prior::Warm | Prior::Told, _) => assembled(given.offline.precision_matrix())?,
        };
        let alone = (prior == Prior::Adaptive).then(|| Precision::ridge(dimension, ridge));
        let mut policy = Self { prior, data, precision, alone, belief, room: Room::default() };
        policy.fit(given, 1)?;
        Ok(policy)
    }

    pub(crate) fn choose(&mut self, turn: Turn<'_>, board: &mut Scoreboard) -> Result<Played> {
        let Turn { given, actions, round, rewards } = turn;
        let settings = &given.settings;
        let Method::Posterior { explore, .. } = settings.method else { unreachable!("of this family") };
        if round > 1 && self.belief.as_ref().is_some_and(|belief| belief.is_due(rewards)) {
            match self.fit(given, round) {
                // Features of wildly different sizes can make a precision singular by rounding. What was
                // believed before stays in force, and follows each reward.
                Ok(()) | Err(Error::NotPositiveDefinite { .. }) => {}
                failed => failed?,
            }
        }
        let recheck = explore == Explore::Ucb && self.alone.is_some() && self.room.rechecks.is_due(round);
        self.score(turn, recheck || explore == Explore::Sampling, board);
        let deviation = settings.exploration_scale * self.noise(given);
        let generator = || explore::generator(settings.seed, round);
        let (rule, (position, propensity)) = match explore {
            Explore::Ucb => {
                let rechecked = if recheck { self.recheck(turn, board) } else { None };
                let position = rechecked.or_else(|| board.largest_index()).unwrap_or(0);
                (PlayRule::LargestIndex, (position, 1.0))
            }
            Explore::Sampling => {
                let draws = &mut self.room.draws;
                let played = draws.play(&self.precision, deviation, &board.panels, &mut generator());
                (PlayRule::Sampled, played)
            }
            Explore::Epsilon(epsilon) => {
                let favourite = board.largest_mean().unwrap_or(0);
                let played = explore::epsilon_greedy(epsilon, favourite, actions.count(), &mut generator());
                (PlayRule::Epsilon(epsilon), played)
            }
        };
        Ok(Played { position, rule, layer: 0, propensity, conflicts: 0 })
    }

    pub(crate) fn learn(&mut self, features: &[f64], reward: f64, board: &mut Scoreboard) {
        self.data.add(features, reward);
        if let Some(alone) = &mut self.alone {
            alone.update(features, reward, &mut board.carried);
        }
        // The belief knows of a level that is no feature's.
        let level = self.belief.as_ref().map_or(0.0, Belief::level);
        self.precision.update(features, reward - level, &mut board.carried);
        if let Some(belief) = &mut self.belief {
            belief.observe(features, reward);
        }
    }

    pub(crate) fn score(&self, turn: Turn<'_>, keep: bool, board: &mut Scoreboard) {
        let Turn { given, actions, .. } = turn;
        let scale = given.settings.exploration_scale;
        let norm = scale * self.noise(given);
        let scoring = Some((&self.precision, Radius { norm, ..Radius::default() }));
        let (online, informed, branch) = match self.prior {
            Prior::Ridge => (scoring, None, Branch::Online),
            Prior::Warm => (None, scoring, Branch::Warm),
            // A posterior that has given the logs up rests on live data.
            _ if self.belief.as_ref().is_some_and(|belief| belief.logs() < 0.5) => {
                (None, scoring, Branch::Online)
            }
            _ => (None, scoring, Branch::Pooled),
        };
        board.score(actions, (false, keep), online, informed, branch);
        board.neglect = Some(Neglect { rounds: turn.rounds_per_feature(), norm, scale });
    }

    /// The neglected action that live data alone would play. The actions are those that were scored last.
    fn recheck(&self, turn: Turn<'_>, board: &mut Scoreboard) -> Option<usize> {
        let noise = self.noise(turn.given);
        let neglect = Neglect { rounds: turn.rounds_per_feature(), norm: noise, scale: 1.0 };
        let radius = Radius { norm: noise, ..Radius::default() };
        let count = board.candidates.len();
        let scores = board.aside(turn.actions.dimension(), self.alone.as_ref()?, radius);
        let mut favourite: Option<(usize, f64, f64)> = None;
        for action in 0..count {
            let (mean, radius) = (scores.mean[action], scores.statistical[action]);
            let index = neglect.index(mean, mean + radius);
            if favourite.is_none_or(|best| index > best.1) {
                favourite = Some((action, index, neglect.of(radius)));
            }
        }
        favourite.filter(|favourite| favourite.2 > NEGLECTED).map(|favourite| favourite.0)
    }

    /// Fits the belief anew, where there is one. O(d³).
    fn fit(&mut self, given: &Given, round: u64) -> Result<()> {
        if let Some(belief) = &mut self.belief {
            let found = belief.fit(&given.settings.logs, &given.offline, &self.data, round)?;
            self.precision = Precision::from_belief(&found.mean, &found.covariance, belief.noise().powi(2))?;
        }
        Ok(())
    }

    /// σ in force.
    pub(crate) fn noise(&self, given: &Given) -> f64 {
        self.belief.as_ref().map_or(given.noise, Belief::noise)
    }

    /// Whether what was read is of the kind of a `fresh` one, its data aside.
    pub(crate) fn fits(&self, fresh: &Self, dimension: usize) -> bool {
        self.prior == fresh.prior
            && self.belief.is_some() == fresh.belief.is_some()
            && self.belief.iter().all(|belief| belief.is_consistent(dimension))
    }
}
