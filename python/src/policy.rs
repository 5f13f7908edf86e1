//! A policy: choose an action, learn its reward.
#![expect(non_snake_case, reason = "X, as in every library of Python that learns")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numpy::{PyArray1, PyArray2, PyUntypedArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple, PyType};
use truenorth::frame::{Magic, framed, unframed};
use truenorth::{Decision, Observation, Row};
use truenorth_app::Error;
use truenorth_features::nearest;

use crate::arms::Arms;
use crate::array::{Axis, Numbers, is_sparse, python};
use crate::certificate::Certificate;
use crate::choice::{Choice, columns, decision_of, matrix};
use crate::error::{Result, refused};
use crate::fit::Fit;
use crate::rows::{Compressed, Rounds, Rows};
use crate::summary::Logs;
use crate::{explain, params};

/// Multiplications of a decision from which on other threads of Python may run meanwhile.
const LONG: usize = 1 << 22;
/// Matrices are dense: a policy for more features would not fit into memory, which ends the process.
pub(crate) const MOST_FEATURES: usize = 5_000;
/// The same for a sparse policy, whose matrices are as large as what its rows touch together.
const MOST_SPARSE: usize = 1_000_000;
/// Rewards that are learned in one go.
const TOGETHER: usize = 16;

/// Linear bandit policy that starts from biased logs where they still point true.
///
/// Parameters
/// ----------
/// preset : str, default "truenorth"
///     One of `truenorth.presets()`.
/// dimension : int, optional
///     Number of features; that of `offline` unless given.
/// horizon : int, optional
///     Number of rounds; needed by layered policies.
/// noise, norm_bound : float, optional
///     Standard deviation of the rewards' noise and length of the coefficients; estimated unless given.
/// ridge, delta, exploration_scale : float, optional
///     Ridge, failure probability (of intervals; as much again of a learned certificate), and the factor on every radius.
/// schedule, layering, branches, pooling, width : str, optional
///     The switches; those of the preset unless given.
/// certificate : Certificate, str or list of int, optional
///     How far the logs may have drifted: a certificate, ``'adaptive'``, ``'learned'`` (or the rounds at which its
///     epochs start) or ``'none'``.
/// explore : str or float, optional
///     ``'ucb'``, ``'sampling'``, or the share of rounds in which any action is played.
/// seed : int, optional
///     For policies with a dice.
/// discount : float, optional
///     What a logged row is worth, in live rows; 1 unless given.
/// season : int, optional
///     Rounds after which all that is known becomes the logs of a new season: see `renew`.
/// half_life : float, optional
///     Rounds after which a live reward counts half, for a world that moves slowly.
/// sparse : bool, optional
///     Whether an action touches a few of many features: those of its arm, some crosses, some hashed words. A decision then
///     costs what its actions touch, a reward what was ever touched together with it, and so does memory. Decisions are those
///     of the dense policy; ``X`` may be a sparse matrix or an array. For ``truenorth``, ``lin-ucb``, ``greedy`` and their twins.
/// fits_beside : bool, optional
///     Whether a fit that is due is left to you, so that no decision waits for it: see `begin_fit`.
/// offline : Summary or path, optional
///     The logs, as `truenorth.summarize` sums them up, or their file. Actions are described in the units of the logs. The
///     policy knows the names of its features then: data frames are matched by name, whatever the order of their columns,
///     and arrays by their order.
///
/// Notes
/// -----
/// Wherever features are taken, a sparse matrix of SciPy may be given; one that is not in CSR format is converted. A policy
/// that is not ``sparse`` fills its rows up.
/// A policy may be shared by threads; calls wait for each other. An error leaves its state as it was.
///
/// Examples
/// --------
/// >>> import numpy as np, truenorth
/// >>> rng = np.random.default_rng(0)
/// >>> truth = np.array([1.0, -0.5, 0.2])
/// >>> policy = truenorth.Policy("truenorth", dimension=3)
/// >>> for _ in range(200):
/// ...     X = rng.normal(size=(5, 3))
/// ...     choice = policy.choose(X)
/// ...     policy.learn(choice, X[choice.action] @ truth + 0.1 * rng.normal())
/// >>> np.round([feature.estimate for feature in policy.features], 1).tolist()
/// [1.0, -0.5, 0.2]
#[pyclass(frozen, module = "truenorth", skip_from_py_object)]
pub(crate) struct Policy {
    pub(crate) inner: Mutex<truenorth::Policy>,
    /// That of the policy, which is behind the lock and may grow.
    dimension: AtomicUsize,
    pub(crate) sparse: bool,
    /// Names of the features, if they have any.
    names: Mutex<Option<Arc<[String]>>>,
}

