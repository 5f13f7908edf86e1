//! Coverage, drift and trust of features or directions, as a picture.

use truenorth_report::{Row, RowsFigure};

/// The figure of what is known about each row: how much the logs know (its size), how far that has moved (its
/// interval), how much of it is used (its share). `heading` says what the rows are, `notes` what each column counts;
/// drifts within `margin` do not matter.
pub fn directions_figure(
    title: String,
    heading: &str,
    notes: [String; 3],
    margin: f64,
    rows: Vec<Row>,
) -> RowsFigure {
    let columns = ["Coverage", "Drift", "Trust"];
    let legend = ["drifted", "drifted, harmless", "no drift seen", "too little to matter"];
    RowsFigure { title, heading: heading.to_owned(), columns, notes, legend, margin, rows }
}
