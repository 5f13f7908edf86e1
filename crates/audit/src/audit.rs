//! The audit: all parts put together.

use truenorth::{Result, RidgeStatistic, check};

use crate::advice::advice;
use crate::drift::{Comparison, Family, Scales};
use crate::fit::{Fit, Units, length, positive};
use crate::live::Live;
use crate::ranking::{Choices, Ranking};
use crate::spectrum::Spectrum;
use crate::verdict::{usable, verdict};
use crate::view::{Audit, Direction, Feature, Options, Pilot, PilotView, Use, Verdict, Worth};
use crate::worth::Value;
use crate::{bounds, certificate, measured, pair};

/// The stated drift, where none is, as a share of the length of the logs' coefficients.
const STATED: f64 = 0.3;

/// Rewards to learn from below which nothing is decided: clicks, mostly.
pub(crate) const OUTCOMES: f64 = 10.0;

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
/// assert_eq!(audit.features[1].finding.drifted, Some(true));
/// assert_eq!(audit.features[0].finding.drifted, Some(false));
/// # Ok::<(), truenorth::Error>(())
/// ```
pub fn audit(
    logs: &RidgeStatistic,
    names: &[String],
    scale: f64,
    pilot: Option<&Pilot>,
    options: &Options,
) -> Result<Audit> {
    audit_as([names], logs, scale, pilot, options).map(|[audit]| audit)
}

