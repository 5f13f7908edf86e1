//! Epochs of a learned certificate: by hand, and against a trajectory.

use truenorth_paper::theory::{
    FallbackParams, LayerPath, LearnedEpoch, LearnedEpochs, OnlineFallback, PooledPath, PooledRadius,
    learned_alignment,
};

use crate::fixtures::{Numbers, Trajectory};

fn radius() -> PooledRadius {
    // 2 log(1/δ) = 8: Λ = 1 has radius 1 + 2·3 = 7.
    PooledRadius { offline_radius: 1.0, noise: 2.0, delta_pool_min: (-4f64).exp() }
}

fn fallback(horizon: u64) -> OnlineFallback {
    let params = FallbackParams { horizon, actions: 2, dimension: 3, delta_online: 0.01, constant: 1.0 };
    OnlineFallback::new(params).unwrap()
}

fn epochs() -> LearnedEpochs {
    let first = LearnedEpoch { rounds: 1, radius: 4.0, alignment: 2.0, routed: 0.5 };
    let second = LearnedEpoch { rounds: 3, radius: 1.0, alignment: 6.0, routed: 2.0 };
    LearnedEpochs::new(&[first, second]).unwrap()
}

/// `n_k` of the paper's doubling epochs, which start at rounds 1, 2, 4, 8, ...: the last one is cut
/// at the horizon.
fn doubling_lengths(horizon: u64) -> Vec<u64> {
    let mut lengths = Vec::new();
    let mut remaining = horizon;
    while remaining > 0 {
        let length = remaining.min(1 << lengths.len());
        lengths.push(length);
        remaining -= length;
    }
    lengths
}

#[test]
fn two_epochs_by_hand() {
    let path = PooledPath::new(radius(), &[LayerPath { rounds: 4, log_det: 1.0 }]).unwrap();
    // Ψ̃ = 4·0.5 + 1·2 = 4 and S_ep = 1·16·2 + 3·1·6 = 50, so √(2·1·50) = 10.
    assert!((epochs().routed_bias() - 4.0).abs() < 1e-15);
    assert!((epochs().penalty() - 50.0).abs() < 1e-13);
    // The statistical part is 8·7·√(2·4·1).
    let statistical = 56.0 * 8f64.sqrt();
    let routed = epochs().guarantee(&path, &fallback(4)).unwrap();
    assert!((routed.layerwise - (statistical + 32.0)).abs() < 1e-10);
    let penalised = epochs().penalty_guarantee(&path, &fallback(4)).unwrap();
    assert!((penalised.layerwise - (statistical + 80.0)).abs() < 1e-10);
    assert_eq!(penalised.online.to_bits(), fallback(4).bound().to_bits());
}

#[test]
fn coarse_bound_is_the_corollarys() {
    let layers = [LayerPath { rounds: 3, log_det: 1.0 }, LayerPath { rounds: 1, log_det: 0.2 }];
    let path = PooledPath::new(radius(), &layers).unwrap();
    let found = epochs().penalty_guarantee(&path, &fallback(4)).unwrap().coarse;
    // Corollary 2: 8 (Γ_pool + √(S_ep / T)) √(2 T Λ̃_T) with Γ_pool = 7, S_ep = 50, T = 4.
    let corollary = 8.0 * (7.0 + 12.5f64.sqrt()) * (2.0 * 4.0 * 1.2f64).sqrt();
    assert!((found - corollary).abs() < 1e-10);
}

#[test]
fn penalty_dominates_the_routed_bias_of_a_played_run() {
    let mut numbers = Numbers::seeded(13);
    let lengths = doubling_lengths(50);
    for samples in [0, 4, 40] {
        let offline = numbers.precision(3, samples);
        let inverse = offline.clone().try_inverse().unwrap();
        let parallel_sum = |seen: &nalgebra::DMatrix<f64>| seen.clone().try_inverse().unwrap() + &inverse;
        let played = Trajectory::play(&mut numbers, &offline, 3, &lengths, parallel_sum);
        let path = PooledPath::new(radius(), &played.layers).unwrap();
        let epochs: Vec<_> = (0..lengths.len())
            .map(|k| LearnedEpoch {
                rounds: lengths[k],
                radius: 0.5 + numbers.uniform(),
                alignment: learned_alignment(offline.as_slice(), played.online[k].as_slice()).unwrap(),
                routed: played.routed[k].iter().sum(),
            })
            .collect();
        let epochs = LearnedEpochs::new(&epochs).unwrap();
        let most = (2.0 * path.total_log_det() * epochs.penalty()).sqrt();
        let routed = epochs.routed_bias();
        assert!(routed <= most && routed > 0.2 * most, "{routed} against {most}");
        let sharp = epochs.guarantee(&path, &fallback(50)).unwrap();
        let penalised = epochs.penalty_guarantee(&path, &fallback(50)).unwrap();
        assert!(sharp.layerwise <= penalised.layerwise && sharp.coarse <= penalised.coarse);
    }
}

#[test]
fn doubling_epochs_cover_the_horizon() {
    assert_eq!(doubling_lengths(1), [1]);
    assert_eq!(doubling_lengths(7), [1, 2, 4]);
    assert_eq!(doubling_lengths(8), [1, 2, 4, 1]);
    for horizon in [2, 100, 1 << 40, (1 << 40) - 1] {
        let lengths = doubling_lengths(horizon);
        assert_eq!(lengths.iter().sum::<u64>(), horizon);
        // K_ep = ⌊log₂ T⌋ + 1.
        assert_eq!(lengths.len(), horizon.ilog2() as usize + 1);
    }
}

#[test]
fn impossible_inputs_are_refused() {
    let path = PooledPath::new(radius(), &[LayerPath { rounds: 5, log_det: 1.0 }]).unwrap();
    assert!(epochs().guarantee(&path, &fallback(5)).is_err());
    assert!(epochs().penalty_guarantee(&path, &fallback(5)).is_err());
    let epoch = LearnedEpoch { rounds: 1, radius: 1.0, alignment: 1.0, routed: 1.0 };
    assert!(LearnedEpochs::new(&[LearnedEpoch { radius: -1.0, ..epoch }]).is_err());
    assert!(LearnedEpochs::new(&[LearnedEpoch { alignment: f64::NAN, ..epoch }]).is_err());
    assert!(LearnedEpochs::new(&[LearnedEpoch { routed: f64::INFINITY, ..epoch }]).is_err());
}
