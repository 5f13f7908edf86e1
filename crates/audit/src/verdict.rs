//! The answer in a sentence.

use crate::standing::Standing;
use crate::view::{Audit, Direction, Feature, PilotView, Use, Verdict, Worth};
use crate::words::{about, count, list, many, number};

/// What the verdict is made from.
pub(crate) struct Facts<'a> {
    pub(crate) rows: u64,
    pub(crate) features: &'a [Feature],
    pub(crate) directions: &'a [Direction],
    pub(crate) pilot: Option<&'a PilotView>,
    pub(crate) worth: &'a Worth,
    pub(crate) level: f64,
}

impl<'a> Facts<'a> {
    /// The facts of an audit whose verdict is still open.
    pub(crate) fn of(audit: &'a Audit) -> Self {
        Self {
            rows: audit.rows,
            features: &audit.features,
            directions: &audit.directions,
            pilot: audit.pilot.as_ref(),
            worth: &audit.worth,
            level: audit.level,
        }
    }

    fn names(&self, which: impl Fn(&Feature) -> bool) -> Vec<&'a str> {
        self.features.iter().filter(|feature| which(feature)).map(|feature| feature.name.as_str()).collect()
    }

    /// Features with a drift that is real.
    pub(crate) fn drifted(&self) -> Vec<&'a str> {
        self.names(|feature| feature.drifted == Some(true))
    }

    /// Features without, whose logged coefficient is more likely to hold than not.
    pub(crate) fn held(&self) -> Vec<&'a str> {
        self.names(|feature| feature.standing() == Standing::Holds)
    }

    /// All other features.
    pub(crate) fn undecided(&self) -> Vec<&'a str> {
        self.names(|feature| matches!(feature.standing(), Standing::Undecided | Standing::Untested))
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let tested = self.features.iter().any(|feature| feature.drifted.is_some());
        let (usable, sentence) = match self.pilot {
            _ if self.rows == 0 => (Use::None, "Use none of the logs: they have no rows.".to_owned()),
            Some(pilot) if tested => self.measured(pilot),
            pilot => (Use::Some, self.unmeasured(pilot)),
        };
        Verdict { usable, sentence }
    }

    fn measured(&self, pilot: &PilotView) -> (Use, String) {
        let (drifted, held, undecided) = (self.drifted(), self.held(), self.undecided());
        let (d, tested) = (self.features.len(), self.features.iter().filter(|f| f.drifted.is_some()).count());
        let after = self.worth.after_pilot.unwrap_or(0.0);
        let worthless = after < 0.01 * self.worth.unbiased && 2 * drifted.len() >= d;
        let seen = seen(pilot);
        let worth = format!("the logs are worth about {} live rounds", about(after));
        let open =
            if undecided.is_empty() { String::new() } else { format!("; undecided: {}", list(&undecided)) };
        let holding = if held.is_empty() {
            String::new()
        } else {
            format!("; {} still {}", list(&held), if held.len() == 1 { "holds" } else { "hold" })
        };
        // A drift that is real but small leaves the logs useful.
        let large = self.names(|feature| feature.standing() == Standing::Drifted);
        if large.len() == tested || worthless {
            let all = if drifted.len() == d { "all".to_owned() } else { drifted.len().to_string() };
            let sentence = format!(
                "Use none of the logs: {all} of {} have drifted in {seen} ({}){holding}{open}; {worth}.",
                many(d as u64, "feature"),
                list(&drifted)
            );
            return (Use::None, sentence);
        }
        if !drifted.is_empty() {
            let have = if drifted.len() == 1 { "has" } else { "have" };
            let sentence = format!(
                "Use some of the logs: {} of {} {have} drifted in {seen} ({}){holding}{open}; {worth}.",
                drifted.len(),
                many(d as u64, "feature"),
                list(&drifted)
            );
            return (Use::Some, sentence);
        }
        // No single feature: all of them together may still show it.
        let together = pilot.p_value.is_some_and(|p| p <= self.level);
        let along = self.directions.iter().filter(|direction| direction.drifted == Some(true)).count();
        if together {
            let most = match along {
                0 => "all of them together do".to_owned(),
                along => format!("all of them together do, most in {}", many(along as u64, "combination")),
            };
            let sentence = format!(
                "Use some of the logs: no single one of the {} shows drift in {seen}, but {most}{holding}{open}; {worth}.",
                many(d as u64, "feature")
            );
            return (Use::Some, sentence);
        }
        if 2 * held.len() < d {
            let sentence = format!(
                "Use some of the logs: none of the {} shows drift in {seen}, but most of them cannot be decided yet{holding}{open}; {worth}.",
                many(d as u64, "feature")
            );
            return (Use::Some, sentence);
        }
        let sentence = format!(
            "Use all of the logs: none of the {} shows drift in {seen}; {}{open}; {worth}.",
            many(d as u64, "feature"),
            self.power()
        );
        (Use::All, sentence)
    }

    /// How much "no drift" says: shown to be small, or merely not shown to differ.
    fn power(&self) -> String {
        let tested: Vec<&Feature> = self.features.iter().filter(|f| f.drifted.is_some()).collect();
        let small = tested.iter().filter(|feature| feature.equivalent == Some(true)).count();
        match (small, tested.len() - small) {
            (_, 0) => format!("all {small} tested are shown to be within the margin"),
            (0, _) => {
                "but the live data are too few to show for any that its drift is within the margin".to_owned()
            }
            (small, other) => format!(
                "{small} of them {} shown to be within the margin, the other {other} {} only not shown to differ",
                if small == 1 { "is" } else { "are" },
                if other == 1 { "is" } else { "are" },
            ),
        }
    }

    fn unmeasured(&self, pilot: Option<&PilotView>) -> String {
        let least = self.features.iter().min_by(|a, b| a.coverage.total_cmp(&b.coverage));
        let least = least.map_or(String::new(), |feature| {
            format!(" (least of all {}, as {} rows would)", feature.name, about(feature.coverage))
        });
        let hint = match pilot {
            None => "bring live data with --pilot to find out".to_owned(),
            Some(pilot) => format!("the pilot's {} are too few to tell", many(pilot.rows, "row")),
        };
        format!(
            "Use some of the logs, with care: their {} cover {}{least} and are worth about {} live rounds if nothing has drifted, but {} under a drift of {}; {hint}.",
            count(self.rows) + if self.rows == 1 { " row" } else { " rows" },
            many(self.features.len() as u64, "feature"),
            about(self.worth.unbiased),
            about(self.worth.under_stated_drift),
            number(self.worth.stated_drift),
        )
    }
}

/// How much live data there was.
fn seen(pilot: &PilotView) -> String {
    let rows = many(pilot.rows, "live row");
    if pilot.independent == pilot.rows {
        rows
    } else {
        format!("{rows} of {}", many(pilot.independent, "round"))
    }
}
