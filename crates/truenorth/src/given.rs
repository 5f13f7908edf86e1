//! What is known before the first round: the settings, the numbers that they leave to the logs, the logs' regression.

use crate::belief::{Belief, Evidence, Leveled, Told, Units};
use crate::certificate::Certificate;
use crate::dense::{Matrix, Vector};
use crate::error::Result;
use crate::offline::Offline;
use crate::settings::{Drift, Intervals, Method, Pooling, Prior, Settings};
use crate::statistic::RidgeStatistic;

/// Fixed once a policy is made; a function of its settings alone.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) settings: Settings,
    /// σ, as told or estimated from the logs.
    pub(crate) noise: f64,
    /// S, as told or estimated from the logs.
    pub(crate) norm_bound: f64,
    /// λ of each column.
    pub(crate) ridge: Vector,
    /// √λ S.
    pub(crate) slack: f64,
    pub(crate) offline: Offline,
    /// What all logged rewards have in common that no feature explains; 0 where rewards are taken as they are.
    pub(crate) level: f64,
    /// β_off(δ/3).
    pub(crate) offline_radius: f64,
    /// δ_{t,l} of either branch.
    pub(crate) layer_delta: f64,
    /// What may have drifted; nothing where that is learned or does not matter.
    pub(crate) certificate: Option<Certificate>,
    /// Columns that the logs never saw, where each is to be measured in a unit of its own and no belief learns it.
    pub(crate) unseen: Vec<usize>,
    /// The logs as the method looks at them, where that is not as they are: discounted, or not at all.
    seen: Option<RidgeStatistic>,
}

/// Which numbers a method takes from the logs, where it is told nothing.
#[derive(Clone, Copy, PartialEq)]
enum Measure {
    /// Features and rewards as they are.
    Plain,
    /// Every column in its own unit, rewards by their distance from the logs' level.
    Own,
}

impl Given {
    /// t/d in round t of a season, where t counts no more rounds than are remembered.
    pub(crate) fn rounds_per_feature(&self, round: u64) -> f64 {
        let Settings { half_life, dimension, .. } = &self.settings;
        let remembered = half_life.map_or(f64::INFINITY, |rounds| rounds / std::f64::consts::LN_2);
        (round as f64).min(remembered) / *dimension as f64
    }

    /// With the state of a posterior that learns before it has learned anything, where the method has one.
    pub(crate) fn new(settings: Settings) -> Result<(Self, Option<Belief>)> {
        settings.check()?;
        let dimension = settings.dimension;
        if settings.sparse {
            return Ok(Self::sparse(settings));
        }
        // A method without a use for logs never looks at them.
        let seen = match (settings.method.uses_logs(), settings.discount) {
            (true, 1.0) => None,
            (true, discount) => Some(settings.logs.weighted(discount)),
            (false, _) => Some(RidgeStatistic::empty(dimension)),
        };
        let logs = seen.as_ref().unwrap_or(&settings.logs);
        let told = Told { noise: settings.noise, norm_bound: settings.norm_bound };
        let learns = match settings.method {
            Method::Posterior { prior: Prior::Adaptive, .. } => true,
            // Live data alone has to tell what nobody else does.
            Method::Posterior { prior: Prior::Ridge, .. } => {
                told.noise.is_none() || told.norm_bound.is_none()
            }
            _ => false,
        };
        let measure = settings.measure();
        let units = if measure == Measure::Own { Units::new(logs) } else { Units::none(dimension) };
        let data = match measure {
            Measure::Own => Leveled::new(logs, &units, 0.0, 0.0),
            Measure::Plain => Leveled::new(logs, &units, 0.0, f64::INFINITY),
        };
        let found = if data.count > 0.0 { Evidence::of(&data) } else { Evidence::NONE };
        let noise = told.noise.unwrap_or(found.variance.sqrt());
        let own = |ridge: f64, gram: &Matrix, moment: &Vector| {
            Offline::with_ridge(ridge, &Vector::from_element(dimension, 1.0), gram.clone(), moment)
        };
        let norm_bound = match told.norm_bound {
            Some(bound) => bound,
            None if data.count > 0.0 => {
                let ridge = (found.variance / found.scale).clamp(1e-45, 1e45);
                let estimate = own(ridge, &data.gram, &data.moment)?;
                let length = estimate.estimate().iter().map(|entry| entry * entry).sum::<f64>().sqrt();
                if length > 1e-50 { 2.0 * length } else { 1.0 }
            }
            None => 1.0,
        };
        let bayesian = matches!(settings.method, Method::Posterior { .. });
        // A length S means S²/d for the square of each of d coefficients.
        let scale = told.norm_bound.map_or(found.scale, |bound| bound * bound / dimension as f64);
        let lambda = match settings.ridge {
            _ if bayesian && told.norm_bound.is_some() && !learns => (noise / norm_bound).powi(2),
            None if bayesian || settings.method == Method::Offline => noise * noise / scale,
            told => told.unwrap_or(1.0),
        };
        let lambda = lambda.clamp(1e-45, 1e45);
        let widths = units.vector();
        // The logs' own level is free for a posterior; for intervals of rewards it is what the logs say it is.
        let (mut offline, mut level) = (Offline::new(&settings.logs, lambda)?, 0.0);
        if measure == Measure::Own {
            let (gram, moment) = data.raw(&widths);
            offline = Offline::with_ridge(lambda, &widths, gram, &moment)?;
            level = data.level(logs, &Vector::from_column_slice(offline.estimate()));
            if !bayesian && settings.method != Method::Offline {
                let moment =
                    Vector::from_column_slice(logs.moment()) - Vector::from_column_slice(logs.sums()) * level;
                offline = Offline::with_ridge(lambda, &widths, logs.gram_matrix(), &moment)?;
            }
        }
        // Nobody drifts by more than twice the length of the longest.
        let trivial = || Certificate::of_units(&widths, 2.0 * norm_bound);
        let certificate = match (&settings.certificate, settings.method.intervals()) {
            (Some(told), _) => Some(told.clone()),
            (None, Some(Intervals::Pooled { drift: Drift::Told, .. })) => Some(trivial()?),
            _ => None,
        };
        let given = Self {
            offline_radius: offline.radius(noise, norm_bound, settings.delta / 3.0),
            layer_delta: settings.layer_delta()?,
            slack: lambda.sqrt() * norm_bound,
            ridge: widths.map(|unit| lambda * unit * unit),
            noise,
            norm_bound,
            offline,
            level,
            certificate,
            unseen: units.unseen(),
            seen,
            settings,
        };
        let belief = learns.then(|| Belief::new(told, given.logs()));
        Ok((given, belief))
    }

