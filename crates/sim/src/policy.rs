//! Policies of an experiment: a preset, what is changed in it, and which certificate it is told.

use serde::Deserialize;
use truenorth::{Certificate, Policy, Preset, RidgeStatistic, Schedule};

use crate::panel::Panel;
use crate::switches::{Certification, Switches};
use crate::world::dot;

/// Smallest budget of a coordinate: a certificate cannot forbid drift altogether.
const LEAST_BUDGET: f64 = 0.01;

/// What a policy with a pooled branch is told about the drift Δ of its run, or how it learns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CertificateKind {
    /// The drift of each coordinate: M = diag(1/v²) with v = max(|Δ|, 0.01), ρ = ‖Δ‖ in M.
    Coordinate,
    /// The length of the drift alone: M = I, ρ = ‖Δ‖. What prior work is told.
    Isotropic,
    /// Nothing: learned by the paper's epochs.
    Learned,
    /// Nothing: learned direction by direction.
    Adaptive,
    /// Nothing: with discounted pooling, twice the norm bound at most.
    Trivial,
}

/// One policy of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicySpec {
    /// Its name in figures and results.
    pub name: String,
    /// How it decides. Which certificate it has follows from the next two, if they are given.
    pub switches: Switches,
    /// Which certificate it has, where it needs one; without this that of the switches, and the drift of each
    /// coordinate where that is a fixed one.
    pub certificate: Option<CertificateKind>,
    /// A certificate that it is told in every run instead, whatever the drift.
    pub given: Option<Certificate>,
    /// How δ is divided among rounds, or that of the layering.
    pub schedule: Option<Schedule>,
    /// Factor on every radius.
    pub exploration_scale: f64,
    /// Whether it is told noise and norm bound; otherwise it estimates them from the logs.
    pub told: bool,
}

/// What a run tells a policy.
pub(crate) struct Told<'a> {
    pub(crate) panel: &'a Panel,
    pub(crate) live: &'a [f64],
    pub(crate) logged: &'a [f64],
    pub(crate) logs: &'a RidgeStatistic,
    pub(crate) norm_bound: f64,
    pub(crate) seed: u64,
}

impl PolicySpec {
    /// A preset under its own name.
    pub fn preset(preset: Preset) -> Self {
        Self {
            name: preset.name().to_owned(),
            switches: preset.method().into(),
            certificate: (preset == Preset::TrueNorthConfidence).then_some(CertificateKind::Trivial),
            given: None,
            schedule: None,
            exploration_scale: preset.exploration_scale(),
            told: !matches!(preset, Preset::TrueNorth | Preset::TrueNorthSampling),
        }
    }

    /// Whether the library takes the switches together, and with the panel's numbers. What else it checks
    /// depends on what a run draws, so one feature and any drift will do.
    pub fn check(&self, panel: &Panel) -> truenorth::Result<()> {
        let dimension = self.given.as_ref().map_or(1, |_| panel.world.dimension);
        let (live, logged) = (&vec![1.0; dimension], &vec![0.0; dimension]);
        let logs = &RidgeStatistic::new(dimension)?;
        self.policy(&Told { panel, live, logged, logs, norm_bound: 1.0, seed: 0 }).map(drop)
    }

    pub(crate) fn policy(&self, told: &Told<'_>) -> truenorth::Result<Policy> {
        let (rule, certificate) = match (&self.given, self.certificate) {
            (Some(given), _) => (Certification::Told, Some(given.clone())),
            (None, Some(CertificateKind::Learned)) => (Certification::Learned(None), None),
            (None, Some(CertificateKind::Adaptive)) => (Certification::Adaptive, None),
            (None, Some(CertificateKind::Trivial)) => (Certification::Told, None),
            (None, None) if self.switches.certificate != Certification::Told => {
                (self.switches.certificate.clone(), None)
            }
            (None, kind) => (Certification::Told, Some(fixed_certificate(kind, told)?)),
        };
        let switches = Switches { certificate: rule, ..self.switches.clone() };
        let panel = told.panel;
        let settings = Policy::builder(told.live.len()).method(switches.try_into()?);
        settings
            .logs(told.logs.clone())
            .certificate(certificate)
            .horizon(panel.horizon)
            .noise(self.told.then_some(panel.world.noise))
            .norm_bound(self.told.then_some(told.norm_bound))
            .ridge(panel.ridge)
            .delta(panel.delta)
            .schedule(self.schedule)
            .exploration_scale(self.exploration_scale)
            .seed(told.seed)
            .build()
    }
}

fn fixed_certificate(kind: Option<CertificateKind>, told: &Told<'_>) -> truenorth::Result<Certificate> {
    let drift: Vec<f64> = told.live.iter().zip(told.logged).map(|(live, logged)| live - logged).collect();
    if kind == Some(CertificateKind::Isotropic) {
        return Certificate::isotropic(drift.len(), dot(&drift, &drift).sqrt());
    }
    let budgets: Vec<f64> = drift.iter().map(|drift| drift.abs().max(LEAST_BUDGET)).collect();
    let certificate = Certificate::from_budgets(&budgets)?;
    let radius = certificate.norm(&drift)?;
    certificate.with_radius(radius)
}
