//! `choose` and `learn`, by preset, features and actions. `cargo bench -p truenorth`

use std::fmt;

use divan::Bencher;
use rand::SeedableRng as _;
use rand_distr::{Distribution as _, StandardNormal};
use truenorth::{Actions, Certificate, Decision, Observation, Policy, Preset, RidgeStatistic};

/// What is measured together.
#[derive(Debug, Clone, Copy)]
struct Case {
    preset: &'static str,
    dimension: usize,
    actions: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { preset, dimension, actions } = self;
        write!(f, "{preset:<18} d = {dimension:<3} K = {actions}")
    }
}

fn cases() -> impl Iterator<Item = Case> {
    let presets = ["suplinucb", "ellipsoidal-minucb", "oful", "lin-ucb", "truenorth"];
    presets.into_iter().flat_map(|preset| {
        [5, 20, 100, 500]
            .into_iter()
            .flat_map(move |dimension| [5, 50, 1000].map(|actions| Case { preset, dimension, actions }))
    })
}

fn main() {
    divan::main();
}

/// A policy that has played some rounds, and rounds to go on with.
struct Play {
    policy: Policy,
    dimension: usize,
    rounds: Vec<Vec<f64>>,
    last: Decision,
}

impl Play {
    fn new(Case { preset, dimension, actions }: Case) -> Result<Self, truenorth::Error> {
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(7);
        let mut unit = || {
            let x: Vec<f64> = (0..dimension).map(|_| StandardNormal.sample(&mut rng)).collect();
            let norm = x.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
            x.into_iter().map(move |entry| entry / norm)
        };
        let mut logs = RidgeStatistic::new(dimension)?;
        for _ in 0..4 * dimension {
            let x: Vec<f64> = unit().collect();
            logs.observe(&x, x[0] + 0.1 * x[dimension - 1])?;
        }
        let preset: Preset = preset.parse()?;
        let mut settings = Policy::builder(dimension).preset(preset).noise(0.1).norm_bound(1.0);
        settings = settings.horizon(100_000).logs(logs);
        if preset.needs_certificate() {
            settings = settings.certificate(Certificate::from_budgets(&vec![0.1; dimension])?);
        }
        let count = (1_000_000 / (dimension * actions)).clamp(1, 64);
        let rounds = (0..count).map(|_| (0..actions).flat_map(|_| unit()).collect()).collect();
        let mut play =
            Self { policy: settings.build()?, dimension, rounds, last: Decision { round: 1, layer: 0 } };
        for round in 0..20 {
            play.choose(round)?;
            play.learn(round)?;
        }
        Ok(play)
    }

    fn choose(&mut self, round: usize) -> Result<(), truenorth::Error> {
        let features = &self.rounds[round % self.rounds.len()];
        self.last = self.policy.choose(Actions::new(features, self.dimension)?)?.decision;
        Ok(())
    }

    fn learn(&mut self, round: usize) -> Result<(), truenorth::Error> {
        let features = &self.rounds[round % self.rounds.len()][..self.dimension];
        self.policy.learn(Observation { decision: self.last, features: features.into(), reward: features[0] })
    }
}

#[divan::bench(args = cases(), max_time = 0.2)]
fn choose(bencher: Bencher, case: Case) {
    measure(bencher, case, Play::choose);
}

#[divan::bench(args = cases(), max_time = 0.2)]
fn learn(bencher: Bencher, case: Case) {
    measure(bencher, case, Play::learn);
}

fn measure(bencher: Bencher, case: Case, each: fn(&mut Play, usize) -> Result<(), truenorth::Error>) {
    let mut play = Play::new(case).expect("parameters that fit each other");
    let mut round = 0;
    bencher.bench_local(|| {
        round += 1;
        each(&mut play, round).expect("finite features");
    });
}
