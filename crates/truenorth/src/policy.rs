//! A policy: `choose` an action, `learn` its reward.

use std::sync::Arc;

use crate::arms::Arms;
use crate::belief::{Belief, first_unit};
use crate::branch::ActionInterval;
use crate::certificate::Certificate;
use crate::check;
use crate::confidence::{Confidence, Layer};
use crate::decide::Turn;
use crate::error::{Error, Reason, Result};
use crate::favourite::Favourite;
use crate::given::Given;
use crate::offline::Offline;
use crate::posterior::{Known, Posterior};
use crate::precision::Precision;
use crate::round::{Actions, Counts, Decision, Observation, Row};
use crate::score::{OtherForm, Scoreboard};
use crate::settings::{Method, Settings};
use crate::statistic::RidgeStatistic;

/// A linear bandit policy: ours, the paper's, and their baselines.
///
/// ```
/// use truenorth::{Actions, Policy};
///
/// let mut policy = Policy::builder(2).build()?;
/// let actions = Actions::new(&[1.0, 0.0, 0.0, 1.0], 2)?; // two actions, two features each
/// let choice = policy.choose(actions)?;
/// policy.learn(choice.rewarded(actions, 0.7))?;
/// # Ok::<(), truenorth::Error>(())
/// ```
///
/// [`choose`](Self::choose) takes O(d²) an action and layer, [`learn`](Self::learn) O(d²); neither
/// allocates once the largest action set has been seen, except where a learned certificate starts a
/// new epoch (O(d³) a layer, at rounds 1, 2, 4, 8, ... by default) or an adaptive one is due (O(d³), whenever
/// live data has grown by a quarter).
///
/// A guarantee covers the first `horizon` rounds; play may go on beyond.
#[derive(Debug, Clone)]
pub struct Policy {
    pub(crate) given: Arc<Given>,
    pub(crate) counts: Counts,
    /// What they were when this season began.
    pub(crate) before: Counts,
    pub(crate) family: Family,
    /// Numbers of features that it had before it grew.
    pub(crate) grown_from: Vec<usize>,
    /// Whether it goes on from a snapshot, after which it may have decided rounds that it does not know of.
    restored: bool,
    /// Columns that neither the logs nor a round has shown, where each is to be measured in a unit of its own and no
    /// belief learns it.
    pub(crate) unseen: Vec<usize>,
    pub(crate) board: Scoreboard,
}

/// What has been learned, by the method that learns it.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::large_enum_variant, reason = "a policy has one, and most have the largest")]
pub(crate) enum Family {
    Confidence(Confidence),
    Posterior(Posterior),
    Offline(Favourite),
    Arms(Arms),
}

/// A row in the form that a policy keeps, where that is another.
enum Reformed {
    Filled(Vec<f64>),
    Shown((Vec<usize>, Vec<f64>)),
}

impl Reformed {
    fn row(&self) -> Row<'_> {
        match self {
            Self::Filled(values) => Row::from(values),
            Self::Shown((columns, values)) => Row::sparse(columns, values),
        }
    }
}

/// Read-only view of one layer's path.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct LayerView<'a> {
    /// Rounds that this layer played.
    pub plays: u64,
    /// Live observations that were routed to this layer.
    pub data: &'a RidgeStatistic,
    /// log det(A + W) - log det W of the pooled or warm branch, or of `A + λI` without one.
    pub log_det_growth: f64,
    /// The branch that knows most first.
    pub(crate) branches: [Option<&'a Precision>; 2],
}

impl<'a> LayerView<'a> {
    pub(crate) fn new(plays: u64, data: &'a RidgeStatistic, branches: [Option<&'a Precision>; 2]) -> Self {
        let log_det_growth = branches.iter().flatten().next().map_or(0.0, |known| known.log_det_growth());
        Self { plays, data, log_det_growth, branches }
    }

    /// Whether what was read has the branches of a `fresh` layer, of this dimension.
    fn fits(&self, fresh: &Self, dimension: usize) -> bool {
        let maps = |branch: Option<&Precision>| branch.map(|known| known.maps.len());
        self.data.dimension() == dimension
            && self.branches.map(maps) == fresh.branches.map(maps)
            && self.branches.iter().flatten().all(|known| known.is_consistent(dimension))
    }
}

