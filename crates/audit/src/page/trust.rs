//! Where the logs still hold: feature by feature, and direction by direction.

use nalgebra::DMatrix;
use truenorth_report::{
    Block, Direction as Row, Directions, DirectionsFigure, DirectionsPanel, Drift, Error, Heading, Table,
    Tone,
};

use super::words::{self, NONE, amount, change, number, percent, share, with_error};
use super::{ROWS, paragraph};
use crate::standing::Standing;
use crate::view::{Audit, Direction, Feature, PilotView};

/// Figures take numbers up to here.
const LARGEST: f64 = 1e90;

/// The colour of a standing.
fn tone(standing: Standing) -> Tone {
    match standing {
        Standing::Drifted => Tone::Bad,
        Standing::Slight | Standing::Undecided => Tone::Mixed,
        Standing::Untested => Tone::Plain,
        Standing::Holds => Tone::Good,
    }
}

/// 6 drifted, 5 hold, 4 undecided.
pub(super) fn tally(standings: impl Iterator<Item = Standing>) -> String {
    let standings: Vec<Standing> = standings.collect();
    let kinds = [
        (Standing::Drifted, "drifted", "drifted"),
        (Standing::Slight, "drifted a little", "drifted a little"),
        (Standing::Undecided, "undecided", "undecided"),
        (Standing::Untested, "not tested", "not tested"),
        (Standing::Holds, "holds", "hold"),
    ];
    let told = kinds.iter().filter_map(|(kind, one, many)| {
        match standings.iter().filter(|standing| *standing == kind).count() {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        }
    });
    words::listed(&told.collect::<Vec<_>>())
}

/// What features and directions have in common.
struct Finding {
    name: String,
    standing: Standing,
    /// Place in the audit.
    place: usize,
    coverage: f64,
    /// What a unit of drift does to a typical reward.
    typical: f64,
    drift: Option<f64>,
    stderr: Option<f64>,
    interval: Option<[f64; 2]>,
    trust: f64,
}

impl Finding {
    fn of_feature(place: usize, feature: &Feature) -> Self {
        Self {
            name: feature.name.clone(),
            standing: feature.standing(),
            place,
            coverage: feature.coverage,
            typical: feature.typical,
            drift: feature.drift,
            stderr: feature.stderr,
            interval: feature.interval,
            trust: feature.trust,
        }
    }

    fn of_direction(place: usize, direction: &Direction, names: &[&str]) -> Self {
        Self {
            name: words::direction(&direction.weights, names, 2, 11),
            standing: direction.standing(),
            place,
            coverage: direction.coverage,
            typical: direction.typical,
            drift: direction.drift,
            stderr: direction.stderr,
            interval: direction.interval,
            trust: direction.trust,
        }
    }

    /// Standard errors between the drift and zero.
    fn signal(&self) -> f64 {
        match (self.drift, self.stderr) {
            (Some(drift), Some(stderr)) if drift != 0.0 && !(drift / stderr).is_nan() => {
                (drift / stderr).abs()
            }
            _ => 0.0,
        }
    }

    /// The drift as a change of a typical reward.
    fn effect(&self) -> Option<f64> {
        let effect = self.drift? * self.typical;
        (effect.is_finite() && self.typical > 0.0).then_some(effect)
    }

    fn row(&self) -> Row {
        let bounded = |value: f64| if value.is_nan() { 0.0 } else { value.clamp(-LARGEST, LARGEST) };
        let drift = self.effect().map_or(Drift::Unknown, |value| {
            let [low, high] = self.interval.unwrap_or([self.drift.unwrap_or_default(); 2]).map(|end| {
                let end = end * self.typical;
                if end.is_nan() { value } else { end }
            });
            let (value, low, high) = (bounded(value), bounded(low), bounded(high));
            Drift::Estimate { value, low: low.min(value), high: high.max(value) }
        });
        let trust = if self.trust.is_nan() { 0.0 } else { self.trust.clamp(0.0, 1.0) };
        Row { name: self.name.clone(), coverage: bounded(self.coverage).max(0.0), drift, trust }
    }

    /// A stepwise test may see what a simultaneous interval does not exclude.
    fn disagrees(&self) -> bool {
        let excludes = self.interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
        matches!(self.standing, Standing::Drifted | Standing::Slight) && self.interval.is_some() && !excludes
    }
}

