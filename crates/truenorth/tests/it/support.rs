//! A small world to test in: biased logs, live rounds, and policies of every kind.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::{
    Actions, Certificate, Choice, Drift, Explore, Intervals, Method, Policy, Pooling, Preset, Prior,
    RidgeStatistic, Schedule, Settings,
};

pub(crate) type Matrix = nalgebra::DMatrix<f64>;
pub(crate) type Vector = nalgebra::DVector<f64>;

pub(crate) struct World {
    pub(crate) rng: Xoshiro256PlusPlus,
    pub(crate) dimension: usize,
    pub(crate) live: Vec<f64>,
    pub(crate) logged: Vec<f64>,
    pub(crate) noise: f64,
    /// Actions and logged rows are unit vectors.
    pub(crate) arms: bool,
}

impl World {
    /// Live parameter of length 1; the logs are off by a tenth in the first coordinate.
    pub(crate) fn new(seed: u64, dimension: usize, noise: f64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let live = unit_vector(&mut rng, dimension);
        let mut logged = live.clone();
        logged[0] += 0.1;
        Self { rng, dimension, live, logged, noise, arms: false }
    }

    /// The same with separate arms.
    pub(crate) fn with_arms(seed: u64, dimension: usize, noise: f64) -> Self {
        Self { arms: true, ..Self::new(seed, dimension, noise) }
    }

    pub(crate) fn logs(&mut self, rows: usize) -> RidgeStatistic {
        let mut logs = RidgeStatistic::new(self.dimension).unwrap();
        for _ in 0..rows {
            let features = if self.arms { self.arm() } else { unit_vector(&mut self.rng, self.dimension) };
            let reward = dot(&features, &self.logged) + self.draw_noise();
            logs.observe(&features, reward).unwrap();
        }
        logs
    }

    fn arm(&mut self) -> Vec<f64> {
        let mut features = vec![0.0; self.dimension];
        features[below(&mut self.rng, self.dimension)] = 1.0;
        features
    }

    /// Features of lengths between 0.5 and 1: equal lengths would tie before the first reward.
    pub(crate) fn round(&mut self, actions: usize) -> Vec<f64> {
        if self.arms {
            return (0..actions).flat_map(|_| self.arm()).collect();
        }
        let mut features = Vec::with_capacity(actions * self.dimension);
        for _ in 0..actions {
            let length = self.rng.random_range(0.5..1.0);
            features.extend(unit_vector(&mut self.rng, self.dimension).iter().map(|entry| entry * length));
        }
        features
    }

    pub(crate) fn draw_noise(&mut self) -> f64 {
        let normal: f64 = StandardNormal.sample(&mut self.rng);
        self.noise * normal
    }

    /// Budgets that hold the drift of this world.
    pub(crate) fn certificate(&self) -> Certificate {
        let drift: Vec<f64> =
            self.live.iter().zip(&self.logged).map(|(live, logged)| live - logged).collect();
        let budgets: Vec<f64> = drift.iter().map(|drift| drift.abs().max(0.01)).collect();
        let certificate = Certificate::from_budgets(&budgets).unwrap();
        let radius = certificate.norm(&drift).unwrap();
        certificate.with_radius(radius).unwrap()
    }

    /// Every preset, and every mix of switches that the presets leave out. In a world of separate arms,
    /// the policies for those; they alone need them.
    pub(crate) fn policies(&mut self, horizon: u64) -> Vec<(String, Settings)> {
        let logs = self.logs(60);
        let fixed = self.certificate();
        let preset = |&preset: &Preset| {
            let settings = Policy::builder(self.dimension).preset(preset);
            let told = preset.needs_certificate() || SHOWN.contains(&preset);
            let settings = if told { settings.certificate(fixed.clone()) } else { settings };
            (preset.name().to_owned(), settings)
        };
        let separate = |preset: &&Preset| **preset == Preset::MinUcb;
        let mut policies: Vec<(String, Settings)> =
            Preset::ALL.iter().filter(|preset| separate(preset) == self.arms).map(preset).collect();
        if !self.arms {
            policies.extend(confidence_mixes(self.dimension, &fixed));
            policies.extend(posterior_mixes(self.dimension, &fixed));
        }
        let norm_bound = dot(&self.logged, &self.logged).sqrt().max(1.0);
        let told = |(name, settings): (String, Settings)| {
            let settings = settings.logs(logs.clone()).horizon(horizon);
            (name, settings.noise(self.noise.max(0.05)).norm_bound(norm_bound))
        };
        let mut policies: Vec<_> = policies.into_iter().map(told).collect();
        // Those that find noise and norm bound out for themselves, with logs and without.
        let untold = policies.clone().into_iter().filter(|(name, _)| {
            name.parse::<Preset>().is_ok_and(|preset| !matches!(preset.method(), Method::Layered(_)))
                && !["greedy", "offline-only"].contains(&name.as_str())
        });
        let untold = untold
            .map(|(name, settings)| (format!("{name}, {UNTOLD}"), settings.noise(None).norm_bound(None)));
        let untold: Vec<_> = untold.collect();
        let unlogged = untold.clone().into_iter().map(|(name, settings)| {
            let settings = settings.logs(RidgeStatistic::new(self.dimension).unwrap());
            (format!("{name}, {UNLOGGED}"), settings)
        });
        policies.extend(unlogged);
        policies.extend(untold);
        policies
    }
}

