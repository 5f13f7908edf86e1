//! The engine against a plain implementation: nested vectors, an inverse from scratch for every form, no vectors, no
//! triangles, no bounds that spare work. Whatever the engine skips or reorders, its decisions are these.

use truenorth::{Actions, Choice, Drift, Explanation, Intervals, Method, Policy, Pooling, Preset, Settings};

use crate::support::{World, rounds};

type Rows = Vec<Vec<f64>>;

/// Inverse and log-determinant by Gauss and Jordan.
fn invert(matrix: &Rows) -> (Rows, f64) {
    let side = matrix.len();
    let mut left = matrix.clone();
    let mut right: Rows =
        (0..side).map(|i| (0..side).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let mut log_det = 0.0;
    for i in 0..side {
        let pivot = (i..side).max_by(|&a, &b| left[a][i].abs().total_cmp(&left[b][i].abs())).unwrap();
        left.swap(i, pivot);
        right.swap(i, pivot);
        log_det += left[i][i].abs().ln();
        let scale = left[i][i];
        for j in 0..side {
            left[i][j] /= scale;
            right[i][j] /= scale;
        }
        for k in (0..side).filter(|&k| k != i) {
            let factor = left[k][i];
            for j in 0..side {
                left[k][j] -= factor * left[i][j];
                right[k][j] -= factor * right[i][j];
            }
        }
    }
    (right, log_det)
}

fn times(matrix: &Rows, x: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, x)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sum(a: &Rows, b: &Rows, factor: f64) -> Rows {
    let row = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a + factor * b).collect();
    a.iter().zip(b).map(row).collect()
}

fn rows(matrix: &[f64]) -> Rows {
    matrix.chunks(matrix.len().isqrt()).map(<[f64]>::to_vec).collect()
}

#[derive(Debug, Clone, Copy)]
struct Interval {
    mean: f64,
    radius: f64,
}

/// What a branch needs to know that does not change.
struct Reference {
    /// None where widths are deviations of a posterior of live data.
    intervals: Option<Intervals>,
    exploration_scale: f64,
    layer_delta: f64,
    offline_radius: f64,
    noise: f64,
    norm_bound: f64,
    /// λ.
    ridge: f64,
    /// W and θ_off; M⁻¹ and ρ.
    weight: Rows,
    prior: Vec<f64>,
    drift: Rows,
    rho: f64,
    logs: Rows,
    /// A and b of every layer.
    layers: Vec<(Rows, Vec<f64>)>,
    round: u64,
}

struct Decision {
    action: usize,
    layer: u32,
    /// (action, lower, upper) of every layer that was looked at.
    bounds: Vec<Vec<(usize, f64, f64)>>,
    conflicts: usize,
}

impl Reference {
    fn new(policy: &Policy) -> Self {
        let dimension = policy.dimension();
        let zeros = vec![vec![0.0; dimension]; dimension];
        let intervals = match policy.method() {
            Method::Layered(intervals) | Method::Flat(intervals) => Some(intervals.clone()),
            _ => None,
        };
        let (noise, norm_bound) = (policy.noise(), policy.norm_bound());
        let ridge = if intervals.is_none() { (noise / norm_bound).powi(2) } else { policy.ridge() };
        let logs = rows(policy.offline().precision());
        let (drift, rho) = match policy.certificate() {
            Some(certificate) => (invert(&rows(certificate.matrix())).0, certificate.rho()),
            None => (zeros.clone(), 0.0),
        };
        let discounted = matches!(intervals, Some(Intervals::Pooled { pooling: Pooling::Discounted, .. }));
        let weight = if discounted && rho > 0.0 {
            // W = σ² (β² G⁻¹ + ρ² M⁻¹)⁻¹
            let mut spread = invert(&logs).0;
            spread.iter_mut().flatten().for_each(|entry| *entry *= policy.offline_radius().powi(2));
            let mut weight = invert(&sum(&spread, &drift, rho * rho)).0;
            weight.iter_mut().flatten().for_each(|entry| *entry *= noise * noise);
            weight
        } else {
            logs.clone()
        };
        Self {
            layer_delta: policy.layer_delta(),
            offline_radius: policy.offline_radius(),
            noise,
            norm_bound,
            ridge,
            weight,
            prior: policy.offline().estimate().to_vec(),
            drift,
            rho,
            logs,
            layers: vec![(zeros, vec![0.0; dimension]); policy.last_layer() as usize + 1],
            round: 0,
            intervals,
            exploration_scale: policy.exploration_scale(),
        }
    }

    fn radius(&self, growth: f64) -> f64 {
        self.noise * (growth + 2.0 * (1.0 / self.layer_delta).ln()).sqrt()
    }

