//! A bandit: raw values in, an action's id out.

use std::collections::HashMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use truenorth::Branch;
use truenorth_app::bandit::{add_summary, parts, read, write};
use truenorth_bandit::{Limits, Parts};
use truenorth_features::Event;
use truenorth_logs::Origin;

use crate::array::python;
use crate::choice::branch_named;
use crate::error::{Result, coded};
use crate::event::event;
use crate::explain;
use crate::fit::Fit;
use crate::monitor::shown;
use crate::params::{Told, check_names, count};
use crate::policy::{MOST_FEATURES, Policy, features};
use crate::summary::{Encoded, Logs, events};

/// A decision of a bandit: which action, how sure, and on whose word.
///
/// Attributes
/// ----------
/// id : str
///     The chosen action's id.
/// index : int
///     Its place among the actions, from 0.
/// probability : float
///     Probability with which it was chosen: 1 but for policies with a dice.
/// decision_id : str
///     What the reward comes back with.
/// mean, lcb, ucb : float
///     Its estimated reward without the `level` that all rewards have in common, and the interval around it: they compare
///     actions; add `Bandit.policy.level` to forecast a reward.
/// branch : str
///     What set the upper end: ``online``, ``pooled``, ``warm`` or ``offline``.
#[pyclass(frozen, eq, get_all, module = "truenorth", skip_from_py_object)]
#[derive(PartialEq)]
pub(crate) struct BanditChoice {
    id: String,
    index: usize,
    probability: f64,
    decision_id: String,
    mean: f64,
    lcb: f64,
    ucb: f64,
    branch: &'static str,
}

impl From<truenorth_bandit::Choice> for BanditChoice {
    fn from(choice: truenorth_bandit::Choice) -> Self {
        let truenorth_bandit::Choice {
            decision_id,
            action: id,
            index,
            probability,
            mean,
            lcb,
            ucb,
            branch,
            ..
        } = choice;
        Self { id, index, probability, decision_id, mean, lcb, ucb, branch: Branch::name(branch) }
    }
}

#[pymethods]
impl BanditChoice {
    #[new]
    #[pyo3(signature = (*, id, index, probability, decision_id, mean, lcb, ucb, branch))]
    #[expect(clippy::too_many_arguments, reason = "all of them are by name")]
    fn new(
        id: String,
        index: usize,
        probability: f64,
        decision_id: String,
        mean: f64,
        lcb: f64,
        ucb: f64,
        branch: &str,
    ) -> PyResult<Self> {
        let branch = branch_named(branch)?;
        Ok(Self { id, index, probability, decision_id, mean, lcb, ucb, branch })
    }

    fn __repr__(&self) -> String {
        let Self { id, mean, lcb, ucb, branch, decision_id, .. } = self;
        format!(
            "BanditChoice(id={id:?}, mean={mean:.6}, lcb={lcb:.6}, ucb={ucb:.6}, branch={branch:?}, \
             decision_id={decision_id:?})"
        )
    }

    fn __getnewargs_ex__<'py>(slf: &Bound<'py, Self>) -> PyResult<((), Bound<'py, PyDict>)> {
        let fields = PyDict::new(slf.py());
        for name in ["id", "index", "probability", "decision_id", "mean", "lcb", "ucb", "branch"] {
            fields.set_item(name, slf.getattr(name)?)?;
        }
        Ok(((), fields))
    }
}

