//! Two coefficients in the plane: what logs, certificate and live data say about them.

use std::f64::consts::TAU;

use truenorth_report::{Block, Ellipses, EllipsesPanel, Error, Outline};

use super::words::{share, shortened};
use super::{LARGEST, any_drifted, paragraph};
use crate::fit::positive;
use crate::view::{Audit, Pair, PairEstimate};

const CORNERS: u32 = 120;
/// 95 % of a Gaussian in the plane lie within so many squared standard deviations.
const QUANTILE: f64 = 5.991;

/// Of a pair whose logs can be drawn.
pub(super) fn blocks(pair: &Pair, audit: &Audit) -> Result<Vec<Block>, Error> {
    let allowed = pair.budgets.iter().all(|budget| (0.0..LARGEST).contains(budget));
    let live = pair.live.filter(PairEstimate::is_drawable);
    let alone = |name: &str, part: &PairEstimate, dashed| {
        let center = Some((part.estimate[0], part.estimate[1]));
        Outline { name: name.to_owned(), points: part.region([0.0; 2]), center, dashed }
    };
    let mut outlines = Vec::new();
    if allowed {
        let (name, points) = ("logs + allowed drift".to_owned(), pair.logs.region(pair.budgets));
        outlines.push(Outline { name, points, center: None, dashed: false });
    }
    outlines.push(alone("logs alone", &pair.logs, true));
    outlines.extend(live.map(|live| alone("live data", &live, false)));
    let label = |name: &String| match pair.live {
        Some(_) => format!("coefficient of {}", shortened(name, 36)),
        None => shortened(name, 51),
    };
    let [x_label, y_label] = pair.names.each_ref().map(label);
    let ellipses = Ellipses {
        title: "What is known about the two".to_owned(),
        x_label,
        y_label,
        own_units: true,
        panels: vec![EllipsesPanel { title: String::new(), outlines, truth: None }],
        ..Ellipses::default()
    };
    let caption = "95\u{a0}% regions. Each axis has a unit of its own.";
    let figure = Block::Figure { svg: ellipses.svg()?, caption: caption.to_owned() };
    Ok(vec![paragraph(text(pair, audit, live.is_some(), allowed)), figure])
}

fn text(pair: &Pair, audit: &Audit, live: bool, allowed: bool) -> String {
    let [x, y] = pair.names.each_ref().map(|name| shortened(name, 60));
    let known = if live && !any_drifted(audit) {
        format!(
            "Of all differences between live data and logs, those of {x} and {y} are the largest, measured in standard errors, but \
             they may be chance. The dashed region is what the logs alone leave open; the live data has its own."
        )
    } else if live {
        format!(
            "The drifts of {x} and {y} are the largest, measured in standard errors. The logs alone are sure of the dashed \
             region; the live data points to its own. Where the two do not meet, the logs are wrong, however \
             many rows they have."
        )
    } else {
        format!(
            "The weakest directions about which the logs tell anything are {x} and {y}. The dashed region is what the logs \
             alone leave open."
        )
    };
    let widened = match (allowed, live) {
        (false, _) => "The certificate does not limit the drift here.".to_owned(),
        (true, true) => format!(
            "The certificate widens the logs' region until it holds the live coefficients again, with \
             probability {}.",
            share(1.0 - audit.level)
        ),
        (true, false) => "The filled region adds the drift that is assumed.".to_owned(),
    };
    format!("{known} {widened}")
}

impl PairEstimate {
    pub(super) fn is_drawable(&self) -> bool {
        let [[a, b], [c, d]] = self.covariance;
        self.estimate.iter().chain(&[a, b, c, d]).all(|value| value.abs() < LARGEST) && a >= 0.0 && d >= 0.0
    }

    /// The 95 % ellipse, plus every drift within an ellipse of these half axes.
    fn region(&self, budgets: [f64; 2]) -> Vec<(f64, f64)> {
        let [[a, b], [c, d]] = self.covariance;
        let between = f64::midpoint(b, c);
        // Corners in units of each axis, so that they are evenly spread whatever the units are.
        let units =
            [(a, 0), (d, 1)].map(|(square, axis)| positive((square * QUANTILE).sqrt() + budgets[axis], 1.0));
        let corner = |step: u32| {
            let angle = TAU * f64::from(step) / f64::from(CORNERS);
            let (u, v) = (angle.cos() / units[0], angle.sin() / units[1]);
            // The point of an ellipse that is furthest in direction (u, v).
            let furthest = |xx: f64, xy: f64, yy: f64| {
                let (x, y) = (xx * u + xy * v, xy * u + yy * v);
                let length = (x * u + y * v).sqrt();
                if length > 0.0 { (x / length, y / length) } else { (0.0, 0.0) }
            };
            let noise = furthest(QUANTILE * a, QUANTILE * between, QUANTILE * d);
            let drift = furthest(budgets[0] * budgets[0], 0.0, budgets[1] * budgets[1]);
            (self.estimate[0] + noise.0 + drift.0, self.estimate[1] + noise.1 + drift.1)
        };
        (0..CORNERS).map(corner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGS: PairEstimate = PairEstimate { estimate: [1.0, -2.0], covariance: [[4.0, 0.0], [0.0, 1e-6]] };

    fn reach(points: &[(f64, f64)], axis: fn(&(f64, f64)) -> f64) -> (f64, f64) {
        points.iter().map(axis).fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)))
    }

    #[test]
    fn an_ellipse_reaches_as_far_as_its_quantile() {
        let points = LOGS.region([0.0; 2]);
        let (low, high) = reach(&points, |point| point.0);
        let half = QUANTILE.sqrt() * 2.0;
        assert!((low - (1.0 - half)).abs() < 1e-6 && (high - (1.0 + half)).abs() < 1e-6);
        let (low, high) = reach(&points, |point| point.1);
        assert!((high - low - 2.0 * QUANTILE.sqrt() * 1e-3).abs() < 1e-6);
    }

    #[test]
    fn a_certificate_adds_its_budgets() {
        let (low, high) = reach(&LOGS.region([0.5, 3.0]), |point| point.1);
        let half = QUANTILE.sqrt() * 1e-3 + 3.0;
        assert!((low - (-2.0 - half)).abs() < 1e-6 && (high - (-2.0 + half)).abs() < 1e-6);
    }
}
