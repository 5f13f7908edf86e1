//! The policy family: `choose` an action, `learn` its reward.

use serde::{Deserialize, Serialize};

use crate::branch::{ActionInterval, Branch};
use crate::certificate::Certificate;
use crate::check;
use crate::error::{Error, Result};
use crate::explain::{Explanation, LayerExplanation, PlayRule};
use crate::explore::Draws;
use crate::kernel::{Carried, Panels, Scores, Whitened};
use crate::neglect::Audits;
use crate::numbers::Numbers;
use crate::offline::Offline;
use crate::params::{Branches, CertificateRule, Layering, Params, Pooling, Width};
use crate::play::play_rule;
use crate::precision::Precision;
use crate::round::{Actions, Choice, Counts, Decision, Observation};
use crate::score::Scored;
use crate::statistic::RidgeStatistic;
use crate::theory::{LayerPath, LearnedEpoch, PooledPath, PooledRadius, RadiusParams};
use crate::trust::Trust;

/// What has happened in one layer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Layer {
    /// A_l and b_l, with the count and the squares.
    pub(crate) data: RidgeStatistic,
    pub(crate) online: Option<Precision>,
    /// Pooled, warm or offline.
    pub(crate) informed: Option<Precision>,
    /// What an adaptive certificate is held against: `A + W₀` with the pooling weight of before play, or live data
    /// alone where the certificate is part of a posterior.
    pub(crate) reference: Option<Precision>,
    plays: u64,
}

/// Read-only view of one layer's path, as the bounds of [`theory`](crate::theory) need it.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerView<'a> {
    /// Rounds that this layer played.
    pub plays: u64,
    /// Live observations that were routed to this layer.
    pub data: &'a RidgeStatistic,
    /// log det(A + W) - log det W of the pooled or warm branch, or of `A + λI` without one.
    pub log_det_growth: f64,
    /// Current estimate of the branch that knows most: pooled where there is one.
    pub estimate: Vec<f64>,
}

/// Bounds of the candidates' rewards, or of their indices.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bounds {
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
}

/// Room that `choose` and `learn` reuse; no state lives here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    pub(crate) candidates: Vec<usize>,
    /// Whether a layer has left some candidates out.
    pub(crate) some_left_out: bool,
    pub(crate) panels: Panels,
    pub(crate) scored: Scored,
    pub(crate) online: Scores,
    pub(crate) informed: Scores,
    pub(crate) bounds: Bounds,
    pub(crate) whitened: Whitened,
    pub(crate) draws: Draws,
    pub(crate) audits: Audits,
    shown: Vec<ActionInterval>,
    carried: Carried,
}

/// A linear bandit policy: the paper's, its baselines, and every mix of their switches.
///
/// [`choose`](Self::choose) takes O(d²) an action and layer, [`learn`](Self::learn) O(d²); neither
/// allocates once the largest action set has been seen, except where a learned certificate starts a
/// new epoch (O(d³) a layer, at rounds 1, 2, 4, 8, ... by default) or an adaptive one is due (O(d³), whenever
/// live data has grown by a quarter).
///
/// The guarantee covers the first `horizon` rounds; play may go on beyond.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Policy {
    pub(crate) params: Params,
    /// σ and S, as told or estimated from the logs.
    pub(crate) noise: f64,
    pub(crate) norm_bound: f64,
    pub(crate) offline: Offline,
    /// β_off(δ/3).
    pub(crate) offline_radius: f64,
    /// δ_{t,l} of either branch.
    pub(crate) layer_delta: f64,
    pub(crate) certificate: Option<Certificate>,
    pub(crate) epochs: Vec<LearnedEpoch>,
    pub(crate) layers: Vec<Layer>,
    pub(crate) counts: Counts,
    /// Σ ρψ over the actions played.
    routed_bias: f64,
    /// The adaptive posterior, where there is one.
    pub(crate) trust: Option<Trust>,
    /// Live rewards at which the adaptive certificate of width `confidence` is due.
    pub(crate) due: u64,
    #[serde(skip)]
    pub(crate) workspace: Workspace,
}

/// A policy as it was read, which may have come from anywhere.
#[derive(Deserialize)]
pub(crate) struct Unchecked {
    params: Params,
    noise: f64,
    norm_bound: f64,
    offline: Offline,
    offline_radius: f64,
    layer_delta: f64,
    certificate: Option<Certificate>,
    epochs: Vec<LearnedEpoch>,
    layers: Vec<Layer>,
    counts: Counts,
    routed_bias: f64,
    trust: Option<Trust>,
    due: u64,
}