/// A decision, or its id.
#[derive(FromPyObject)]
pub(crate) enum Whose<'py> {
    Choice(Bound<'py, BanditChoice>),
    Id(String),
    Other(Bound<'py, PyAny>),
}

/// Whether a text is a file rather than a model: there is one, or it looks like one.
fn is_file(text: &str) -> bool {
    let summary = Path::new(text).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tn"));
    summary || text.contains(['/', '\\']) || Path::new(text).exists()
}

/// A bandit: raw values in, an action's id out, with the features of the logs.
///
/// Parameters
/// ----------
/// logs : Summary, path or str
///     Logs as `truenorth.summarize` sums them up, whose model the bandit has; or a model, where there are no logs, whose
///     levels then join as they come.
/// policy : str, default "truenorth"
///     One of `truenorth.presets()`.
/// joining : int
///     Features that may join beside those of the logs: levels that were never logged. Those beyond share one for each term.
/// open : int
///     Decisions that may wait for their rewards; the oldest expires.
/// age : int
///     Rounds that a decision may wait.
/// **settings
///     Every keyword of `truenorth.Policy`, but for `dimension` and `offline`.
///
/// Notes
/// -----
/// Contexts and actions are dictionaries, nested or not, rows and frames of pandas, polars or Arrow, or JSON text. An
/// action's id is its ``id``, or the field that is the action's id in the logs, or its place from 1; mere ids are actions
/// too. Values are numbers, truth values, texts, dates; None and NaN are missing.
///
/// A bandit may be shared by threads. An error leaves it as it was.
///
/// Examples
/// --------
/// >>> import truenorth
/// >>> bandit = truenorth.Bandit("price + segment:id", seed=1)
/// >>> actions = [{"id": "news", "price": 1.5}, {"id": "sport", "price": 0.0}]
/// >>> for _ in range(50):
/// ...     for segment, liked in [("student", "sport"), ("retired", "news")]:
/// ...         choice = bandit.choose({"segment": segment}, actions)
/// ...         bandit.learn(choice.decision_id, float(choice.id == liked))
/// >>> bandit.choose({"segment": "student"}, actions).id, bandit.choose({"segment": "retired"}, actions).id
/// ('sport', 'news')
#[pyclass(frozen, module = "truenorth", skip_from_py_object)]
pub(crate) struct Bandit {
    inner: Mutex<truenorth_bandit::Bandit>,
    /// The field that is the action's id, if that has a name of its own.
    own_id: Option<String>,
}

impl Bandit {
    fn of(inner: truenorth_bandit::Bandit) -> Self {
        Self { own_id: inner.recipe().id.clone(), inner: Mutex::new(inner) }
    }

    /// An error never leaves a bandit half changed, so that a poisoned lock hides nothing. Only for those who do not hold
    /// the interpreter.
    fn lock(&self) -> MutexGuard<'_, truenorth_bandit::Bandit> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the bandit while other threads of Python run.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut truenorth_bandit::Bandit) -> T + Send,
    ) -> T {
        py.detach(|| act(&mut self.lock()))
    }

    fn event(&self, context: Option<&Bound<'_, PyAny>>, actions: Option<&Bound<'_, PyAny>>) -> Result<Event> {
        event(context, actions, self.own_id.as_deref())
    }
}

