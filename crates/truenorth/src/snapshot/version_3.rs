//! Snapshots of version 0.1.0: six switches instead of a method, and one state for all of them.

use std::borrow::Cow;

use serde::Deserialize;

use super::State;
use crate::arms::Arms;
use crate::belief::Belief;
use crate::certificate::Certificate;
use crate::confidence::{Confidence, Layer};
use crate::error::{Error, Result};
use crate::favourite::Favourite;
use crate::learned::Epochs;
use crate::policy::Family;
use crate::posterior::{Posterior, Room};
use crate::round::Counts;
use crate::settings::{Explore, Intervals, Method, Pooling, Schedule, Settings};
use crate::statistic::RidgeStatistic;
use crate::switches::{Branches, Certification, Layering, Switches, Width};

pub(super) const VERSION: u32 = 3;

#[derive(Deserialize)]
struct Snapshot {
    params: Params,
    _noise_and_norm_bound: (f64, f64),
    /// Ridge, precision, factor, estimate, log-determinant: they follow from the parameters.
    _offline: (f64, Matrix, Matrix, (Vec<f64>, usize), f64),
    _offline_radius_and_layer_delta: (f64, f64),
    certificate: Option<Certificate>,
    /// Rounds, radius, alignment and routed bias of each epoch.
    _epochs: Vec<(u64, f64, f64, f64)>,
    layers: Vec<Layer>,
    counts: Counts,
    _routed_bias: f64,
    belief: Option<Belief>,
    due: u64,
}

/// Entries, rows, columns.
type Matrix = (Vec<f64>, usize, usize);

#[derive(Deserialize)]
struct Params {
    dimension: usize,
    horizon: Option<u64>,
    noise: Option<f64>,
    norm_bound: Option<f64>,
    ridge: f64,
    delta: f64,
    schedule: Option<Schedule>,
    switches: (Layering, Branches, Pooling, Rule, Width, Explore),
    seed: u64,
    exploration_scale: f64,
    offline: RidgeStatistic,
}

#[derive(Deserialize)]
enum Rule {
    None,
    Fixed(Certificate),
    Learned(Epochs),
    Adaptive,
}

impl Params {
    fn settings(self) -> Result<Settings> {
        let (layering, branches, pooling, rule, width, explore) = self.switches;
        let (rule, told) = match rule {
            Rule::None => (Certification::Told, None),
            Rule::Fixed(certificate) => (Certification::Told, Some(certificate)),
            Rule::Learned(epochs) => (Certification::Learned(epochs), None),
            Rule::Adaptive => (Certification::Adaptive, None),
        };
        let words = Switches { layering, branches, pooling, certificate: rule, width, explore };
        Ok(Settings {
            dimension: self.dimension,
            method: words.try_into()?,
            logs: self.offline,
            certificate: told,
            horizon: self.horizon,
            noise: self.noise,
            norm_bound: self.norm_bound,
            ridge: self.ridge,
            delta: self.delta,
            schedule: self.schedule,
            exploration_scale: self.exploration_scale,
            seed: self.seed,
        })
    }
}

pub(super) fn read(payload: &[u8]) -> Result<State<'static>> {
    let damaged = |reason: String| Error::SnapshotDamaged { reason };
    let old: Snapshot = postcard::from_bytes(payload).map_err(|error| damaged(error.to_string()))?;
    let settings = old.params.settings().map_err(|error| damaged(error.to_string()))?;
    let incomplete = || damaged("its parts do not fit together".to_owned());
    let family = if let Some(intervals) = settings.method.intervals() {
        let adaptive = matches!(settings.method, Method::Adaptive { .. });
        let certificate = old.certificate.filter(|_| matches!(intervals, Intervals::Pooled { .. }));
        Family::Confidence(Confidence { intervals, adaptive, certificate, layers: old.layers, due: old.due })
    } else {
        let Layer { data, online, informed, before_play: alone, .. } =
            old.layers.into_iter().next().ok_or_else(incomplete)?;
        let precision = informed.or(online).ok_or_else(incomplete);
        match settings.method {
            Method::Arms => Family::Arms(Arms { data }),
            Method::Posterior { prior, .. } => Family::Posterior(Posterior {
                prior,
                data,
                precision: precision?,
                alone,
                belief: old.belief,
                room: Room::default(),
            }),
            _ => Family::Offline(Favourite { data, logs: precision? }),
        }
    };
    Ok(State { settings: Cow::Owned(settings), counts: old.counts, family: Cow::Owned(family) })
}
