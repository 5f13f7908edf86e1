//! What a policy shows about its logs beside what an audit says: the same numbers where they are the same, and why
//! others differ.

use rand::SeedableRng as _;
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::{Actions, Policy, Preset};
use truenorth_audit::Standing;

use crate::support::{Rows, audited};

const D: usize = 4;
const HOURS: usize = 6;

/// Bikes hired in an hour of a day: warmth matters at noon only, which a model with warmth and hour cannot say.
fn hour(rng: &mut Xoshiro256PlusPlus, warmth: f64, hour: usize) -> ([f64; D], f64) {
    let (sine, cosine) = (std::f64::consts::TAU * hour as f64 / HOURS as f64).sin_cos();
    let noise: f64 = StandardNormal.sample(rng);
    let warm = if hour == 0 { 0.3 * warmth } else { 0.0 };
    ([1.0, warmth, cosine, sine], 0.3 + 0.2 * cosine + warm + 0.1 * noise)
}

fn day(rng: &mut Xoshiro256PlusPlus) -> Vec<([f64; D], f64)> {
    let warmth = StandardNormal.sample(rng);
    (0..HOURS).map(|at| hour(rng, warmth, at)).collect()
}

#[test]
fn a_live_view_differs_from_an_audit_by_what_was_played_and_by_nothing_else() {
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(3);
    let mut logs = Rows::default();
    (0..1000).flat_map(|_| day(rng)).for_each(|(x, reward)| logs.push(&x, reward));
    let logs = logs.statistic(D);
    let mut policy = Policy::builder(D).preset(Preset::TrueNorth).logs(logs.clone()).build().unwrap();
    // Nothing has moved. All hours are the pilot; the policy plays the best ones.
    let [mut all, mut played] = [(); 2].map(|()| Rows { rounds: Some(Vec::new()), ..Rows::default() });
    for round in 0..400 {
        let hours = day(rng);
        let features: Vec<f64> = hours.iter().flat_map(|(x, _)| *x).collect();
        let actions = Actions::new(&features, D).unwrap();
        let choice = policy.choose(actions).unwrap();
        let (x, reward) = &hours[choice.action];
        policy.learn(choice.rewarded(actions, *reward)).unwrap();
        played.push(x, *reward);
        played.rounds.as_mut().unwrap().push(round);
        for (x, reward) in &hours {
            all.push(x, *reward);
            all.rounds.as_mut().unwrap().push(round);
        }
    }
    let live = policy.features().unwrap();
    let [all, played] = [all, played].map(|rows| audited(&logs, Some(&rows.pilot())));
    for (live, audited) in live.iter().zip(&all.features) {
        let coverage = audited.finding.coverage;
        assert!((live.coverage / coverage - 1.0).abs() < 0.01, "{} {coverage}", live.coverage);
    }
    // Warmth holds by all hours; by those that were played it is far from the logs, to both of them.
    let [all, played] = [all, played].map(|audit| audit.features[1].finding);
    assert_eq!(all.standing(), Standing::Holds, "{all:?}");
    assert_eq!(played.drifted, Some(true), "{played:?}");
    let (drift, stderr) = (live[1].drift.unwrap(), live[1].stderr.unwrap());
    assert!((drift - played.drift.unwrap()).abs() < 0.05 && drift > 0.15, "{drift} {played:?}");
    assert!(drift > 2.0 * stderr && live[1].trust < 0.5, "{drift} {stderr} {}", live[1].trust);
}