/// The same audit once for each list of names: those of programs, say, and those for people. It is computed once.
#[expect(clippy::too_many_lines, reason = "all parts are put together here, one after the other")]
pub fn audit_as<const N: usize>(
    names: [&[String]; N],
    logs: &RidgeStatistic,
    scale: f64,
    pilot: Option<&Pilot>,
    options: &Options,
) -> Result<[Audit; N]> {
    for names in names {
        check::length("the list of names", logs.dimension(), names.len())?;
    }
    check::positive("scale", scale)?;
    options.check()?;
    let dimension = logs.dimension();
    // Rewards that are all the same tell nothing of actions.
    let only = logs.only_reward().filter(|_| logs.count() > 1);
    let live = pilot.map(|pilot| Live::of(pilot, logs)).transpose()?;
    let sums = live.as_ref().map(|live| &live.sums);
    let units = Units::of(logs, sums, scale);
    let fit = Fit::new(logs, &units);
    let live_fit = sums.map(|sums| Fit::new(sums, &units));
    let spectrum = Spectrum::of(logs, &units);
    let live_spectrum = sums.map(|sums| Spectrum::of(sums, &units));
    let rows = live.as_ref().and_then(|live| live.rows);
    let choices = rows.and_then(|rows| Choices::of(rows, &units, &fit.estimate, options.actions));
    let mut columns = Family::features(&units, &fit, live_fit.as_ref(), choices.as_ref());
    let mut along = Family::directions(&units, &spectrum, live_spectrum.as_ref(), choices.as_ref());

    let noise = fit.noise.unwrap_or(0.0);
    let fitted = live.as_ref().zip(live_fit.as_ref());
    let comparison =
        fitted.and_then(|(live, live_fit)| Comparison::new(&fit, live_fit, live, &units, [&columns, &along]));
    let ranking = comparison
        .as_ref()
        .zip(choices.as_ref())
        .map(|(both, choices)| Ranking::of(choices, both, options.margin, both.freedom(dimension)));
    let decisive = live.as_ref().is_none_or(|live| live.outcomes.fewest() >= OUTCOMES);
    let measured = rows.filter(|_| ranking.is_some());
    let measured =
        measured.map(|rows| measured::measured(rows, &units, &fit.estimate, options.level)).transpose()?;
    let clicks = live.as_ref().is_some_and(|live| live.outcomes.clicks);
    let cost =
        ranking.as_ref().map(|ranking| ranking.cost(options.level, units.reward, clicks, measured.flatten()));
    // Of what the rewards refute, nothing is harmless.
    let refuted = cost.is_some_and(|cost| cost.refutation().is_some() && !cost.is_small());
    let scales = Scales {
        noise,
        signal: choices.as_ref().map_or(0.0, |choices| choices.typical(&fit.estimate)),
        allowed: ranking.as_ref().map(|ranking| if refuted { 0.0 } else { ranking.allowed }),
        decisive,
    };
    if let Some(both) = &comparison {
        both.test(&mut columns, 0, options.level, &scales);
        both.test(&mut along, dimension, options.level, &scales);
    }
    let is_tested = columns.tested() > 0;

    let estimates: Vec<f64> = (0..dimension).map(|j| fit.estimate[j] * units.raw(j)).collect();
    let norm = length(&estimates);
    let stated = options.drift.unwrap_or(STATED * norm);
    let certificate = if is_tested {
        certificate::measured(&columns, &units, positive(stated.max(2.0 * norm), units.reward))
    } else {
        certificate::stated(dimension, stated)
    };
    let feature =
        |j: usize| Feature { name: String::new(), estimate: estimates[j], finding: columns.findings[j] };
    let weights = |k: usize| spectrum.vectors.column(k).iter().copied().collect();
    let direction = |k: usize| Direction { weights: weights(k), finding: along.findings[k] };

    let worth = if only.is_some() {
        let [after_pilot, end] = [is_tested.then_some(0.0); 2];
        let interval = end.map(|end| [end; 2]);
        Worth { unbiased: 0.0, stated_drift: stated, under_stated_drift: 0.0, after_pilot, interval }
    } else {
        let contexts = sums.filter(|_| live_spectrum.as_ref().is_some_and(Spectrum::is_full)).unwrap_or(logs);
        let value = Value::new(&fit, contexts, &units, noise, options.horizon as f64);
        // D = stated²/d · I.
        let even: Vec<f64> =
            (0..dimension).map(|j| stated / units.raw(j) / (dimension as f64).sqrt()).collect();
        let found = is_tested
            .then(|| value.after(&(0..dimension).map(|j| columns.size(j, &scales)).collect::<Vec<_>>()));
        Worth {
            unbiased: value.of(&vec![0.0; dimension]),
            stated_drift: stated,
            under_stated_drift: value.of(&even),
            after_pilot: found.map(|found| found.0),
            interval: found.map(|found| found.1),
        }
    };
    let pilot = fitted.map(|(live, live_fit)| PilotView {
        rows: live.sums.count(),
        independent: live.independent,
        noise: live_fit.noise.unwrap_or(0.0) * units.reward,
        p_value: if along.tested() > columns.tested() { along.p_value } else { columns.p_value },
        outcomes: live.outcomes.live,
        settled_by: None,
    });
    let bounds = fit.noise.filter(|_| only.is_none()).and_then(|noise| {
        bounds::bounds(logs, &certificate, scale, noise * units.reward, norm / scale, options)
    });
    let mut audit = Audit {
        verdict: Verdict { usable: Use::Some, sentence: String::new() },
        rows: logs.count(),
        dimension,
        noise: noise * units.reward,
        norm,
        effective_dimension: spectrum.effective_dimension(),
        worth_rounds: worth.after_pilot.unwrap_or(worth.under_stated_drift),
        features: (0..dimension).map(feature).collect(),
        directions: (0..dimension).map(direction).collect(),
        certificate,
        scale,
        level: options.level,
        margin: options.margin,
        pilot,
        cost: cost.filter(|_| is_tested),
        pair: None,
        worth,
        bounds,
        advice: Vec::new(),
    };
    let usable = usable(&audit, decisive, only.is_some());
    if let (Use::Unclear, Some(pilot), Some(live)) = (usable, &mut audit.pilot, &live) {
        let rows = pilot.rows as f64;
        pilot.settled_by = if decisive {
            let ranking = ranking.as_ref().filter(|_| !refuted);
            ranking.as_ref().and_then(|ranking| ranking.settled_by(rows, options.margin, options.level))
        } else {
            live.outcomes.missing(OUTCOMES).map(|factor| factor * rows)
        };
    }
    let few = live.as_ref().map(|live| live.outcomes).filter(|_| !decisive);
    Ok(names.map(|names| {
        let mut audit = audit.clone();
        for (feature, name) in audit.features.iter_mut().zip(names) {
            feature.name.clone_from(name);
        }
        audit.pair = match &comparison {
            Some(both) if is_tested => pair::moved_most(names, &columns, both, &audit.certificate),
            _ => pair::known_least(names, &along, &spectrum, &fit, (&units, &audit.certificate)),
        };
        audit.verdict = verdict(&audit, usable, few, only);
        audit.advice = advice(&audit, &fit, live_fit.as_ref(), only.is_some());
        audit
    }))
}