impl Policy {
    pub(crate) fn of(inner: truenorth::Policy, names: Option<Vec<String>>) -> Self {
        let dimension = AtomicUsize::new(inner.dimension());
        let sparse = inner.is_sparse();
        Self { dimension, sparse, inner: Mutex::new(inner), names: Mutex::new(names.map(Into::into)) }
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension.load(Ordering::Relaxed)
    }

    fn names(&self) -> Option<Arc<[String]>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// An error never leaves a policy half changed, so that a poisoned lock hides nothing.
    pub(crate) fn lock(&self, py: Python<'_>) -> MutexGuard<'_, truenorth::Policy> {
        self.inner.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn actions<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Rows<'py>> {
        self.rows("X", value, [Axis::Any("K"), Axis::Exactly(self.dimension())])
    }

    /// Rows of numbers, or of what is not 0 in them.
    fn rows<'py, const N: usize>(
        &self,
        name: &str,
        value: &Bound<'py, PyAny>,
        axes: [Axis; N],
    ) -> PyResult<Rows<'py>> {
        if is_sparse(value) {
            return Compressed::of(name, value, axes, !self.sparse).map(Rows::Sparse);
        }
        Ok(Rows::Whole { numbers: self.numbers(name, value, axes)?, width: self.dimension() })
    }

    fn check_dimension(dimension: usize, sparse: bool) -> PyResult<()> {
        let most = if sparse { MOST_SPARSE } else { MOST_FEATURES };
        if dimension <= most {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("`dimension` must be at most {most}, but is {dimension}")))
    }

    /// Numbers of an array by their order, and of a data frame by the names of its columns, if the policy knows names.
    fn numbers<'py, const N: usize>(
        &self,
        name: &str,
        value: &Bound<'py, PyAny>,
        axes: [Axis; N],
    ) -> PyResult<Numbers<'py>> {
        if !value.is_instance_of::<PyUntypedArray>()
            && let Some(names) = self.names()
        {
            let names = PyList::new(value.py(), names.iter())?;
            let matched = python(value.py(), "truenorth._frames", "matched", (value, names))?;
            return Numbers::of(name, &matched, axes);
        }
        Numbers::of(name, value, axes)
    }
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(signature = (preset="truenorth", *, dimension=None, horizon=None, noise=None, norm_bound=None, ridge=None,
        delta=None, schedule=None, layering=None, branches=None, pooling=None, certificate=None, width=None,
        explore=None, seed=None, exploration_scale=None, discount=None, season=None, half_life=None, sparse=None,
        fits_beside=None, offline=None))]
    #[expect(clippy::too_many_arguments, reason = "all but the first are by name")]
    fn new(
        preset: &str,
        dimension: Option<i128>,
        horizon: Option<i128>,
        noise: Option<f64>,
        norm_bound: Option<f64>,
        ridge: Option<f64>,
        delta: Option<f64>,
        schedule: Option<String>,
        layering: Option<String>,
        branches: Option<String>,
        pooling: Option<String>,
        certificate: Option<Bound<'_, PyAny>>,
        width: Option<String>,
        explore: Option<Bound<'_, PyAny>>,
        seed: Option<i128>,
        exploration_scale: Option<f64>,
        discount: Option<f64>,
        season: Option<i128>,
        half_life: Option<f64>,
        sparse: Option<bool>,
        fits_beside: Option<bool>,
        offline: Option<Logs<'_>>,
    ) -> Result<Self> {
        let logs = offline.map(Logs::summary).transpose()?;
        let (logs, names) = match logs {
            Some(summary) => (Some(summary.unscaled_statistic()?), Some(summary.names())),
            None => (None, None),
        };
        let count = |name, number: Option<i128>| number.map(|number| params::count(name, number)).transpose();
        let (horizon, seed, season) =
            (count("horizon", horizon)?, count("seed", seed)?, count("season", season)?);
        let dimension = dimension.map(|number| params::count("dimension", number)).transpose()?;
        let dimension = dimension.or_else(|| logs.as_ref().map(truenorth::RidgeStatistic::dimension));
        let Some(dimension) = dimension else {
            return Err(PyTypeError::new_err("`dimension` is needed where there is no `offline`").into());
        };
        Self::check_dimension(dimension, sparse == Some(true))?;
        let told = params::Told {
            horizon,
            noise,
            norm_bound,
            ridge,
            delta,
            schedule,
            layering,
            branches,
            pooling,
            certificate,
            width,
            explore,
            seed,
            exploration_scale,
            discount,
            season,
            half_life,
            sparse,
            fits_beside,
        };
        let mut settings = told.settings(preset)?(truenorth::Policy::builder(dimension));
        if let Some(logs) = logs {
            settings = settings.logs(logs);
        }
        Ok(Self::of(settings.build()?, names))
    }

    /// Chooses one of the rows of ``X``, a (K, d) array of features or a sparse matrix.
    ///
    /// A float64 array in C order is read where it is; anything else is copied.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> choice = truenorth.Policy("oful", dimension=2).choose([[1.0, 0.0], [0.0, 0.5]])
    /// >>> choice.action, choice.branch, choice.decision
    /// (0, 'online', Decision(round=1, layer=0))
    fn choose(&self, py: Python<'_>, X: &Bound<'_, PyAny>) -> Result<Choice> {
        let rows = self.actions(X)?;
        let rows = rows.view();
        let decide = |policy: &mut truenorth::Policy| -> Result<Choice> {
            let actions = rows.actions()?;
            Ok(Choice::of(policy.choose(actions)?, &actions))
        };
        if rows.cost() < LONG {
            decide(&mut self.lock(py))
        } else {
            py.detach(|| decide(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner)))
        }
    }

    /// Learns the reward of a decision.
    ///
    /// Rewards may come late, in any order, or never; give each once. Of a decision that was stored, round and
    /// layer are needed, and the features of the action.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> policy = truenorth.Policy("oful", dimension=2)
    /// >>> choice = policy.choose([[1.0, 0.0], [0.0, 0.5]])
    /// >>> policy.learn(choice, 0.7)
    /// >>> policy.learn(choice.decision, 0.7, features=[1.0, 0.0])
    /// >>> policy.counts.rewards
    /// 2
    #[pyo3(signature = (choice, reward, features=None))]
    fn learn(
        &self,
        py: Python<'_>,
        choice: &Bound<'_, PyAny>,
        reward: f64,
        features: Option<&Bound<'_, PyAny>>,
    ) -> Result<()> {
        let made = choice.cast::<Choice>().ok().map(Bound::get);
        let decision = match made {
            Some(made) => made.place(),
            None => decision_of(choice)?,
        };
        let observed = |features| Ok(self.lock(py).learn(Observation { decision, features, reward })?);
        match (features, made) {
            (Some(features), _) => {
                observed(self.rows("features", features, [Axis::Exactly(self.dimension())])?.view().row(0))
            }
            (None, Some(made)) => observed(made.row()),
            (None, None) => Err(PyTypeError::new_err("`features` are needed beside a decision").into()),
        }
    }

    /// Learns many rewards, or none of them if one is refused.
    ///
    /// Parameters
    /// ----------
    /// choices : Choices, sequence of Choice, or (n, 2) array of int
    ///     What `choose_many` gave, decisions one by one, or pairs of round and layer.
    /// rewards : (n,) array
    ///     A reward for each.
    /// features : (n, d) array or sparse matrix, optional
    ///     Features of the actions that were played; needed beside pairs of round and layer.
    #[pyo3(signature = (choices, rewards, features=None))]
    fn learn_many(
        &self,
        choices: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        features: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = choices.py();
        let rewards = Numbers::of("rewards", rewards, [Axis::Any("n")])?;
        let count = rewards.shape()[0];
        let listed = choices.extract::<Vec<PyRef<'_, Choice>>>().ok();
        if let (Some(made), None) = (&listed, features) {
            check_rewards(made.len(), count)?;
            let made: Vec<&Choice> = made.iter().map(|choice| &**choice).collect();
            let observed = |place: usize| (made[place].place(), made[place].row());
            return self.learn_all(py, rewards.slice(), observed);
        }
        let whole = python(py, "truenorth._decisions", "_columns", (choices,))?;
        let (decisions, own): (Vec<(u64, u32)>, Option<Bound<'_, PyAny>>) = whole.extract()?;
        let Some(features) = features.or(own.as_ref()) else {
            return Err(PyTypeError::new_err("`features` are needed beside decisions"));
        };
        let axes = [Axis::Exactly(decisions.len()), Axis::Exactly(self.dimension())];
        let features = self.rows("features", features, axes)?;
        let features = features.view();
        check_rewards(decisions.len(), count)?;
        let observed = |place: usize| {
            let (round, layer) = decisions[place];
            (Decision { round, layer }, features.row(place))
        };
        self.learn_all(py, rewards.slice(), observed)
    }

    /// Makes n decisions, an (n, K, d) array or a list of n sparse matrices, without learning in between.
    ///
    /// Returns
    /// -------
    /// Choices
    ///     A column for each attribute of `Choice`.
    fn choose_many<'py>(&self, X: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = X.py();
        let rounds = self.rounds(X)?;
        let views = rounds.views();
        let (mut choices, mut chosen) = (Vec::new(), Vec::new());
        let mut sparse = Compressed { starts: vec![0], width: self.dimension(), ..Compressed::default() };
        self.through(py, views.len(), |policy, place| {
            let actions = views[place].actions()?;
            let choice = policy.choose(actions)?;
            let row = actions.row(choice.action);
            match row.columns() {
                None => chosen.extend_from_slice(row.values()),
                Some(columns) => sparse.push(columns, row.values()),
            }
            choices.push(choice);
            Ok(())
        })?;
        let mut fields = columns(py, &choices);
        fields.push(match rounds {
            Rounds::Whole { .. } => matrix(py, chosen, self.dimension())?.into_any(),
            Rounds::Sparse(_) => sparse.to_python(py)?,
        });
        python(py, "truenorth._decisions", "Choices", PyTuple::new(py, fields)?)
    }

    /// Plays recorded rounds: chooses, and learns the reward of what it chose.
    ///
    /// Parameters
    /// ----------
    /// X : (n, K, d) array or list of n sparse matrices
    ///     Features of K actions in each of n rounds.
    /// rewards : (n, K) array
    ///     What each action would have paid. A reward that is NaN never comes.
    ///
    /// Returns
    /// -------
    /// Played
    ///     Actions, rewards, and a column for each attribute of `Choice`.
    fn play<'py>(&self, X: &Bound<'py, PyAny>, rewards: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = X.py();
        let offered = self.rounds(X)?;
        let (views, actions) = (offered.views(), offered.width()?);
        let rounds = views.len();
        let rewards = Numbers::of("rewards", rewards, [Axis::Exactly(rounds), Axis::Exactly(actions)])?;
        let paid = rewards.slice();
        let (mut choices, mut earned) = (Vec::with_capacity(rounds), Vec::with_capacity(rounds));
        self.through(py, rounds, |policy, place| {
            let offered = views[place].actions()?;
            let choice = policy.choose(offered)?;
            let reward = paid[place * actions + choice.action];
            if !reward.is_nan() {
                policy.learn(choice.rewarded(offered, reward))?;
            }
            choices.push(choice);
            earned.push(reward);
            Ok(())
        })?;
        let mut fields = columns(py, &choices);
        fields.push(PyArray1::from_vec(py, earned).into_any());
        python(py, "truenorth._decisions", "Played", PyTuple::new(py, fields)?)
    }

    /// Every action's interval, as the next round would start from it.
    ///
    /// Returns
    /// -------
    /// Intervals
    ///     Arrays `mean`, `lcb`, `ucb`, `index`, `branch`, `conflict`, and both branches' parts.
    #[pyo3(signature = (X, layer=0))]
    fn intervals<'py>(&self, X: &Bound<'py, PyAny>, layer: u32) -> Result<Bound<'py, PyAny>> {
        let rows = self.actions(X)?;
        let policy = self.lock(X.py());
        let actions = rows.view().actions()?;
        let found = policy.intervals(layer, actions)?;
        drop(policy);
        Ok(explain::intervals(X.py(), &found)?)
    }

    /// Chooses an action, and tells why; the same decision as `choose` makes.
    fn choose_explained<'py>(&self, X: &Bound<'py, PyAny>) -> Result<(Choice, Bound<'py, PyAny>)> {
        let rows = self.actions(X)?;
        let actions = rows.view().actions()?;
        let (inner, story) = self.lock(X.py()).choose_explained(actions)?;
        Ok((Choice::of(inner, &actions), explain::explanation(X.py(), &story)?))
    }

    /// Why the next decision would be what it would be. Nothing changes.
    fn explain<'py>(&self, X: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let rows = self.actions(X)?;
        let actions = rows.view().actions()?;
        let mut copy = self.lock(X.py()).clone();
        let (_, story) = copy.choose_explained(actions)?;
        Ok(explain::explanation(X.py(), &story)?)
    }

    /// Starts a new season: all that is known so far becomes its logs, and how much of that still holds is learned from
    /// the rewards to come. For ``truenorth`` and ``truenorth-sampling``.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> policy = truenorth.Policy(dimension=2)
    /// >>> policy.learn(policy.choose([[1.0, 0.0], [0.0, 0.5]]), 0.7)
    /// >>> policy.renew()
    /// >>> policy.counts.rewards
    /// 1
    fn renew(&self, py: Python<'_>) -> Result<()> {
        Ok(py.detach(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner).renew())?)
    }

    /// Adds features, up to this number of them: the new ones come last, and nothing is known of them.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> policy = truenorth.Policy(dimension=2)
    /// >>> policy.grow(3)
    /// >>> policy.choose([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).action, policy.dimension
    /// (0, 3)
    #[pyo3(signature = (dimension, names=None))]
    fn grow(&self, py: Python<'_>, dimension: usize, names: Option<Vec<String>>) -> Result<()> {
        let mut policy = self.lock(py);
        Self::check_dimension(dimension, self.sparse)?;
        let before = policy.dimension();
        let more = dimension.saturating_sub(before);
        let known = self.names();
        if let Some(new) = &names
            && (known.is_none() || new.len() != more)
        {
            let sentence = match known {
                None => "`names` go with a policy whose features have names".to_owned(),
                Some(_) => format!("`names` must be {more}, one for each new feature, but are {}", new.len()),
            };
            return Err(PyValueError::new_err(sentence).into());
        }
        let new =
            names.unwrap_or_else(|| (before..dimension).map(|place| format!("x{}", place + 1)).collect());
        let before = known.iter().flat_map(|known| known.iter());
        let twice = |(place, name): &(usize, &String)| {
            before.clone().chain(&new[..*place]).any(|other| other == *name)
        };
        if let Some((_, name)) = new.iter().enumerate().find(twice) {
            return Err(PyValueError::new_err(format!("there is a feature `{name}` already")).into());
        }
        policy.grow(dimension)?;
        self.dimension.store(dimension, Ordering::Relaxed);
        let grown = known.map(|known| known.iter().cloned().chain(new).collect());
        *self.names.lock().unwrap_or_else(PoisonError::into_inner) = grown;
        Ok(())
    }

    /// Learns a row that this policy did not decide, as live data: of a pilot, or of another policy in the same world.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> policy = truenorth.Policy(dimension=2)
    /// >>> policy.learn_row([0.0, 1.0], 0.4)
    /// >>> policy.counts.rounds, policy.counts.rewards
    /// (0, 1)
    fn learn_row(&self, py: Python<'_>, x: &Bound<'_, PyAny>, reward: f64) -> Result<()> {
        let features = self.rows("x", x, [Axis::Exactly(self.dimension())])?;
        Ok(self.lock(py).learn_row(features.view().row(0), reward)?)
    }

    /// Learns many rows that this policy did not decide, or none of them if one is refused.
    ///
    /// Parameters
    /// ----------
    /// X : (n, d) array, frame or sparse matrix
    ///     Features of the actions that were played.
    /// y : (n,) array
    ///     What they paid.
    ///
    /// Returns
    /// -------
    /// Policy
    ///     Itself.
    fn partial_fit<'py>(
        slf: &Bound<'py, Self>,
        X: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let (policy, width) = (slf.get(), slf.get().dimension());
        let rows = policy.rows("X", X, [Axis::Any("n"), Axis::Exactly(width)])?;
        let rows = rows.view();
        let rewards = Numbers::of("y", y, [Axis::Exactly(rows.count())])?;
        let rewards = rewards.slice();
        policy.through(slf.py(), rewards.len(), |policy, place| {
            policy.learn_row(rows.row(place), rewards[place])
        })?;
        Ok(slf.clone())
    }

    /// The fit that is due, in a policy that fits beside its decisions, or None. What was believed before stays in force, and
    /// follows each reward, until `finish_fit` takes what the fit has found.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> policy = truenorth.Policy(dimension=2, fits_beside=True)
    /// >>> for _ in range(5):
    /// ...     policy.learn(policy.choose([[1.0, 0.0], [0.0, 1.0]]), 0.7)
    /// >>> fit = policy.begin_fit()
    /// >>> policy.finish_fit(fit.run())
    /// >>> policy.begin_fit() is None
    /// True
    fn begin_fit(&self, py: Python<'_>) -> Option<Fit> {
        self.lock(py).begin_fit().map(Fit::due)
    }

    /// Takes what a fit has found, and learns again what came since it was due. A fit that has not run yet runs now.
    fn finish_fit(&self, py: Python<'_>, fit: &Bound<'_, Fit>) -> Result<()> {
        let found = fit.get().found(py);
        Ok(py.detach(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner).finish_fit(found))?)
    }

    /// Offers each of n contexts, an (n, w) array, to arms that have w coefficients each, one block after the other: all
    /// of them, or those at these places. Positions of the chosen ones. Rounds before one that fails have been decided.
    #[pyo3(signature = (contexts, intercept, arms=None))]
    fn _choose_arms(
        &self,
        contexts: &Bound<'_, PyAny>,
        intercept: bool,
        arms: Option<Vec<usize>>,
    ) -> PyResult<Vec<usize>> {
        Arms::of(self, contexts, intercept)?.choose(contexts.py(), arms)
    }

    /// Learns what arms paid in these contexts: each as a round that had this arm alone, if `rounds`, or as a row.
    fn _learn_arms(
        &self,
        contexts: &Bound<'_, PyAny>,
        intercept: bool,
        arms: Vec<usize>,
        rewards: &Bound<'_, PyAny>,
        rounds: bool,
    ) -> PyResult<()> {
        Arms::of(self, contexts, intercept)?.learn(contexts.py(), &arms, rewards, rounds)
    }

    /// Adds logs of arms, and the names of all features.
    fn _log_arms(
        &self,
        contexts: &Bound<'_, PyAny>,
        intercept: bool,
        arms: Vec<usize>,
        rewards: &Bound<'_, PyAny>,
        names: Vec<String>,
    ) -> Result<()> {
        Arms::of(self, contexts, intercept)?.log(contexts.py(), &arms, rewards)?;
        *self.names.lock().unwrap_or_else(PoisonError::into_inner) = Some(names.into());
        Ok(())
    }

    /// Estimated reward of every arm in every context, without the level.
    fn _means_of_arms<'py>(
        &self,
        contexts: &Bound<'py, PyAny>,
        intercept: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Arms::of(self, contexts, intercept)?.means(contexts.py())
    }

    /// Adds logs, a `Summary` or its file. Where the policy knows names, features are matched by these.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, truenorth
    /// >>> logs = truenorth.summarize(np.eye(2), [1.0, 2.0], names=["price", "age"])
    /// >>> policy = truenorth.Policy(offline=logs)
    /// >>> policy.add_logs(logs)
    /// >>> policy
    /// Policy(dimension=2, features=[price, age], logged rows=4, rounds=0, rewards=0)
    fn add_logs(&self, py: Python<'_>, logs: Logs<'_>) -> Result<()> {
        let summary = logs.summary()?;
        let mut more = summary.unscaled_statistic()?;
        if let Some(names) = self.names() {
            let place = |name: String| {
                names.iter().position(|known| *known == name).ok_or_else(|| {
                    let hint = nearest(&name, names.iter().map(String::as_str));
                    let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    PyValueError::new_err(format!("the policy has no feature `{name}`{hint}"))
                })
            };
            let places = summary.names().into_iter().map(place).collect::<PyResult<Vec<usize>>>()?;
            more = more.placed(&places, names.len())?;
        }
        Ok(py.detach(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner).add_logs(&more))?)
    }

    /// What has been learned about each feature: name, estimate, coverage, drift, stderr, and reliance on the logs (`trust`). A list, and a table.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let views = self.lock(py).features()?;
        Ok(features(py, self.names().as_deref(), views)?)
    }

    /// Names of the features, if they have any.
    #[getter(names)]
    fn python_names(&self) -> Option<Vec<String>> {
        self.names().map(|names| names.to_vec())
    }

    /// What has been done so far: rounds, rewards, conflicts, informed rounds, and what of the budget was spent.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let counts = self.lock(py).counts();
        let truenorth::Counts { rounds, rewards, conflicts, informed, spent, forced, .. } = counts;
        let fields = (rounds, rewards, conflicts, informed, spent, forced);
        python(py, "truenorth._decisions", "Counts", fields)
    }

    /// The parameters it was made from, by the names of the keywords.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        params::keywords(py, &self.lock(py))
    }

    /// Number of features.
    #[getter(dimension)]
    fn python_dimension(&self) -> usize {
        self.dimension()
    }

    /// Standard deviation of the noise in force, told or estimated.
    #[getter]
    fn noise(&self, py: Python<'_>) -> f64 {
        self.lock(py).noise()
    }

    /// What all rewards have in common that no feature explains; add it to a mean to predict a reward.
    #[getter]
    fn level(&self, py: Python<'_>) -> f64 {
        self.lock(py).level()
    }

    /// Bound on the length of the coefficients in force, told or estimated.
    #[getter]
    fn norm_bound(&self, py: Python<'_>) -> f64 {
        self.lock(py).norm_bound()
    }

    /// Probability that the logs hold but for some directions, as an adaptive posterior sees it.
    #[getter]
    fn logs_hold(&self, py: Python<'_>) -> Option<f64> {
        self.lock(py).logs_hold()
    }

    /// The certificate in force.
    #[getter]
    fn certificate(&self, py: Python<'_>) -> Option<Certificate> {
        self.lock(py).certificate().cloned().map(|inner| Certificate { inner })
    }

    /// Index of the last layer; 0 for flat policies.
    #[getter]
    fn last_layer(&self, py: Python<'_>) -> u32 {
        self.lock(py).last_layer()
    }

    /// The whole state, to be continued by `from_bytes`; behind it, the names of the features, if they have any.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes(py))
    }

    /// Continues from what `to_bytes` gave, bit for bit.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, data: &[u8]) -> Result<Self> {
        Ok(Self::restored(data)?)
    }

    /// Writes the whole state to a file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> Result<()> {
        Ok(truenorth_logs::write_whole(&path, &self.bytes(py)).map_err(Error::file(&path))?)
    }

    /// Continues from a file.
    #[classmethod]
    fn load(class: &Bound<'_, PyType>, path: PathBuf) -> Result<Self> {
        let bytes = std::fs::read(&path).map_err(Error::file(&path))?;
        Ok(Self::restored(&bytes).map_err(|error| Error::input(path.display(), error.value(class.py())))?)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else { return false };
        // One after the other: a policy may be compared with itself.
        let mine = self.bytes(py);
        let theirs = other.get().bytes(py);
        mine == theirs
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        Self::of(self.lock(py).clone(), self.names().map(|names| names.to_vec()))
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
        self.__copy__(py)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let restore = slf.get_type().getattr("from_bytes")?;
        let bytes = slf.get().to_bytes(slf.py());
        Ok((restore, (bytes,)).into_pyobject(slf.py())?.into_any())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let policy = self.lock(py);
        let counts = policy.counts();
        let names = self.names().map_or_else(String::new, |names| format!(", features=[{}]", few(&names)));
        format!(
            "Policy(dimension={}{names}, logged rows={}, rounds={}, rewards={})",
            policy.dimension(),
            policy.logs().count(),
            counts.rounds,
            counts.rewards
        )
    }
}

