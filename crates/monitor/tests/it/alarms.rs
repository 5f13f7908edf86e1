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

#[test]
fn features_that_follow_from_others_are_named_with_shifts_that_can_be() {
    // A level, four items, and each item with each of three kinds of customer: level and items follow from the others.
    let (mut named, mut false_alarms) = (0, 0);
    for seed in 0..40 {
        let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut monitor = Monitor::new(17, 0.05).unwrap();
        for round in 0..3000 {
            let (item, customer) = (dice.random_range(0..4), dice.random_range(0..3));
            let rate = if item == 2 && round >= 1500 { 0.02 } else { 0.1 + 0.06 * (item + customer) as f64 };
            let reward = f64::from(u8::from(dice.random::<f64>() < rate));
            monitor.observe(&[(0, 1.0), (1 + item, 1.0), (5 + 3 * item + customer, 1.0)], reward).unwrap();
            false_alarms += usize::from(round == 1499 && monitor.evidence().alarm.is_some());
        }
        let clearest = (0..17).max_by(|a, b| {
            let [a, b] = [a, b].map(|place| monitor.feature(*place).evidence);
            (a.evidence / a.needed).total_cmp(&(b.evidence / b.needed))
        });
        named += usize::from(clearest == Some(3) && monitor.feature(3).evidence.alarm.is_some());
        for place in 0..17 {
            let moved = monitor.feature(place);
            assert!(moved.shift.abs() < 1.0, "{seed} {place}: {moved:?}");
        }
    }
    assert!(named >= 36 && false_alarms <= 5, "named in {named} of 40, false alarms in {false_alarms}");
}

#[test]
fn since_and_shift_explain_the_alarm_also_when_the_movement_is_long_over() {
    // A feature that few rows have, alone and five rows in a round.
    for rows in [1, 5] {
        for seed in 0..20 {
            let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut monitor = Monitor::new(3, 0.05).unwrap();
            for round in 0..8000 {
                let moved = if (2000..4000).contains(&round) { 1.0 } else { 0.0 };
                let row = |dice: &mut Xoshiro256PlusPlus| {
                    let rare = f64::from(u8::from(dice.random::<f64>() < 0.2));
                    let row = vec![(0, 1.0), (1, rare), (2, dice.random_range(-1.0..1.0))];
                    let noise: f64 = StandardNormal.sample(dice);
                    (row, (0.3 + moved) * rare + noise)
                };
                let rows: Vec<(Vec<(usize, f64)>, f64)> = (0..rows).map(|_| row(&mut dice)).collect();
                let round: Vec<Paid<'_>> =
                    rows.iter().map(|(features, reward)| Paid { features, reward: *reward }).collect();
                monitor.observe_round(&round).unwrap();
            }
            let found = monitor.feature(1);
            let (alarm, since) = (found.evidence.alarm.unwrap(), found.since.unwrap());
            assert!((1600..=alarm).contains(&since) && alarm < 4000, "{rows}, {seed}: {found:?}");
            let errors = found.shift / found.stderr;
            assert!((0.4..1.8).contains(&found.shift) && errors > 1.5, "{rows}, {seed}: {found:?}");
        }
    }
}

#[test]
fn where_all_rewards_move_alike_the_level_is_named_and_rare_features_seldom_are() {
    let (mut rare, mut level) = (0, 0);
    for seed in 0..40 {
        let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut monitor = Monitor::new(6, 0.05).unwrap();
        for round in 0..6000 {
            let mut row = vec![(0, 1.0)];
            row.extend((1..6).filter(|_| dice.random::<f64>() < 0.05).map(|feature| (feature, 1.0)));
            let noise: f64 = StandardNormal.sample(&mut dice);
            monitor.observe(&row, noise - if round < 1500 { 0.0 } else { 0.8 }).unwrap();
        }
        let named = |feature: &usize| monitor.feature(*feature).evidence.alarm.is_some();
        rare += (1..6).filter(named).count();
        level += usize::from(named(&0));
    }
    assert!(rare <= 20 && level == 40, "{rare} of 200 rare features, the level in {level} of 40");
}