impl Family {
    /// The layers, 0 first; a policy without layers is one of them, and played it in all `rounds`.
    fn layers(&self, rounds: u64) -> Vec<LayerView<'_>> {
        let one = |data, branches| vec![LayerView::new(rounds, data, branches)];
        match self {
            Self::Confidence(policy) => policy.layers.iter().map(Layer::view).collect(),
            Self::Posterior(Posterior { data, known, alone, .. }) => {
                one(data, [known.whole(), alone.as_ref().and_then(|alone| alone.so_far().whole())])
            }
            Self::Offline(Favourite { data, logs }) => one(data, [Some(logs), None]),
            Self::Arms(Arms { data }) => one(data, [None; 2]),
        }
    }

    /// Gives each of the `unseen` columns its unit that this round is the first to show.
    pub(crate) fn meet(&mut self, unseen: &mut Vec<usize>, actions: Actions<'_>) {
        unseen.retain(|&j| {
            let Some(unit) = first_unit(actions, j) else { return true };
            match self {
                Self::Confidence(policy) => {
                    let branches = policy
                        .layers
                        .iter_mut()
                        .flat_map(|layer| layer.online.iter_mut().chain(&mut layer.informed));
                    branches.for_each(|branch| branch.measure(j, unit));
                }
                Self::Posterior(policy) => {
                    if let Known::Whole(known) = &mut policy.known {
                        known.measure(j, unit);
                    }
                }
                Self::Offline(policy) => policy.logs.measure(j, unit),
                Self::Arms(_) => {}
            }
            false
        });
    }

    /// Whether a state that was read has the parts of a `fresh` one; `choose` and `learn` rely on it.
    fn fits(&self, fresh: &Self, dimension: usize) -> bool {
        let (layers, fresh_layers) = (self.layers(0), fresh.layers(0));
        let same = match (self, fresh) {
            (Self::Confidence(read), Self::Confidence(fresh)) => read.fits(fresh),
            (Self::Posterior(read), Self::Posterior(fresh)) => read.fits(fresh, dimension),
            (Self::Offline(_), Self::Offline(_)) | (Self::Arms(_), Self::Arms(_)) => true,
            _ => false,
        };
        same && layers.len() == fresh_layers.len()
            && layers.iter().zip(&fresh_layers).all(|(read, fresh)| read.fits(fresh, dimension))
    }
}

impl Policy {
    /// Settings to start from: the default policy, without logs, told nothing.
    pub fn builder(dimension: usize) -> Settings {
        Settings::new(dimension)
    }

    pub(crate) fn new(settings: Settings) -> Result<Self> {
        Self::with_belief(settings, |belief| belief)
    }

    fn with_belief(settings: Settings, change: impl Fn(Belief) -> Belief) -> Result<Self> {
        let (given, belief) = Given::new(settings)?;
        let family = match (&given.settings.method, given.settings.method.intervals()) {
            (_, Some(intervals)) => Family::Confidence(Confidence::new(&given, intervals)?),
            (&Method::Posterior { prior, .. }, _) => {
                Family::Posterior(Posterior::new(&given, prior, belief.map(change))?)
            }
            (Method::Arms, _) => Family::Arms(Arms { data: RidgeStatistic::new(given.settings.dimension)? }),
            _ => Family::Offline(Favourite::new(&given)?),
        };
        let (counts, before, grown_from, board) = Default::default();
        let unseen = given.unseen.clone();
        let given = Arc::new(given);
        Ok(Self { given, counts, before, family, grown_from, restored: false, unseen, board })
    }

