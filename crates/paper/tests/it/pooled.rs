//! The pooled bound along a trajectory.

use truenorth_paper::theory::{LayerPath, PooledPath, PooledRadius};

use crate::fixtures::Numbers;

/// σ = 2, `β_off` = 1, and δ with 2 log(1/δ) = 8, so that Λ = 1 has radius 1 + 2·3 = 7.
fn radius() -> PooledRadius {
    PooledRadius { offline_radius: 1.0, noise: 2.0, delta_pool_min: (-4f64).exp() }
}

#[test]
fn two_layers_by_hand() {
    let layers = [(2, 1.0), (7, 8.0), (0, 0.0)].map(|(rounds, log_det)| LayerPath { rounds, log_det });
    let path = PooledPath::new(radius(), &layers).unwrap();
    // Layer 0: (1 + 2·√9) √(2·2·1) = 7·2 = 14. Layer 1: (1 + 2·√16) √(2·7·8) = 9·√112.
    let layerwise = 8.0 * (14.0 + 9.0 * 112f64.sqrt()) + 8.0 * 0.5;
    // Γ_pool = 9, T = 9, Λ̃ = 9: 8·9·√(2·9·9) + 4.
    let coarse = 72.0 * 162f64.sqrt() + 4.0;
    assert_eq!(path.rounds(), 9);
    assert!((path.prefactor() - 9.0).abs() < 1e-12);
    assert!((path.layerwise_bound(0.5).unwrap() - layerwise).abs() < 1e-10);
    assert!((path.coarse_bound(0.5).unwrap() - coarse).abs() < 1e-10);
}

#[test]
fn one_layer_leaves_nothing_to_coarsen() {
    let path = PooledPath::new(radius(), &[LayerPath { rounds: 50, log_det: 3.7 }]).unwrap();
    let (layerwise, coarse) = (path.layerwise_bound(2.0), path.coarse_bound(2.0));
    assert!((layerwise.unwrap() - coarse.unwrap()).abs() < 1e-10);
}

#[test]
fn layerwise_is_never_above_coarse() {
    let mut numbers = Numbers::seeded(1);
    let mut strictly_below = 0;
    for _ in 0..200 {
        let layers: Vec<_> = (0..=numbers.below(8))
            .map(|_| LayerPath { rounds: numbers.below(1000), log_det: 20.0 * numbers.uniform() })
            .collect();
        let path = PooledPath::new(radius(), &layers).unwrap();
        let (layerwise, coarse) = (path.layerwise_bound(1.0).unwrap(), path.coarse_bound(1.0).unwrap());
        assert!(layerwise <= coarse * (1.0 + 1e-14), "{layerwise} > {coarse} for {layers:?}");
        strictly_below += usize::from(layerwise < 0.99 * coarse);
    }
    assert!(strictly_below > 100);
}

#[test]
fn without_new_information_only_the_bias_is_left() {
    let path = PooledPath::new(radius(), &[LayerPath { rounds: 10, log_det: -1e-15 }]).unwrap();
    assert_eq!(path.layerwise_bound(0.25), Ok(2.0));
    assert_eq!(path.coarse_bound(0.25), Ok(2.0));
}

#[test]
fn impossible_inputs_are_refused() {
    assert!(PooledPath::new(radius(), &[LayerPath { rounds: 1, log_det: -0.1 }]).is_err());
    assert!(PooledPath::new(radius(), &[]).unwrap().layerwise_bound(-1.0).is_err());
    let params = PooledRadius { offline_radius: 1.0, noise: 1.0, delta_pool_min: 0.5 };
    assert!(PooledPath::new(PooledRadius { delta_pool_min: 0.0, ..params }, &[]).is_err());
    assert!(PooledPath::new(PooledRadius { noise: -1.0, ..params }, &[]).is_err());
    assert!(PooledPath::new(PooledRadius { offline_radius: f64::NAN, ..params }, &[]).is_err());
}
