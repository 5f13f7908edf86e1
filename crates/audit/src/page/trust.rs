//! Where the logs still hold: feature by feature, and direction by direction.

use truenorth_report::{Block, Error, Interval, Row, RowsFigure, Table, Tone};

use super::words::{self, NONE, amount, change, number, percent, share, with_error};
use super::{LARGEST, ROWS, names, paragraph};
use crate::directions::directions_figure;
use crate::standing::Standing;
use crate::view::{Audit, CertificateView, Finding, PilotView};

/// The colour of a standing.
fn tone(standing: Standing) -> Tone {
    match standing {
        Standing::Drifted => Tone::Bad,
        Standing::Harmless | Standing::Unclear => Tone::Mixed,
        Standing::Untested => Tone::Plain,
        Standing::Holds => Tone::Good,
    }
}

/// 6 drifted, 5 hold, 4 undecided.
pub(super) fn tally<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let mut standings: Vec<Standing> = findings.map(Finding::standing).collect();
    standings.sort_unstable();
    let told = standings.chunk_by(Standing::eq).map(|alike| match (alike.len(), alike[0]) {
        (count @ 2.., Standing::Holds) => format!("{count} hold"),
        // Its comma would be one of the list.
        (count, Standing::Harmless) => format!("{count} drifted harmlessly"),
        (count, standing) => format!("{count} {}", standing.word()),
    });
    words::listed(&told.collect::<Vec<_>>())
}

/// A feature or a direction, as figure and table show it.
struct Entry<'a> {
    name: String,
    /// Place in the audit.
    place: usize,
    finding: &'a Finding,
}

/// Drifted first, then what is open, then what holds; the clearest signal first in each.
fn sorted<'a>(found: impl Iterator<Item = (String, &'a Finding)>) -> Vec<Entry<'a>> {
    // Standard errors between the drift and zero.
    let signal = |finding: &Finding| {
        let both = finding.drift.zip(finding.stderr);
        let ratio = both.map_or(0.0, |(drift, stderr)| (drift / stderr).abs());
        if ratio.is_nan() { 0.0 } else { ratio }
    };
    let entries = found.enumerate().map(|(place, (name, finding))| Entry { name, place, finding });
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by(|Entry { finding: a, .. }, Entry { finding: b, .. }| {
        a.standing().cmp(&b.standing()).then(signal(b).total_cmp(&signal(a)))
    });
    entries
}

impl Entry<'_> {
    /// The drift as a change of what tells the actions of a round apart, or of a typical reward.
    fn effect(&self) -> Option<f64> {
        let effect = self.finding.drift? * self.size();
        (effect.is_finite() && self.finding.typical > 0.0).then_some(effect)
    }

    fn size(&self) -> f64 {
        self.finding.spread.unwrap_or(self.finding.typical)
    }

    fn row(&self) -> Row {
        let Finding { coverage, interval, .. } = *self.finding;
        let bounded = |value: f64| value.clamp(-LARGEST, LARGEST);
        let drift = self.effect().map(|value| {
            // Ends that are no numbers are the value itself.
            let [low, high] = interval.unwrap_or([f64::NAN; 2]).map(|end| end * self.size());
            Interval { value: bounded(value), low: bounded(value.min(low)), high: bounded(value.max(high)) }
        });
        let [coverage, trust] = [(coverage, LARGEST), (self.finding.shown_trust(), 1.0)]
            .map(|(value, most)| if value > 0.0 { value.min(most) } else { 0.0 });
        let tone = match self.finding.standing() {
            Standing::Drifted => Tone::Bad,
            Standing::Harmless => Tone::Mixed,
            _ => Tone::Good,
        };
        let name = words::abridged(&self.name, RowsFigure::shows);
        Row { name, size: coverage, interval: drift, share: trust, tone }
    }

    /// A stepwise test may see what a simultaneous interval does not exclude.
    fn disagrees(&self) -> bool {
        let touches = self.finding.interval.is_some_and(|[low, high]| !(low > 0.0 || high < 0.0));
        self.finding.drifted == Some(true) && touches
    }
}