    /// A policy whose state comes from elsewhere.
    pub(crate) fn with_state(
        settings: Settings,
        counts: Counts,
        before: Counts,
        mut family: Family,
        grown_from: Vec<usize>,
        unseen: Vec<usize>,
    ) -> Result<Self> {
        let damaged = |reason: String| Error::from(Reason::SnapshotDamaged { reason });
        let fresh = Self::new(settings).map_err(|error| damaged(error.to_string()))?;
        let dimension = fresh.given.settings.dimension;
        let narrower = grown_from.iter().all(|&before| before < dimension);
        let known = unseen.iter().all(|column| fresh.unseen.contains(column));
        if !(narrower && known && family.fits(&fresh.family, dimension)) {
            return Err(damaged("its parts do not fit together".to_owned()));
        }
        let began = before.rounds <= counts.rounds && before.rewards <= counts.rewards;
        if !(began && before.spent <= counts.spent) {
            return Err(damaged("its counts do not fit together".to_owned()));
        }
        if let Family::Posterior(policy) = &mut family {
            policy.limit();
        }
        Ok(Self { counts, before, family, grown_from, restored: true, unseen, ..fresh })
    }

    /// Learns the reward of a decision. Rewards may come late, in any order, or never; each one
    /// that is given counts, so give each once.
    ///
    /// A policy that was restored from a snapshot also learns of decisions that it made after that and does not
    /// remember: what it learns does not depend on the round, and the layer, which does matter, is part of the decision.
    /// Its own rounds go on from the snapshot. Features that it has [grown](Self::grow) by since a decision are 0 there.
    pub fn learn(&mut self, observation: Observation<'_>) -> Result<()> {
        let Observation { decision, features, reward } = observation;
        self.check_decision(decision)?;
        self.learn_at(decision.layer, features, reward)
    }

    /// Learns a reward at a layer that there is.
    pub(crate) fn learn_at(&mut self, layer: u32, features: Row<'_>, reward: f64) -> Result<()> {
        let reformed = self.as_learned(features, reward)?;
        let features = reformed.as_ref().map_or(features, Reformed::row);
        let level = self.given.level;
        match &mut self.family {
            Family::Confidence(policy) => {
                policy.learn(layer, features.values(), (reward, level), &mut self.board);
            }
            Family::Posterior(policy) => policy.learn(features, reward, level, &mut self.board),
            Family::Offline(Favourite { data, .. }) | Family::Arms(Arms { data }) => {
                data.add(features, reward);
            }
        }
        self.counts.rewards += 1;
        self.ask();
        Ok(())
    }