impl TryFrom<Unchecked> for Policy {
    type Error = Error;

    fn try_from(read: Unchecked) -> Result<Self> {
        let mut policy = Self {
            params: read.params,
            noise: read.noise,
            norm_bound: read.norm_bound,
            offline: read.offline,
            offline_radius: read.offline_radius,
            layer_delta: read.layer_delta,
            certificate: read.certificate,
            epochs: read.epochs,
            layers: read.layers,
            counts: read.counts,
            routed_bias: read.routed_bias,
            trust: read.trust,
            due: read.due,
            workspace: Workspace::default(),
        };
        policy.check_restored().map_err(|reason| Error::SnapshotDamaged { reason })?;
        policy.make_room();
        Ok(policy)
    }
}

impl Policy {
    /// Checks the parameters and fits the logs. O(d³).
    pub fn new(params: Params) -> Result<Self> {
        params.check()?;
        let dimension = params.dimension;
        let Numbers { noise, norm_bound, ridge, trust } = Numbers::of(&params)?;
        let offline = Offline::new(&params.offline, ridge)?;
        let layer = Layer {
            data: RidgeStatistic::new(dimension)?,
            online: params.has_online().then(|| Precision::ridge(dimension, ridge)),
            informed: None,
            reference: (trust.is_some() && params.has_pooled()).then(|| Precision::ridge(dimension, ridge)),
            plays: 0,
        };
        let mut policy = Self {
            noise,
            norm_bound,
            offline_radius: offline.radius(noise, norm_bound, params.delta / 3.0),
            layer_delta: params.layer_delta()?,
            certificate: None,
            epochs: Vec::new(),
            layers: vec![layer; params.last_layer()? as usize + 1],
            counts: Counts::default(),
            routed_bias: 0.0,
            trust,
            due: 0,
            workspace: Workspace::default(),
            offline,
            params,
        };
        match &policy.params.certificate {
            _ if policy.trust.is_some() => policy.start_epoch(1)?,
            CertificateRule::Learned(_) | CertificateRule::Adaptive if policy.params.has_pooled() => {
                policy.start_epoch(1)?;
            }
            CertificateRule::Fixed(certificate) => policy.set_certificate(Some(certificate.clone()))?,
            _ => policy.set_certificate(None)?,
        }
        policy.make_room();
        Ok(policy)
    }

    /// Chooses an action.
    pub fn choose(&mut self, actions: Actions<'_>) -> Result<Choice> {
        self.decide(actions, None)
    }

    /// Chooses an action, and tells why. The same decision as [`choose`](Self::choose) makes.
    pub fn choose_explained(&mut self, actions: Actions<'_>) -> Result<(Choice, Explanation)> {
        let mut explanation = Explanation { round: 0, action: 0, layers: Vec::new() };
        let choice = self.decide(actions, Some(&mut explanation.layers))?;
        explanation.round = choice.decision.round;
        explanation.action = choice.action;
        Ok((choice, explanation))
    }

    /// Learns the reward of a decision. Rewards may come late, in any order, or never; each one
    /// that is given counts, so give each once.
    pub fn learn(&mut self, observation: Observation<'_>) -> Result<()> {
        let Observation { decision: Decision { round, layer }, features, reward } = observation;
        check::length("the feature vector", self.params.dimension, features.len())?;
        check::numbers("feature", features)?;
        check::numbers("reward", &[reward])?;
        let (rounds, last_layer) = (self.counts.rounds, self.last_layer());
        if !(1..=rounds).contains(&round) || layer > last_layer {
            return Err(Error::UnknownDecision { round, layer, rounds, last_layer });
        }
        // The adaptive posterior knows of a level that is no feature's.
        let explained = reward - self.trust.as_ref().map_or(0.0, Trust::level);
        let layer = &mut self.layers[layer as usize];
        layer.data.add(features, reward);
        for branch in layer.online.iter_mut().chain(&mut layer.reference) {
            branch.update(features, reward, &mut self.workspace.carried);
        }
        // The offline branch is the one that never learns.
        if self.params.branches != Branches::Offline
            && let Some(informed) = &mut layer.informed
        {
            informed.update(features, explained, &mut self.workspace.carried);
        }
        if let Some(trust) = &mut self.trust {
            trust.observe(features, reward);
        }
        self.counts.rewards += 1;
        Ok(())
    }

