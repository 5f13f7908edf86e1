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
//!
//! And three of our own:
//!
//! | study | what is special | panels |
//! |---|---|---|
//! | misleading | five fixed actions, each with a mean of its own; logs that are wrong about some | which, with little noise and with much |
//! | shifting | contexts that change over the run, while the parameter does not: d = 6 | drift nowhere, in a feature that comes alive early, in one that comes late; the same around a turning centre |
//! | wide | K = 10, d = 50, 5,000 logged rows | drift nowhere, in three coordinates, in all |

use truenorth::Preset;

use crate::panel::{Figure, NormBound, Panel};
use crate::policy::{CertificateKind, PolicySpec};
use crate::world::{Contexts, Coverage, ParameterLaw, RewardModel, World};

const DIMENSION: usize = 5;
const NOISE: f64 = 0.1;
const LOG_ROWS: usize = 2000;
/// Features of the study of shifting contexts, in groups of two.
const SHIFTING_DIMENSION: usize = 6;
const WIDE_DIMENSION: usize = 50;
/// Drift of a coordinate of the wide study: three times the size of a coefficient.
const WIDE_DRIFT: f64 = 1.2;

/// Ours, and what people would use instead.
const OTHERS: [Preset; 8] = [
    Preset::TrueNorth,
    Preset::LinUcb,
    Preset::LinTs,
    Preset::Greedy,
    Preset::Oful,
    Preset::OfflineOnly,
    Preset::TrueNorthConfidence,
    Preset::MinUcb,
];

/// One figure: four of the paper's, three of our own.
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
    /// Fixed actions, and logs that are wrong about the best of them or a bad one.
    Misleading,
    /// Contexts that change over the run, so that some drift matters early and some late.
    Shifting,
    /// Many features, few of which have drifted.
    Wide,
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
    /// What policies with a pooled branch are told about the drift, instead of what their presets say.
    pub certificate: Option<CertificateKind>,
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
            certificate: None,
            policies: None,
        }
    }
}

impl Study {
    /// The paper's, in its order.
    pub const PAPER: [Self; 4] = [Self::Main, Self::Bias, Self::Ablation, Self::Coverage];
    /// Those that go beyond the paper.
    pub const BEYOND: [Self; 3] = [Self::Misleading, Self::Shifting, Self::Wide];