    fn online(&self, layer: usize) -> impl Fn(&[f64]) -> Interval + '_ {
        let (gram, moment) = &self.layers[layer];
        let mut precision = gram.clone();
        (0..precision.len()).for_each(|i| precision[i][i] += self.ridge);
        let (inverse, log_det) = invert(&precision);
        let estimate = times(&inverse, moment);
        let growth = log_det - precision.len() as f64 * self.ridge.ln();
        let beta = match self.intervals {
            Some(_) => self.radius(growth) + self.ridge.sqrt() * self.norm_bound,
            None => self.noise,
        };
        let scale = self.exploration_scale * beta;
        move |x| Interval { mean: dot(x, &estimate), radius: scale * dot(x, &times(&inverse, x)).sqrt() }
    }

    fn informed(&self, layer: usize) -> impl Fn(&[f64]) -> Interval + '_ {
        let (gram, moment) = &self.layers[layer];
        let (inverse, log_det) = invert(&sum(&self.weight, gram, 1.0));
        let (logs_inverse, logs_log_det) = invert(&self.logs);
        let weighted: Vec<f64> =
            times(&self.weight, &self.prior).iter().zip(moment).map(|(a, b)| a + b).collect();
        let estimate = times(&inverse, &weighted);
        let gamma = self.radius(log_det - invert(&self.weight).1);
        let warm = self.radius(log_det - logs_log_det + self.warm_growth(logs_log_det))
            + self.ridge.sqrt() * self.norm_bound;
        move |x| {
            let solved = times(&inverse, x);
            let (norm, routed) = (dot(x, &solved).sqrt(), times(&self.weight, &solved));
            let bias = self.rho * dot(&routed, &times(&self.drift, &routed)).sqrt();
            let radius = match self.intervals {
                Some(Intervals::Warm) => warm * norm,
                Some(Intervals::Pooled { pooling: Pooling::Discounted, .. }) => {
                    let own = dot(&routed, &times(&logs_inverse, &routed)).sqrt();
                    gamma * norm + self.offline_radius * own + bias
                }
                _ => (gamma + self.offline_radius) * norm + bias,
            };
            Interval { mean: dot(x, &estimate), radius: self.exploration_scale * radius }
        }
    }

    /// log det G_off - log det λI.
    fn warm_growth(&self, logs_log_det: f64) -> f64 {
        logs_log_det - self.logs.len() as f64 * self.ridge.ln()
    }

    fn decide(&mut self, features: &[f64]) -> Decision {
        self.round += 1;
        let actions: Vec<&[f64]> = features.chunks(self.prior.len()).collect();
        let mut candidates: Vec<usize> = (0..actions.len()).collect();
        let (mut bounds, mut conflicts) = (Vec::new(), 0);
        for layer in 0..self.layers.len() {
            let (online, informed) = (self.online(layer), self.informed(layer));
            let mut intervals = Vec::new();
            for &action in &candidates {
                let ends =
                    |interval: Interval| (interval.mean - interval.radius, interval.mean + interval.radius);
                let ((a, b), (c, d)) = (ends(online(actions[action])), ends(informed(actions[action])));
                intervals.push(match self.intervals {
                    None | Some(Intervals::Online) => (action, a, b),
                    Some(Intervals::Pooled { fallback: true, .. }) if b.min(d) < a.max(c) => {
                        conflicts += 1;
                        (action, a, b)
                    }
                    Some(Intervals::Pooled { fallback: true, .. }) => (action, a.max(c), b.min(d)),
                    _ => (action, c, d),
                });
            }
            let last = layer + 1 == self.layers.len();
            let width = 0.5f64.powi(i32::try_from(layer).unwrap());
            let index = |&(_, lower, upper): &(usize, f64, f64)| self.index(lower, upper);
            let best = intervals.iter().filter(|(_, lower, upper)| last || upper - lower > width).fold(
                None::<&(usize, f64, f64)>,
                |best, next| match best {
                    Some(best) if index(best) >= index(next) => Some(best),
                    _ => Some(next),
                },
            );
            let played = best.map(|best| best.0);
            let highest = intervals.iter().map(|interval| interval.1).fold(f64::NEG_INFINITY, f64::max);
            candidates = intervals
                .iter()
                .filter(|interval| interval.2 >= highest)
                .map(|interval| interval.0)
                .collect();
            bounds.push(intervals);
            if let Some(action) = played {
                return Decision { action, layer: u32::try_from(layer).unwrap(), bounds, conflicts };
            }
        }
        unreachable!("the last layer plays")
    }

    /// What is ranked by: the UCB, or what [`truenorth`] makes of it where widths are deviations.
    fn index(&self, lower: f64, upper: f64) -> f64 {
        if self.intervals.is_some() {
            return upper;
        }
        let (mean, radius) = (f64::midpoint(lower, upper), 0.5 * (upper - lower));
        let scale = self.exploration_scale;
        let square = (radius / (scale * self.noise)).powi(2);
        let neglect = self.round as f64 / self.prior.len() as f64 * square / (1.0 + square);
        mean + radius * (1.0 + 2.0 * neglect.max(1.0).ln() / scale).sqrt()
    }

    fn learn(&mut self, layer: u32, x: &[f64], reward: f64) {
        let (gram, moment) = &mut self.layers[layer as usize];
        for i in 0..x.len() {
            moment[i] += x[i] * reward;
            for j in 0..x.len() {
                gram[i][j] += x[i] * x[j];
            }
        }
    }
}

