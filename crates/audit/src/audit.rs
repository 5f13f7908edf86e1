//! The audit: all parts put together.

use truenorth::{Error, Result, RidgeStatistic};

use crate::advice::advice;
use crate::drift::{Comparison, Family, Finding, Terms, Tested, unmeasured_square};
use crate::fit::{Fit, Units, length};
use crate::robust::Rows;
use crate::spectrum::Spectrum;
use crate::verdict::Facts;
use crate::view::{Audit, Direction, Feature, Options, Pilot, PilotView, Use, Verdict, Worth};
use crate::worth::worth;
use crate::{bounds, certificate, pair};

/// The stated drift, where none is, as a share of the length of the logs' coefficients.
const STATED: f64 = 0.3;

/// What the logs are worth, and where they still hold.
///
/// `logs` and `pilot` hold features that were multiplied by `scale`, as policies want them; `names` are those of
/// the columns. What comes out is in the units of the columns.
///
/// The logs are known by their sums only. Their errors are taken to be as clustered and uneven as the pilot's.
///
/// ```
/// use truenorth::RidgeStatistic;
/// use truenorth_audit::{Options, Pilot, audit};
///
/// let (mut logs, mut live) = (RidgeStatistic::new(2)?, RidgeStatistic::new(2)?);
/// for i in 0..400 {
///     let (x, noise) = (f64::from(i % 20) / 20.0, if i % 3 == 0 { 0.2 } else { -0.1 });
///     logs.observe(&[1.0, x], 1.0 + 2.0 * x + noise)?;
///     live.observe(&[1.0, x], 1.0 - 2.0 * x + noise)?;
/// }
/// let names = ["bias", "price"].map(str::to_owned);
/// let audit = audit(&logs, &names, 1.0, Some(&Pilot::Statistic(live)), &Options::default())?;
/// assert_eq!(audit.features[1].drifted, Some(true));
/// assert_eq!(audit.features[0].drifted, Some(false));
/// # Ok::<(), truenorth::Error>(())
/// ```
pub fn audit(
    logs: &RidgeStatistic,
    names: &[String],
    scale: f64,
    pilot: Option<&Pilot>,
    options: &Options,
) -> Result<Audit> {
    check(logs, names, scale, options)?;
    let live = pilot.map(|pilot| summed(pilot, logs.dimension())).transpose()?;
    let units = Units::of(logs, live.as_ref(), scale);
    let fit = Fit::new(logs, &units);
    let live_fit = live.as_ref().map(|live| Fit::new(live, &units));
    let spectrum = Spectrum::of(logs);
    let live_spectrum = live.as_ref().map(Spectrum::of);
    let columns = Family::features(&units, &fit, live_fit.as_ref());
    let along = Family::directions(&units, &spectrum, live_spectrum.as_ref());

    let noise = fit.noise.unwrap_or(0.0);
    let terms = Terms { level: options.level, margin: options.margin, noise };
    let comparison = live_fit.as_ref().and_then(|live| {
        let rows = pilot.and_then(rows);
        Comparison::new(&fit, live, rows, &units, &[&columns, &along])
    });
    let test = |family: &Family, first: usize| {
        comparison.as_ref().map_or_else(|| Tested::nothing(family), |both| both.test(family, first, terms))
    };
    let tested = test(&columns, 0);
    let turned = test(&along, logs.dimension());

    let estimates: Vec<f64> = (0..names.len()).map(|j| fit.estimate[j] * units.raw(j)).collect();
    let norm = length(&estimates);
    let stated = options.drift.unwrap_or(STATED * norm);
    let certificate = if tested.count() > 0 {
        certificate::measured(&tested, &units, positive(stated.max(2.0 * norm), units.reward))
    } else {
        certificate::stated(names.len(), stated)
    };
    let features = (0..names.len())
        .map(|j| Feature {
            name: names[j].clone(),
            typical: columns.typical(j, &units),
            ..feature(estimates[j], fit.coverage(j), tested.findings[j].as_ref(), columns.raw[j])
        })
        .collect();
    let directions = (0..names.len())
        .map(|k| Direction {
            typical: along.typical(k, &units),
            ..direction(&spectrum, k, turned.findings[k].as_ref(), along.raw[k])
        })
        .collect();
    let pair = match &comparison {
        Some(both) if tested.count() > 0 => pair::moved_most(names, &columns, &tested, both, &certificate),
        _ => pair::known_least(names, &along, &spectrum, &fit, &certificate),
    };

    let worth = {
        let full = live_spectrum.as_ref().filter(|live| live.is_full());
        let value = |drift: &dyn Fn(&[f64]) -> f64| {
            worth(&spectrum, full.unwrap_or(&spectrum), fit.rows, noise, drift)
        };
        // D = stated²/d · I, and what was found of each feature, both for scaled features.
        let even = (stated / scale / units.reward).powi(2) / names.len() as f64;
        let squares: Vec<f64> = (0..names.len())
            .map(|j| {
                let square =
                    tested.findings[j].map_or_else(|| unmeasured_square(&columns, j, noise), |f| f.square);
                square / units.columns[j].powi(2)
            })
            .collect();
        let found = |q: &[f64]| q.iter().zip(&squares).map(|(q, square)| q * q * square).sum();
        Worth {
            unbiased: value(&|_| 0.0),
            stated_drift: stated,
            under_stated_drift: value(&|_| even),
            after_pilot: (tested.count() > 0).then(|| value(&found)),
        }
    };
    let pilot_view = live_fit.as_ref().map(|live| PilotView {
        rows: live.count,
        independent: comparison.as_ref().map_or_else(|| independent(pilot), Comparison::independent),
        noise: live.noise.unwrap_or(0.0) * units.reward,
        p_value: if turned.count() > tested.count() { turned.p_value } else { tested.p_value },
    });
    let bounds = fit.noise.and_then(|noise| {
        bounds::bounds(logs, &certificate, scale, noise * units.reward, norm / scale, options)
    });
    let mut audit = Audit {
        verdict: Verdict { usable: Use::Some, sentence: String::new() },
        rows: logs.count(),
        dimension: names.len(),
        noise: noise * units.reward,
        norm,
        effective_dimension: spectrum.effective_dimension(),
        worth_rounds: worth.after_pilot.unwrap_or(worth.under_stated_drift),
        features,
        directions,
        certificate,
        scale,
        level: options.level,
        margin: options.margin,
        pilot: pilot_view,
        pair,
        worth,
        bounds,
        advice: Vec::new(),
    };
    let facts = Facts::of(&audit);
    let verdict = facts.verdict();
    let advice = advice(&facts, &fit, live_fit.as_ref(), comparison.as_ref().map(|_| &tested));
    (audit.verdict, audit.advice) = (verdict, advice);
    Ok(audit)
}

