//! False alarms and delays, by simulation; docs/monitoring.md has the long version.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth_monitor::{Monitor, Paid};

use crate::world::{Change, Outcome, Stream, World};

fn streams(world: World, policy: &str, change: Change, count: u64, rounds: u64) -> Vec<Outcome> {
    (0..count).map(|seed| Stream { world, change, rounds, seed: seed + 1000 }.run(policy)).collect()
}

fn alarms(outcomes: &[Outcome]) -> usize {
    outcomes.iter().filter(|outcome| outcome.alarm.is_some()).count()
}

#[test]
fn a_world_that_stays_gives_at_most_the_level_of_false_alarms() {
    // Of 60 streams at 5 %, more than 7 come in one run of a hundred: so many are too many in any of these worlds.
    for world in
        [World::Normal, World::Nothing, World::Correlated, World::Uneven, World::Heavy, World::Clicks]
    {
        for policy in ["random", "truenorth"] {
            let found = alarms(&streams(world, policy, Change::None, 60, 3000));
            assert!(found <= 7, "{world:?}, {policy}: {found} of 60");
        }
    }
}

#[test]
fn a_policy_that_chooses_by_its_errors_alone_gives_no_false_alarms() {
    for world in [World::Nothing, World::Alike] {
        let found = alarms(&streams(world, "greedy", Change::None, 60, 3000));
        assert!(found <= 7, "{world:?}: {found} of 60");
    }
}

#[test]
fn a_step_of_one_standard_deviation_in_one_of_ten_features_is_found_within_300_rounds() {
    for policy in ["random", "truenorth"] {
        let change = Change::Step { size: 1.0, at: 1500 };
        let outcomes = streams(World::Normal, policy, change, 40, 3000);
        let delay = |round: Option<u64>| round.map_or(u64::MAX, |round| round.saturating_sub(1500));
        let mut delays: Vec<u64> = outcomes.iter().map(|outcome| delay(outcome.alarm)).collect();
        delays.sort_unstable();
        assert!(delays[20] <= 300, "{policy}: {delays:?}");
        let named = |outcome: &&Outcome| {
            let other = outcome.features[1..].iter().flatten().min();
            outcome.features[0].is_some_and(|round| other.is_none_or(|other| round < *other))
        };
        let right = outcomes.iter().filter(named).count();
        assert!(right >= 36, "{policy}: the feature that moved was named first in {right} of 40");
    }
}

#[test]
fn rewards_of_one_round_that_depend_on_each_other_are_no_evidence() {
    let mut found = 0;
    for seed in 0..60 {
        let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut monitor = Monitor::new(3, 0.05).unwrap();
        for _ in 0..2000 {
            let common: f64 = StandardNormal.sample(&mut dice);
            let rows: Vec<Vec<(usize, f64)>> =
                (0..5).map(|_| (0..3).map(|j| (j, dice.random_range(-1.0..1.0))).collect()).collect();
            let round: Vec<Paid<'_>> = rows
                .iter()
                .map(|row| Paid { features: row, reward: 0.5 * row[0].1 + common * (1.0 + row[1].1) })
                .collect();
            monitor.observe_round(&round).unwrap();
        }
        found += usize::from(monitor.evidence().alarm.is_some());
    }
    assert!(found <= 7, "{found} of 60");
}