#[pymethods]
impl Bandit {
    #[new]
    #[pyo3(signature = (logs, policy="truenorth", *, joining=1000, open=100_000, age=1_000_000, **settings))]
    fn new(
        py: Python<'_>,
        logs: &Bound<'_, PyAny>,
        policy: &str,
        joining: i128,
        open: i128,
        age: i128,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> Result<Self> {
        let told = match settings {
            Some(settings) => {
                check_names("Bandit", settings, &["joining", "open", "age"])?;
                Told::of(settings)?
            }
            None => Told::default(),
        };
        let mut parts = match (logs.extract::<&str>(), logs.extract()?) {
            (Ok(model), _) if !is_file(model) => Parts::without_logs(model)?,
            (_, Logs::Other(other)) => {
                return Err(PyTypeError::new_err(format!(
                    "a bandit is made from a Summary, its file or a model, but this is {}",
                    other.get_type()
                ))
                .into());
            }
            (_, logs) => parts(&logs.summary()?)?,
        };
        let dimension = parts.features.len();
        if dimension > MOST_FEATURES {
            let sentence =
                format!("the logs have {dimension} features, but a policy may have {MOST_FEATURES}");
            return Err(PyValueError::new_err(sentence).into());
        }
        let (joining, open) = (count("joining", joining)?, count("open", open)?);
        parts.limits = Limits { joining, open, age: count("age", age)? };
        let settings = told.settings(policy)?;
        let inner = py.detach(|| truenorth_bandit::Bandit::new(parts, settings))?;
        warn(py, &inner.warnings())?;
        Ok(Self::of(inner))
    }

    /// Chooses an action.
    ///
    /// Parameters
    /// ----------
    /// context : dict, row, JSON text or None
    ///     What all actions share. Without `actions`, a whole event: ``{"context": {..}, "actions": [..]}``.
    /// actions : list of dict, frame or JSON text
    ///     The actions, a row each.
    /// decision_id : str, optional
    ///     Your own id of the decision; the same one again gives the same answer.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> bandit = truenorth.Bandit("price + segment:id")
    /// >>> choice = bandit.choose({"segment": "student"}, [{"id": "news", "price": 1.5}, {"id": "sport", "price": 0.0}])
    /// >>> choice.id, choice.index, choice.probability, choice.branch
    /// ('news', 0, 1.0, 'online')
    #[pyo3(signature = (context, actions=None, *, decision_id=None))]
    fn choose(
        &self,
        py: Python<'_>,
        context: Option<&Bound<'_, PyAny>>,
        actions: Option<&Bound<'_, PyAny>>,
        decision_id: Option<String>,
    ) -> Result<BanditChoice> {
        let mut event = self.event(context, actions)?;
        event.decision_id = decision_id.or(event.decision_id.take());
        Ok(self.with(py, |bandit| bandit.choose(&event))?.into())
    }

    /// Learns the reward of a decision, once: a second time is a `BanditError`, also after `save` and `load`.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> bandit = truenorth.Bandit("price + id")
    /// >>> choice = bandit.choose(None, [{"id": "news", "price": 1.5}, {"id": "sport", "price": 0.0}])
    /// >>> bandit.learn(choice.decision_id, 1.0)
    /// >>> try:
    /// ...     bandit.learn(choice.decision_id, 1.0)
    /// ... except truenorth.BanditError as error:
    /// ...     print(error.code)
    /// already_learned
    fn learn(&self, py: Python<'_>, decision_id: Whose<'_>, reward: f64) -> Result<()> {
        let id = match &decision_id {
            Whose::Choice(choice) => &choice.get().decision_id,
            Whose::Id(id) => id,
            Whose::Other(other) => {
                let found = other.get_type();
                let sentence =
                    format!("a decision is known by its id or its BanditChoice, but this is {found}");
                return Err(PyTypeError::new_err(sentence).into());
            }
        };
        Ok(self.with(py, |bandit| bandit.learn(id, reward))?)
    }

    /// Learns rows that others decided, of logs or a pilot, as live data: all of them, or none if one is refused.
    ///
    /// Parameters
    /// ----------
    /// rows : path, table, or list of dict
    ///     A file or table of any kind that `truenorth.summarize` reads, or events: ``{"context": {..}, "actions": [..],
    ///     "action": "news", "reward": 1.0}``. Those without a reward are passed over.
    /// reward : str
    ///     Column of a table that holds the reward.
    /// chosen : str, optional
    ///     Column of a table that says whether the action of a row was taken, where each row is an action.
    ///
    /// Returns
    /// -------
    /// int
    ///     How many rows were learned.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> bandit = truenorth.Bandit("price + id")
    /// >>> bandit.learn_rows([{"actions": [{"id": "news", "price": 1.5}], "action": "news", "reward": 1.0}])
    /// 1
    #[pyo3(signature = (rows, *, reward="reward", chosen=None))]
    fn learn_rows(&self, rows: &Bound<'_, PyAny>, reward: &str, chosen: Option<String>) -> Result<u64> {
        let py = rows.py();
        let like = self.with(py, |bandit| {
            let origin = Origin::Table { reward: reward.to_owned(), chosen };
            truenorth_logs::Summary::empty(origin, bandit.recipe().clone())
        });
        let rows = events(rows, &like)?;
        self.with(py, |bandit| {
            let mut copy = bandit.clone();
            let (mut seen, mut learned) = (0, 0);
            for event in rows {
                let event = event?;
                seen += 1;
                if event.reward.is_some() {
                    copy.learn_event(&event)
                        .map_err(|error| coded(&format!("row {seen}: {error}"), error.code()))?;
                    learned += 1;
                }
            }
            if learned == 0 && seen > 0 {
                let sentence = format!("none of the {seen} rows has a reward; `reward` names its column");
                return Err(PyValueError::new_err(sentence).into());
            }
            *bandit = copy;
            Ok(learned)
        })
    }

    /// The same as `learn_rows`, by the name that other libraries have for it.
    ///
    /// Returns
    /// -------
    /// Bandit
    ///     Itself.
    #[pyo3(signature = (rows, *, reward="reward", chosen=None))]
    fn partial_fit<'py>(
        slf: &Bound<'py, Self>,
        rows: &Bound<'py, PyAny>,
        reward: &str,
        chosen: Option<String>,
    ) -> Result<Bound<'py, Self>> {
        slf.get().learn_rows(rows, reward, chosen)?;
        Ok(slf.clone())
    }

    /// The rows of actions as the policy would see them: a data frame with the names of the features.
    ///
    /// A frame of polars where the actions are one, of pandas where that is installed (its index are the ids), and
    /// otherwise a dictionary of columns. Nothing is decided.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> bandit = truenorth.Bandit("price + segment:id")
    /// >>> rows = bandit.encode({"segment": "student"}, [{"id": "news", "price": 1.5}, {"id": "sport", "price": 0.0}])
    /// >>> list(rows)
    /// ['intercept', 'price', 'segment=student:id=news', 'segment=student:id=sport']
    #[pyo3(signature = (context, actions=None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        context: Option<&Bound<'py, PyAny>>,
        actions: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        let event = self.event(context, actions)?;
        let (names, rows) = self.with(py, |bandit| {
            let rows = bandit.encode(&event)?;
            let names: Vec<String> = bandit.names().map(str::to_owned).collect();
            Ok::<_, truenorth_bandit::Error>((names, rows))
        })?;
        let mut encoded = Encoded { names, ..Encoded::default() };
        let mut places: HashMap<String, usize> = encoded.names.iter().cloned().zip(0..).collect();
        for row in rows {
            encoded.ids.push(row.id);
            let features = row.features.into_iter().map(|(name, value)| {
                let place = *places.entry(name.clone()).or_insert_with(|| {
                    encoded.names.push(name);
                    encoded.names.len() - 1
                });
                (place, value)
            });
            encoded.rows.push(features.collect());
        }
        encoded.frame(py, actions.or(context))
    }

    /// Every action's interval, as the next decision would start from it. Nothing is decided.
    ///
    /// Returns
    /// -------
    /// Intervals
    ///     As `Policy.intervals` gives them, in the order of the actions.
    #[pyo3(signature = (context, actions=None))]
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        context: Option<&Bound<'py, PyAny>>,
        actions: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        let event = self.event(context, actions)?;
        let found = self.with(py, |bandit| bandit.intervals(&event))?;
        let found: Vec<_> = found.into_iter().map(|(_, interval)| interval).collect();
        Ok(explain::intervals(py, &found)?)
    }

    /// Why the next decision would be what it would be; its actions are numbered. Nothing is decided.
    #[pyo3(signature = (context, actions=None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        context: Option<&Bound<'py, PyAny>>,
        actions: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        let event = self.event(context, actions)?;
        let (_, story) = self.with(py, |bandit| bandit.explain(&event))?;
        Ok(explain::explanation(py, &story)?)
    }

    /// Starts a new season: all that is known so far becomes its logs. See `Policy.renew`.
    fn renew(&self, py: Python<'_>) -> Result<()> {
        Ok(self.with(py, truenorth_bandit::Bandit::renew)?)
    }

    /// Watches, from now on, whether the world moves: see `Monitor`. A watch that is on begins anew.
    ///
    /// Parameters
    /// ----------
    /// level : float
    ///     Probability of a false alarm at most, of any kind, however long and often one looks.
    #[pyo3(signature = (level = 0.05))]
    fn watch(&self, py: Python<'_>, level: f64) -> Result<()> {
        Ok(self.with(py, |bandit| bandit.watch(level))?)
    }

    /// What the watch has seen, a dictionary: ``moved``, ``evidence``, ``needed``, ``alarm``, ``features``; None without one.
    #[getter]
    fn watched<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let watched = self.with(py, |bandit| bandit.watched());
        Ok(watched.map(|watched| shown(py, &watched)).transpose()?)
    }

    /// The fit that is due, in a bandit that fits beside its decisions, or None. What was believed before stays in force, and
    /// follows each reward, until `finish_fit` takes what the fit has found.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> bandit = truenorth.Bandit("id", fits_beside=True)
    /// >>> for _ in range(5):
    /// ...     bandit.learn(bandit.choose(None, ["news", "sport"]), 0.7)
    /// >>> fit = bandit.begin_fit()
    /// >>> bandit.finish_fit(fit.run())
    /// >>> bandit.begin_fit() is None
    /// True
    fn begin_fit(&self, py: Python<'_>) -> Option<Fit> {
        self.with(py, |bandit| bandit.begin_fit()).map(Fit::due)
    }

    /// Takes what a fit has found, and learns again what came since it was due. A fit that has not run yet runs now.
    fn finish_fit(&self, py: Python<'_>, fit: &Bound<'_, Fit>) -> Result<()> {
        let found = fit.get().found(py);
        Ok(self.with(py, |bandit| bandit.finish_fit(found))?)
    }

    /// Adds logs of the same model, a `Summary` or its file: features are matched by name, and new ones join.
    fn add_logs(&self, py: Python<'_>, logs: Logs<'_>) -> Result<()> {
        let logs = logs.summary()?;
        Ok(self.with(py, |bandit| add_summary(bandit, &logs))?)
    }

    /// The model: which features there are.
    #[getter]
    fn model(&self, py: Python<'_>) -> String {
        self.with(py, |bandit| bandit.recipe().model.to_string())
    }

    /// One sentence for each term of the model that cannot change a choice.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> Vec<String> {
        self.with(py, |bandit| bandit.warnings())
    }

    /// Names of the features in their order.
    #[getter]
    fn names(&self, py: Python<'_>) -> Vec<String> {
        self.with(py, |bandit| bandit.names().map(str::to_owned).collect())
    }

    /// What has been learned about each feature, by name: a list, and a table.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> bandit = truenorth.Bandit("price + id")
    /// >>> _ = bandit.choose(None, [{"id": "news", "price": 1.5}, {"id": "sport", "price": 0.0}])
    /// >>> bandit.features.names
    /// ['intercept', 'price', 'id=news', 'id=sport']
    /// >>> bandit.features["price"].estimate
    /// 0.0
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let found = self.with(py, |bandit| bandit.features())?;
        let (names, views): (Vec<_>, Vec<_>) = found.into_iter().map(|one| (one.name, one.view)).unzip();
        Ok(features(py, Some(&names), views)?)
    }

    /// What has been done so far.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let counts = self.with(py, |bandit| bandit.counts());
        let truenorth_bandit::Counts { decisions, rewards, rows, open, expired, joined, conflicts, .. } =
            counts;
        let (pooled_share, mean_reward) = (counts.pooled_share, counts.mean_reward);
        let fields = (decisions, rewards, rows, open, expired, joined, conflicts, pooled_share, mean_reward);
        python(py, "truenorth._decisions", "BanditCounts", fields)
    }

    /// Names of the features that joined beside those of the logs, in the order in which they came.
    #[getter]
    fn joined(&self, py: Python<'_>) -> Vec<String> {
        self.with(py, |bandit| bandit.joined().map(str::to_owned).collect())
    }

    /// Fields that came and that the model has no use for, and how often they came.
    #[getter]
    fn unknown_fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let unknown = self.with(py, |bandit| bandit.unknown_fields().to_vec());
        let fields = PyDict::new(py);
        unknown.into_iter().try_for_each(|(name, count)| fields.set_item(name, count))?;
        Ok(fields)
    }

    /// The policy inside, a copy, for what a bandit does not show: parameters, certificate, noise.
    #[getter]
    fn policy(&self, py: Python<'_>) -> Policy {
        let (policy, names) = self.with(py, |bandit| {
            (bandit.policy().clone(), bandit.names().map(str::to_owned).collect::<Vec<_>>())
        });
        Policy::of(policy, Some(names))
    }

    /// The whole state, to be continued by `from_bytes`: what was learned, and the decisions that wait.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.with(py, |bandit| bandit.to_bytes()))
    }

    /// Continues from what `to_bytes` gave, bit for bit.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, data: &[u8]) -> Result<Self> {
        Ok(Self::of(truenorth_bandit::Bandit::from_bytes(data)?))
    }

    /// Writes the whole state to a file, whole or not at all: the one that ``truenorth decide --state`` reads.
    fn save(&self, py: Python<'_>, path: PathBuf) -> Result<()> {
        Ok(self.with(py, |bandit| write(bandit, &path))?)
    }

    /// Continues from a file.
    #[classmethod]
    fn load(class: &Bound<'_, PyType>, path: PathBuf) -> Result<Self> {
        Ok(Self::of(class.py().detach(|| read(&path))?))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else { return false };
        // One after the other: a bandit may be compared with itself.
        let bytes = |bandit: &Self| bandit.with(py, |bandit| bandit.to_bytes());
        bytes(self) == bytes(other.get())
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        Self::of(self.with(py, |bandit| bandit.clone()))
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
        self.with(py, |bandit| {
            let counts = bandit.counts();
            format!(
                "Bandit(model={:?}, features={}, decisions={}, rewards={}, open={})",
                bandit.recipe().model.to_string(),
                bandit.names().count(),
                counts.decisions,
                counts.rewards,
                counts.open
            )
        })
    }
}

/// Warns of what cannot change a choice.
fn warn(py: Python<'_>, sentences: &[String]) -> PyResult<()> {
    for sentence in sentences {
        let sentence = CString::new(sentence.replace('\0', " "))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &sentence, 1)?;
    }
    Ok(())
}