fn check(logs: &RidgeStatistic, names: &[String], scale: f64, options: &Options) -> Result<()> {
    if names.len() != logs.dimension() {
        let (expected, found) = (logs.dimension(), names.len());
        return Err(Error::Length { what: "the list of names", expected, found });
    }
    let within = |name, range, value: f64, fits: bool| {
        if fits { Ok(()) } else { Err(Error::Parameter { name, range, value }) }
    };
    within("scale", "at least 1e-50 and at most 1e50", scale, (1e-50..=1e50).contains(&scale))?;
    let Options { level, margin, drift, .. } = *options;
    within("level", "strictly between 0 and 1", level, level > 0.0 && level < 1.0)?;
    within("margin", "at least 0 and at most 1e50", margin, (0.0..=1e50).contains(&margin))?;
    let drift = drift.unwrap_or(0.0);
    within("drift", "at least 0 and at most 1e50", drift, (0.0..=1e50).contains(&drift))
}

/// The pilot's sums.
fn summed(pilot: &Pilot, dimension: usize) -> Result<RidgeStatistic> {
    let equal = |what, expected, found| {
        if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found }) }
    };
    match pilot {
        Pilot::Rows { features, rewards, rounds } => {
            equal("the pilot's features", rewards.len() * dimension, features.len())?;
            if let Some(rounds) = rounds {
                equal("the pilot's rounds", rewards.len(), rounds.len())?;
            }
            let mut data = RidgeStatistic::new(dimension)?;
            for (features, &reward) in features.chunks_exact(dimension).zip(rewards) {
                data.observe(features, reward)?;
            }
            Ok(data)
        }
        Pilot::Statistic(statistic) => {
            equal("the pilot's moment", dimension, statistic.dimension())?;
            Ok(statistic.clone())
        }
    }
}

fn rows(pilot: &Pilot) -> Option<Rows<'_>> {
    match pilot {
        Pilot::Rows { features, rewards, rounds } => {
            Some(Rows { features, rewards, rounds: rounds.as_deref() })
        }
        Pilot::Statistic(_) => None,
    }
}

/// Rounds or rows of a pilot that could not be compared.
fn independent(pilot: Option<&Pilot>) -> u64 {
    match pilot {
        Some(Pilot::Rows { rounds: Some(rounds), .. }) => {
            rounds.iter().collect::<std::collections::HashSet<_>>().len() as u64
        }
        Some(Pilot::Rows { rewards, .. }) => rewards.len() as u64,
        Some(Pilot::Statistic(statistic)) => statistic.count(),
        None => 0,
    }
}

/// `value`, or `otherwise` where it is 0.
fn positive(value: f64, otherwise: f64) -> f64 {
    if value > 0.0 { value } else { otherwise }
}

/// A feature that still lacks its name and size.
fn feature(estimate: f64, coverage: f64, finding: Option<&Finding>, raw: f64) -> Feature {
    Feature {
        name: String::new(),
        typical: 0.0,
        estimate,
        coverage,
        drift: finding.map(|finding| finding.drift * raw),
        stderr: finding.map(|finding| finding.stderr * raw),
        interval: finding.map(|finding| interval(finding, raw)),
        p_value: finding.map(|finding| finding.p_value),
        drifted: finding.map(|finding| finding.drifted),
        equivalent: finding.and_then(|finding| finding.equivalent),
        trust: finding.map_or(0.5, |finding| finding.trust),
    }
}

/// A direction that still lacks its size.
fn direction(spectrum: &Spectrum, k: usize, finding: Option<&Finding>, raw: f64) -> Direction {
    Direction {
        weights: spectrum.vectors.column(k).iter().copied().collect(),
        typical: 0.0,
        coverage: spectrum.coverage(k),
        drift: finding.map(|finding| finding.drift * raw),
        stderr: finding.map(|finding| finding.stderr * raw),
        interval: finding.map(|finding| interval(finding, raw)),
        p_value: finding.map(|finding| finding.p_value),
        drifted: finding.map(|finding| finding.drifted),
        equivalent: finding.and_then(|finding| finding.equivalent),
        trust: finding.map_or(0.5, |finding| finding.trust),
    }
}

/// The simultaneous interval in the units of the files.
fn interval(finding: &Finding, raw: f64) -> [f64; 2] {
    [(finding.drift - finding.width) * raw, (finding.drift + finding.width) * raw]
}
