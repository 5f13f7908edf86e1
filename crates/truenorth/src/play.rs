//! Which of the scored actions is played.

use crate::branch::ActionInterval;
use crate::explain::PlayRule;
use crate::explore;
use crate::params::{Branches, Explore, Params, Width};
use crate::policy::{Policy, Workspace};

impl Policy {
    /// The action that a rule plays among those that were scored, if any, and the probability of playing it.
    pub(crate) fn pick(&mut self, rule: PlayRule, layer: usize, round: u64) -> Option<(ActionInterval, f64)> {
        let audited = if rule == PlayRule::LargestIndex { self.audit(round) } else { None };
        let deviation = self.params.exploration_scale * self.noise();
        let layer = &self.layers[layer];
        let Workspace { intervals, blocks, draws, .. } = &mut self.workspace;
        let certain = |interval: Option<&ActionInterval>| interval.map(|&interval| (interval, 1.0));
        match rule {
            PlayRule::LargestMean => certain(first_largest(intervals.iter(), ActionInterval::mean)),
            PlayRule::LargestUcb => certain(first_largest(intervals.iter(), |interval| interval.ucb)),
            PlayRule::LargestIndex => certain(match audited {
                Some(action) => intervals.get(action),
                None => first_largest(intervals.iter(), |interval| interval.index),
            }),
            PlayRule::WiderThan(width) => {
                let wide = intervals.iter().filter(|interval| interval.width() > width);
                certain(first_largest(wide, |interval| interval.ucb))
            }
            PlayRule::Sampled => {
                let precision = layer.informed.as_ref().or(layer.online.as_ref())?;
                let mut rng = explore::generator(self.params.seed, round);
                let (action, chance) = draws.play(precision, deviation, blocks, intervals.len(), &mut rng);
                Some((intervals[action], chance))
            }
            PlayRule::Epsilon(epsilon) => {
                let favourite = first_largest(intervals.iter(), ActionInterval::mean)?.action;
                let mut rng = explore::generator(self.params.seed, round);
                let (action, chance) = explore::epsilon_greedy(epsilon, favourite, intervals.len(), &mut rng);
                Some((intervals[action], chance))
            }
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

/// The interval with the largest key; the first of several.
fn first_largest<'a>(
    intervals: impl IntoIterator<Item = &'a ActionInterval>,
    key: impl Fn(&ActionInterval) -> f64,
) -> Option<&'a ActionInterval> {
    intervals.into_iter().fold(None, |best, next| match best {
        Some(best) if key(best) >= key(next) => Some(best),
        _ => Some(next),
    })
}
