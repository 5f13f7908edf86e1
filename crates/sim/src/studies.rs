//! The paper's studies, with the readings that it leaves open.
//!
//! | study | live parameter | logs | panels |
//! |---|---|---|---|
//! | main | (s, 1, 1, 1, 1) | (1, s, 1, 1, 1) | s = 1.1, 2, 10 |
//! | bias | uniform in [0.25, 0.55] | (1 - c) θ_* + u, u uniform in [0, c] | c = 0 to 0.8 |
//! | ablation | (2, 1, 1, 1, 1) | (θ†₁, 1, 1, 1, 1) | θ†₁ = 0 to 4 |
//! | coverage | uniform in [0.25, 0.55] | the same, seen in the box [0, 1] x [0, w]⁴ | w = 1 to 0.01 |
//!
//! All: K = d = 5, Gaussian contexts of length 1, σ = 0.1, 2,000 logged rows, λ = 1, δ = 0.01.

use truenorth::Preset;

use crate::panel::{Figure, NormBound, Panel};
use crate::policy::{CertificateKind, PolicySpec};
use crate::world::{Contexts, Coverage, ParameterLaw, RewardModel, World};

const DIMENSION: usize = 5;
const NOISE: f64 = 0.1;
const LOG_ROWS: usize = 2000;

/// One of the paper's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Study {
    /// Coordinate-split mismatch, mild to severe.
    Main,
    /// Randomised bias: a shrinking scale against a growing offset.
    Bias,
    /// One logged coordinate varies; the full method against its stripped variants.
    Ablation,
    /// Logs without drift that see less and less of feature space.
    Coverage,
}

/// How the studies are run where the paper leaves room.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Rounds of a run.
    pub horizon: u64,
    /// Runs.
    pub runs: u64,
    /// Base seed.
    pub seed: u64,
    /// The printed S = 1, or a bound that holds.
    pub norm_bound: NormBound,
    /// What policies with a fixed certificate are told.
    pub certificate: CertificateKind,
    /// The policies, or each study's own.
    pub policies: Option<Vec<Preset>>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            horizon: 20_000,
            runs: 50,
            seed: 42,
            norm_bound: NormBound::Truth,
            certificate: CertificateKind::Coordinate,
            policies: None,
        }
    }
}

impl Study {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 4] = [Self::Main, Self::Bias, Self::Ablation, Self::Coverage];

    /// Its name, and that of its figure.
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Bias => "bias",
            Self::Ablation => "ablation",
            Self::Coverage => "coverage",
        }
    }

    /// What it varies, for a figure's title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Main => "Coordinate-split drift: logs (1, s, 1, 1, 1), live (s, 1, 1, 1, 1)",
            Self::Bias => "Randomised bias: logs (1 − c) θ + u with u in [0, c], live θ",
            Self::Ablation => "Ablation: one logged coefficient off, live (2, 1, 1, 1, 1)",
            Self::Coverage => "Coverage: logs without drift, seen in the box [0, 1] × [0, w]⁴",
        }
    }

    /// The policies the paper shows in it.
    pub fn policies(self) -> &'static [Preset] {
        match self {
            Self::Main | Self::Bias | Self::Coverage => &[
                Preset::SupLinUcb,
                Preset::EllipsoidalMinUcb,
                Preset::EllipsoidalMinUcb3d,
                Preset::WarmSupLinUcb,
                Preset::OfflineOnly,
            ],
            Self::Ablation => &[Preset::EllipsoidalMinUcb, Preset::PooledOnly, Preset::SupLinUcb],
        }
    }

    /// The study as a figure to be played and drawn.
    pub fn figure(self, reading: &Reading) -> Figure {
        Figure { name: self.name().to_owned(), title: self.title().to_owned(), panels: self.panels(reading) }
    }

    fn panels(self, reading: &Reading) -> Vec<Panel> {
        let whole = Coverage::Gaussian { diversity: 1.0 };
        let uniform = |scale, offset| ParameterLaw::ScaledWithOffset { low: 0.25, high: 0.55, scale, offset };
        let panel = |name, parameters, coverage| self.panel(reading, name, parameters, coverage);
        match self {
            Self::Main => [1.1, 2.0, 10.0]
                .map(|s| {
                    let parameters = ParameterLaw::Given { live: ones_with(0, s), logged: ones_with(1, s) };
                    panel(format!("s={s}"), parameters, whole.clone())
                })
                .to_vec(),
            Self::Bias => [0.0, 0.2, 0.4, 0.6, 0.8]
                .map(|c| panel(format!("c={c}"), uniform(1.0 - c, c), whole.clone()))
                .to_vec(),
            Self::Ablation => [0.0, 1.0, 2.0, 3.0, 4.0]
                .map(|first| {
                    let parameters =
                        ParameterLaw::Given { live: ones_with(0, 2.0), logged: ones_with(0, first) };
                    panel(format!("theta1={first}"), parameters, whole.clone())
                })
                .to_vec(),
            Self::Coverage => [1.0, 0.5, 0.1, 0.05, 0.01]
                .map(|w| {
                    let mut high = vec![w; DIMENSION];
                    high[0] = 1.0;
                    let coverage = Coverage::Box { low: vec![0.0; DIMENSION], high };
                    panel(format!("w={w}"), uniform(1.0, 0.0), coverage)
                })
                .to_vec(),
        }
    }

    fn panel(self, reading: &Reading, name: String, parameters: ParameterLaw, coverage: Coverage) -> Panel {
        let presets = reading.policies.as_deref().unwrap_or(self.policies());
        let spec =
            |&preset: &Preset| PolicySpec { certificate: reading.certificate, ..PolicySpec::preset(preset) };
        Panel {
            name,
            world: World {
                dimension: DIMENSION,
                parameters,
                coverage,
                log_rows: LOG_ROWS,
                contexts: Contexts::Gaussian { actions: 5 },
                rewards: RewardModel::Gaussian,
                noise: NOISE,
            },
            policies: presets.iter().map(spec).collect(),
            horizon: reading.horizon,
            runs: reading.runs,
            seed: reading.seed,
            norm_bound: reading.norm_bound,
            ridge: 1.0,
            delta: 0.01,
        }
    }
}

fn ones_with(place: usize, value: f64) -> Vec<f64> {
    let mut vector = vec![1.0; DIMENSION];
    vector[place] = value;
    vector
}