    /// The same for a sparse policy, whose belief finds out what nobody tells; nothing here is of the size of a matrix.
    fn sparse(settings: Settings) -> (Self, Option<Belief>) {
        let Settings { dimension, noise, norm_bound, delta, discount, .. } = settings;
        let learns = noise.is_none() || norm_bound.is_none() || settings.method.uses_logs();
        let logs = if settings.method.uses_logs() {
            settings.logs.parted().weighted(discount)
        } else {
            RidgeStatistic::empty(dimension)
        };
        let told = Told { noise, norm_bound };
        let belief = learns.then(|| Belief::new(told, &logs));
        let (noise, bound) = (noise.unwrap_or(1.0), norm_bound.unwrap_or(1.0));
        let lambda = match settings.ridge {
            Some(ridge) if learns => ridge,
            None if learns => {
                noise * noise / norm_bound.map_or(1.0, |bound| bound * bound / dimension as f64)
            }
            _ => (noise / bound).powi(2),
        };
        let lambda = lambda.clamp(1e-45, 1e45);
        let given = Self {
            noise,
            norm_bound: bound,
            ridge: Vector::from_element(dimension, lambda),
            slack: lambda.sqrt() * bound,
            offline: Offline::none(lambda),
            level: 0.0,
            offline_radius: 0.0,
            layer_delta: delta / 3.0,
            certificate: None,
            unseen: Vec::new(),
            seen: Some(logs),
            settings,
        };
        (given, belief)
    }

    /// The logs as the method looks at them.
    pub(crate) fn logs(&self) -> &RidgeStatistic {
        self.seen.as_ref().unwrap_or(&self.settings.logs)
    }
}

impl Settings {
    /// How features and rewards are measured: in units of their own where nothing is told that has a unit.
    fn measure(&self) -> Measure {
        let told = self.ridge.is_some() || self.norm_bound.is_some() || self.certificate.is_some();
        let discounted = matches!(
            self.method.intervals(),
            Some(Intervals::Pooled { pooling: Pooling::Discounted, drift: Drift::Told, .. })
        );
        match self.method {
            Method::Posterior { prior: Prior::Warm, .. } | Method::Offline if !told => Measure::Own,
            _ if discounted && !told => Measure::Own,
            _ => Measure::Plain,
        }
    }
}
