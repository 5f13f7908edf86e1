//! Contexts and actions as Python has them, as events.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use truenorth_features::{Event, Value, number_level};

use crate::array::python;
use crate::error::{Result, bandit_error};

/// Integers up to this size are numbers; of larger ones, doubles would lose digits.
const EXACT: i64 = 1 << 53;

/// What an event says of its end, by the names that events have for it.
const ENDINGS: [&str; 5] = ["action", "reward", "probability", "decision_id", "time"];

/// An event of a context and actions, or a whole one in the place of the context. `own_id` is the field that is the
/// action's id, where that has a name of its own.
pub(crate) fn event(
    context: Option<&Bound<'_, PyAny>>,
    actions: Option<&Bound<'_, PyAny>>,
    own_id: Option<&str>,
) -> Result<Event> {
    let mut event = Event::default();
    event.clear();
    match (context, actions) {
        (Some(whole), None) => return whole_event(whole, own_id),
        (None, None) => return Err(PyTypeError::new_err("`actions` are needed").into()),
        (context, Some(actions)) => {
            if let Some(context) = context {
                Fields { event: &mut event, place: "the context" }.all(&dict(context, "the context")?)?;
            }
            push_actions(&mut event, actions, own_id)?;
        }
    }
    event.check(None).map_err(bandit_error)?;
    Ok(event)
}

/// An event of which one thing is given: a dictionary or JSON text with `context`, `actions` and what came of it.
pub(crate) fn whole_event(whole: &Bound<'_, PyAny>, own_id: Option<&str>) -> Result<Event> {
    let whole = dict(whole, "an event")?;
    if !whole.contains("actions")? && !whole.contains("decision_id")? {
        return Err(PyTypeError::new_err("`actions` are needed, or an event that has `actions`").into());
    }
    let mut event = Event::default();
    event.clear();
    let given = |name: &str| given(&whole, name);
    if let Some(context) = given("context")? {
        Fields { event: &mut event, place: "the context" }.all(&dict(&context, "the context")?)?;
    }
    if let Some(actions) = given("actions")? {
        push_actions(&mut event, &actions, own_id)?;
    }
    let [chosen, reward, probability, decision_id, time] = ENDINGS.map(given);
    let number = |name: &str, value: Option<Bound<'_, PyAny>>| -> PyResult<Option<f64>> {
        let number = |value: Bound<'_, PyAny>| {
            value.extract::<f64>().map_err(|_| {
                PyTypeError::new_err(format!("`{name}` must be a number, but is {}", shown(&value)))
            })
        };
        // A reward that is not a number has not come.
        Ok(value.map(number).transpose()?.filter(|number| !number.is_nan()))
    };
    let text = |value: Option<Bound<'_, PyAny>>| value.map(|value| id(&value)).transpose();
    event.reward = number("reward", reward?)?;
    event.probability = number("probability", probability?)?;
    event.decision_id = text(decision_id?)?;
    event.time = text(time?)?;
    event.check(text(chosen?)?).map_err(bandit_error)?;
    Ok(event)
}

/// Something as a dictionary: a mapping, a row of a data frame, JSON text.
fn dict<'py>(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyDict>> {
    match value.cast::<PyDict>() {
        Ok(dict) => Ok(dict.clone()),
        Err(_) => {
            Ok(python(value.py(), "truenorth._frames", "fields", (value, what))?.cast_into::<PyDict>()?)
        }
    }
}

fn push_actions(event: &mut Event, actions: &Bound<'_, PyAny>, own_id: Option<&str>) -> Result<()> {
    let listed = match actions.cast::<PyList>() {
        Ok(list) => list.clone(),
        Err(_) => python(actions.py(), "truenorth._frames", "records", (actions,))?
            .cast_into::<PyList>()
            .map_err(PyErr::from)?,
    };
    for action in &listed {
        event.push_numbered().map_err(bandit_error)?;
        if action.is_instance_of::<PyString>() && !action.extract::<&str>()?.trim_start().starts_with('{')
            || action.is_instance_of::<PyInt>()
        {
            event.rename(&id(&action)?);
            continue;
        }
        let action = dict(&action, "an action")?;
        let own = own_id.map_or(Ok(None), |own| given(&action, own));
        if let Some(named) = given(&action, "id")?.or(own?) {
            event.rename(&id(&named)?);
        }
        let mut fields = Fields { event, place: "an action" };
        for (name, value) in &action {
            match name.cast::<PyString>().map(|name| name.to_str()) {
                Ok(Ok("id")) => {}
                Ok(Ok("features")) => fields.features(&value)?,
                Ok(name) => fields.field(name?, &value, None)?,
                Err(_) => fields.field(&key(&name)?, &value, None)?,
            }
        }
    }
    Ok(())
}