/// `heading` says what the entries are.
fn figure(entries: &[Entry<'_>], audit: &Audit, heading: &str) -> Result<Block, Error> {
    let what = heading.to_lowercase();
    let shown = &entries[..entries.len().min(ROWS)];
    let level = share(1.0 - audit.level);
    let changed = if audit.cost.is_some() { "between the actions of a round" } else { "of a typical reward" };
    let notes = [
        "rows of it alone".to_owned(),
        format!("change {changed}; {level} interval"),
        "that the logs still hold".to_owned(),
    ];
    let title = format!("What has moved since the logs, by {what}");
    let rows = shown.iter().map(Entry::row).collect();
    let band = audit.features.iter().find_map(|f| Some(f.finding.margin? * f.finding.spread?));
    let figure = directions_figure(title, heading, notes, band.unwrap_or(0.0), rows);
    // The table calls something else drift: what belongs to one unit of a column.
    let figure = RowsFigure { columns: ["Coverage", "Effect on reward", "Trust"], ..figure };
    let mut caption = format!("The intervals hold for all {what}s together with probability {level}.");
    if shown.len() < entries.len() {
        let rest = entries.len() - shown.len();
        caption = format!("The {ROWS} most important of {}; {rest} are left out. {caption}", entries.len());
    }
    if shown.iter().any(Entry::disagrees) {
        caption.push_str(
            " Where the verdict is drifted although the interval touches zero, the test goes step by step and \
             sees a little more than the interval.",
        );
    }
    Ok(Block::Figure { svg: figure.svg()?, caption })
}

/// Figure and table of the features, or what a pilot would add.
pub(super) fn features(audit: &Audit) -> Result<Vec<Block>, Error> {
    let Some(pilot) = &audit.pilot else { return Ok(untested(audit)) };
    if audit.features.is_empty() {
        return Ok(vec![paragraph("The logs have no features.")]);
    }
    let entries = sorted(audit.features.iter().map(|feature| (feature.name.clone(), &feature.finding)));
    let summary = paragraph(summary(&entries, pilot, audit.level));
    Ok(vec![summary, figure(&entries, audit, "Feature")?, tested(&entries, audit)])
}

/// What has moved, in words.
fn summary(entries: &[Entry<'_>], pilot: &PilotView, level: f64) -> String {
    let names = |wanted: Standing| {
        let found = entries.iter().filter(|entry| entry.finding.standing() == wanted);
        found.map(|entry| entry.name.clone()).collect::<Vec<_>>()
    };
    let mut drifted = names(Standing::Drifted);
    let harmless = names(Standing::Harmless);
    let slight = match (drifted.len(), harmless.len()) {
        (_, 0) => String::new(),
        (0, 1) => " One has moved, but that costs too little to matter.".to_owned(),
        (0, few) => format!(" {few} have moved, but that costs too little to matter."),
        (_, 1) => " That of one of them costs too little to matter.".to_owned(),
        (_, few) => format!(" That of {few} of them costs too little to matter."),
    };
    if !drifted.is_empty() {
        drifted.extend(harmless);
    }
    let moved = match drifted.as_slice() {
        [] if entries.iter().all(|entry| entry.finding.drifted.is_none()) => {
            "No feature could be tested: the live rows are too few, or do not vary.".to_owned()
        }
        [] => "No feature shows a drift that matters.".to_owned(),
        [one] => format!("One feature has drifted: {one}."),
        _ => format!("{} features have drifted: {}.", drifted.len(), words::some_of(&drifted, 6)),
    };
    let refuted = pilot.p_value.map_or(String::new(), |p_value| {
        let can = if p_value <= level { "can" } else { "cannot" };
        format!(" That nothing has moved at all {can} be ruled out ({}).", words::p_value(p_value))
    });
    format!(
        "{moved}{slight} Drift is what a feature does to rewards now minus what it did in the logs. Where it has \
         drifted, the logs mislead; where it holds, they count as if they were live; where it is unclear, more live \
         data would tell.{refuted}"
    )
}

/// A heading, and what stands under it in each row.
type Column<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

/// What the columns say of each row, under their headings.
fn table<T>(caption: String, rows: &[T], columns: &[Column<'_, T>]) -> Table {
    let row = |row: &T| columns.iter().map(|(_, cell)| cell(row)).collect();
    let header = columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
    Table { caption, header, rows: rows.iter().map(row).collect() }
}

fn tested(entries: &[Entry<'_>], audit: &Audit) -> Block {
    let allowances = allowances(audit);
    let drift = |&Finding { drift, stderr, .. }: &Finding| {
        drift.map_or(NONE.to_owned(), |drift| with_error(drift, stderr.unwrap_or(f64::NAN)))
    };
    let effect = |effect: Option<f64>| effect.map_or(NONE.to_owned(), |effect| change(effect, audit.noise));
    let all = if entries.len() > ROWS { format!("All {} features. ", entries.len()) } else { String::new() };
    let table = table(
        all + "Drift is for one unit of the column; its effect is what it does to the differences between the actions of a \
               round, or to a typical reward where there are no rounds. Coverage: rows of this feature alone that would tell \
               as much as the logs. Allowed drift: what the certificate permits.",
        entries,
        &[
            ("Feature", &|entry| entry.name.clone()),
            ("Verdict", &|entry| entry.finding.standing().word().to_owned()),
            ("Drift ± standard error", &|entry| drift(entry.finding)),
            ("Effect on reward", &|entry| effect(entry.effect())),
            ("Coverage in rows", &|entry| amount(entry.finding.coverage)),
            ("Trust", &|entry| percent(entry.finding.shown_trust())),
            ("Allowed drift", &|entry| allowances[entry.place].clone()),
        ],
    );
    let tones = entries.iter().map(|entry| tone(entry.finding.standing())).collect();
    Block::Badges { table, column: 1, tones }
}

fn untested(audit: &Audit) -> Vec<Block> {
    let mut blocks = vec![paragraph(
        "Nothing here says whether the logs still hold: that takes live data. A pilot is a small set of live rows, a few \
         hundred are a start, with the same columns as the logs and chosen with some randomness. With one, this page \
         shows for each feature how far it has moved since the logs, which of them to trust, what following them would \
         cost, and a certificate that is measured rather than assumed.",
    )];
    let mut features: Vec<_> = audit.features.iter().zip(allowances(audit)).collect();
    features.sort_by(|(a, _), (b, _)| a.finding.coverage.total_cmp(&b.finding.coverage));
    let caption = "What the logs say, the least covered feature first. Coverage: rows of this feature alone that \
                   would tell as much as the logs.";
    if !features.is_empty() {
        blocks.push(Block::Table(table(
            caption.to_owned(),
            &features,
            &[
                ("Feature", &|(feature, _)| feature.name.clone()),
                ("Logged coefficient", &|(feature, _)| number(feature.estimate)),
                ("Coverage in rows", &|(feature, _)| amount(feature.finding.coverage)),
                ("Allowed drift", &|(_, allowance)| allowance.clone()),
            ],
        )));
    }
    blocks
}

/// Figure of the eigen-directions.
pub(super) fn directions(audit: &Audit) -> Result<Vec<Block>, Error> {
    if audit.directions.iter().all(|direction| direction.finding.standing() == Standing::Untested) {
        let untested =
            audit.features.iter().filter(|feature| feature.finding.standing() == Standing::Untested);
        let untested: Vec<String> = untested.map(|feature| feature.name.clone()).collect();
        let why = if untested.len() < audit.features.len() {
            let what = words::some_of(&untested, 3);
            format!("each holds a little of {what}, which the pilot cannot test")
        } else {
            "the live rows are too few, or do not vary".to_owned()
        };
        return Ok(vec![paragraph(format!("No combination of features could be tested: {why}."))]);
    }
    let names = names(audit);
    let name = |weights: &[f64]| words::direction(weights, &names, 2, RowsFigure::shows);
    let entries = sorted(audit.directions.iter().map(|found| (name(&found.weights), &found.finding)));
    let text = format!(
        "Features that move together in the logs are hard to tell apart, and their drifts with them. Along the \
         directions below, each a mix of features, the logs' errors do not mix. Of {}: {}.",
        words::counted(entries.len() as u64, "direction"),
        tally(entries.iter().map(|entry| entry.finding)),
    );
    Ok(vec![paragraph(text), figure(&entries, audit, "Direction")?])
}

/// What the certificate allows each feature, for a table.
fn allowances(audit: &Audit) -> Vec<String> {
    match budgets(audit) {
        Some(budgets) => budgets.into_iter().map(|budget| format!("± {}", number(budget))).collect(),
        None => vec![NONE.to_owned(); audit.features.len()],
    }
}

/// The largest drift of each feature that the certificate allows: ρ √(M⁻¹)ᵢᵢ, of an M that is diagonal.
pub(super) fn budgets(audit: &Audit) -> Option<Vec<f64>> {
    let CertificateView { matrix, rho } = &audit.certificate;
    let root = |i: usize| Some(matrix.get(i)?.get(i)?.sqrt()).filter(|root| root.is_normal());
    let budget = |i: usize| Some(rho / root(i)?).filter(|budget| budget.is_finite());
    (0..audit.features.len()).map(budget).collect()
}
