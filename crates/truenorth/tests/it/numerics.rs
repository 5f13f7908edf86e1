//! A million rank-one updates against a dense solve in twice the precision.
//!
//! Features and rewards are multiples of 2^-16, so that their products and all sums of a million of
//! them are exact in an `f64`: the reference knows the Gram matrix without a rounding error.

use rand_distr::{Distribution as _, StandardNormal};
use truenorth::{Actions, Certificate, Decision, Observation, Policy, Preset, RidgeStatistic};

use crate::support::{Matrix, World, dot, square, unit_vector};
use crate::wide::{Wide, cholesky, combine, inner, inverse, log_det, solve, times, widen, widen_vector};

const DIMENSION: usize = 50;
const UPDATES: usize = 1_000_000;

fn on_grid(x: f64) -> f64 {
    (x * 65536.0).round() / 65536.0
}

/// Draws features whose lengths along a rotated basis range from 1 down to `weakest`.
struct Design {
    basis: Matrix,
    scales: Vec<f64>,
}

impl Design {
    fn new(world: &mut World, weakest: f64) -> Self {
        let gaussian = Matrix::from_fn(DIMENSION, DIMENSION, |_, _| StandardNormal.sample(&mut world.rng));
        let step = weakest.powf(1.0 / (DIMENSION as f64 - 1.0));
        let scales = (0..DIMENSION).map(|i| 0.2 * step.powi(i32::try_from(i).unwrap())).collect();
        Self { basis: gaussian.qr().q(), scales }
    }

    fn draw(&self, world: &mut World) -> Vec<f64> {
        let mut x = vec![0.0; DIMENSION];
        for (column, scale) in self.basis.column_iter().zip(&self.scales) {
            let normal: f64 = StandardNormal.sample(&mut world.rng);
            let length = scale * normal.clamp(-3.0, 3.0);
            x.iter_mut().zip(&column).for_each(|(x, q)| *x += length * q);
        }
        x.into_iter().map(on_grid).collect()
    }
}