    /// Learns several rewards, in their order: the same as [`learn`](Self::learn) one after the other, to the last bit, but with
    /// fewer passes over memory where there are many features. Nothing is learned if one of them cannot be.
    ///
    /// ```
    /// use truenorth::{Actions, Policy};
    ///
    /// let mut policy = Policy::builder(2).build()?;
    /// let actions = Actions::new(&[1.0, 0.0, 0.0, 1.0], 2)?;
    /// let choices = [policy.choose(actions)?, policy.choose(actions)?];
    /// policy.learn_many(&choices.map(|choice| choice.rewarded(actions, 0.7)))?;
    /// # Ok::<(), truenorth::Error>(())
    /// ```
    pub fn learn_many(&mut self, observations: &[Observation<'_>]) -> Result<()> {
        let mut reformed = Vec::with_capacity(observations.len());
        for observation in observations {
            self.check_decision(observation.decision)?;
            reformed.push(self.as_learned(observation.features, observation.reward)?);
        }
        let rows = observations.iter().zip(&reformed).map(|(observation, reformed)| {
            (reformed.as_ref().map_or(observation.features, Reformed::row), observation.reward)
        });
        if let Family::Posterior(policy) = &mut self.family {
            policy.learn_many(&rows.collect::<Vec<_>>(), self.given.level, &mut self.board);
            self.counts.rewards += observations.len() as u64;
            self.ask();
            return Ok(());
        }
        observations.iter().try_for_each(|&observation| self.learn(observation))
    }

    /// Spares the next decision what can be done before it: to take in rewards that live data alone has not learned yet, and,
    /// where fits run beside decisions, to copy what one that is due needs.
    fn ask(&mut self) {
        if let Family::Posterior(policy) = &mut self.family {
            let (counts, before) = (&self.counts, &self.before);
            let rounds = counts.rounds - before.rounds;
            policy.catch_up(&self.given, (rounds + 1, counts.rounds + 1));
            if self.given.settings.are_fits_beside() {
                policy.ask_if_due(&self.given, rounds, counts.rewards - before.rewards);
            }
        }
    }

    fn check_decision(&self, Decision { round, layer }: Decision) -> Result<()> {
        let (rounds, last_layer) = (self.counts.rounds, self.last_layer());
        if round == 0 || round > rounds && !self.restored || layer > last_layer {
            return Err(Reason::UnknownDecision { round, layer, rounds, last_layer }.into());
        }
        Ok(())
    }

    /// Checks what is to be learned, and brings its row into the form that this policy keeps.
    #[inline]
    fn as_learned(&self, features: Row<'_>, reward: f64) -> Result<Option<Reformed>> {
        check::numbers("reward", &[reward])?;
        let Settings { dimension, sparse, .. } = self.given.settings;
        if features.columns().is_none() && features.values().len() == dimension && !sparse {
            return check::numbers("feature", features.values()).map(|()| None);
        }
        self.reformed(features)
    }

    /// The same for any row.
    #[inline(never)]
    fn reformed(&self, features: Row<'_>) -> Result<Option<Reformed>> {
        let Settings { dimension, sparse, .. } = self.given.settings;
        // A row that was decided before the policy grew has zeros for what it has grown by.
        let narrow = features.columns().is_none() && self.grown_from.contains(&features.values().len());
        let unusable = |index, value| Reason::NotFinite { what: "feature", index, value };
        features.check(if narrow { features.values().len() } else { dimension }, unusable)?;
        Ok(match features.columns() {
            Some(_) if sparse => None,
            None if sparse => Some(Reformed::Shown(features.shown())),
            None if !narrow => None,
            _ => Some(Reformed::Filled(features.filled(dimension))),
        })
    }

    /// Starts a new season: all that is known so far becomes its logs, and how much of that still holds is learned from
    /// the rewards to come. Rewards of earlier decisions may still come; they count for the new season.
    ///
    /// For a step in the world that somebody knows of (a new price list, a new site), or, with
    /// [`Settings::season`], every so many rounds. Only `truenorth` and `truenorth-sampling` can doubt what they know.
    pub fn renew(&mut self) -> Result<()> {
        let known = match &mut self.family {
            Family::Posterior(policy) => policy.known(&self.given)?,
            _ => None,
        };
        let Some(logs) = known else {
            return Err(check::incompatible("a new season", "a policy that never doubts its logs"));
        };
        let settings = Settings { logs, discount: 1.0, ..self.given.settings.clone() };
        let Self { given, family, .. } = Self::with_belief(settings, Belief::owned)?;
        (self.given, self.family, self.before) = (given, family, self.counts);
        Ok(())
    }

    /// Whether a new season has begun. Its logs count in full, whatever the first ones were discounted by.
    pub fn has_renewed(&self) -> bool {
        self.before != Counts::default()
    }

    /// Rewards learned since the last new season began, or since the start.
    pub fn season_rewards(&self) -> u64 {
        self.counts.rewards - self.before.rewards
    }

    /// Every action's interval at one layer, as the next round would start from it.
    pub fn intervals(&self, layer: u32, actions: Actions<'_>) -> Result<Vec<ActionInterval>> {
        let Self { given, counts, before, .. } = self;
        check::length("a feature vector", given.settings.dimension, actions.dimension())?;
        check::range(layer <= self.last_layer(), "layer", "at most the last layer", f64::from(layer))?;
        let mut other = OtherForm::default();
        let same = actions.is_sparse() == given.settings.sparse;
        let actions = if same { actions } else { other.of(actions)? };
        let turn = Turn::new(given, actions, counts, before);
        let mut board = Scoreboard::default();
        board.all_candidates(actions.count());
        board.all = true;
        match &self.family {
            Family::Confidence(policy) => policy.score(layer, turn, false, &mut board),
            Family::Posterior(policy) => policy.score(turn, false, &mut board),
            Family::Offline(policy) => policy.score(turn, &mut board),
            Family::Arms(policy) => policy.score(turn, &mut board)?,
        }
        Ok(board.intervals().collect())
    }

    /// What the policy was made from.
    pub fn settings(&self) -> &Settings {
        &self.given.settings
    }

    /// Number of features d.
    pub fn dimension(&self) -> usize {
        self.given.settings.dimension
    }

    /// Whether it is [sparse](Settings::sparse).
    pub fn is_sparse(&self) -> bool {
        self.given.settings.sparse
    }

    /// How it decides.
    pub fn method(&self) -> &Method {
        &self.given.settings.method
    }

    /// What a posterior that learns believes.
    pub(crate) fn belief(&self) -> Option<&Belief> {
        if let Family::Posterior(policy) = &self.family { policy.belief.as_ref() } else { None }
    }

    /// σ in force: as told, or as estimated from the logs and, in posteriors that learn, from live rewards.
    pub fn noise(&self) -> f64 {
        self.belief().map_or(self.given.noise, Belief::noise)
    }

    /// What all rewards have in common that no feature explains, as of the last fit. It ranks no action, so it is in no
    /// interval: add it to a mean to predict a reward. 0 where rewards are taken as they are.
    pub fn level(&self) -> f64 {
        self.belief().map_or(self.given.level, |belief| belief.levels()[0])
    }

    /// S in force: as told, or twice the length of the logs' estimate.
    pub fn norm_bound(&self) -> f64 {
        self.given.norm_bound
    }

    /// Probability that the logs hold but for a drift in some directions, as an adaptive posterior sees it.
    pub fn logs_hold(&self) -> Option<f64> {
        self.belief().map(|belief| 1.0 - belief.void())
    }

    /// The certificate in force.
    pub fn certificate(&self) -> Option<&Certificate> {
        let learned = match &self.family {
            Family::Confidence(policy) => policy.certificate.as_ref(),
            _ => None,
        };
        learned.or(self.given.certificate.as_ref())
    }

    /// Rounds, rewards, conflicts.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// L, the index of the last layer; 0 for policies without layers.
    pub fn last_layer(&self) -> u32 {
        if let Family::Confidence(policy) = &self.family { policy.last_layer() } else { 0 }
    }
}

/// What the theorems and figures of the sister crates look at. No part of the interface: it may change at any time.
#[doc(hidden)]
impl Policy {
    /// Seed of the dice, which ids of decisions depend on.
    pub fn seed(&self) -> u64 {
        self.given.settings.seed
    }

    /// The logs' regression.
    pub fn offline(&self) -> &Offline {
        &self.given.offline
    }

    /// β_off(δ/3), the offline radius that the pooled branch uses.
    pub fn offline_radius(&self) -> f64 {
        self.given.offline_radius
    }

    /// δ_{t,l}: the failure budget of one branch at one layer (and round, if per round).
    pub fn layer_delta(&self) -> f64 {
        self.given.layer_delta
    }

    /// The layers, 0 first; a policy without layers is one of them.
    pub fn layers(&self) -> Vec<LayerView<'_>> {
        self.family.layers(self.counts.rounds)
    }

    /// The rounds to come, if that was told.
    pub fn horizon(&self) -> Option<u64> {
        self.given.settings.horizon
    }

    /// λ of confidence intervals.
    pub fn ridge(&self) -> f64 {
        self.given.settings.ridge.unwrap_or(1.0)
    }

    /// δ.
    pub fn delta(&self) -> f64 {
        self.given.settings.delta
    }

    /// The factor on every radius.
    pub fn exploration_scale(&self) -> f64 {
        self.given.settings.exploration_scale
    }

    /// The logs that it was made from.
    pub fn logs(&self) -> &RidgeStatistic {
        &self.given.settings.logs
    }
}
