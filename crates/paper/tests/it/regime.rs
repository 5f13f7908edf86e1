//! Corollary 1: both sides, and its verdict.

use truenorth_paper::theory::{
    FallbackParams, LayerPath, OnlineFallback, PooledPath, PooledRadius, aligned_bound, better_regime,
    bias_scale,
};

use crate::fixtures::Numbers;

const FALLBACK: FallbackParams =
    FallbackParams { horizon: 8, actions: 3, dimension: 4, delta_online: 0.01, constant: 2.0 };

/// `Γ_pool` = 1 + 2·√(1 + 8) = 7, Λ̃ = 1.5, T = 8.
fn path() -> PooledPath {
    let params = PooledRadius { offline_radius: 1.0, noise: 2.0, delta_pool_min: (-4f64).exp() };
    let layers = [LayerPath { rounds: 6, log_det: 1.0 }, LayerPath { rounds: 2, log_det: 0.5 }];
    PooledPath::new(params, &layers).unwrap()
}

#[test]
fn both_sides_by_hand() {
    let fallback = OnlineFallback::new(FALLBACK).unwrap();
    // ρ √c = 1.5 · 2 = 3: the pooled side is 1.5·(7 + 3)² = 150, the bound 80·√(2·8·1.5).
    let bias = bias_scale(1.5, 4.0).unwrap();
    let regime = better_regime(&path(), bias, &fallback).unwrap();
    assert!((regime.pooled - 150.0).abs() < 1e-10);
    assert!((aligned_bound(&path(), bias) - 80.0 * 24f64.sqrt()).abs() < 1e-10);
    // L_T = log(2·3·8·log 8 / 0.01) = 9.208471: 4/128 · 4 · 9.208471³ = 97.605.
    assert!((regime.online - 97.605).abs() < 0.001, "{}", regime.online);
    assert!(!regime.logs_pay());
}

#[test]
fn verdict_is_that_of_the_two_bounds() {
    let mut numbers = Numbers::seeded(8);
    let mut verdicts = [0, 0];
    for _ in 0..500 {
        let constant = 8.0 * numbers.uniform() + 0.1;
        let fallback = OnlineFallback::new(FallbackParams { constant, ..FALLBACK }).unwrap();
        let bias = bias_scale(2.0 * numbers.uniform(), 9.0 * numbers.uniform()).unwrap();
        let regime = better_regime(&path(), bias, &fallback).unwrap();
        assert_eq!(regime.logs_pay(), aligned_bound(&path(), bias) <= fallback.bound());
        // Not only the verdict: the ratio of the sides is the squared ratio of the bounds.
        let ratio = (aligned_bound(&path(), bias) / fallback.bound()).powi(2);
        assert!((regime.pooled / regime.online / ratio - 1.0).abs() < 1e-12);
        verdicts[usize::from(regime.logs_pay())] += 1;
    }
    assert!(verdicts.iter().all(|&count| count > 50), "{verdicts:?}");
}

#[test]
fn unbiased_logs_pay_by_the_statistical_part_alone() {
    let none = bias_scale(0.0, 1e6).unwrap();
    let coarse = path().coarse_bound(0.0).unwrap();
    assert!((aligned_bound(&path(), none) - coarse).abs() < 1e-10);
}

#[test]
fn shorter_paths_are_refused() {
    let fallback = OnlineFallback::new(FallbackParams { horizon: 9, ..FALLBACK }).unwrap();
    let bias = bias_scale(0.0, 1.0).unwrap();
    let refused = better_regime(&path(), bias, &fallback).unwrap_err();
    assert_eq!(refused.to_string(), "`rounds` must be equal to the horizon, but is 8");
}