fn errors_after_a_million_updates(weakest: f64, ridge: f64, conditioned: std::ops::Range<f64>) {
    let mut world = World::new(17, DIMENSION, 0.1);
    let design = Design::new(&mut world, weakest);
    let mut logs = RidgeStatistic::new(DIMENSION).unwrap();
    for _ in 0..1000 {
        let x = design.draw(&mut world);
        let reward = on_grid(dot(&x, &world.logged) + world.draw_noise());
        logs.observe(&x, reward).unwrap();
    }
    let budgets: Vec<f64> = (0..DIMENSION).map(|i| 10f64.powi(-i32::try_from(i % 4).unwrap())).collect();
    let certificate = Certificate::from_budgets(&budgets).unwrap();
    let settings = Policy::builder(DIMENSION).noise(0.1).norm_bound(1.2).ridge(ridge).logs(logs.clone());
    let settings = settings.preset(Preset::TrueNorthConfidence).certificate(certificate);
    let mut policy = settings.build().unwrap();
    let first = design.draw(&mut world);
    policy.choose(Actions::new(&first, DIMENSION).unwrap()).unwrap();
    let mut live = RidgeStatistic::new(DIMENSION).unwrap();
    for _ in 0..UPDATES {
        let x = design.draw(&mut world);
        let reward = on_grid(dot(&x, &world.live) + world.draw_noise());
        live.observe(&x, reward).unwrap();
        policy
            .learn(Observation { decision: Decision { round: 1, layer: 0 }, features: (&x).into(), reward })
            .unwrap();
    }

    // The dense side, all of it in double-double: both precisions, their estimates and radii.
    let (gram, moment) = (widen(&square(&live.gram())), widen_vector(live.moment()));
    let identity = widen(&Matrix::identity(DIMENSION, DIMENSION));
    let online = combine(&gram, 1.0, &identity, ridge);
    let online_factor = cholesky(&online);
    let offline = combine(&widen(&square(&logs.gram())), 1.0, &identity, ridge);
    let offline_estimate = solve(&cholesky(&offline), &widen_vector(logs.moment()));
    let (noise, slack, ridges) = (0.1, ridge.sqrt() * 1.2, DIMENSION as f64 * ridge.ln());
    let self_normalised = |log_det: f64, delta: f64| noise * (log_det - 2.0 * delta.ln()).sqrt();
    let beta = self_normalised(log_det(&cholesky(&offline)) - ridges, 0.01 / 3.0) + slack;
    let certificate = policy.certificate().unwrap();
    let (rho, covariance, drift) =
        (certificate.rho(), inverse(&offline), inverse(&widen(&square(certificate.matrix()))));
    let spread = combine(&covariance, beta * beta, &drift, rho * rho);
    let weight = combine(&inverse(&spread), noise * noise, &identity, 0.0);
    let pooled = combine(&gram, 1.0, &weight, 1.0);
    let pooled_factor = cholesky(&pooled);
    let pooled_estimate = {
        let pull = times(&weight, &offline_estimate);
        solve(&pooled_factor, &moment.iter().zip(&pull).map(|(&b, &w)| b + w).collect::<Vec<_>>())
    };
    let online_estimate = solve(&online_factor, &moment);
    let online_radius = self_normalised(log_det(&online_factor) - ridges, 0.01 / 3.0) + slack;
    let gamma = self_normalised(log_det(&pooled_factor) - log_det(&cholesky(&weight)), 0.01 / 3.0);

    let eigenvalues =
        (square(&live.gram()) + Matrix::identity(DIMENSION, DIMENSION) * ridge).symmetric_eigenvalues();
    let condition = eigenvalues.max() / eigenvalues.min();
    assert!(conditioned.contains(&condition), "the condition number is {condition:e}");

    // Strong, weak and mixed directions, at unit length.
    let mut tests: Vec<Vec<f64>> = design.basis.column_iter().map(|q| q.iter().copied().collect()).collect();
    tests.extend((0..50).map(|_| unit_vector(&mut world.rng, DIMENSION)));
    tests.extend((0..50).map(|_| design.draw(&mut world)));
    let norm = |x: &[Wide], y: &[Wide]| inner(x, y).value().sqrt();
    let (mut estimate_error, mut radius_error) = (0.0f64, 0.0f64);
    for x in tests {
        let interval = policy.intervals(0, Actions::new(&x, DIMENSION).unwrap()).unwrap()[0];
        let (found_online, found_pooled) = (interval.online.unwrap(), interval.informed.unwrap());
        let x = widen_vector(&x);
        let (online_x, pooled_x) = (solve(&online_factor, &x), solve(&pooled_factor, &x));
        let routed = times(&weight, &pooled_x);
        let length = norm(&x, &x);
        let radius = gamma * norm(&x, &pooled_x)
            + beta * norm(&routed, &times(&covariance, &routed))
            + rho * norm(&routed, &times(&drift, &routed));
        let relative = |found: f64, expected: f64| (found - expected).abs() / expected;
        radius_error = radius_error
            .max(relative(found_online.statistical, online_radius * norm(&x, &online_x)))
            .max(relative(found_pooled.statistical + found_pooled.bias, radius));
        for (mean, estimate) in [(found_online.mean, &online_estimate), (found_pooled.mean, &pooled_estimate)]
        {
            let error = (mean - inner(&x, estimate).value()).abs() / (length * norm(estimate, estimate));
            estimate_error = estimate_error.max(error);
        }
    }
    println!("condition {condition:.1e}: estimates {estimate_error:.1e}, radii {radius_error:.1e}");
    assert!(estimate_error <= 1e-9 && radius_error <= 1e-9, "{estimate_error:e} {radius_error:e}");
}

#[test]
fn a_million_updates_keep_nine_digits() {
    errors_after_a_million_updates(0.1, 1.0, 1.0..1e3);
}

#[test]
fn a_million_ill_conditioned_updates_keep_nine_digits() {
    errors_after_a_million_updates(5e-5, 1e-4, 1e8..1e10);
}