/// Drifted first, then what is open, then what holds; the clearest signal first in each.
fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| {
        a.standing.cmp(&b.standing).then(b.signal().total_cmp(&a.signal())).then(a.place.cmp(&b.place))
    });
    findings
}

fn figure(
    findings: &[Finding],
    audit: &Audit,
    title: &str,
    heading: &str,
    many: &str,
) -> Result<Block, Error> {
    let shown = &findings[..findings.len().min(ROWS)];
    let level = share(1.0 - audit.level);
    let directions = Directions {
        title: title.to_owned(),
        names: Heading::new(heading, ""),
        coverage: Heading::new("Coverage", "rows of it alone"),
        drift: Heading::new("Drift", format!("change of a typical reward, {level} interval")),
        trust: Heading::new("Trust", "that the logs still hold"),
        panels: vec![DirectionsPanel {
            title: String::new(),
            directions: shown.iter().map(Finding::row).collect(),
        }],
    };
    let figure = DirectionsFigure::new(directions)?.with_margin(audit.margin * audit.noise);
    let mut caption = format!("The intervals hold for all {many} together with probability {level}.");
    if shown.len() < findings.len() {
        let rest = findings.len() - shown.len();
        caption = format!("The {ROWS} most important of {}; {rest} are left out. {caption}", findings.len());
    }
    if shown.iter().any(Finding::disagrees) {
        caption.push_str(
            " Where the verdict is drifted although the interval touches zero, the test goes step by step and \
             sees a little more than the interval.",
        );
    }
    Ok(Block::Figure { svg: figure.svg(), caption })
}

/// Figure and table of the features, or what a pilot would add.
pub(super) fn features(audit: &Audit) -> Result<Vec<Block>, Error> {
    let Some(pilot) = &audit.pilot else { return Ok(untested(audit)) };
    if audit.features.is_empty() {
        return Ok(vec![paragraph("The logs have no features.")]);
    }
    let findings =
        audit.features.iter().enumerate().map(|(place, feature)| Finding::of_feature(place, feature));
    let findings = sorted(findings.collect());
    Ok(vec![
        paragraph(summary(&findings, pilot, audit.level)),
        figure(&findings, audit, "What has moved since the logs, by feature", "Feature", "features")?,
        table(&findings, audit),
    ])
}

/// What has moved, in words.
fn summary(findings: &[Finding], pilot: &PilotView, level: f64) -> String {
    let names = |wanted: Standing| {
        let found = findings.iter().filter(|finding| finding.standing == wanted);
        found.map(|finding| finding.name.clone()).collect::<Vec<_>>()
    };
    let drifted = names(Standing::Drifted);
    let mut sentences = vec![match drifted.as_slice() {
        [] => "No feature shows a drift that matters.".to_owned(),
        [one] => format!("One feature has drifted: {one}."),
        _ => format!("{} features have drifted: {}.", drifted.len(), words::some_of(&drifted, 6)),
    }];
    match (names(Standing::Slight).len(), drifted.len()) {
        (0, _) => {}
        (1, 0) => sentences.push("One has moved, but too little to matter.".to_owned()),
        (1, _) => sentences.push("One more has moved, but too little to matter.".to_owned()),
        (few, 0) => sentences.push(format!("{few} have moved, but too little to matter.")),
        (few, _) => sentences.push(format!("{few} more have moved, but too little to matter.")),
    }
    sentences.push(
        "Drift is what a feature does to rewards now minus what it did in the logs. Where it has drifted, the \
         logs mislead; where it holds, they count as if they were live; where it is undecided, more live data \
         would tell."
            .to_owned(),
    );
    if let Some(p_value) = pilot.p_value {
        let refuted = if p_value <= level { "can be ruled out" } else { "cannot be ruled out" };
        sentences.push(format!("That nothing has moved at all {refuted} ({}).", words::p_value(p_value)));
    }
    sentences.join(" ")
}

