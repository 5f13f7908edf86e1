//! The envelope: by hand, and above every trajectory.

use truenorth_paper::theory::{
    PooledPath, PooledRadius, Spectrum, aligned_bound, bias_scale, layer_count, spectral_bound,
    spectral_envelope,
};

use crate::fixtures::{Numbers, Trajectory};

fn radius(noise: f64) -> PooledRadius {
    // 2 log(1/δ) = 8.
    PooledRadius { offline_radius: 1.0, noise, delta_pool_min: (-4f64).exp() }
}

#[test]
fn layers_are_counted_exactly_around_powers_of_two() {
    let counts = [(1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (1024, 11), (1025, 12), ((1 << 53) + 1, 55)];
    for (horizon, layers) in counts {
        assert_eq!(layer_count(horizon), layers, "horizon {horizon}");
    }
}

#[test]
fn one_direction_by_hand() {
    // T = 4, L_max = 3, g = 2: envelope 3 log(1 + (4/3)/2) = 3 log(5/3); Φ(4) = log 3.
    let spectrum = Spectrum::new(vec![2.0]).unwrap();
    let bias = bias_scale(0.5, 4.0).unwrap();
    let bound = spectral_bound(&spectrum, &radius(3.0), bias, 4).unwrap();
    let envelope = 3.0 * (5.0f64 / 3.0).ln();
    let prefactor = 1.0 + 3.0 * (3f64.ln() + 8.0).sqrt();
    assert!((bound.envelope - envelope).abs() < 1e-14);
    assert!((bound.prefactor - prefactor).abs() < 1e-13);
    // ρ √c = 0.5 · 2.
    let regret = 8.0 * (prefactor + 1.0) * (8.0 * envelope).sqrt();
    assert!((bound.regret - regret).abs() < 1e-11);
}

#[test]
fn every_played_trajectory_stays_below_the_envelope() {
    let mut numbers = Numbers::seeded(3);
    for samples in [0, 3, 30] {
        let offline = numbers.precision(3, samples);
        let spectrum = Spectrum::of(offline.as_slice()).unwrap();
        let layers = usize::try_from(layer_count(40)).unwrap();
        let unbiased = |seen: &nalgebra::DMatrix<f64>| seen * 0.0;
        let played = Trajectory::play(&mut numbers, &offline, layers, &[40], unbiased);
        for layer in &played.layers {
            let most = spectrum.water_filling(layer.rounds as f64).unwrap().value;
            assert!(layer.log_det <= most + 1e-12);
        }
        let path = PooledPath::new(radius(0.3), &played.layers).unwrap();
        let bias = bias_scale(0.2, 7.0).unwrap();
        let bound = spectral_bound(&spectrum, &radius(0.3), bias, 40).unwrap();
        assert!(path.total_log_det() <= bound.envelope);
        assert!(path.total_log_det() > 0.3 * bound.envelope, "the envelope is far from reach");
        assert!(path.prefactor() <= bound.prefactor);
        assert!(aligned_bound(&path, bias) <= bound.regret);
    }
}

#[test]
fn more_logs_never_raise_the_envelope() {
    let envelope =
        |weakest| spectral_envelope(&Spectrum::new(vec![weakest, 5.0, 9.0]).unwrap(), 1000).unwrap();
    assert!(envelope(1.0) > envelope(2.0) && envelope(2.0) > envelope(400.0));
    assert!(spectral_envelope(&Spectrum::new(vec![1.0]).unwrap(), 0).is_err());
}
