//! The paper's family: Algorithm 1 and 2, their baselines, and our discounted pooling.
//!
//! Each layer has up to two regressions of the live data that were routed to it, with confidence intervals of their own:
//!
//! ```text
//! online    V = λI + A                       xᵀθ̂ ± β_on ‖x‖ in V⁻¹                                       (equation 2)
//! informed  V = W + A around θ̂_off           xᵀθ̂ ± (γ + β_off) ‖x‖ in V⁻¹ ± ρ ‖W V⁻¹x‖ in M⁻¹            (equations 4-7)
//! ```
//!
//! An action's interval is their intersection (equation 8). Layer by layer, a round plays an action whose interval is
//! wider than 2^-layer, or drops the actions that cannot be best and goes on (Algorithm 1); a flat policy has a last layer
//! and no other.

use crate::branch::{Branch, Radius};
use crate::certificate::Certificate;
use crate::decide::{Played, Turn};
use crate::dense::{self, Matrix};
use crate::error::{Reason, Result};
use crate::explain::{LayerExplanation, PlayRule};
use crate::given::Given;
use crate::learned::{Epochs, grown_certificate, learn_certificate};
use crate::offline::ridge_radius;
use crate::policy::LayerView;
use crate::precision::Precision;
use crate::score::Scoreboard;
use crate::settings::{Drift, Intervals, Pooling};
use crate::statistic::{RidgeStatistic, merged};

/// What has happened in one layer.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Layer {
    /// A_l and b_l, with the count and the squares.
    pub(crate) data: RidgeStatistic,
    pub(crate) online: Option<Precision>,
    /// Pooled or warm.
    pub(crate) informed: Option<Precision>,
    pub(crate) plays: u64,
}

/// The state of a policy of this family.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Confidence {
    pub(crate) intervals: Intervals,
    pub(crate) certificate: Option<Certificate>,
    pub(crate) layers: Vec<Layer>,
}

impl Confidence {
    pub(crate) fn new(given: &Given, intervals: &Intervals) -> Result<Self> {
        let settings = &given.settings;
        let online = matches!(intervals, Intervals::Online | Intervals::Pooled { fallback: true, .. });
        let layer = Layer {
            data: RidgeStatistic::new(settings.dimension)?,
            online: online.then(|| Precision::ridge(&given.ridge)),
            informed: None,
            plays: 0,
        };
        let mut policy = Self {
            intervals: intervals.clone(),
            certificate: None,
            layers: vec![layer; settings.last_layer()? as usize + 1],
        };
        match policy.intervals {
            Intervals::Online => {}
            Intervals::Warm => policy.pool(given, None)?,
            Intervals::Pooled { drift: Drift::Learned(_), .. } => policy.start_epoch(given, 1)?,
            Intervals::Pooled { .. } => policy.pool(given, given.certificate.clone())?,
        }
        Ok(policy)
    }

    /// The round procedure of Algorithm 1.
    pub(crate) fn choose(
        &self,
        turn: Turn<'_>,
        board: &mut Scoreboard,
        mut story: Option<&mut Vec<LayerExplanation>>,
    ) -> Played {
        let last = self.last_layer();
        let (mut conflicts, mut gathered) = (0, false);
        for layer in 0..=last {
            self.score(layer, turn, gathered, board);
            conflicts += board.bound();
            let wider_than = (layer < last).then(|| 0.5f64.powi(layer.cast_signed()));
            let rule = wider_than.map_or(PlayRule::LargestUcb, PlayRule::WiderThan);
            if let Some(position) = board.largest_ucb(wider_than) {
                return Played { layer, conflicts, ..Played::at(position, rule) };
            }
            let best_lcb = board.lower.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            // Numbers at the edge of overflow may give NaN, which must not leave a layer empty.
            let survives = |ucb: f64| ucb >= best_lcb || ucb.is_nan();
            if let Some(layers) = &mut story {
                let actions: Vec<_> = board.intervals().collect();
                let eliminated = actions.iter().filter(|interval| !survives(interval.ucb));
                let eliminated = eliminated.map(|interval| interval.action).collect();
                layers.push(LayerExplanation { layer, rule: rule.to_string(), actions, eliminated });
            }
            gathered = board.retain(survives);
        }
        unreachable!("the last layer plays")
    }

    pub(crate) fn learn(
        &mut self,
        layer: u32,
        features: &[f64],
        (reward, level): (f64, f64),
        board: &mut Scoreboard,
    ) {
        let Layer { data, online, informed, .. } = &mut self.layers[layer as usize];
        data.add(features.into(), reward);
        for branch in online.iter_mut().chain(informed) {
            branch.update(features, reward - level, &mut board.carried);
        }
    }