fn table(findings: &[Finding], audit: &Audit) -> Block {
    let budgets = budgets(audit);
    let row = |finding: &Finding| {
        let drift = finding
            .drift
            .map_or(NONE.to_owned(), |drift| with_error(drift, finding.stderr.unwrap_or(f64::NAN)));
        vec![
            finding.name.clone(),
            finding.standing.word().to_owned(),
            drift,
            finding.effect().map_or(NONE.to_owned(), |effect| change(effect, audit.noise)),
            amount(finding.coverage),
            percent(finding.trust),
            allowance(budgets.as_ref().map(|budgets| budgets[finding.place])),
        ]
    };
    let header = [
        "Feature",
        "Verdict",
        "Drift ± standard error",
        "Effect on reward",
        "Coverage in rows",
        "Trust",
        "Allowed drift",
    ];
    let all =
        if findings.len() > ROWS { format!("All {} features. ", findings.len()) } else { String::new() };
    let table = Table {
        caption: all
            + "Drift is for one unit of the column, its effect on a reward for a typical size of it. Coverage: rows of \
               this feature alone that would tell as much as the logs. Allowed drift: what the certificate permits.",
        header: header.map(str::to_owned).to_vec(),
        rows: findings.iter().map(row).collect(),
    };
    let tones = findings.iter().map(|finding| tone(finding.standing)).collect();
    Block::Badges { table, column: 1, tones }
}

fn untested(audit: &Audit) -> Vec<Block> {
    let budgets = budgets(audit);
    let mut order: Vec<usize> = (0..audit.features.len()).collect();
    order.sort_by(|&a, &b| audit.features[a].coverage.total_cmp(&audit.features[b].coverage));
    let row = |&place: &usize| {
        let feature = &audit.features[place];
        vec![
            feature.name.clone(),
            number(feature.estimate),
            amount(feature.coverage),
            allowance(budgets.as_ref().map(|budgets| budgets[place])),
        ]
    };
    let header = ["Feature", "Logged coefficient", "Coverage in rows", "Allowed drift"];
    let table = Table {
        caption:
            "What the logs say, the least covered feature first. Coverage: rows of this feature alone that \
                  would tell as much as the logs."
                .to_owned(),
        header: header.map(str::to_owned).to_vec(),
        rows: order.iter().map(row).collect(),
    };
    let mut blocks = vec![
        paragraph(
            "Nothing here says whether the logs still hold: that takes live data. A pilot is a small set of live \
             rows, a few hundred are a start, with the same columns as the logs and chosen with some randomness. \
             With one, this page shows for each feature how far it has moved since the logs, which of them to \
             trust, and a certificate that is measured rather than assumed.",
        ),
        Block::Code("truenorth audit SUMMARY --pilot FILE".to_owned()),
    ];
    if !audit.features.is_empty() {
        blocks.push(Block::Table(table));
    }
    blocks
}

/// Figure of the eigen-directions.
pub(super) fn directions(audit: &Audit) -> Result<Vec<Block>, Error> {
    let names: Vec<&str> = audit.features.iter().map(|feature| feature.name.as_str()).collect();
    let directions = audit.directions.iter().enumerate();
    let findings: Vec<Finding> =
        directions.map(|(place, direction)| Finding::of_direction(place, direction, &names)).collect();
    let findings = sorted(findings);
    let text = format!(
        "Features that move together in the logs are hard to tell apart, and their drifts with them. Along the \
         directions below, each a mix of features, the logs' errors do not mix. Of {}: {}.",
        words::counted(findings.len() as u64, "direction"),
        tally(findings.iter().map(|finding| finding.standing)),
    );
    let title = "What has moved since the logs, by direction";
    Ok(vec![paragraph(text), figure(&findings, audit, title, "Direction", "directions")?])
}

fn allowance(budget: Option<f64>) -> String {
    match budget {
        Some(budget) if budget.is_finite() => format!("± {}", number(budget)),
        _ => NONE.to_owned(),
    }
}

/// The largest drift of each feature that the certificate allows: ρ √(M⁻¹)ᵢᵢ.
pub(super) fn budgets(audit: &Audit) -> Option<Vec<f64>> {
    let (rows, dimension) = (&audit.certificate.matrix, audit.features.len());
    if rows.len() != dimension || rows.iter().any(|row| row.len() != dimension) || dimension == 0 {
        return None;
    }
    // Columns of very different units: a matrix with ones on its diagonal is better to invert.
    let roots: Vec<f64> = (0..dimension).map(|i| rows[i][i].sqrt()).collect();
    if !roots.iter().all(|root| root.is_normal()) {
        return None;
    }
    let matrix = DMatrix::from_fn(dimension, dimension, |i, j| rows[i][j] / roots[i] / roots[j]);
    let inverse = matrix.cholesky()?.inverse();
    let budgets: Vec<f64> =
        (0..dimension).map(|i| audit.certificate.rho * inverse[(i, i)].sqrt() / roots[i]).collect();
    budgets.iter().all(|budget| budget.is_finite()).then_some(budgets)
}
