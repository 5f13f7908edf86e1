//! Policies of an experiment: a preset, what is changed in it, and which certificate it is told.

use truenorth::{
    Branches, Certificate, CertificateRule, Epochs, Explore, Layering, Params, Policy, Pooling, Preset,
    RidgeStatistic, Schedule, Width,
};

use crate::error::{Error, Result};
use crate::panel::Panel;
use crate::world::dot;

/// Smallest budget of a coordinate: a certificate cannot forbid drift altogether.
const LEAST_BUDGET: f64 = 0.01;

/// What a policy with a pooled branch is told about the drift Δ of its run, or how it learns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateKind {
    /// The drift of each coordinate: M = diag(1/v²) with v = max(|Δ|, 0.01), ρ = ‖Δ‖ in M.
    Coordinate,
    /// The length of the drift alone: M = I, ρ = ‖Δ‖. What prior work is told.
    Isotropic,
    /// Nothing: learned by the paper's epochs.
    Learned,
    /// Nothing: learned direction by direction.
    Adaptive,
}

/// One policy of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicySpec {
    /// Its name in figures and results.
    pub name: String,
    /// What it starts from.
    pub preset: Preset,
    /// Which certificate it has, where it needs one; without this the preset's, and the drift of each
    /// coordinate where that is a fixed one.
    pub certificate: Option<CertificateKind>,
    /// A certificate that it is told in every run instead, whatever the drift.
    pub given: Option<Certificate>,
    /// Changes of the preset's switches.
    pub layering: Option<Layering>,
    /// See `layering`.
    pub branches: Option<Branches>,
    /// See `layering`.
    pub pooling: Option<Pooling>,
    /// See `layering`.
    pub schedule: Option<Schedule>,
    /// See `layering`.
    pub width: Option<Width>,
    /// See `layering`.
    pub explore: Option<Explore>,
    /// Factor on every radius, or the preset's own.
    pub exploration_scale: Option<f64>,
    /// Whether it is told noise and norm bound; otherwise it estimates them from the logs.
    pub told: bool,
}

/// What a run tells a policy.
pub(crate) struct Told<'a> {
    pub(crate) live: &'a [f64],
    pub(crate) logged: &'a [f64],
    pub(crate) logs: &'a RidgeStatistic,
    pub(crate) horizon: u64,
    pub(crate) noise: f64,
    pub(crate) norm_bound: f64,
    pub(crate) ridge: f64,
    pub(crate) delta: f64,
    pub(crate) seed: u64,
}

impl PolicySpec {
    /// A preset under its own name.
    pub fn preset(preset: Preset) -> Self {
        Self {
            name: preset.name().to_owned(),
            preset,
            certificate: None,
            given: None,
            layering: None,
            branches: None,
            pooling: None,
            schedule: None,
            width: None,
            explore: None,
            exploration_scale: None,
            told: !matches!(preset, Preset::TrueNorth | Preset::TrueNorthSampling),
        }
    }

    /// Whether the library takes the switches together, and with the panel's numbers. What else it checks
    /// depends on what a run draws, so one feature and any drift will do.
    pub fn check(&self, panel: &Panel) -> truenorth::Result<()> {
        let dimension = self.given.as_ref().map_or(1, |_| panel.world.dimension);
        let told = Told {
            live: &vec![1.0; dimension],
            logged: &vec![0.0; dimension],
            logs: &RidgeStatistic::new(dimension)?,
            horizon: panel.horizon,
            noise: panel.world.noise,
            norm_bound: 1.0,
            ridge: panel.ridge,
            delta: panel.delta,
            seed: 0,
        };
        Policy::new(self.try_params(&told)?).map(drop)
    }

    pub(crate) fn params(&self, told: &Told<'_>) -> Result<Params> {
        self.try_params(told).map_err(|error| Error::InPolicy { name: self.name.clone(), error })
    }

    fn try_params(&self, told: &Told<'_>) -> truenorth::Result<Params> {
        let preset = self.preset.params(told.live.len())?;
        let kind = self.certificate.unwrap_or(match preset.certificate {
            CertificateRule::Learned(_) => CertificateKind::Learned,
            CertificateRule::Adaptive => CertificateKind::Adaptive,
            CertificateRule::None | CertificateRule::Fixed(_) => CertificateKind::Coordinate,
        });
        Ok(Params {
            horizon: Some(told.horizon),
            noise: self.told.then_some(told.noise),
            norm_bound: self.told.then_some(told.norm_bound),
            ridge: told.ridge,
            delta: told.delta,
            schedule: self.schedule,
            layering: self.layering.unwrap_or(preset.layering),
            branches: self.branches.unwrap_or(preset.branches),
            pooling: self.pooling.unwrap_or(preset.pooling),
            width: self.width.unwrap_or(preset.width),
            explore: self.explore.unwrap_or(preset.explore),
            certificate: match kind {
                _ if self.given.is_some() => {
                    self.given.clone().map_or(CertificateRule::None, CertificateRule::Fixed)
                }
                CertificateKind::Learned => CertificateRule::Learned(Epochs::Doubling),
                CertificateKind::Adaptive => CertificateRule::Adaptive,
                CertificateKind::Coordinate | CertificateKind::Isotropic => {
                    CertificateRule::Fixed(fixed_certificate(kind, told)?)
                }
            },
            exploration_scale: self.exploration_scale.unwrap_or(preset.exploration_scale),
            offline: told.logs.clone(),
            seed: told.seed,
            ..preset
        })
    }
}

fn fixed_certificate(kind: CertificateKind, told: &Told<'_>) -> truenorth::Result<Certificate> {
    let drift: Vec<f64> = told.live.iter().zip(told.logged).map(|(live, logged)| live - logged).collect();
    if kind == CertificateKind::Isotropic {
        return Certificate::isotropic(drift.len(), dot(&drift, &drift).sqrt());
    }
    let budgets: Vec<f64> = drift.iter().map(|drift| drift.abs().max(LEAST_BUDGET)).collect();
    let certificate = Certificate::from_budgets(&budgets)?;
    let radius = certificate.norm(&drift)?;
    certificate.with_radius(radius)
}