/// What a dictionary has under a name, unless it is missing.
fn given<'py>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(value) = dict.get_item(name)? else { return Ok(None) };
    Ok((!is_missing(&value)?).then_some(value))
}

/// Whether nothing is there, by any library's word for it.
fn is_missing(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>() {
        return Ok(false);
    }
    python(value.py(), "truenorth._frames", "is_missing", (value,))?.extract()
}

/// The name of a field.
fn key(name: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(name.str()?.to_str()?.to_owned())
}

/// An id as text.
fn id(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(number_level(number.value()));
    }
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>() {
        return key(value);
    }
    python(value.py(), "truenorth._frames", "name", (value,))?.extract()
}

fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| value.get_type().to_string(), |repr| repr.to_string());
    match text.char_indices().nth(60) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Fields of the context, or of the action that was added last.
struct Fields<'e> {
    event: &'e mut Event,
    place: &'static str,
}

impl Fields<'_> {
    fn all(&mut self, fields: &Bound<'_, PyDict>) -> Result<()> {
        for (name, value) in fields {
            match name.cast::<PyString>() {
                Ok(name) => self.field(name.to_str()?, &value, None)?,
                Err(_) => self.field(&key(&name)?, &value, None)?,
            }
        }
        Ok(())
    }

    /// What `features` holds: fields by name, or numbers in their order, which are `x1`, `x2`, ...
    fn features(&mut self, value: &Bound<'_, PyAny>) -> Result<()> {
        if value.is_none() {
            return Ok(());
        }
        let value = if value.hasattr("tolist")? { value.call_method0("tolist")? } else { value.clone() };
        let Ok(numbers) = value.extract::<Vec<f64>>() else {
            return self.all(&dict(&value, "`features`")?);
        };
        for (place, number) in numbers.into_iter().enumerate() {
            self.push(&["x", &(place + 1).to_string()], Value::Number(number))?;
        }
        Ok(())
    }

    fn push(&mut self, name: &[&str], value: Value<'_>) -> Result<()> {
        Ok(self.event.push(name, value).map_err(bandit_error)?)
    }

    /// A value, perhaps at a place of a list, as the field of a name, or as all fields inside of it: as in JSON, a list of
    /// texts is a field with several levels, and numbers of a list are fields by their places.
    fn field(&mut self, name: &str, value: &Bound<'_, PyAny>, place: Option<usize>) -> Result<()> {
        let at = |fields: &mut Self, value: Value<'_>| match place {
            None => fields.push(&[name], value),
            Some(place) => fields.push(&[name, "[", &place.to_string(), "]"], value),
        };
        if let Ok(text) = value.cast::<PyString>() {
            return self.push(&[name], Value::Text(text.to_str()?));
        }
        if let Ok(number) = value.cast::<PyFloat>() {
            let number = number.value();
            return at(self, if number.is_nan() { Value::Missing } else { Value::Number(number) });
        }
        if let Ok(truth) = value.cast::<PyBool>() {
            return at(self, Value::Truth(truth.is_true()));
        }
        if value.is_instance_of::<PyInt>() {
            return match value.extract::<i64>() {
                Ok(number) if number.abs() <= EXACT => at(self, Value::Number(number as f64)),
                _ => self.push(&[name], Value::Cell(&key(value)?)),
            };
        }
        if value.is_none() {
            return self.push(&[name], Value::Missing);
        }
        if let Ok(fields) = value.cast::<PyDict>() {
            for (inner, value) in fields {
                self.field(&format!("{name}.{}", key(&inner)?), &value, None)?;
            }
            return Ok(());
        }
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            let name = place.map_or_else(|| name.to_owned(), |place| format!("{name}[{place}]"));
            for (place, value) in value.try_iter()?.enumerate() {
                self.field(&name, &value?, Some(place))?;
            }
            return Ok(());
        }
        self.other(name, value, place)
    }

    /// Scalars and arrays of other libraries, dates, mappings.
    fn other(&mut self, name: &str, value: &Bound<'_, PyAny>, place: Option<usize>) -> Result<()> {
        let plain = PLAIN.import(value.py(), "truenorth._frames", "plain")?.call1((value,))?;
        if !plain.is(value) {
            return self.field(name, &plain, place);
        }
        let sentence = format!(
            "field `{name}` of {} must be a number, a truth value, text or nothing, but is {}",
            self.place,
            shown(value)
        );
        Err(PyTypeError::new_err(sentence).into())
    }
}

static PLAIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