    /// Scores the candidates at one layer, by their features or as they were `gathered` in the layer before.
    pub(crate) fn score(&self, layer: u32, turn: Turn<'_>, gathered: bool, board: &mut Scoreboard) {
        let Turn { given, actions, .. } = turn;
        let layer = &self.layers[layer as usize];
        // β_on (below equation 2): det V grows from det λI.
        let online = |online: &Precision| live_radius(given, online.log_det_growth());
        board.score(
            actions,
            (gathered, self.layers.len() > 1),
            layer.online.as_ref().map(|branch| (branch, online(branch))),
            layer.informed.as_ref().map(|branch| (branch, self.informed_radius(branch, given))),
            if self.intervals == Intervals::Warm { Branch::Warm } else { Branch::Pooled },
        );
    }

    /// Multipliers of the norms in the informed radius of a layer.
    fn informed_radius(&self, informed: &Precision, given: &Given) -> Radius {
        let Given { noise, offline_radius, layer_delta, .. } = *given;
        let Intervals::Pooled { pooling, .. } = self.intervals else {
            return live_radius(given, informed.log_det_growth() + given.offline.log_det());
        };
        // γ (equation 6) measures the live noise in the pooled geometry.
        let gamma = ridge_radius(noise, informed.log_det_growth(), layer_delta);
        let bias = self.certificate.as_ref().map_or(0.0, Certificate::rho);
        let radius = match pooling {
            // Equation 4: the paper relaxes the offline error to the pooled norm.
            Pooling::Full => Radius { norm: gamma + offline_radius, bias, offline: 0.0 },
            // Discounted pooling: the offline error keeps its direction, β_off ‖W V⁻¹x‖ in G_off⁻¹, where
            // the paper's Lemma (Validity of the pooled branch) relaxes its T₂ to the pooled norm.
            Pooling::Discounted => Radius { norm: gamma, bias, offline: offline_radius },
        };
        radius.scaled(given.settings.exploration_scale)
    }

    /// Whether an epoch starts with this round, the first one aside.
    pub(crate) fn starts_epoch(&self, given: &Given, round: u64) -> Result<bool> {
        let Intervals::Pooled { drift: Drift::Learned(starts), .. } = &self.intervals else {
            return Ok(false);
        };
        let horizon = given.settings.needed_horizon("by the learned certificate")?;
        Ok(round > 1 && Epochs(starts).starts(round, horizon))
    }

    /// Learns the certificate anew if an epoch starts with this round (Algorithm 2).
    pub(crate) fn start_epoch(&mut self, given: &Given, round: u64) -> Result<()> {
        let Intervals::Pooled { drift: Drift::Learned(starts), .. } = &self.intervals else { return Ok(()) };
        let epochs = Epochs(starts);
        let horizon = given.settings.needed_horizon("by the learned certificate")?;
        if !epochs.starts(round, horizon) {
            return Ok(());
        }
        let live = merged(self.layers.iter().map(|layer| &layer.data));
        let learned = live.and_then(|live| learn_certificate(given, &live, round, epochs.count(horizon)));
        match learned.and_then(|certificate| self.pool(given, Some(certificate))) {
            // Features of wildly different sizes can make the live precision singular by rounding. The certificate in
            // force was learned to hold for good (Theorem 6), so it stays.
            Err(error) if error.is_singular() && self.certificate.is_some() => Ok(()),
            done => done,
        }
    }

    /// Puts a certificate in force: makes the informed branch of every layer anew.
    fn pool(&mut self, given: &Given, certificate: Option<Certificate>) -> Result<()> {
        let discounted = matches!(self.intervals, Intervals::Pooled { pooling: Pooling::Discounted, .. });
        let weight = match &certificate {
            Some(certificate) if discounted => discounted_weight(given, certificate, given.offline_radius)?,
            _ => given.offline.precision_matrix().clone(),
        };
        // ψ = ‖N W V⁻¹x‖ with NᵀN = M⁻¹ (equation 5), and the same with G_off for the logs' own error.
        let mut maps: Vec<Matrix> = certificate.iter().map(|told| &told.root * &weight).collect();
        if discounted {
            maps.push(given.offline.covariance_root() * &weight);
        }
        let estimate = given.offline.estimate();
        let branches = self.layers.iter().map(|layer| match &layer.informed {
            // The weight is the same as ever: the rank-one state stays, only its maps change.
            Some(informed) if !discounted => Ok(informed.with_maps(&maps)),
            _ => Precision::assemble(&weight, estimate, &layer.data, &maps),
        });
        let branches: Vec<Precision> = branches.collect::<Result<_>>()?;
        for (layer, informed) in self.layers.iter_mut().zip(branches) {
            layer.informed = Some(informed);
        }
        self.certificate = certificate;
        Ok(())
    }

