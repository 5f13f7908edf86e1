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
use truenorth_sim::{
    CertificateKind, Contexts, Coverage, Figure, NormBound, Panel, ParameterLaw, PolicySpec, World,
};

/// Features of the paper's worlds.
const DIMENSION: usize = 5;
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
        let Panel { horizon, runs, seed, norm_bound, .. } = Panel::default();
        Self { horizon, runs, seed, norm_bound, certificate: None, policies: None }
    }
}

impl Study {
    /// The paper's, in its order.
    pub const PAPER: [Self; 4] = [Self::Main, Self::Bias, Self::Ablation, Self::Coverage];
    /// Those that go beyond the paper.
    pub const BEYOND: [Self; 3] = [Self::Misleading, Self::Shifting, Self::Wide];

    /// Its name, and that of its figure.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Its name, and what it varies for a figure's title.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Main => ("main", "Coordinate-split drift: logs (1, s, 1, 1, 1), live (s, 1, 1, 1, 1)"),
            Self::Bias => ("bias", "Randomised bias: logs (1 − c) θ + u with u in [0, c], live θ"),
            Self::Ablation => ("ablation", "Ablation: one logged coefficient off, live (2, 1, 1, 1, 1)"),
            Self::Coverage => ("coverage", "Coverage: logs without drift, seen in the box [0, 1] × [0, w]⁴"),
            Self::Misleading => {
                ("misleading", "Misleading logs: five fixed actions, 400 logged rows of each")
            }
            Self::Shifting => {
                ("shifting", "Shifting contexts: drift in a feature that comes alive early, or late")
            }
            Self::Wide => ("wide", "Wide: ten actions of 50 features, 5,000 logged rows"),
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
        let &Reading { horizon, runs, seed, norm_bound, certificate, .. } = reading;
        // The paper's Algorithm 2 is the one that learns its certificate, whatever others are told.
        let spec = |&preset: &Preset| {
            let own = PolicySpec::preset(preset);
            let told = certificate.filter(|_| preset != Preset::EllipsoidalMinUcb3d);
            PolicySpec { certificate: told.or(own.certificate), ..own }
        };
        let presets = reading.policies.as_deref().unwrap_or(self.policies());
        let policies: Vec<_> = presets.iter().map(spec).collect();
        let panel = |(name, world)| {
            let policies = policies.clone();
            Panel { name, world, policies, horizon, runs, seed, norm_bound, ..Panel::default() }
        };
        let panels = self.worlds(horizon).into_iter().map(panel).collect();
        let (name, title) = self.words();
        Figure { name: name.to_owned(), title: title.to_owned(), panels }
    }

    /// The worlds of its panels, by name.
    fn worlds(self, horizon: u64) -> Vec<(String, World)> {
        let world = |parameters| World { parameters, ..World::default() };
        let given = |live: [f64; DIMENSION], logged: [f64; DIMENSION]| {
            world(ParameterLaw::Given { live: live.to_vec(), logged: logged.to_vec() })
        };
        match self {
            Self::Main => {
                varied("s", &[1.1, 2.0, 10.0], |s| given([s, 1.0, 1.0, 1.0, 1.0], [1.0, s, 1.0, 1.0, 1.0]))
            }
            Self::Bias => varied("c", &[0.0, 0.2, 0.4, 0.6, 0.8], |c| {
                world(ParameterLaw::cube(1.0 - c, c, vec![0.0; DIMENSION]))
            }),
            Self::Ablation => varied("theta1", &[0.0, 1.0, 2.0, 3.0, 4.0], |first| {
                given([2.0, 1.0, 1.0, 1.0, 1.0], [first, 1.0, 1.0, 1.0, 1.0])
            }),
            Self::Coverage => varied("w", &[1.0, 0.5, 0.1, 0.05, 0.01], |w| {
                let coverage = Coverage::Box { low: vec![0.0; DIMENSION], high: vec![1.0, w, w, w, w] };
                World { coverage, ..World::default() }
            }),
            Self::Misleading => misleading_worlds(),
            Self::Shifting => shifting_worlds(horizon),
            Self::Wide => wide_worlds(),
        }
    }
}

/// A world for each value of one number.
fn varied(name: &str, values: &[f64], world: impl Fn(f64) -> World) -> Vec<(String, World)> {
    values.iter().map(|&value| (format!("{name}={value}"), world(value))).collect()
}

/// Five actions with a feature each; `low` and `high` are what the logs say of the best and the worst of them where
/// they are wrong.
fn misleading_worlds() -> Vec<(String, World)> {
    /// Neither the first, which wins ties, nor at the other end.
    const BEST: usize = 2;
    const WORST: usize = 4;
    let clear = ("", 0.1, [0.5, 0.7, 0.9, 0.3, 0.1], 0.2, 1.2);
    // Gaps of a tenth of the noise: each live round says little.
    let noisy = ("noisy-", 0.5, [0.4, 0.45, 0.5, 0.35, 0.3], 0.1, 0.7);
    let mut worlds = Vec::new();
    for (prefix, noise, live, low, high) in [clear, noisy] {
        for (name, best, worst) in [
            ("aligned", live[BEST], live[WORST]),
            ("best-looks-bad", low, live[WORST]),
            ("bad-looks-best", live[BEST], high),
            ("both", low, high),
        ] {
            let mut logged = live.to_vec();
            (logged[BEST], logged[WORST]) = (best, worst);
            let world = World {
                noise,
                ..fixed_actions(axes(DIMENSION), vec![400; DIMENSION], live.to_vec(), logged)
            };
            worlds.push((format!("{prefix}{name}"), world));
        }
    }
    worlds
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
            parameters: ParameterLaw::cube(1.0, 0.0, axis(SHIFTING_DIMENSION, place, size)),
            contexts: contexts.clone(),
            ..World::default()
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
                parameters: ParameterLaw::cube(1.0, 0.0, drift),
                log_rows: 5000,
                contexts: Contexts::Gaussian { actions: 10 },
                ..World::default()
            };
            (name.to_owned(), world)
        })
        .to_vec()
}

/// The same actions in every round, and as often in the logs as counted.
pub(crate) fn fixed_actions(
    actions: Vec<Vec<f64>>,
    counts: Vec<u64>,
    live: Vec<f64>,
    logged: Vec<f64>,
) -> World {
    World {
        dimension: live.len(),
        parameters: ParameterLaw::Given { live, logged },
        coverage: Coverage::Counts { features: actions.clone(), counts },
        contexts: Contexts::Fixed { features: actions },
        ..World::default()
    }
}

/// Zeros but for one place.
pub(crate) fn axis(dimension: usize, place: usize, value: f64) -> Vec<f64> {
    let mut vector = vec![0.0; dimension];
    vector[place] = value;
    vector
}

/// The unit vectors.
pub(crate) fn axes(dimension: usize) -> Vec<Vec<f64>> {
    (0..dimension).map(|place| axis(dimension, place, 1.0)).collect()
}
