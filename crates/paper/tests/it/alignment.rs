//! Alignment: its definition, and what it bounds.

use nalgebra::{DMatrix, SymmetricEigen};
use truenorth_paper::theory::{PooledPath, PooledRadius, alignment, bias_scale, learned_alignment};

use crate::fixtures::{Numbers, Trajectory};

fn root(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let eigen = SymmetricEigen::new(matrix.clone());
    let roots = DMatrix::from_diagonal(&eigen.eigenvalues.map(f64::sqrt));
    &eigen.eigenvectors * roots * eigen.eigenvectors.transpose()
}

/// As the paper writes it: the largest eigenvalue of G^½ M⁻¹ G^½.
fn as_defined(offline: &DMatrix<f64>, inverse: &DMatrix<f64>) -> f64 {
    let root = root(offline);
    (&root * inverse * &root).symmetric_eigenvalues().max()
}

#[test]
fn diagonal_matrices_by_hand() {
    let diagonal = |a, b| [a, 0.0, 0.0, b];
    // Ratios 4/8 and 3/0.5: the second direction is well covered and free to drift.
    let aligned = alignment(&diagonal(4.0, 3.0), &diagonal(8.0, 0.5)).unwrap();
    assert!((aligned - 6.0).abs() < 1e-14);
    let bias = bias_scale(2.0, aligned).unwrap();
    assert!((bias - 2.0 * 6f64.sqrt()).abs() < 1e-14);
}

#[test]
fn agrees_with_the_definition_on_random_matrices() {
    let mut numbers = Numbers::seeded(4);
    for dimension in 1..7 {
        let offline = numbers.precision(dimension, 20);
        let certificate = numbers.precision(dimension, 5) * 0.3;
        let expected = as_defined(&offline, &certificate.clone().try_inverse().unwrap());
        let found = alignment(offline.as_slice(), certificate.as_slice()).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} against {expected}");
    }
}

#[test]
fn is_the_smallest_factor_that_dominates() {
    let mut numbers = Numbers::seeded(5);
    let (offline, certificate) = (numbers.precision(4, 12), numbers.precision(4, 3));
    let aligned = alignment(offline.as_slice(), certificate.as_slice()).unwrap();
    let smallest = |factor: f64| (&certificate * factor - &offline).symmetric_eigenvalues().min();
    assert!(smallest(aligned * (1.0 + 1e-9)) > 0.0);
    assert!(smallest(aligned * (1.0 - 1e-9)) < 0.0);
}

#[test]
fn learned_alignment_is_that_of_the_parallel_sum() {
    let mut numbers = Numbers::seeded(6);
    let (offline, online) = (numbers.precision(4, 50), numbers.precision(4, 9));
    let [a, b] = [&online, &offline].map(|matrix| matrix.clone().try_inverse().unwrap());
    let expected = as_defined(&offline, &(a + b));
    let found = learned_alignment(offline.as_slice(), online.as_slice()).unwrap();
    assert!((found / expected - 1.0).abs() < 1e-12 && found > 1.0);
}

#[test]
fn bounds_the_routed_bias_of_a_played_trajectory() {
    let mut numbers = Numbers::seeded(7);
    let (offline, certificate) = (numbers.precision(3, 25), numbers.precision(3, 2));
    let inverse = certificate.clone().try_inverse().unwrap();
    let played = Trajectory::play(&mut numbers, &offline, 2, &[60], |_| inverse.clone());
    let params = PooledRadius { offline_radius: 0.0, noise: 0.0, delta_pool_min: 0.5 };
    let path = PooledPath::new(params, &played.layers).unwrap();
    // Ψ̃_T ≤ √(2 c_align T Λ̃_T), from the proof of Theorem 2.
    let most = alignment(offline.as_slice(), certificate.as_slice()).unwrap().sqrt() * path.potential();
    let routed: f64 = played.routed[0].iter().sum();
    assert!(routed <= most && routed > 0.2 * most, "{routed} against {most}");
}

#[test]
fn impossible_inputs_are_refused() {
    let identity = [1.0, 0.0, 0.0, 1.0];
    let singular = alignment(&identity, &[1.0; 4]).unwrap_err();
    assert!(singular.to_string().starts_with("the certificate's matrix must be positive definite"));
    let larger = alignment(&identity, DMatrix::identity(3, 3).as_slice()).unwrap_err();
    assert_eq!(larger.to_string(), "the certificate's matrix must hold 4 numbers, but holds 9");
    assert!(bias_scale(-1.0, 1.0).is_err() && bias_scale(1.0, f64::NAN).is_err());
}
