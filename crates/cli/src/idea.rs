//! The idea in two dimensions: what logs, certificate and live data say about the parameter.

use truenorth::{Actions, Certificate, Drift, Intervals, Method, Offline, Policy, Pooling, RidgeStatistic};
use truenorth_paper::theory::OfflineRegion;
use truenorth_report::{Ellipses, EllipsesPanel, Outline, numbers};

use crate::failure::Failure;

/// Rounds after which a picture is taken.
const PICTURES: [usize; 4] = [0, 10, 100, 1000];
/// The world of the picture: the second coefficient drifted, the first did not.
const LIVE: [f64; 2] = [0.8, -0.3];
const LOGGED: [f64; 2] = [0.8, 0.5];
const NOISE: f64 = 0.3;
const CORNERS: usize = 90;

/// Offline, certificate and online region after 0, 10, 100 and 1000 live rounds.
pub(crate) fn svg() -> Result<String, Failure> {
    let ellipses = Ellipses {
        title: "What is known about two coefficients: the logs are sharp, but the second has drifted since"
            .to_owned(),
        x_label: "first coefficient".to_owned(),
        y_label: "second coefficient".to_owned(),
        truth_name: "live truth".to_owned(),
        panels: panels().map_err(Failure::drawing("idea"))?,
        ..Ellipses::default()
    };
    ellipses.svg().map_err(Failure::drawing("idea"))
}

fn panels() -> truenorth::Result<Vec<EllipsesPanel>> {
    let reward = |x: &[f64], parameter: [f64; 2], i: usize| {
        // Scrambled enough to be unrelated to the directions, and the same picture every time.
        let scrambled = (12.9898 * i as f64).sin() * 43_758.545;
        let uniform = scrambled - scrambled.floor() - 0.5;
        x[0] * parameter[0] + x[1] * parameter[1] + NOISE * 12f64.sqrt() * uniform
    };
    let direction = |i: usize| {
        let angle = 2.4 * i as f64;
        [angle.cos(), angle.sin()]
    };
    let mut logs = RidgeStatistic::new(2)?;
    for i in 0..400 {
        let x = direction(i);
        logs.observe(&x, reward(&x, LOGGED, i))?;
    }
    let certificate = Certificate::from_budgets(&[0.05, 1.0])?.with_radius(1.0)?;
    let pooled = Intervals::Pooled { pooling: Pooling::Full, drift: Drift::Told, fallback: true };
    let settings = Policy::builder(2).method(Method::Flat(pooled)).certificate(certificate.clone());
    let settings = settings.exploration_scale(1.0).noise(NOISE).norm_bound(1.0).logs(logs);
    let mut policy = settings.build()?;
    let mut panels = Vec::new();
    for round in 0..=PICTURES[PICTURES.len() - 1] {
        if PICTURES.contains(&round) {
            panels.push(panel(&policy, &certificate, round)?);
        }
        let features: Vec<f64> = (0..5).flat_map(|action| direction(5 * round + action)).collect();
        let actions = Actions::new(&features, 2)?;
        let choice = policy.choose(actions)?;
        policy.learn(choice.rewarded(actions, reward(actions.row(choice.action).values(), LIVE, round)))?;
    }
    Ok(panels)
}

fn panel(policy: &Policy, certificate: &Certificate, round: usize) -> truenorth::Result<EllipsesPanel> {
    let live = Offline::new(policy.layers()[0].data, policy.ridge())?;
    let live_radius = live.radius(policy.noise(), policy.norm_bound(), policy.delta() / 3.0);
    let (logs, radius) = (policy.offline(), policy.offline_radius());
    // A certificate that allows no drift leaves the ellipse of the regression alone.
    let still = certificate.clone().with_radius(0.0)?;
    let outline = |name: &str, fit: &Offline, certificate: &Certificate, radius: f64, dashed| {
        let region = OfflineRegion::new(fit, certificate, radius)?;
        let point = |i: usize| {
            let angle = std::f64::consts::TAU * i as f64 / CORNERS as f64;
            region.extreme_point(&[angle.cos(), angle.sin()]).map(|point| (point[0], point[1]))
        };
        let points = (0..CORNERS).map(point).collect::<truenorth::Result<_>>()?;
        Ok::<_, truenorth::Error>(Outline { name: name.to_owned(), points, center: None, dashed })
    };
    let outlines = vec![
        outline("logs + allowed drift", logs, certificate, radius, false)?,
        outline("logs", logs, &still, radius, true)?,
        outline("live data", &live, &still, live_radius, false)?,
    ];
    let title = format!("after {} live rounds", numbers::count(round as u64));
    Ok(EllipsesPanel { title, outlines, truth: Some((LIVE[0], LIVE[1])) })
}
