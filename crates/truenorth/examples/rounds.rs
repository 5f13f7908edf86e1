//! Time of a round: plays a policy by name for some rounds on normalised Gaussian contexts.
//!
//! ```text
//! cargo run --release -p truenorth --example rounds -- truenorth 20000 5 5
//! valgrind --tool=callgrind target/release/examples/rounds ellipsoidal-minucb 20000
//! cargo run --release -p truenorth --example rounds -- truenorth 3000 200 5 beside
//! cargo run --release -p truenorth --example rounds -- lin-ucb 3000 500 5 together
//! cargo run --release -p truenorth --example rounds -- truenorth 3000 500 5 apart
//! ```
//!
//! Name, rounds, features, actions; `beside` runs fits on another thread, takes what they find 64 rewards later, plays all of
//! it nine times, and tells the median and the slowest round's decision, by the least time of each round: machines interrupt any decision now and
//! then, but not the same one nine times; `together` learns 64 rewards at a time; `apart` plays all of it nine times as well, and tells rounds with
//! a fit, which take ten times as long as the median or longer, and the others apart. Contexts are drawn before the clock starts; at most a thousand rounds of them are used again and
//! again. Fits of an adaptive certificate count as part of the round in which they happen.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rand::SeedableRng as _;
use rand_distr::{Distribution as _, StandardNormal};
use truenorth::{Actions, Certificate, Policy, Preset, RidgeStatistic};

/// Rewards that are learned together, and rounds after which a fit that runs beside is taken.
const TOGETHER: usize = 64;
/// Plays of the same rounds, where each decision is timed.
const PLAYS: usize = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "truenorth".to_owned());
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (rounds, dimension, actions) = (number(20_000)?, number(5)?, number(5)?);

    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(42);
    let mut unit = || -> Vec<f64> {
        let x: Vec<f64> = (0..dimension).map(|_| StandardNormal.sample(&mut rng)).collect();
        let norm = x.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        x.into_iter().map(|entry| entry / norm).collect()
    };
    // The first two coefficients have changed places since the logs were written.
    let mut live = vec![1.0; dimension];
    live[0] = 2.0;
    let mut logged = live.clone();
    logged.swap(0, 1.min(dimension - 1));
    let reward = |x: &[f64], parameter: &[f64]| x.iter().zip(parameter).map(|(x, p)| x * p).sum::<f64>();
    let mut logs = RidgeStatistic::new(dimension)?;
    for _ in 0..20 * dimension {
        let x = unit();
        logs.observe(&x, reward(&x, &logged) + 0.1 * unit()[0])?;
    }
    let count = (1_000_000 / (actions * dimension)).clamp(1, 1000);
    let contexts: Vec<f64> = (0..count * actions).flat_map(|_| unit()).collect();
    let noise: Vec<f64> = (0..count).map(|_| 0.2 * unit()[0]).collect();

    let preset: Preset = name.parse()?;
    let mut settings = Policy::builder(dimension).preset(preset).noise(0.1).norm_bound(3.0);
    settings = settings.horizon(rounds.max(100_000) as u64).logs(logs);
    if preset.needs_certificate() {
        let budgets: Vec<f64> = (0..dimension).map(|i| if i < 2 { 1.0 } else { 0.01 }).collect();
        settings = settings.certificate(Certificate::from_budgets(&budgets)?);
    }
    let last = std::env::args().nth(5).unwrap_or_default();
    let (beside, together, apart) = (last == "beside", last == "together", last == "apart");
    let settings = settings.fits_beside(beside);
    let mut least = vec![Duration::MAX; rounds];
    let mut each = 0.0;
    for _ in 0..if beside || apart { PLAYS } else { 1 } {
        let mut policy = settings.clone().build()?;
        let mut running: Option<(usize, JoinHandle<_>)> = None;
        let mut late = Vec::with_capacity(TOGETHER);
        let stream = contexts.chunks_exact(actions * dimension).zip(&noise).cycle().take(rounds);
        let start = Instant::now();
        for (round, (features, noise)) in stream.enumerate() {
            let actions = Actions::new(features, dimension)?;
            let began = (beside || apart).then(Instant::now);
            let choice = policy.choose(actions)?;
            if let Some(began) = began.filter(|_| beside) {
                least[round] = least[round].min(began.elapsed());
                if let Some((_, fit)) = running.take_if(|(since, _)| *since + TOGETHER == round) {
                    policy.finish_fit(fit.join().map_err(|_| "a fit panicked")?)?;
                }
                if running.is_none()
                    && let Some(fit) = policy.begin_fit()
                {
                    running = Some((round, std::thread::spawn(move || fit.run())));
                }
            }
            let reward = reward(actions.row(choice.action).values(), &live) + noise;
            let observation = choice.rewarded(actions, reward);
            if together {
                late.push(observation);
                if late.len() == TOGETHER {
                    policy.learn_many(&late)?;
                    late.clear();
                }
            } else {
                policy.learn(observation)?;
            }
            if let Some(began) = began.filter(|_| apart) {
                least[round] = least[round].min(began.elapsed());
            }
        }
        policy.learn_many(&late)?;
        each = start.elapsed().as_secs_f64() * 1e9 / rounds.max(1) as f64;
    }
    println!("{name}, {dimension} features, {actions} actions: {each:.0} ns a round, over {rounds} rounds");
    if apart {
        let mut sorted = least.clone();
        sorted.sort_unstable();
        let middle = sorted[rounds / 2];
        let (fits, others): (Vec<_>, Vec<_>) = least.into_iter().partition(|each| *each >= 10 * middle);
        let mean = |rounds: &[Duration]| rounds.iter().sum::<Duration>().div_f64(rounds.len() as f64);
        println!(
            "the least of each round: {:.2?} in the mean, {:.2?} without fits; fits: {fits:.2?}",
            mean(&sorted),
            mean(&others)
        );
    } else if beside {
        // The first round touches memory that nothing has touched before.
        let most = |from: usize| least[from.min(rounds)..].iter().max().copied().unwrap_or_default();
        let (most, later) = (most(0), most(1));
        least.sort_unstable();
        let middle = least[rounds / 2];
        println!(
            "a decision with fits beside: {middle:.1?} in the middle, {most:.1?} at most, {later:.1?} from the second on"
        );
    }
    Ok(())
}
