//! Intervals of the newer policies against dense recomputations from the raw history.

use truenorth::{Actions, BranchInterval, Certificate, Explore, Policy, Preset, RidgeStatistic};

use crate::support::{Matrix, Vector, World, below, explore, rounds, square};

/// A history of features and rewards, as it was played.
type History = Vec<(Vec<f64>, f64)>;

fn close(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs().max(1.0)
}

/// Plays rounds and hands each one's policy, history and next actions to a check before it is played.
fn checked_play(
    world: &mut World,
    policy: &mut Policy,
    count: usize,
    mut check: impl FnMut(&mut Policy, &History, &[f64]),
) {
    let mut history = Vec::new();
    for (features, rewards) in rounds(world, count, 4) {
        check(policy, &history, &features);
        let actions = Actions::new(&features, world.dimension).unwrap();
        let choice = policy.choose(actions).unwrap();
        policy.learn(choice.rewarded(actions, rewards[choice.action])).unwrap();
        history.push((actions.row(choice.action).values().to_vec(), rewards[choice.action]));
    }
}

fn gram_and_moment(dimension: usize, history: &History) -> (Matrix, Vector) {
    let (mut gram, mut moment) = (Matrix::zeros(dimension, dimension), Vector::zeros(dimension));
    for (features, reward) in history {
        let x = Vector::from_column_slice(features);
        gram += &x * x.transpose();
        moment += x * *reward;
    }
    (gram, moment)
}

fn inverse(matrix: &Matrix) -> Matrix {
    matrix.clone().try_inverse().unwrap()
}

fn norm(matrix: &Matrix, x: &Vector) -> f64 {
    x.dot(&(matrix * x)).sqrt()
}

fn ucb(branch: Option<BranchInterval>) -> f64 {
    branch.map_or(f64::NAN, |branch| branch.mean + branch.statistical + branch.bias)
}

#[test]
fn min_ucb_is_that_of_its_paper() {
    let mut world = World::with_arms(31, 3, 0.3);
    // Arms that are logged 5, 2 and 0 times.
    let mut logs = RidgeStatistic::new(3).unwrap();
    let mut logged: Vec<(usize, f64)> = Vec::new();
    for arm in [0, 1, 0, 0, 1, 0, 0] {
        let reward = world.logged[arm] + world.draw_noise();
        let mut features = [0.0; 3];
        features[arm] = 1.0;
        logs.observe(&features, reward).unwrap();
        logged.push((arm, reward));
    }
    let budgets = [0.4, 0.1, 0.2];
    let certificate = Certificate::from_budgets(&budgets).unwrap().with_radius(1.0).unwrap();
    let settings = Policy::builder(3).preset(Preset::MinUcb).noise(0.3).logs(logs);
    let settings = settings.certificate(certificate);
    let mut policy = settings.build().unwrap();
    checked_play(&mut world, &mut policy, 60, |policy, history, features| {
        let live: Vec<(usize, f64)> =
            history.iter().map(|(x, reward)| (x.iter().position(|&x| x > 0.0).unwrap(), *reward)).collect();
        let t = history.len() as f64 + 1.0;
        // Cheung and Lyu (2024) for K = 3 arms: δ_t = 1 / (2Kt²), radius σ √(2 log(2t/δ_t) / n).
        let delta = 1.0 / (2.0 * 3.0 * t * t);
        let radius = |count: f64| 0.3 * (2.0 * (2.0 * t / delta).ln() / count).sqrt();
        let actions = Actions::new(features, 3).unwrap();
        let best = policy.clone().choose(actions).unwrap();
        let mut largest = f64::NEG_INFINITY;
        for (interval, x) in policy.intervals(0, actions).unwrap().iter().zip(features.chunks(3)) {
            let arm = x.iter().position(|&x| x > 0.0).unwrap();
            let of_arm = |rows: &[(usize, f64)]| -> (f64, f64) {
                let rewards: Vec<f64> = rows.iter().filter(|row| row.0 == arm).map(|row| row.1).collect();
                (rewards.len() as f64, rewards.iter().sum())
            };
            let ((n, live_sum), (m, logged_sum)) = (of_arm(&live), of_arm(&logged));
            let plus = n.max(1e-100);
            let online = live_sum / plus + radius(plus);
            let pooled =
                (live_sum + logged_sum) / (plus + m) + radius(plus + m) + m / (plus + m) * budgets[arm];
            assert!(close(ucb(interval.online), online, 1e-12), "{interval:?} {online}");
            assert!(close(ucb(interval.informed), pooled, 1e-12), "{interval:?} {pooled}");
            // Disjoint branches fall back to the online one, as everywhere.
            if !interval.conflict {
                assert!(close(interval.ucb, online.min(pooled), 1e-12));
            }
            largest = largest.max(interval.ucb);
        }
        assert!(close(best.ucb, largest, 1e-12));
    });
}

