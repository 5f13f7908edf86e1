//! Policies of an experiment: a preset, what is changed in it, and which certificate it is told.

use truenorth::{
    Branches, Certificate, CertificateRule, Epochs, Layering, Params, Policy, Pooling, Preset,
    RidgeStatistic, Schedule,
};

use crate::error::{Error, Result};
use crate::panel::Panel;
use crate::world::dot;

/// Smallest budget of a coordinate: a certificate cannot forbid drift altogether.
const LEAST_BUDGET: f64 = 0.01;

/// What a policy with a fixed certificate is told about the drift Δ of its run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CertificateKind {
    /// The drift of each coordinate: M = diag(1/v²) with v = max(|Δ|, 0.01), ρ = ‖Δ‖ in M.
    #[default]
    Coordinate,
    /// The length of the drift alone: M = I, ρ = ‖Δ‖.
    Isotropic,
}

/// One policy of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicySpec {
    /// Its name in figures and results.
    pub name: String,
    /// What it starts from.
    pub preset: Preset,
    /// Which certificate it is told, where it needs one.
    pub certificate: CertificateKind,
    /// Changes of the preset's switches.
    pub layering: Option<Layering>,
    /// See `layering`.
    pub branches: Option<Branches>,
    /// See `layering`.
    pub pooling: Option<Pooling>,
    /// See `layering`.
    pub schedule: Option<Schedule>,
    /// Whether the certificate is learned instead of told.
    pub learned: Option<bool>,
    /// Factor on every radius.
    pub exploration_scale: f64,
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
}

impl PolicySpec {
    /// A preset under its own name.
    pub fn preset(preset: Preset) -> Self {
        Self {
            name: preset.name().to_owned(),
            preset,
            certificate: CertificateKind::default(),
            layering: None,
            branches: None,
            pooling: None,
            schedule: None,
            learned: None,
            exploration_scale: 1.0,
        }
    }

    /// Whether the library takes the switches together, and with the panel's numbers. What else it checks
    /// depends on what a run draws, so one feature and any drift will do.
    pub fn check(&self, panel: &Panel) -> truenorth::Result<()> {
        let told = Told {
            live: &[1.0],
            logged: &[0.0],
            logs: &RidgeStatistic::new(1)?,
            horizon: panel.horizon,
            noise: panel.world.noise,
            norm_bound: 1.0,
            ridge: panel.ridge,
            delta: panel.delta,
        };
        Policy::new(self.try_params(&told)?).map(drop)
    }

    pub(crate) fn params(&self, told: &Told<'_>) -> Result<Params> {
        self.try_params(told).map_err(|error| Error::InPolicy { name: self.name.clone(), error })
    }

    fn try_params(&self, told: &Told<'_>) -> truenorth::Result<Params> {
        let preset = self.preset.params(told.live.len())?;
        let learned = self.learned.unwrap_or(matches!(preset.certificate, CertificateRule::Learned(_)));
        Ok(Params {
            horizon: Some(told.horizon),
            noise: told.noise,
            norm_bound: told.norm_bound,
            ridge: told.ridge,
            delta: told.delta,
            schedule: self.schedule,
            layering: self.layering.unwrap_or(preset.layering),
            branches: self.branches.unwrap_or(preset.branches),
            pooling: self.pooling.unwrap_or(preset.pooling),
            certificate: if learned {
                CertificateRule::Learned(Epochs::Doubling)
            } else {
                CertificateRule::Fixed(self.certificate(told)?)
            },
            exploration_scale: self.exploration_scale,
            offline: told.logs.clone(),
            ..preset
        })
    }

    fn certificate(&self, told: &Told<'_>) -> truenorth::Result<Certificate> {
        let drift: Vec<f64> = told.live.iter().zip(told.logged).map(|(live, logged)| live - logged).collect();
        match self.certificate {
            CertificateKind::Isotropic => Certificate::isotropic(drift.len(), dot(&drift, &drift).sqrt()),
            CertificateKind::Coordinate => {
                let budgets: Vec<f64> = drift.iter().map(|drift| drift.abs().max(LEAST_BUDGET)).collect();
                let certificate = Certificate::from_budgets(&budgets)?;
                let radius = certificate.norm(&drift)?;
                certificate.with_radius(radius)
            }
        }
    }
}
