//! The native part of the Python package: each module mirrors one of the libraries.
//!
//! What is called once a round is here, without Python code around it; `truenorth/*.py` has what is called once a
//! session, and the classes of what comes back.

mod arms;
mod array;
mod audit;
mod bandit;
mod certificate;
mod choice;
mod compare;
mod draw;
mod error;
mod evaluate;
mod event;
mod experiment;
mod explain;
mod fit;
mod interrupt;
mod monitor;
mod params;
mod parts;
mod policy;
mod rounds;
mod rows;
mod sql;
mod summary;

use pyo3::prelude::*;

/// Native part of `truenorth`; import that instead.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::{
        audit::Audit,
        bandit::{Bandit, BanditChoice},
        certificate::Certificate,
        choice::Choice,
        compare::{compare_rows, compare_tables},
        draw::{curves_svg, directions_svg, look, svg_to_png},
        evaluate::{evaluate_arrays, evaluate_files},
        experiment::{reproduce, simulate},
        fit::Fit,
        monitor::{Monitor, monitor_files},
        parts::{Recipe, Survey, merge_summaries, summarize_part, survey_arrow},
        policy::Policy,
        presets,
        sql::{sql_cuts, sql_summary_query, sql_survey_query},
        summary::{Summary, summarize_arrow, summarize_files, summarize_rows},
    };

    use super::{Bound, PyModule, PyModuleMethods as _, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Names of all policies, the default first.
///
/// Examples
/// --------
/// >>> import truenorth
/// >>> truenorth.presets()[:3]
/// ['truenorth', 'truenorth-confidence', 'truenorth-sampling']
#[pyfunction]
fn presets() -> Vec<&'static str> {
    truenorth::Preset::names().collect()
}
