//! Fits beside decisions: what a fit needs leaves the policy, what it finds comes back, and no decision waits for it.

use std::sync::Arc;

use crate::belief::Belief;
use crate::check;
use crate::error::Result;
use crate::given::Given;
use crate::later::Later;
use crate::policy::{Family, Policy};
use crate::posterior::{Known, Posterior};
use crate::round::Row;
use crate::score::Scoreboard;
use crate::statistic::RidgeStatistic;

/// A fit that is due, with all that it needs. It may run on another thread, while the policy goes on.
///
/// ```
/// use truenorth::{Actions, Policy};
///
/// let mut policy = Policy::builder(2).fits_beside(true).build()?;
/// let actions = Actions::new(&[1.0, 0.0, 0.0, 1.0], 2)?;
/// for round in 0..100 {
///     let choice = policy.choose(actions)?;
///     policy.learn(choice.rewarded(actions, 0.7))?;
///     if let Some(fit) = policy.begin_fit() {
///         let found = std::thread::spawn(move || fit.run());
///         // Many more rounds; then
///         policy.finish_fit(found.join().unwrap())?;
///     }
/// }
/// # Ok::<(), truenorth::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fit {
    given: Arc<Given>,
    asked: Asked,
}

/// What a [`Fit`] has found.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// What the policy was made from, when it became due.
    given: Arc<Given>,
    belief: Belief,
    /// Nothing where a matrix was singular by rounding.
    found: Option<(Known, Option<Known>)>,
    /// Rewards when it became due.
    rewards: u64,
}

/// What a fit is made from, as it was when it became due.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Asked {
    pub(crate) belief: Belief,
    pub(crate) data: RidgeStatistic,
    pub(crate) rewards: u64,
}

/// A fit that has not come back, and what was learned since it became due.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Waiting {
    asked: Asked,
    since: Vec<Learned>,
}

/// Columns, where not all are there, values and reward.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Learned {
    columns: Option<Vec<usize>>,
    values: Vec<f64>,
    reward: f64,
}

impl Learned {
    fn row(&self) -> Row<'_> {
        self.columns
            .as_ref()
            .map_or_else(|| Row::from(&self.values), |columns| Row::sparse(columns, &self.values))
    }
}

impl Waiting {
    pub(crate) fn new(asked: Asked) -> Self {
        Self { asked, since: Vec::new() }
    }

    pub(crate) fn learn(&mut self, features: Row<'_>, reward: f64) {
        let columns = features.columns().map(<[usize]>::to_vec);
        self.since.push(Learned { columns, values: features.values().to_vec(), reward });
    }

    /// Whether this can be a policy's state: deserialised data may be anything.
    pub(crate) fn is_consistent(&self, dimension: usize, sparse: bool) -> bool {
        let usable = |_, _| crate::error::Reason::NoActions;
        let row = |learned: &Learned| {
            learned.row().check(dimension, usable).is_ok()
                && learned.columns.is_some() == sparse
                && check::numbers("reward", &[learned.reward]).is_ok()
        };
        self.asked.belief.is_consistent(dimension)
            && self.asked.data.dimension() == dimension
            && self.asked.data.blocks().is_some() == sparse
            && self.since.iter().all(row)
    }
}

impl Fit {
    /// Fits. O(d³), by the parts of a [sparse](crate::Settings::sparse) policy.
    pub fn run(self) -> Result<Fitted> {
        let Self { given, asked: Asked { mut belief, data, rewards } } = self;
        let found = match Posterior::fitted(&mut belief, &given, &data, rewards) {
            Ok(found) => Some(found),
            Err(error) if error.is_singular() => None,
            Err(error) => return Err(error),
        };
        Ok(Fitted { given, belief, found, rewards })
    }
}

impl Policy {
    /// The fit that is due, in a policy that [fits beside](crate::Settings::fits_beside) its decisions; again and again until
    /// [`finish_fit`](Self::finish_fit) has taken what it finds.
    pub fn begin_fit(&self) -> Option<Fit> {
        let Family::Posterior(policy) = &self.family else { return None };
        let asked = policy.waiting.as_ref()?.asked.clone();
        Some(Fit { given: Arc::clone(&self.given), asked })
    }

    /// Whether a fit is due and has not come back.
    pub fn is_fit_due(&self) -> bool {
        matches!(&self.family, Family::Posterior(policy) if policy.waiting.is_some())
    }

    /// Takes what a fit has found, and learns again what came since it was due. O(d²) for each reward since.
    ///
    /// The state is a function of the calls in their order. Whoever wants it to be one of the rewards alone, so that a journal of
    /// rewards can be folded again to the same bits, calls this a fixed number of rewards after the fit became due, and has
    /// whoever folds rewards, not who decides, wait for a fit that takes longer.
    pub fn finish_fit(&mut self, fitted: Result<Fitted>) -> Result<()> {
        let Family::Posterior(policy) = &mut self.family else { return Ok(()) };
        let Some(waiting) = &policy.waiting else {
            return Err(check::incompatible("`finish_fit`", "a policy without a fit that is due"));
        };
        let Fitted { given, belief, found, rewards } = fitted?;
        // One of another season, or of fewer features, has other logs.
        if !Arc::ptr_eq(&given, &self.given) || rewards != waiting.asked.rewards {
            return Err(check::incompatible("what this fit has found", "the fit that is due"));
        }
        let since = policy.waiting.take().map_or_else(Vec::new, |waiting| waiting.since);
        if let Some(current) = &mut policy.belief {
            current.take(belief, found.is_some());
        }
        let Some((known, alone)) = found else {
            policy.wake();
            return Ok(());
        };
        policy.known.become_like(known);
        match (&mut policy.alone, alone) {
            (Some(current), Some(alone)) => current.become_like(alone),
            (current, alone) => *current = alone.map(Later::from),
        }
        policy.rest(&self.given, rewards);
        let rows: Vec<_> = since.iter().map(|learned| (learned.row(), learned.reward)).collect();
        policy.follow(&rows, self.given.level, &mut self.board);
        Ok(())
    }
}

impl Posterior {
    /// Takes several rewards into what is believed.
    pub(crate) fn follow(&mut self, rows: &[(Row<'_>, f64)], level: f64, board: &mut Scoreboard) {
        if let Some(belief) = &mut self.belief {
            for (features, _) in rows {
                belief.learn(*features);
            }
        }
        let [level, alone] = self.levels(level);
        self.known.update_many(rows, level, board);
        if let Some(known) = &mut self.alone {
            known.learn_many(rows, alone, board);
        }
    }
}
