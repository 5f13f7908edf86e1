//! Seeded numbers, matrices and a played trajectory for the tests of the theorems.

use nalgebra::{DMatrix, DVector};
use truenorth_paper::theory::LayerPath;

/// `SplitMix64`: enough for tests, the same on every platform.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform on [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform on 0..bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// Uniform in the unit cube around 0, shortened to length 1 where longer.
    pub(crate) fn feature(&mut self, dimension: usize) -> DVector<f64> {
        let x = DVector::from_fn(dimension, |_, _| 2.0 * self.uniform() - 1.0);
        let norm = x.norm();
        if norm > 1.0 { x / norm } else { x }
    }

    /// I plus the outer products of `samples` features.
    pub(crate) fn precision(&mut self, dimension: usize, samples: usize) -> DMatrix<f64> {
        (0..samples).fold(DMatrix::identity(dimension, dimension), |sum, _| {
            let x = self.feature(dimension);
            sum + &x * x.transpose()
        })
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Random features played in random layers, with everything the theorems ask of a trajectory.
pub(crate) struct Trajectory {
    pub(crate) layers: Vec<LayerPath>,
    /// ψ of each round, one list for each epoch, with that epoch's certificate matrix.
    pub(crate) routed: Vec<Vec<f64>>,
    /// Precision I + Σ xxᵀ of all rounds before each epoch.
    pub(crate) online: Vec<DMatrix<f64>>,
}

impl Trajectory {
    /// Plays epochs of the given `lengths`; `certificate` maps the online precision at an epoch's
    /// start to the inverse of its certificate matrix.
    pub(crate) fn play(
        numbers: &mut Numbers,
        offline: &DMatrix<f64>,
        layer_count: usize,
        lengths: &[u64],
        certificate: impl Fn(&DMatrix<f64>) -> DMatrix<f64>,
    ) -> Self {
        let dimension = offline.nrows();
        let mut pooled = vec![offline.clone(); layer_count];
        let mut rounds = vec![0; layer_count];
        let mut seen = DMatrix::identity(dimension, dimension);
        let (mut routed, mut online) = (Vec::new(), Vec::new());
        for &length in lengths {
            online.push(seen.clone());
            let inverse = certificate(&seen);
            let mut psi = Vec::new();
            for _ in 0..length {
                let x = numbers.feature(dimension);
                let layer = usize::try_from(numbers.below(layer_count as u64)).unwrap();
                let pulled = offline * pooled[layer].clone().try_inverse().unwrap() * &x;
                psi.push(pulled.dot(&(&inverse * &pulled)).sqrt());
                pooled[layer] += &x * x.transpose();
                seen += &x * x.transpose();
                rounds[layer] += 1;
            }
            routed.push(psi);
        }
        let layers = std::iter::zip(rounds, pooled)
            .map(|(rounds, final_precision)| LayerPath {
                rounds,
                log_det: (final_precision.determinant() / offline.determinant()).ln(),
            })
            .collect();
        Self { layers, routed, online }
    }
}