    /// Every action's interval at one layer, as the next round would start from it.
    pub fn intervals(&mut self, layer: u32, actions: Actions<'_>) -> Result<&[ActionInterval]> {
        check::length("a feature vector", self.params.dimension, actions.dimension())?;
        if layer > self.last_layer() {
            let value = f64::from(layer);
            return Err(Error::Parameter { name: "layer", range: "at most the last layer", value });
        }
        self.workspace.all_candidates(actions.count());
        self.score(layer as usize, actions, false)?;
        let mut shown = std::mem::take(&mut self.workspace.shown);
        shown.clear();
        shown.extend(self.workspace.intervals());
        self.workspace.shown = shown;
        Ok(&self.workspace.shown)
    }

    /// The parameters the policy was made from.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// σ in force: as told, or as estimated from the logs and, with width `posterior`, from live rewards.
    pub fn noise(&self) -> f64 {
        self.trust.as_ref().map_or(self.noise, Trust::noise)
    }

    /// S in force: as told, or twice the length of the logs' estimate.
    pub fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    /// Probability that the logs hold but for a drift in some directions, as an adaptive posterior sees it.
    pub fn logs_hold(&self) -> Option<f64> {
        self.trust.as_ref().map(Trust::logs)
    }

    /// The logs' regression.
    pub fn offline(&self) -> &Offline {
        &self.offline
    }

    /// β_off(δ/3), the offline radius that the pooled branch uses.
    pub fn offline_radius(&self) -> f64 {
        self.offline_radius
    }

    /// δ_{t,l}: the failure budget of one branch at one layer (and round, if per round).
    pub fn layer_delta(&self) -> f64 {
        self.layer_delta
    }

    /// The certificate in force.
    pub fn certificate(&self) -> Option<&Certificate> {
        self.certificate.as_ref()
    }

    /// The epochs of a learned certificate so far, the last one unfinished.
    pub fn epochs(&self) -> &[LearnedEpoch] {
        &self.epochs
    }

    /// Σ ρψ over the actions played: how much the certificate widened their intervals (Theorem 1).
    pub fn routed_bias(&self) -> f64 {
        self.routed_bias
    }

    /// Whether the paper bounds this policy's regret: layered, and either online alone or pooled in
    /// full, with intervals as wide as they should be.
    pub fn has_regret_bound(&self) -> bool {
        self.params.layering == Layering::Layered
            && self.params.exploration_scale >= 1.0
            && match self.params.branches {
                Branches::Online => true,
                Branches::Both | Branches::Pooled => self.params.pooling == Pooling::Full,
                Branches::Warm | Branches::Offline | Branches::Arms => false,
            }
    }

    /// The trajectory so far, as [`theory::guarantee`](crate::theory::guarantee) wants it; an error
    /// for policies that the theorems do not speak of.
    pub fn path(&self) -> Result<PooledPath> {
        if !self.has_regret_bound() {
            let first = "a regret bound";
            return Err(Error::Incompatible {
                first,
                second: "a policy that is not layered with full pooling",
            });
        }
        // An online branch alone is the pooled one with λI for logs (Corollary 4).
        let offline_radius = match self.params.branches {
            Branches::Online => self.params.ridge.sqrt() * self.norm_bound,
            _ => self.offline_radius,
        };
        let radius = PooledRadius::new(RadiusParams {
            offline_radius,
            noise: self.noise,
            delta_pool_min: self.layer_delta,
        })?;
        let layers: Vec<_> = self
            .layers()
            .map(|layer| LayerPath { rounds: layer.plays, log_det: layer.log_det_growth })
            .collect();
        PooledPath::new(radius, &layers)
    }