fn check_rewards(decisions: usize, rewards: usize) -> PyResult<()> {
    if decisions == rewards {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("there are {decisions} decisions, but {rewards} rewards")))
}

/// The first of many names.
pub(crate) fn few(names: &[String]) -> String {
    const MOST: usize = 6;
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > MOST { shown + ", ..." } else { shown }
}

/// What was learned about features, as the class of the Python part.
pub(crate) fn features<'py>(
    py: Python<'py>,
    names: Option<&[String]>,
    views: Vec<truenorth::FeatureView>,
) -> PyResult<Bound<'py, PyAny>> {
    let name = |place: usize| {
        names.and_then(|names| names.get(place).cloned()).unwrap_or_else(|| format!("x{}", place + 1))
    };
    let view = |(place, view): (usize, truenorth::FeatureView)| {
        (name(place), view.estimate, view.coverage, view.drift, view.stderr, view.trust)
    };
    let views: Vec<_> = views.into_iter().enumerate().map(view).collect();
    python(py, "truenorth._decisions", "_features", (views,))
}

/// What ends the bytes of a policy whose features have names: these with a checksum, the length of that, and a mark.
const NAMED: &[u8; 8] = b"tn-names";
const NAMES: Magic = *b"tn-labels";
const NAMES_VERSION: u32 = 1;

