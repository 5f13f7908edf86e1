//! Which of the scored actions is played.

use crate::explain::PlayRule;
use crate::explore;
use crate::kernel::{self, Contenders, IndexBounds};
use crate::neglect::Neglect;
use crate::params::{Branches, Explore, Params, Width};
use crate::policy::{Bounds, Policy, Workspace};

impl Policy {
    /// Position and propensity of the candidate that a rule plays among those that were scored, if any.
    /// [`Workspace::bound`] has been called, unless the rule is [`PlayRule::LargestIndex`].
    pub(crate) fn pick(&mut self, rule: PlayRule, layer: usize, round: u64) -> Option<(usize, f64)> {
        let certain = |position: Option<usize>| position.map(|position| (position, 1.0));
        let count = self.workspace.candidates.len();
        let mean = |workspace: &Workspace| first_largest(0..count, |k| workspace.interval(k).mean());
        match rule {
            PlayRule::LargestMean => certain(mean(&self.workspace)),
            PlayRule::LargestUcb => {
                let bounds = &self.workspace.bounds;
                certain(first_largest(0..count, |k| bounds.upper[k]))
            }
            PlayRule::LargestIndex => {
                let audited = self.audit(round);
                certain(audited.or_else(|| self.workspace.largest_index()))
            }
            PlayRule::WiderThan(width) => {
                let bounds = &self.workspace.bounds;
                let wide = (0..count).filter(|&k| bounds.upper[k] - bounds.lower[k] > width);
                certain(first_largest(wide, |k| bounds.upper[k]))
            }
            PlayRule::Sampled => {
                let layer = &self.layers[layer];
                let precision = layer.informed.as_ref().or(layer.online.as_ref())?;
                let deviation = self.params.exploration_scale
                    * self.trust.as_ref().map_or(self.noise, crate::trust::Trust::noise);
                let mut rng = explore::generator(self.params.seed, round);
                let Workspace { draws, panels, .. } = &mut self.workspace;
                Some(draws.play(precision, deviation, panels, &mut rng))
            }
            PlayRule::Epsilon(epsilon) => {
                let favourite = mean(&self.workspace)?;
                let mut rng = explore::generator(self.params.seed, round);
                Some(explore::epsilon_greedy(epsilon, favourite, count, &mut rng))
            }
        }
    }
}

impl Workspace {
    /// Position of the first candidate with the largest index; logarithms are taken only where bounds do not decide.
    fn largest_index(&mut self) -> Option<usize> {
        let count = self.candidates.len();
        let Some(Neglect { rounds, norm, scale }) = self.scored.neglect else {
            return first_largest(0..count, |k| self.interval(k).index);
        };
        let scores = if self.scored.informed.is_some() { &self.informed } else { &self.online };
        let Bounds { lower, upper } = &mut self.bounds;
        let found = kernel::run(&mut IndexBounds { scores, count, rounds, norm, scale, lower, upper });
        let (index, upper) = (|k| self.interval(k).index, &self.bounds.upper);
        match found {
            Contenders::One(position) => Some(position),
            Contenders::AtLeast(least) => first_largest((0..count).filter(|&k| upper[k] >= least), index),
            Contenders::Any => first_largest(0..count, index),
        }
    }
}

/// When a layer plays, and what.
pub(crate) fn play_rule(params: &Params, layer: u32, last: bool) -> PlayRule {
    match (params.branches, params.width, params.explore) {
        (Branches::Offline, ..) => PlayRule::LargestMean,
        (_, Width::Posterior, Explore::Ucb) => PlayRule::LargestIndex,
        (_, Width::Posterior, Explore::Sampling) => PlayRule::Sampled,
        (_, Width::Posterior, Explore::Epsilon(epsilon)) => PlayRule::Epsilon(epsilon),
        _ if last => PlayRule::LargestUcb,
        _ => PlayRule::WiderThan(0.5f64.powi(layer.cast_signed())),
    }
}

/// The position with the largest key; the first of several.
fn first_largest(positions: impl IntoIterator<Item = usize>, key: impl Fn(usize) -> f64) -> Option<usize> {
    let largest = positions.into_iter().map(|k| (k, key(k))).reduce(|best, next| {
        // A key that is no number gives way to the next one.
        if best.1 >= next.1 { best } else { next }
    });
    largest.map(|(position, _)| position)
}
