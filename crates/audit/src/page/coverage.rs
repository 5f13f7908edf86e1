//! How much the logs know, direction by direction.

use truenorth_report::{AxisScale, Block, Curves, CurvesPanel, Error, Reference, Series};

use super::words::{amount, counted, direction, number};
use super::{LARGEST, names, paragraph};
use crate::view::{Audit, Direction};

/// Points that are marked; more of them run together.
const MARKED: usize = 60;
/// The weakest directions that are named.
const WEAKEST: usize = 3;
/// Less than this many rows is nothing.
const NOTHING: f64 = 0.01;

pub(super) fn blocks(audit: &Audit) -> Result<Vec<Block>, Error> {
    if audit.directions.is_empty() {
        return Ok(vec![paragraph("Nothing is known about the directions of the logs.")]);
    }
    let mut blocks = vec![paragraph(words(audit))];
    if audit.directions.len() > 1 {
        blocks.push(spectrum(audit)?);
    }
    if audit.directions.len() > WEAKEST {
        blocks.push(paragraph(
            "The weakest directions, as mixes of features. These logs hardly tell what such a mix does. Where features always \
             go together, as the levels of a category and the intercept do, no choice depends on it; elsewhere a live \
             policy will have to try it:",
        ));
        let names = names(audit);
        let told = |weak: &Direction| {
            let mix = direction(&weak.weights, &names, 4, |text| text.chars().count() <= 50);
            format!("{mix}: {} rows", amount(weak.finding.coverage))
        };
        blocks.push(Block::List(audit.directions.iter().rev().take(WEAKEST).map(told).collect()));
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
    let coverages = audit.directions.iter().map(|direction| direction.finding.coverage);
    let largest = coverages.clone().fold(0.0, f64::max);
    let floor = if largest > NOTHING { NOTHING } else { 0.0 };
    let known = |value: f64| if value > 0.0 && value >= floor { value.min(LARGEST) } else { 0.0 };
    let values: Vec<f64> = coverages.map(known).collect();
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let place: Vec<f64> = (1..=values.len()).map(|place| place as f64).collect();
    let markers = values.len() <= MARKED;
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
        markers,
        panels: vec![panel],
        ..Curves::default()
    };
    let caption =
        "Rows of typical size along a direction alone that would tell as much about it as the logs.";
    Ok(Block::Figure { svg: curves.svg()?, caption: caption.to_owned() })
}
