//! Summaries that databases compute.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use truenorth_app::Error;
use truenorth_logs::{Asking, Dialect, cuts_from_sql};

use crate::error::{Result, refused};
use crate::summary::{batches, missing};

/// What `summary_query` was told.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    model: String,
    reward: String,
    dialect: String,
    table: String,
    categories: Vec<String>,
    action: Vec<String>,
    cuts: BTreeMap<String, Vec<f64>>,
    missing: String,
}

impl Asked {
    fn asking(self) -> Result<(Asking, Dialect)> {
        let dialect = self.dialect.parse().map_err(|sentence: String| refused(&sentence))?;
        let asking = Asking {
            model: self.model.parse().map_err(Error::Model)?,
            reward: self.reward,
            table: self.table,
            categories: self.categories,
            action: self.action,
            cuts: self.cuts,
            missing: missing(&self.missing)?,
        };
        Ok((asking, dialect))
    }
}

/// The query for the places of bins and splines, if the model has any.
#[pyfunction]
pub(crate) fn sql_survey_query(asked: Asked) -> Result<Option<String>> {
    let (asking, dialect) = asked.asking()?;
    Ok(asking.survey_query(dialect))
}

/// The query whose answer is a summary.
#[pyfunction]
pub(crate) fn sql_summary_query(asked: Asked) -> Result<String> {
    let (asking, dialect) = asked.asking()?;
    Ok(asking.summary_query(dialect).map_err(|problem| refused(&problem))?)
}

/// The places of bins and splines, from the answer of their query.
#[pyfunction]
pub(crate) fn sql_cuts(answer: &Bound<'_, PyAny>) -> Result<BTreeMap<String, Vec<f64>>> {
    Ok(cuts_from_sql(batches(answer)?)?)
}