#[test]
fn lin_ucb_is_a_bayesian_ridge_regression() {
    for (seed, dimension, noise, bound) in [(1, 1, 0.1, 1.0), (2, 4, 0.3, 2.0), (3, 9, 2.0, 0.5)] {
        let mut world = World::new(seed, dimension, noise);
        let mut settings = Policy::builder(dimension).preset(Preset::LinUcb);
        settings = settings.noise(noise).norm_bound(bound);
        // It does not look at logs.
        settings = settings.logs(world.logs(30));
        let mut policy = settings.build().unwrap();
        checked_play(&mut world, &mut policy, 50, |policy, history, features| {
            let (gram, moment) = gram_and_moment(dimension, history);
            // θ ~ N(0, S² I), so that the posterior is N(V⁻¹b, σ² V⁻¹) with V = A + σ²/S² I.
            let ridge = (noise / bound).powi(2);
            let covariance = inverse(&(gram + Matrix::identity(dimension, dimension) * ridge));
            let estimate = &covariance * moment;
            let actions = Actions::new(features, dimension).unwrap();
            for (interval, x) in policy.intervals(0, actions).unwrap().iter().zip(features.chunks(dimension))
            {
                let x = Vector::from_column_slice(x);
                let (mean, deviation) = (x.dot(&estimate), noise * norm(&covariance, &x));
                assert!(interval.informed.is_none());
                assert!(close(interval.mean(), mean, 1e-9), "{interval:?} {mean}");
                assert!(close(interval.ucb, mean + deviation, 1e-9), "{interval:?} {deviation}");
                assert!(close(interval.lcb, mean - deviation, 1e-9), "{interval:?} {deviation}");
                assert!(interval.index >= interval.ucb);
            }
        });
    }
}

#[test]
fn a_fixed_certificate_is_the_prior_of_a_posterior() {
    let (dimension, noise, bound) = (4, 0.3, 1.5);
    let mut world = World::new(8, dimension, noise);
    let mut settings = Policy::builder(dimension);
    settings = settings.noise(noise).norm_bound(bound).logs(world.logs(40));
    settings = settings.certificate(world.certificate()).exploration_scale(1.5);
    let mut policy = settings.build().unwrap();
    let (logs, certificate) = (policy.logs().clone(), world.certificate());
    checked_play(&mut world, &mut policy, 50, |policy, history, features| {
        let (gram, moment) = gram_and_moment(dimension, history);
        // Live truth is N(θ_off, σ² G⁻¹ + ρ² M⁻¹) before play.
        let precision =
            square(&logs.gram()) + Matrix::identity(dimension, dimension) * (noise / bound).powi(2);
        let logged = inverse(&precision) * Vector::from_column_slice(logs.moment());
        let drift = inverse(&square(certificate.matrix())) * certificate.rho().powi(2);
        let prior = inverse(&(inverse(&precision) * noise.powi(2) + drift));
        let covariance = inverse(&(&prior + gram / noise.powi(2)));
        let estimate = &covariance * (prior * logged + moment / noise.powi(2));
        let actions = Actions::new(features, dimension).unwrap();
        for (interval, x) in policy.intervals(0, actions).unwrap().iter().zip(features.chunks(dimension)) {
            let x = Vector::from_column_slice(x);
            let (mean, radius) = (x.dot(&estimate), 1.5 * norm(&covariance, &x));
            let found = interval.informed.unwrap();
            assert!(interval.online.is_none() && found.bias == 0.0);
            assert!(close(found.mean, mean, 1e-9) && close(found.statistical, radius, 1e-9));
        }
    });
}

#[test]
fn without_a_certificate_drift_may_be_twice_as_long_as_the_norm_bound() {
    let mut world = World::new(4, 3, 0.2);
    let settings = Policy::builder(3).preset(Preset::TrueNorthConfidence).noise(0.2).norm_bound(1.3);
    let policy = settings.logs(world.logs(80)).build().unwrap();
    let certificate = policy.certificate().unwrap();
    assert!(close(certificate.rho(), 2.6, 1e-15));
    assert_eq!(certificate.matrix(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn propensity_of_everything_that_rolls_no_dice_is_one() {
    for mut world in [World::new(9, 3, 0.2), World::with_arms(9, 3, 0.2)] {
        for (name, settings) in world.policies(30) {
            let mut policy = settings.build().unwrap();
            if explore(&policy) != Explore::Ucb {
                continue;
            }
            for (features, _) in rounds(&mut world, 10, 5) {
                let shown = below(&mut world.rng, 5) + 1;
                let choice = policy.choose(Actions::new(&features[..3 * shown], 3).unwrap()).unwrap();
                assert!((choice.propensity - 1.0).abs() < 1e-15, "{name}");
            }
        }
    }
}