    /// Adds features, at the prior's mean and width; after so many rounds.
    pub(crate) fn grow(&mut self, given: &Given, rounds: u64) -> Result<()> {
        let fresh = Self::new(given, &self.intervals)?;
        let observed: f64 = self.layers.iter().map(|layer| layer.data.weight()).sum();
        for (layer, fresh) in self.layers.iter_mut().zip(&fresh.layers) {
            layer.data.grow(given.settings.dimension)?;
            for (branch, fresh) in
                [(&mut layer.online, &fresh.online), (&mut layer.informed, &fresh.informed)]
            {
                branch.iter_mut().zip(fresh).for_each(|(branch, fresh)| branch.grow(fresh));
            }
        }
        let (Intervals::Pooled { drift: Drift::Learned(epochs), .. }, Some(learned)) =
            (&self.intervals, &self.certificate)
        else {
            self.certificate = fresh.certificate;
            return Ok(());
        };
        let others = (observed - rounds as f64).max(0.0);
        let grown = grown_certificate(given, Epochs(epochs), learned, (rounds, others))?;
        // A discounted weight depends on ρ.
        self.pool(given, Some(grown))
    }

    /// Takes the logs as they are given now.
    pub(crate) fn read_logs(&mut self, given: &Given) -> Result<()> {
        match self.intervals {
            Intervals::Online => {}
            // Rows that are taken for live may come at any time.
            Intervals::Warm => {
                let (weight, estimate) = (given.offline.precision_matrix(), given.offline.estimate());
                for layer in &mut self.layers {
                    layer.informed = Some(Precision::assemble(weight, estimate, &layer.data, &[])?);
                }
            }
            // γ (equation 6) is the self-normalised bound with W, which holds for a W that is fixed before the first reward.
            Intervals::Pooled { .. } if self.layers.iter().any(|layer| layer.data.weight() > 0.0) => {
                return Err(Reason::Incompatible {
                    first: "adding logs after the first reward",
                    second: "a pooled branch, whose weight on the logs is fixed before play",
                }
                .into());
            }
            Intervals::Pooled { .. } => {
                let fresh = Self::new(given, &self.intervals)?;
                self.certificate = fresh.certificate;
                for (layer, fresh) in self.layers.iter_mut().zip(fresh.layers) {
                    *layer = Layer { plays: layer.plays, ..fresh };
                }
            }
        }
        Ok(())
    }

    /// At most 64: the layers are counted by the logarithm of a u64.
    pub(crate) fn last_layer(&self) -> u32 {
        u32::try_from(self.layers.len() - 1).unwrap_or(u32::MAX)
    }

    /// Whether what was read is of the kind of a `fresh` one, layers aside.
    pub(crate) fn fits(&self, fresh: &Self) -> bool {
        let dimension = |policy: &Self| policy.certificate.as_ref().map(Certificate::dimension);
        self.intervals == fresh.intervals && dimension(self) == dimension(fresh)
    }
}

impl Layer {
    pub(crate) fn view(&self) -> LayerView<'_> {
        let branches = [&self.informed, &self.online].map(Option::as_ref);
        LayerView::new(self.plays, &self.data, branches)
    }
}

/// Radius of a regression on data that are taken for live, whose determinant has grown this much from that of λI.
fn live_radius(given: &Given, log_det: f64) -> Radius {
    let norm = ridge_radius(given.noise, log_det, given.layer_delta) + given.slack;
    Radius { norm, ..Radius::default() }.scaled(given.settings.exploration_scale)
}

/// W = σ² (β² G_off⁻¹ + ρ² M⁻¹)⁻¹: each direction weighs what is known about it, so that with β = β_off the
/// offline error and the bias together are at most √2 σ ‖x‖ in V⁻¹, however large ρ is. With β = σ it is the precision
/// of N(θ_off, σ² G_off⁻¹ + ρ² M⁻¹), times σ².
///
/// With a learned certificate W changes with the epoch, and the martingale part of the radius is
/// computed with the current one, as if it had been fixed before play.
pub(crate) fn discounted_weight(given: &Given, certificate: &Certificate, beta: f64) -> Result<Matrix> {
    let spread = given.offline.covariance() * (beta * beta) + certificate.allowed();
    let factor = dense::cholesky("the covariance of drift and logs", &spread)?;
    Ok(dense::inverse_from_factor(&factor) * given.noise.powi(2))
}
