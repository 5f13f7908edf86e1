//! How much the logs know, direction by direction.

use truenorth_report::{
    AxisScale, Block, Curves, CurvesFigure, CurvesPanel, Error, Marks, Reference, Series,
};

use super::paragraph;
use super::words::{amount, counted, direction, number};
use crate::view::Audit;

/// Points that are marked; more of them run together.
const MARKED: usize = 60;
/// The weakest directions that are named.
const WEAKEST: usize = 3;
/// Less than this many rows is nothing.
const NOTHING: f64 = 0.01;
/// Figures take numbers up to here.
const LARGEST: f64 = 1e90;

pub(super) fn blocks(audit: &Audit) -> Result<Vec<Block>, Error> {
    if audit.directions.is_empty() {
        return Ok(vec![paragraph("Nothing is known about the directions of the logs.")]);
    }
    let mut blocks = vec![paragraph(words(audit))];
    if audit.directions.len() > 1 {
        blocks.push(spectrum(audit)?);
    }
    let names: Vec<&str> = audit.features.iter().map(|feature| feature.name.as_str()).collect();
    let weakest =
        audit.directions.iter().rev().take(WEAKEST).map(|weak| {
            format!("{}: {} rows", direction(&weak.weights, &names, 4, 40), amount(weak.coverage))
        });
    let weakest: Vec<String> = weakest.collect();
    if audit.directions.len() > WEAKEST {
        blocks.push(paragraph(
            "The weakest directions, as mixes of features. Nobody can know from these logs what such a mix does; \
             a live policy will have to try it:",
        ));
        blocks.push(Block::List(weakest));
    }
    Ok(blocks)
}

/// The effective dimension in words.
fn words(audit: &Audit) -> String {
    let (rows, dimension) = (counted(audit.rows, "logged row"), audit.dimension);
    let effective = audit.effective_dimension;
    if !(effective.is_finite() && effective > 0.0) || dimension == 0 {
        return format!("How {rows} are spread over the directions of the features.");
    }
    let share = effective / dimension as f64;
    let verdict = if share > 0.7 {
        "The logs look in almost all directions."
    } else if share > 0.3 {
        "Some directions are covered much better than others."
    } else {
        "Most of what the logs know is about few directions."
    };
    format!(
        "The {rows} are spread as if they looked in {} of {} evenly. {verdict} What they never \
         tried, they cannot tell, however many rows there are.",
        number(effective),
        counted(dimension as u64, "direction")
    )
}

fn spectrum(audit: &Audit) -> Result<Block, Error> {
    let values: Vec<f64> = audit.directions.iter().map(|direction| direction.coverage).collect();
    let values: Vec<f64> =
        values.into_iter().map(|value| if value > 0.0 { value.min(LARGEST) } else { 0.0 }).collect();
    let largest = values.iter().copied().fold(0.0, f64::max);
    let floor = if largest > NOTHING { NOTHING } else { 0.0 };
    let values: Vec<f64> = values.into_iter().map(|value| if value < floor { 0.0 } else { value }).collect();
    let place: Vec<f64> = (1..=values.len()).map(|place| place as f64).collect();
    let marks = if values.len() <= MARKED { Marks::Points } else { Marks::Lines };
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let row = Reference { name: "one row".to_owned(), slope: 0.0, through: (1.0, 1.0) };
    let panel = CurvesPanel {
        y_scale: AxisScale::Log,
        series: vec![Series::new("logs", place, values)],
        references: if smallest < 1.0 && largest > 1.0 { vec![row] } else { Vec::new() },
        ..CurvesPanel::default()
    };
    let curves = Curves {
        title: "How many rows tell about each direction".to_owned(),
        x_label: "direction, best covered first".to_owned(),
        y_label: "rows".to_owned(),
        marks,
        panels: vec![panel],
        ..Curves::default()
    };
    let caption =
        "Rows of typical size along a direction alone that would tell as much about it as the logs.";
    Ok(Block::Figure { svg: CurvesFigure::new(curves)?.svg(), caption: caption.to_owned() })
}