    /// Its name, and that of its figure.
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Bias => "bias",
            Self::Ablation => "ablation",
            Self::Coverage => "coverage",
            Self::Misleading => "misleading",
            Self::Shifting => "shifting",
            Self::Wide => "wide",
        }
    }

    /// What it varies, for a figure's title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Main => "Coordinate-split drift: logs (1, s, 1, 1, 1), live (s, 1, 1, 1, 1)",
            Self::Bias => "Randomised bias: logs (1 − c) θ + u with u in [0, c], live θ",
            Self::Ablation => "Ablation: one logged coefficient off, live (2, 1, 1, 1, 1)",
            Self::Coverage => "Coverage: logs without drift, seen in the box [0, 1] × [0, w]⁴",
            Self::Misleading => "Misleading logs: five fixed actions, 400 logged rows of each",
            Self::Shifting => "Shifting contexts: drift in a feature that comes alive early, or late",
            Self::Wide => "Wide: ten actions of 50 features, 5,000 logged rows",
        }
    }

    /// The policies that play in it: the paper's choice, or ours.
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
            Self::Misleading => &OTHERS,
            // Separate arms need actions that are unit vectors; with 50 features, learning a certificate with
            // confidence takes minutes.
            Self::Shifting => &OTHERS[..7],
            Self::Wide => &OTHERS[..6],
        }
    }

    /// The study as a figure to be played and drawn.
    pub fn figure(self, reading: &Reading) -> Figure {
        Figure { name: self.name().to_owned(), title: self.title().to_owned(), panels: self.panels(reading) }
    }

    fn panels(self, reading: &Reading) -> Vec<Panel> {
        let panel = |(name, world)| self.panel(reading, name, world);
        self.worlds(reading.horizon).into_iter().map(panel).collect()
    }

    /// The worlds of its panels, by name.
    fn worlds(self, horizon: u64) -> Vec<(String, World)> {
        let given = |live, logged| World { parameters: ParameterLaw::Given { live, logged }, ..plain() };
        match self {
            Self::Main => {
                [1.1, 2.0, 10.0].map(|s| (format!("s={s}"), given(ones_with(0, s), ones_with(1, s)))).to_vec()
            }
            Self::Bias => [0.0, 0.2, 0.4, 0.6, 0.8]
                .map(|c| (format!("c={c}"), World { parameters: cube(1.0 - c, c), ..plain() }))
                .to_vec(),
            Self::Ablation => [0.0, 1.0, 2.0, 3.0, 4.0]
                .map(|first| (format!("theta1={first}"), given(ones_with(0, 2.0), ones_with(0, first))))
                .to_vec(),
            Self::Coverage => [1.0, 0.5, 0.1, 0.05, 0.01]
                .map(|w| {
                    let mut high = vec![w; DIMENSION];
                    high[0] = 1.0;
                    let coverage = Coverage::Box { low: vec![0.0; DIMENSION], high };
                    (format!("w={w}"), World { coverage, ..plain() })
                })
                .to_vec(),
            Self::Misleading => misleading_worlds(),
            Self::Shifting => shifting_worlds(horizon),
            Self::Wide => wide_worlds(),
        }
    }

    fn panel(self, reading: &Reading, name: String, world: World) -> Panel {
        let presets = reading.policies.as_deref().unwrap_or(self.policies());
        // The paper's Algorithm 2 is the one that learns its certificate, whatever others are told.
        let spec = |&preset: &Preset| PolicySpec {
            certificate: reading.certificate.filter(|_| preset != Preset::EllipsoidalMinUcb3d),
            ..PolicySpec::preset(preset)
        };
        Panel {
            name,
            world,
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

/// The paper's world without drift: what its studies and ours change.
fn plain() -> World {
    World {
        dimension: DIMENSION,
        parameters: cube(1.0, 0.0),
        coverage: Coverage::Gaussian { diversity: 1.0 },
        log_rows: LOG_ROWS,
        contexts: Contexts::Gaussian { actions: 5 },
        rewards: RewardModel::Gaussian,
        noise: NOISE,
    }
}

/// The paper's cube of live parameters.
fn cube(scale: f64, offset: f64) -> ParameterLaw {
    ParameterLaw::ScaledWithOffset { low: 0.25, high: 0.55, scale, offset, drift: vec![0.0; DIMENSION] }
}

/// The same cube in any dimension, and logs that miss some of it.
fn drifted(drift: Vec<f64>) -> ParameterLaw {
    ParameterLaw::ScaledWithOffset { low: 0.25, high: 0.55, scale: 1.0, offset: 0.0, drift }
}

/// Five actions with a feature each. Action 0 is the best, action 4 the worst; `low` and `high` are what the
/// logs say of them where they are wrong.
fn misleading_worlds() -> Vec<(String, World)> {
    /// Neither the first, which wins ties, nor at the other end.
    const BEST: usize = 2;
    const WORST: usize = 4;
    struct Arms {
        prefix: &'static str,
        noise: f64,
        live: [f64; DIMENSION],
        low: f64,
        high: f64,
    }
    let clear = Arms { prefix: "", noise: NOISE, live: [0.5, 0.7, 0.9, 0.3, 0.1], low: 0.2, high: 1.2 };
    // Gaps of a tenth of the noise: each live round says little.
    let noisy = Arms { prefix: "noisy-", noise: 0.5, live: [0.4, 0.45, 0.5, 0.35, 0.3], low: 0.1, high: 0.7 };
    let arms: Vec<Vec<f64>> = (0..DIMENSION).map(|arm| unit(DIMENSION, arm, 1.0)).collect();
    let counts = vec![(LOG_ROWS / DIMENSION) as u64; DIMENSION];
    let panels = [
        ("aligned", false, false),
        ("best-looks-bad", true, false),
        ("bad-looks-best", false, true),
        ("both", true, true),
    ];
    let world = |means: &Arms, (name, best_wrong, bad_wrong): (&str, bool, bool)| {
        let mut logged = means.live.to_vec();
        if best_wrong {
            logged[BEST] = means.low;
        }
        if bad_wrong {
            logged[WORST] = means.high;
        }
        let world = World {
            parameters: ParameterLaw::Given { live: means.live.to_vec(), logged },
            coverage: Coverage::Counts { features: arms.clone(), counts: counts.clone() },
            contexts: Contexts::Fixed { features: arms.clone() },
            noise: means.noise,
            ..plain()
        };
        (format!("{}{name}", means.prefix), world)
    };
    [&clear, &noisy].into_iter().flat_map(|means| panels.map(|panel| world(means, panel))).collect()
}

/// The features come alive two by two over the run, or a centre turns through all of them once. A centre is
/// the same for all actions of a round, so a drift along it matters at all times but when it is near.
fn shifting_worlds(horizon: u64) -> Vec<(String, World)> {
    // A horizon of 0 is refused where it is checked, as the horizon.
    let phase_rounds = horizon.div_ceil(3).max(1);
    let phases = Contexts::Shifting { actions: 5, phases: 3, phase_rounds, quiet: 0.1 };
    let turning = Contexts::Turning { actions: 5, turn_rounds: horizon.max(1), spread: 0.3 };
    let last = SHIFTING_DIMENSION - 1;
    [
        ("no-drift", &phases, 0, 0.0),
        ("early-drift", &phases, 0, 0.5),
        ("late-drift", &phases, last, 0.5),
        ("turning-no-drift", &turning, 0, 0.0),
        ("turning-drift", &turning, last, 0.5),
    ]
    .map(|(name, contexts, place, size)| {
        let world = World {
            dimension: SHIFTING_DIMENSION,
            parameters: drifted(unit(SHIFTING_DIMENSION, place, size)),
            contexts: contexts.clone(),
            ..plain()
        };
        (name.to_owned(), world)
    })
    .to_vec()
}

/// Three coordinates have drifted far, or all of them a little, by the same length in all.
fn wide_worlds() -> Vec<(String, World)> {
    let mut three = vec![0.0; WIDE_DIMENSION];
    for (place, sign) in [(0, 1.0), (20, -1.0), (40, 1.0)] {
        three[place] = sign * WIDE_DRIFT;
    }
    let little = WIDE_DRIFT * (3.0 / WIDE_DIMENSION as f64).sqrt();
    let all = (0..WIDE_DIMENSION).map(|place| if place % 2 == 0 { little } else { -little }).collect();
    [("no-drift", vec![0.0; WIDE_DIMENSION]), ("three-drifted", three), ("all-drifted", all)]
        .map(|(name, drift)| {
            let world = World {
                dimension: WIDE_DIMENSION,
                parameters: drifted(drift),
                log_rows: 5000,
                contexts: Contexts::Gaussian { actions: 10 },
                ..plain()
            };
            (name.to_owned(), world)
        })
        .to_vec()
}

fn ones_with(place: usize, value: f64) -> Vec<f64> {
    let mut vector = vec![1.0; DIMENSION];
    vector[place] = value;
    vector
}

/// Zeros but for one place.
fn unit(dimension: usize, place: usize, value: f64) -> Vec<f64> {
    let mut vector = vec![0.0; dimension];
    vector[place] = value;
    vector
}
