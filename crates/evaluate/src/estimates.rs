//! Estimates from weights alone.

use serde::Serialize;

use crate::warning;

/// A logged decision, and what is asked about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// What the action that was taken paid.
    pub reward: f64,
    /// With which probability it was taken.
    pub probability: f64,
    /// With which probability the other policy takes it.
    pub target: f64,
    /// For how many decisions it stands.
    pub weight: f64,
}

impl Decision {
    /// How much more often the other policy takes the action.
    pub fn ratio(&self) -> f64 {
        self.target / self.probability
    }
}

/// What a policy earns a decision, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error; none where there is nothing to take it from.
    pub stderr: Option<f64>,
    /// Lower end of the 95 % interval.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
}

/// 97.5 % of a normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

impl Estimate {
    /// With a standard error that rests on so many numbers.
    pub(crate) fn new(value: f64, variance: f64, numbers: f64) -> Self {
        if !(numbers > 1.0 && variance >= 0.0) {
            return Self { value, stderr: None, lower: None, upper: None };
        }
        let stderr = variance.sqrt();
        // Student's t with so many degrees of freedom, to the second order of its expansion.
        let freedom = numbers - 1.0;
        let (z, cube) = (NORMAL, NORMAL.powi(3));
        let second = (5.0 * z.powi(5) + 16.0 * cube + 3.0 * z) / 96.0;
        let width = stderr * (z + (cube + z) / (4.0 * freedom) + second / (freedom * freedom));
        Self { value, stderr: Some(stderr), lower: Some(value - width), upper: Some(value + width) }
    }

    /// Without an interval.
    fn bare(self) -> Self {
        Self { stderr: None, lower: None, upper: None, ..self }
    }
}

/// Mean of numbers, each of which stands for so many.
pub(crate) fn mean(numbers: impl Iterator<Item = (f64, f64)> + Clone) -> Estimate {
    let (mut all, mut sum, mut count) = (0.0, 0.0, 0.0);
    for (number, weight) in numbers.clone() {
        (all, sum, count) = (all + weight, sum + weight * number, count + 1.0);
    }
    let mean = sum / all;
    let squares: f64 = numbers.map(|(number, weight)| (weight * (number - mean)).powi(2)).sum();
    Estimate::new(mean, squares / (all * all) * count / (count - 1.0), count)
}

/// Mean of rewards under shares; the interval is that of a quotient of two sums.
fn weighted(decisions: &[Decision], share: impl Fn(&Decision) -> f64) -> Option<Estimate> {
    let share = |decision: &Decision| decision.weight * share(decision);
    let all: f64 = decisions.iter().map(share).sum();
    if all <= 0.0 {
        return None;
    }
    let value = decisions.iter().map(|decision| share(decision) * decision.reward).sum::<f64>() / all;
    let squares =
        |of: &dyn Fn(&Decision) -> f64| decisions.iter().map(|decision| of(decision).powi(2)).sum::<f64>();
    let spread = squares(&|decision| share(decision) * (decision.reward - value));
    let effective = all * all / squares(&share);
    Some(Estimate::new(value, spread / (all * all) * effective / (effective - 1.0), effective))
}

/// What the weights of a log say about another policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimates {
    /// Logged decisions with a reward.
    pub decisions: usize,
    /// What was earned.
    pub logged: Estimate,
    /// What was earned where both policies agree; none where they never do.
    pub replay: Option<Estimate>,
    /// Inverse propensity score.
    pub ips: Estimate,
    /// Self-normalised.
    pub snips: Estimate,
    /// How many decisions of the other policy itself would tell as much: (Σw)² / Σw².
    #[serde(rename = "effective_sample_size")]
    pub effective: f64,
    /// Mean of the weights: 1, but for chance, if the probabilities are right and leave nothing out.
    pub mean_weight: Estimate,
    /// The largest weight.
    pub largest_weight: f64,
    /// Why the numbers cannot be relied on, if so.
    pub warnings: Vec<String>,
    /// Whether an interval can be told: rewards differ, and the weights are 1 on average.
    #[serde(skip)]
    pub intervals: bool,
}

impl Estimates {
    /// From decisions, of which there is at least one.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn new(decisions: &[Decision]) -> Self {
        assert!(!decisions.is_empty(), "without decisions there is nothing to estimate");
        let of = |number: fn(&Decision) -> f64| mean(decisions.iter().map(move |d| (number(d), d.weight)));
        let ratios = || decisions.iter().map(|decision| decision.weight * decision.ratio());
        let squares: f64 = ratios().map(|ratio| ratio * ratio).sum();
        let all: f64 = ratios().sum();
        let nothing = Estimate { value: 0.0, stderr: None, lower: None, upper: None };
        let mut found = Self {
            decisions: decisions.len(),
            logged: of(|decision| decision.reward),
            replay: weighted(decisions, |decision| decision.target),
            ips: of(|decision| decision.ratio() * decision.reward),
            snips: weighted(decisions, Decision::ratio).unwrap_or(nothing),
            effective: if squares > 0.0 { all * all / squares } else { 0.0 },
            mean_weight: of(Decision::ratio),
            largest_weight: decisions.iter().map(Decision::ratio).fold(0.0, f64::max),
            warnings: Vec::new(),
            intervals: true,
        };
        found.warnings = warning::of(&found, decisions);
        let constant = warning::is_constant(decisions);
        found.intervals = !constant && !warning::is_off(found.mean_weight);
        found.logged = if constant { found.logged.bare() } else { found.logged };
        found.replay = found.replay.map(|replay| found.told(replay));
        (found.ips, found.snips) = (found.told(found.ips), found.told(found.snips));
        found
    }

    /// An estimate from these decisions, without its interval where none can be told.
    #[must_use]
    pub fn told(&self, estimate: Estimate) -> Estimate {
        if self.intervals { estimate } else { estimate.bare() }
    }
}
