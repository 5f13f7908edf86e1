//! Intervals of a round's actions, by every kind of policy.

use crate::arms;
use crate::branch::{self, ActionInterval, Branch, BranchInterval, Radius};
use crate::certificate::Certificate;
use crate::error::{Error, Result};
use crate::kernel::{self, LANES};
use crate::offline::ridge_radius;
use crate::params::{Branches, Params, Pooling, Width};
use crate::policy::{Policy, Workspace};
use crate::precision::Precision;
use crate::round::Actions;

impl Policy {
    /// Computes the intervals of the candidates at one layer into the workspace.
    pub(crate) fn score(&mut self, layer: usize, actions: Actions<'_>) -> Result<()> {
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
        let neglect = (self.params.width == Width::Posterior).then(|| self.neglect(self.counts.rounds + 1));
        let layer = &self.layers[layer];
        let Workspace { candidates, blocks, intervals, branch: scratch, .. } = &mut self.workspace;
        kernel::gather(actions.rows(), actions.dimension(), candidates, blocks);
        intervals.clear();
        for (group, block) in candidates.chunks(LANES).zip(blocks.chunks_exact(actions.dimension())) {
            let mut branch = |precision: &Option<Precision>, radius: Radius| {
                precision.as_ref().map(|precision| branch::intervals(precision, radius, block, scratch))
            };
            let (online, informed) =
                (branch(&layer.online, online_radius), branch(&layer.informed, informed_radius));
            let pick = |all: &Option<[BranchInterval; LANES]>, lane: usize| all.as_ref().map(|all| all[lane]);
            intervals.extend(group.iter().enumerate().map(|(lane, &action)| {
                let (online, informed) = (pick(&online, lane), pick(&informed, lane));
                let mut interval = ActionInterval::aggregate(action, online, informed, informed_branch);
                if let Some(neglect) = &neglect {
                    let norm = if informed.is_some() { informed_radius.norm } else { online_radius.norm };
                    interval.index = neglect.index(&interval, norm, self.params.exploration_scale);
                }
                interval
            }));
        }
        Ok(())
    }

    /// The same for separate arms.
    fn score_arms(&mut self, actions: Actions<'_>) -> Result<()> {
        let Some(certificate) = &self.certificate else {
            return Err(Error::Missing { name: "certificate", purpose: "by separate arms" });
        };
        let scales = (self.params.exploration_scale, self.noise);
        let (round, live, logs) = (self.counts.rounds + 1, &self.layers[0].data, &self.params.offline);
        let Workspace { candidates, intervals, .. } = &mut self.workspace;
        intervals.clear();
        for &action in &*candidates {
            let arm = arms::arm(action, actions.features(action))?;
            let (online, pooled) = arms::intervals(arm, round, scales, live, logs, certificate);
            intervals.push(ActionInterval::aggregate(action, Some(online), Some(pooled), Branch::Pooled));
        }
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