    /// Rounds, rewards, conflicts.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The layers, 0 first.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = LayerView<'_>> {
        self.layers.iter().map(|layer| {
            let known = layer.informed.as_ref().or(layer.online.as_ref());
            LayerView {
                plays: layer.plays,
                data: &layer.data,
                log_det_growth: known.map_or(0.0, Precision::log_det_growth),
                estimate: known.map_or_else(Vec::new, Precision::estimate),
            }
        })
    }

    /// L, the index of the last layer; 0 for flat policies.
    pub fn last_layer(&self) -> u32 {
        // At most 64: the layers are counted by the logarithm of a u64.
        u32::try_from(self.layers.len() - 1).unwrap_or(u32::MAX)
    }

    /// The round procedure of Algorithm 1 (flat policies have a last layer and no other).
    fn decide(
        &mut self,
        actions: Actions<'_>,
        mut story: Option<&mut Vec<LayerExplanation>>,
    ) -> Result<Choice> {
        check::length("a feature vector", self.params.dimension, actions.dimension())?;
        let round = self.counts.rounds + 1;
        if round > 1 {
            self.start_epoch(round)?;
        }
        self.workspace.all_candidates(actions.count());
        let mut conflicts = 0;
        let mut layer = 0u32;
        let mut gathered = false;
        let (played, propensity) = loop {
            self.score(layer as usize, actions, gathered)?;
            let last = layer as usize == self.layers.len() - 1;
            let rule = play_rule(&self.params, layer, last);
            if rule != PlayRule::LargestIndex {
                conflicts += self.workspace.bound();
            }
            // What was scored, before an audit scores it by live data alone.
            let scored = story.as_ref().map(|_| self.workspace.intervals().collect::<Vec<_>>());
            let played = self.pick(rule, layer as usize, round);
            let best_lcb = match played {
                Some(_) => f64::NEG_INFINITY,
                None => self.workspace.bounds.lower.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            };
            // Numbers at the edge of overflow may give NaN, which must not leave a layer empty.
            let survives = |ucb: f64| ucb >= best_lcb || ucb.is_nan();
            if let (Some(layers), Some(actions)) = (&mut story, scored) {
                let eliminated = actions.iter().filter(|interval| !survives(interval.ucb));
                let eliminated = eliminated.map(|interval| interval.action).collect();
                layers.push(LayerExplanation { layer, rule, actions, eliminated });
            }
            if let Some((position, propensity)) = played {
                break (self.workspace.aggregated(position), propensity);
            }
            let Workspace { candidates, bounds, .. } = &mut self.workspace;
            let before = candidates.len();
            let mut upper = bounds.upper.iter();
            candidates.retain(|_| upper.next().is_some_and(|&ucb| survives(ucb)));
            gathered = candidates.len() == before;
            self.workspace.some_left_out |= !gathered;
            layer += 1;
        };
        self.counts.rounds = round;
        self.counts.conflicts += conflicts as u64;
        self.counts.informed += u64::from(played.branch != Branch::Online);
        self.layers[layer as usize].plays += 1;
        // ρψ as the theorems have it, without the factor that a user may put on it.
        let bias = match self.params.width {
            Width::Confidence => {
                played.informed.map_or(0.0, |interval| interval.bias) / self.params.exploration_scale
            }
            Width::Posterior => 0.0,
        };
        self.routed_bias += bias;
        if let Some(epoch) = self.epochs.last_mut() {
            epoch.rounds += 1;
            epoch.routed += if bias > 0.0 { bias / epoch.radius } else { 0.0 };
        }
        Ok(Choice {
            decision: Decision { round, layer },
            action: played.action,
            ucb: played.ucb,
            lcb: played.lcb,
            mean: played.mean(),
            branch: played.branch,
            propensity,
            candidates: self.workspace.candidates.len(),
            conflicts,
        })
    }

    /// Allocates what `learn` needs in layers that have not been played yet.
    fn make_room(&mut self) {
        for layer in &mut self.layers {
            layer.data.make_room();
        }
    }

    /// Whether all parts of a decoded snapshot fit together; `choose` and `learn` rely on it.
    fn check_restored(&self) -> Result<(), String> {
        let dimension = self.params.dimension;
        let fresh = Self::new(self.params.clone()).map_err(|error| error.to_string())?;
        // Another machine may round a logarithm differently.
        let close = |found: f64, expected: f64| (found - expected).abs() <= 1e-9 * expected;
        let maps = |layer: &Layer| layer.informed.as_ref().map(|informed| informed.maps().len());
        let fits = |layer: &Layer, fresh: &Layer| {
            layer.data.is_consistent(dimension)
                && layer.online.is_some() == fresh.online.is_some()
                && maps(layer) == maps(fresh)
                && layer.reference.is_some() == fresh.reference.is_some()
                && layer
                    .online
                    .iter()
                    .chain(&layer.informed)
                    .chain(&layer.reference)
                    .all(|branch| branch.is_consistent(dimension))
        };
        if self.offline.is_consistent(dimension)
            && close(self.noise, fresh.noise)
            && close(self.norm_bound, fresh.norm_bound)
            && close(self.offline_radius, fresh.offline_radius)
            && self.trust.is_some() == fresh.trust.is_some()
            && self.trust.iter().all(|trust| trust.is_consistent(dimension))
            && close(self.layer_delta, fresh.layer_delta)
            && self.routed_bias >= 0.0
            && self.certificate.iter().all(|certificate| certificate.dimension() == dimension)
            && self.layers.len() == fresh.layers.len()
            && self.layers.iter().zip(&fresh.layers).all(|(layer, fresh)| fits(layer, fresh))
            && self.certificate.is_some() == fresh.certificate.is_some()
        {
            Ok(())
        } else {
            Err("its parts do not fit together".to_owned())
        }
    }
}
