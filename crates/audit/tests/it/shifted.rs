//! A column that is far from 0 beside an intercept and levels: a week of 201402, say.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth_audit::Audit;

use crate::support::{Rows, audited};

const ARMS: usize = 4;

/// An intercept, a number, arms, and the week of each arm, counted from `first`.
fn rows(rng: &mut Xoshiro256PlusPlus, n: usize, weeks: usize, first: f64) -> Rows {
    let mut rows = Rows::default();
    for _ in 0..n {
        let (arm, week) = (rng.random_range(0..ARMS), first + rng.random_range(0..weeks) as f64);
        let [words, noise] = [(); 2].map(|()| StandardNormal.sample(rng));
        let mut x = [0.0; 2 + 2 * ARMS];
        (x[0], x[1], x[2 + arm], x[2 + ARMS + arm]) = (1.0, words, 1.0, week);
        let noise: f64 = noise;
        rows.push(&x, 0.2 + 0.03 * words + 0.25 * noise * (0.5 + words.abs()));
    }
    rows
}

fn audit(first: f64, weeks: usize) -> Audit {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let logs = rows(&mut rng, 5000, 50, first - 50.0).statistic(2 + 2 * ARMS);
    audited(&logs, Some(&rows(&mut rng, 1300, weeks, first).pilot()))
}

#[test]
fn a_column_far_from_0_is_told_as_well_as_its_distance_from_there() {
    for weeks in [50, 8] {
        let [near, far] = [0.0, 201_402.0].map(|first| audit(first, weeks));
        for (name, j) in std::iter::once(("words", 1)).chain((2 + ARMS..2 + 2 * ARMS).map(|j| ("week", j))) {
            let of = |audit: &Audit| {
                let feature = &audit.features[j];
                [feature.estimate, feature.finding.drift.unwrap(), feature.finding.stderr.unwrap()]
            };
            println!("{weeks} {name} {:?} {:?}", of(&near), of(&far));
            for (near, far) in of(&near).into_iter().zip(of(&far)) {
                assert!((near - far).abs() <= 5e-4 * near.abs(), "{weeks} {name}: {near} {far}");
            }
        }
    }
}