/// What the name of a policy says that finds out noise and norm bound for itself, or has no logs.
pub(crate) const UNTOLD: &str = "told nothing";
pub(crate) const UNLOGGED: &str = "without logs";

/// Presets that need no certificate, but may have one: they ignore or show it.
const SHOWN: [Preset; 8] = [
    Preset::OfflineOnly,
    Preset::SupLinUcb,
    Preset::WarmSupLinUcb,
    Preset::Oful,
    Preset::LinUcb,
    Preset::LinTs,
    Preset::Greedy,
    Preset::EpsilonGreedy,
];

/// Layers, pooling, certificate and schedule of policies with both branches.
fn confidence_mixes(dimension: usize, fixed: &Certificate) -> Vec<(String, Settings)> {
    let base = || Policy::builder(dimension).preset(Preset::EllipsoidalMinUcb).certificate(fixed.clone());
    let mut policies = Vec::new();
    for schedule in [Schedule::PerRound, Schedule::Anytime] {
        for layering in ["Flat", "Layered"] {
            for pooling in [Pooling::Full, Pooling::Discounted] {
                for (kind, drift) in [("fixed", Drift::Told), ("learned", Drift::Learned(None))] {
                    let pooled = Intervals::Pooled { pooling, drift, fallback: true };
                    let flat = layering == "Flat";
                    let method = if flat { Method::Flat(pooled) } else { Method::Layered(pooled) };
                    let settings = base().method(method).schedule(schedule);
                    policies.push((format!("{layering} {pooling:?} {kind} {schedule:?}"), settings));
                }
            }
        }
        let settings = Policy::builder(dimension).preset(Preset::TrueNorthConfidence).schedule(schedule);
        policies.push((format!("Flat Discounted untold {schedule:?}"), settings));
    }
    let alone = Intervals::Pooled { pooling: Pooling::Discounted, drift: Drift::Told, fallback: false };
    policies.push(("Pooled alone".to_owned(), base().method(Method::Flat(alone))));
    policies
}

/// Ways for the logs to enter a posterior, and to explore by it.
fn posterior_mixes(dimension: usize, fixed: &Certificate) -> Vec<(String, Settings)> {
    let mut policies = Vec::new();
    for (kind, prior) in
        [("adaptive", Prior::Adaptive), ("fixed discounted", Prior::Told), ("warm", Prior::Warm)]
    {
        for explore in [Explore::Ucb, Explore::Sampling, Explore::Epsilon(0.3)] {
            let settings = Policy::builder(dimension).certificate(fixed.clone());
            let settings = settings.method(Method::Posterior { prior, explore });
            policies.push((format!("Posterior {kind} {explore:?}"), settings));
        }
    }
    policies
}

/// Plays one round and learns its reward.
pub(crate) fn play(policy: &mut Policy, features: &[f64], rewards: &[f64]) -> Choice {
    let actions = Actions::new(features, policy.dimension()).unwrap();
    let choice = policy.choose(actions).unwrap();
    policy.learn(choice.rewarded(actions, rewards[choice.action])).unwrap();
    choice
}

/// Rounds of `actions` actions with a reward for each.
pub(crate) fn rounds(world: &mut World, rounds: usize, actions: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    (0..rounds)
        .map(|_| {
            let features = world.round(actions);
            let rewards = features.chunks(world.dimension).map(|x| dot(x, &world.live)).collect::<Vec<_>>();
            let rewards = rewards.into_iter().map(|mean| mean + world.draw_noise()).collect();
            (features, rewards)
        })
        .collect()
}

pub(crate) fn unit_vector(rng: &mut Xoshiro256PlusPlus, dimension: usize) -> Vec<f64> {
    let vector: Vec<f64> = (0..dimension).map(|_| StandardNormal.sample(&mut *rng)).collect();
    let norm = dot(&vector, &vector).sqrt();
    vector.into_iter().map(|entry| entry / norm).collect()
}

/// A square matrix that is given row by row.
pub(crate) fn square(rows: &[f64]) -> Matrix {
    Matrix::from_row_slice(rows.len().isqrt(), rows.len().isqrt(), rows)
}

/// How a posterior chooses; confidence intervals do by their upper ends.
pub(crate) fn explore(policy: &Policy) -> Explore {
    if let Method::Posterior { explore, .. } = *policy.method() { explore } else { Explore::Ucb }
}

/// Whether the logs are doubted.
pub(crate) fn is_believed(policy: &Policy) -> bool {
    matches!(policy.method(), Method::Posterior { prior: Prior::Adaptive, .. })
}

/// Whether widths are deviations of a posterior.
pub(crate) fn is_posterior(policy: &Policy) -> bool {
    matches!(policy.method(), Method::Posterior { .. })
}

pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// A whole number in a range, for shuffles and sizes.
pub(crate) fn below(rng: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    rng.random_range(0..bound)
}