/// Bytes of a policy, and the names behind them, if there are any.
fn split(bytes: &[u8]) -> PyResult<(&[u8], Option<Vec<String>>)> {
    let Some(rest) = bytes.strip_suffix(NAMED) else { return Ok((bytes, None)) };
    let read = || {
        let (rest, length) = rest.split_last_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (state, names) = rest.split_at_checked(rest.len().checked_sub(length)?)?;
        let names = unframed(NAMES, NAMES_VERSION, names).ok()?;
        Some((state, Some(postcard::from_bytes(names).ok()?)))
    };
    read().ok_or_else(|| PyValueError::new_err("the policy is damaged: its names cannot be read"))
}

impl Policy {
    /// Learns rewards in blocks, which takes fewer passes over memory, or none of them.
    fn learn_all<'a>(
        &self,
        py: Python<'_>,
        rewards: &[f64],
        observed: impl Fn(usize) -> (Decision, Row<'a>) + Send + Sync,
    ) -> PyResult<()> {
        self.through(py, rewards.len().div_ceil(TOGETHER), |policy, block| {
            let places = block * TOGETHER..rewards.len().min((block + 1) * TOGETHER);
            let observation = |place: usize| {
                let (decision, features) = observed(place);
                Observation { decision, features, reward: rewards[place] }
            };
            policy.learn_many(&places.map(observation).collect::<Vec<_>>())
        })
    }

    fn restored(bytes: &[u8]) -> PyResult<Self> {
        let (state, names) = split(bytes)?;
        let inner = truenorth::Policy::from_bytes(state).map_err(|error| refused(&error))?;
        if names.as_ref().is_some_and(|names| names.len() != inner.dimension()) {
            return Err(PyValueError::new_err("the policy is damaged: it has not as many names as features"));
        }
        Ok(Self::of(inner, names))
    }

    fn bytes(&self, py: Python<'_>) -> Vec<u8> {
        let policy = self.lock(py);
        let (mut bytes, names) = (policy.to_bytes(), self.names());
        drop(policy);
        if let Some(names) = names {
            let names = framed(NAMES, NAMES_VERSION, &&*names);
            bytes.extend_from_slice(&names);
            bytes.extend_from_slice(&(names.len() as u64).to_le_bytes());
            bytes.extend_from_slice(NAMED);
        }
        bytes
    }
}