fn compare(name: &str, found: &Choice, story: &Explanation, expected: &Decision) {
    let round = found.decision.round;
    assert_eq!(
        (found.action, found.decision.layer),
        (expected.action, expected.layer),
        "{name}, round {round}"
    );
    assert_eq!(found.conflicts, expected.conflicts, "{name}, round {round}");
    assert_eq!(story.layers.len(), expected.bounds.len(), "{name}, round {round}");
    for (layer, expected) in story.layers.iter().zip(&expected.bounds) {
        assert_eq!(layer.actions.len(), expected.len(), "{name}, round {round}");
        for (interval, &(action, lower, upper)) in layer.actions.iter().zip(expected) {
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * b.abs().max(1.0);
            assert_eq!(interval.action, action);
            assert!(
                close(interval.lcb, lower) && close(interval.ucb, upper),
                "{name}, round {round}: {interval:?} {lower} {upper}"
            );
        }
    }
}

#[test]
fn decisions_are_those_of_the_plain_implementation() {
    // Dimensions and numbers of actions on both sides of where blocks and panels end.
    let shapes =
        [(1, 1), (2, 9), (5, 5), (7, 8), (8, 17), (9, 24), (16, 25), (17, 3), (24, 50), (33, 7), (40, 26)];
    for (dimension, actions) in shapes {
        let mut world = World::new(dimension as u64, dimension, 0.1);
        let (logs, certificate) = (world.logs(3 * dimension), world.certificate());
        let pooled = |pooling, fallback| Intervals::Pooled { pooling, drift: Drift::Told, fallback };
        for method in [
            Method::Layered(Intervals::Online),
            Method::Layered(pooled(Pooling::Full, true)),
            Method::Layered(pooled(Pooling::Discounted, true)),
            Method::Layered(Intervals::Warm),
            Method::Flat(Intervals::Online),
            Method::Flat(pooled(Pooling::Full, true)),
            Method::Flat(pooled(Pooling::Discounted, true)),
            Method::Flat(pooled(Pooling::Full, false)),
            Method::Flat(pooled(Pooling::Discounted, false)),
        ] {
            let name = format!("{method:?} {dimension}x{actions}");
            let settings = Policy::builder(dimension).method(method).logs(logs.clone());
            let settings = settings.noise(0.1).norm_bound(1.2).horizon(64).exploration_scale(0.3);
            play(&name, settings.certificate(certificate.clone()), &mut world, actions);
        }
        for scale in [0.02, 0.2, 1.0, 5.0] {
            let settings = Policy::builder(dimension).preset(Preset::LinUcb).noise(0.1).norm_bound(1.2);
            let settings = settings.exploration_scale(scale);
            play(&format!("lin-ucb {scale} {dimension}x{actions}"), settings, &mut world, actions);
        }
    }
}

fn play(name: &str, settings: Settings, world: &mut World, actions: usize) {
    let mut policy = settings.build().unwrap();
    let mut reference = Reference::new(&policy);
    let count = if world.dimension > 20 { 12 } else { 40 };
    for (features, rewards) in rounds(world, count, actions) {
        let given = Actions::new(&features, world.dimension).unwrap();
        // The same decision, with the work of an explanation and without.
        let mut silent = policy.clone();
        let (choice, story) = policy.choose_explained(given).unwrap();
        assert_eq!(silent.choose(given).unwrap(), choice, "{name}");
        let expected = reference.decide(&features);
        compare(name, &choice, &story, &expected);
        let reward = rewards[choice.action];
        policy.learn(choice.rewarded(given, reward)).unwrap();
        reference.learn(choice.decision.layer, given.row(choice.action).values(), reward);
    }
}

#[test]
fn the_largest_index_is_found_without_most_logarithms() {
    // Few fixed actions are neglected for long, so that bounds and logarithms both matter.
    for (seed, scale) in [(1, 0.05), (2, 0.2), (3, 1.0), (4, 3.0)] {
        let mut world = World::new(seed, 6, 0.5);
        for count in [2, 7, 8, 9, 40] {
            let features = world.round(count);
            let settings = Policy::builder(6).preset(Preset::LinUcb).noise(0.5).norm_bound(1.0);
            let mut policy = settings.exploration_scale(scale).build().unwrap();
            for round in 0..400 {
                // Now and then new actions, among them twins.
                let mut features = if round % 5 == 0 { world.round(count) } else { features.clone() };
                if round % 10 == 0 {
                    features.copy_within(..6, 6 * (count - 1));
                }
                let actions = Actions::new(&features, 6).unwrap();
                let intervals = policy.intervals(0, actions).unwrap();
                let largest =
                    intervals.iter().map(|interval| interval.index).fold(f64::NEG_INFINITY, f64::max);
                let first = intervals.iter().position(|interval| interval.index >= largest).unwrap();
                let choice = policy.choose(actions).unwrap();
                assert_eq!(choice.action, first, "seed {seed}, {count} actions, round {round}");
                let reward = dot(actions.row(choice.action).values(), &world.live) + world.draw_noise();
                policy.learn(choice.rewarded(actions, reward)).unwrap();
            }
        }
    }
}
