//! Intervals of a round's actions, by every kind of policy.

use crate::arms;
use crate::branch::{ActionInterval, Branch, BranchInterval, Radius};
use crate::certificate::Certificate;
use crate::error::{Error, Result};
use crate::kernel::{self, Measured, Scores};
use crate::neglect::Neglect;
use crate::offline::ridge_radius;
use crate::params::{Branches, Explore, Params, Pooling, Width};
use crate::policy::{Policy, Workspace};
use crate::precision::Precision;
use crate::round::Actions;

/// What was scored last, besides the numbers themselves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    online: bool,
    /// What the informed branch is called, where there is one.
    pub(crate) informed: Option<Branch>,
    /// How the index of an action exceeds its UCB.
    pub(crate) neglect: Option<Neglect>,
}

impl Default for Scored {
    fn default() -> Self {
        Self { online: true, informed: None, neglect: None }
    }
}

impl Workspace {
    /// Makes all of a round's actions candidates.
    pub(crate) fn all_candidates(&mut self, count: usize) {
        if self.some_left_out || self.candidates.len() != count {
            self.candidates.clear();
            self.candidates.extend(0..count);
            self.some_left_out = false;
        }
    }

    /// The interval of one of the candidates that were scored last.
    pub(crate) fn interval(&self, k: usize) -> ActionInterval {
        let interval = self.aggregated(k);
        let neglected = self.scored.neglect.map(|neglect| neglect.index(interval.mean(), interval.ucb));
        ActionInterval { index: neglected.unwrap_or(interval.index), ..interval }
    }

    /// The same, but that its index is its UCB.
    pub(crate) fn aggregated(&self, k: usize) -> ActionInterval {
        let Scored { online, informed, .. } = self.scored;
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
        let mut bounds = std::mem::take(&mut self.bounds);
        bounds.lower.clear();
        bounds.upper.clear();
        let mut conflicts = 0;
        for k in 0..self.candidates.len() {
            let interval = self.aggregated(k);
            conflicts += usize::from(interval.conflict);
            bounds.lower.push(interval.lcb);
            bounds.upper.push(interval.ucb);
        }
        self.bounds = bounds;
        conflicts
    }
}

impl Policy {
    /// Scores the candidates at one layer; `gathered` tells that they are those of the layer before.
    pub(crate) fn score(&mut self, layer: usize, actions: Actions<'_>, gathered: bool) -> Result<()> {
        if self.params.branches == Branches::Arms {
            return self.score_arms(actions);
        }
        let (online_radius, informed_radius) = self.radii(layer);
        let informed_branch = match self.params.branches {
            Branches::Online => Branch::Online,
            // A posterior that has given the logs up rests on live data.
            Branches::Both | Branches::Pooled if self.logs_hold().is_some_and(|share| share < 0.5) => {
                Branch::Online
            }
            Branches::Both | Branches::Pooled | Branches::Arms => Branch::Pooled,
            Branches::Warm => Branch::Warm,
            Branches::Offline => Branch::Offline,
        };
        let round = self.counts.rounds + 1;
        let rounds = self.rounds_per_feature(round);
        let layer = &self.layers[layer];
        let Workspace { candidates, panels, online, informed, whitened, scored, audits, .. } =
            &mut self.workspace;
        let measured = |precision, radius, scores| Measured { precision, radius, scores };
        kernel::run(&mut kernel::Branches {
            actions: (!gathered).then_some((actions.rows(), candidates)),
            dimension: actions.dimension(),
            panels,
            keep: self.params.explore == Explore::Sampling || audits.is_due(round) || self.layers.len() > 1,
            measured: [
                layer.online.as_ref().map(|precision| measured(precision, online_radius, online)),
                layer.informed.as_ref().map(|precision| measured(precision, informed_radius, informed)),
            ],
            whitened,
        });
        let neglect = (self.params.width == Width::Posterior).then(|| Neglect {
            rounds,
            norm: if layer.informed.is_some() { informed_radius.norm } else { online_radius.norm },
            scale: self.params.exploration_scale,
        });
        *scored = Scored {
            online: layer.online.is_some(),
            informed: layer.informed.as_ref().map(|_| informed_branch),
            neglect,
        };
        Ok(())
    }

    /// The same for separate arms.
    fn score_arms(&mut self, actions: Actions<'_>) -> Result<()> {
        let Some(certificate) = &self.certificate else {
            return Err(Error::Missing { name: "certificate", purpose: "by separate arms" });
        };
        let scales = (self.params.exploration_scale, self.noise);
        let (round, live, logs) = (self.counts.rounds + 1, &self.layers[0].data, &self.params.offline);
        let Workspace { candidates, online, informed, scored, .. } = &mut self.workspace;
        online.clear();
        informed.clear();
        for &action in &*candidates {
            let arm = arms::arm(action, actions.features(action))?;
            let (alone, pooled) = arms::intervals(arm, round, scales, live, logs, certificate);
            online.push(alone);
            informed.push(pooled);
        }
        *scored = Scored { online: true, informed: Some(Branch::Pooled), neglect: None };
        Ok(())
    }

    /// Multipliers of the norms in the online and the informed radius of a layer.
    fn radii(&self, layer: usize) -> (Radius, Radius) {
        let Params { ridge, exploration_scale: scale, .. } = self.params;
        if self.params.width == Width::Posterior {
            let radius = Radius { norm: scale * self.noise(), ..Radius::default() };
            return (radius, radius);
        }
        let (noise, norm_bound) = (self.noise, self.norm_bound);
        let layer = &self.layers[layer];
        let growth = |branch: &Option<Precision>| branch.as_ref().map_or(0.0, Precision::log_det_growth);
        let slack = ridge.sqrt() * norm_bound;
        // β_on (below equation 2): det V grows from det λI.
        let online = ridge_radius(noise, growth(&layer.online), self.layer_delta) + slack;
        // γ (equation 6) measures the live noise in the pooled geometry.
        // Where the weight is adapted, the one of before play takes its place: it is never larger.
        let pooled = if layer.reference.is_some() { &layer.reference } else { &layer.informed };
        let gamma = ridge_radius(noise, growth(pooled), self.layer_delta);
        let rho = self.certificate.as_ref().map_or(0.0, Certificate::radius);
        let informed = match (self.params.branches, self.params.pooling) {
            (Branches::Online | Branches::Arms, _) => Radius::default(),
            // Equation 4: the paper relaxes the offline error to the pooled norm.
            (Branches::Both | Branches::Pooled, Pooling::Full) => {
                Radius { norm: gamma + self.offline_radius, bias: rho, offline: 0.0 }
            }
            // Discounted pooling: the offline error keeps its direction, β_off ‖W V⁻¹x‖ in G_off⁻¹, where
            // the paper's Lemma (Validity of the pooled branch) relaxes its T₂ to the pooled norm.
            (Branches::Both | Branches::Pooled, Pooling::Discounted) => {
                Radius { norm: gamma, bias: rho, offline: self.offline_radius }
            }
            (Branches::Warm, _) => {
                let log_det = growth(&layer.informed) + self.offline.log_det();
                Radius {
                    norm: ridge_radius(noise, log_det, self.layer_delta) + slack,
                    bias: 0.0,
                    offline: 0.0,
                }
            }
            // Proposition 1.
            (Branches::Offline, _) => Radius { norm: self.offline_radius, bias: rho, offline: 0.0 },
        };
        let scaled = |radius: Radius| Radius {
            norm: scale * radius.norm,
            bias: scale * radius.bias,
            offline: scale * radius.offline,
        };
        (scaled(Radius { norm: online, ..Radius::default() }), scaled(informed))
    }
}
