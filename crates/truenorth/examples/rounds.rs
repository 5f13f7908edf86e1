//! Time of a round: plays a policy by name for some rounds on normalised Gaussian contexts.
//!
//! ```text
//! cargo run --release -p truenorth --example rounds -- ellipsoidal-minucb 20000
//! valgrind --tool=callgrind target/release/examples/rounds ellipsoidal-minucb 20000
//! ```
//!
//! Contexts and rewards are drawn before the clock starts.

use std::time::Instant;

use rand::SeedableRng as _;
use rand_distr::{Distribution as _, StandardNormal};
use truenorth::{Actions, Certificate, CertificateRule, Observation, Policy, Preset, RidgeStatistic};

const DIMENSION: usize = 5;
const ACTIONS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "ellipsoidal-minucb".to_owned());
    let rounds: usize = arguments.next().map_or(Ok(20_000), |text| text.parse())?;

    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(42);
    let mut unit = || {
        let x: [f64; DIMENSION] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
        let norm = x.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        x.map(|entry| entry / norm)
    };
    let (live, logged) = ([2.0, 1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 1.0, 1.0, 1.0]);
    let reward =
        |x: &[f64], parameter: &[f64; DIMENSION]| x.iter().zip(parameter).map(|(x, p)| x * p).sum::<f64>();
    let mut logs = RidgeStatistic::new(DIMENSION)?;
    for _ in 0..2000 {
        let x = unit();
        logs.observe(&x, reward(&x, &logged) + 0.1 * unit()[0])?;
    }
    let contexts: Vec<f64> = (0..rounds * ACTIONS).flat_map(|_| unit()).collect();
    let noise: Vec<f64> = (0..rounds).map(|_| 0.2 * unit()[0]).collect();

    let mut params = name.parse::<Preset>()?.params(DIMENSION)?;
    (params.noise, params.norm_bound, params.horizon, params.offline) =
        (Some(0.1), Some(3.0), Some(20_000), logs);
    if params.certificate == CertificateRule::None {
        let budgets = [1.0, 1.0, 0.01, 0.01, 0.01];
        params.certificate = CertificateRule::Fixed(Certificate::from_budgets(&budgets)?);
    }
    let mut policy = Policy::new(params)?;
    let start = Instant::now();
    for (features, noise) in contexts.chunks_exact(ACTIONS * DIMENSION).zip(&noise) {
        let actions = Actions::new(features, DIMENSION)?;
        let choice = policy.choose(actions)?;
        let features = actions.features(choice.action);
        let reward = reward(features, &live) + noise;
        policy.learn(Observation { decision: choice.decision, features, reward })?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let nanoseconds = seconds * 1e9 / rounds.max(1) as f64;
    println!("{name}: {rounds} rounds in {:.1} ms, {nanoseconds:.0} ns a round", seconds * 1e3);
    Ok(())
}
