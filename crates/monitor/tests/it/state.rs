//! Units, growth, bytes, and what is refused.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth_monitor::{Error, Monitor};

fn rows(count: usize, dimension: usize) -> Vec<(Vec<(usize, f64)>, f64)> {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(7);
    let row = |_| {
        let row: Vec<(usize, f64)> = (0..dimension).map(|j| (j, dice.random_range(-1.0..1.0))).collect();
        let reward = row[0].1 + dice.random_range(-1.0..1.0);
        (row, reward)
    };
    (0..count).map(row).collect()
}

#[test]
fn units_of_features_and_rewards_change_nothing() {
    let (mut plain, mut scaled) = (Monitor::new(3, 0.05).unwrap(), Monitor::new(3, 0.05).unwrap());
    for (mut row, reward) in rows(1500, 3) {
        plain.observe(&row, reward).unwrap();
        row[1].1 *= 1024.0;
        scaled.observe(&row, reward * 0.25).unwrap();
    }
    assert!(plain.is_watching());
    assert_eq!(plain.evidence(), scaled.evidence());
    let (plain, scaled) = (plain.feature(1).shift, scaled.feature(1).shift);
    assert_eq!((plain * 0.25 / 1024.0).to_bits(), scaled.to_bits());
}

#[test]
fn a_monitor_from_bytes_goes_on_bit_for_bit() {
    let mut whole = Monitor::new(3, 0.05).unwrap();
    let rows = rows(1200, 3);
    for (row, reward) in &rows[..600] {
        whole.observe(row, *reward).unwrap();
    }
    let bytes = postcard::to_allocvec(&whole).unwrap();
    let mut restored: Monitor = postcard::from_bytes(&bytes).unwrap();
    assert!(restored.is_sound());
    for (row, reward) in &rows[600..] {
        whole.observe(row, *reward).unwrap();
        restored.observe(row, *reward).unwrap();
    }
    assert_eq!(postcard::to_allocvec(&whole).unwrap(), postcard::to_allocvec(&restored).unwrap());
}

#[test]
fn a_feature_that_joins_changes_nothing_for_the_others_until_it_is_seen() {
    let (mut plain, mut grown) = (Monitor::new(3, 0.05).unwrap(), Monitor::new(3, 0.05).unwrap());
    for (place, (row, reward)) in rows(1500, 3).into_iter().enumerate() {
        plain.observe(&row, reward).unwrap();
        if place == 700 {
            grown.grow(5);
        }
        grown.observe(&row, reward).unwrap();
    }
    for feature in 0..3 {
        assert_eq!(plain.feature(feature).evidence, grown.feature(feature).evidence);
    }
    let (before, after) = (plain.evidence().evidence, grown.evidence().evidence);
    assert!((before - after).abs() < 1e-12, "{before} became {after}");
}

#[test]
fn what_cannot_be_watched_is_refused_and_changes_nothing() {
    let mut monitor = Monitor::new(2, 0.05).unwrap();
    monitor.observe(&[(0, 1.0)], 1.0).unwrap();
    let before = monitor.clone();
    let said = |error: Error| error.to_string();
    assert_eq!(
        said(monitor.observe(&[(2, 1.0)], 1.0).unwrap_err()),
        "feature 2 is not watched: there are 2, counted from 0"
    );
    assert_eq!(
        said(monitor.observe(&[(0, f64::NAN)], 1.0).unwrap_err()),
        "a feature is NaN, but must be finite and at most 1e50 in size"
    );
    assert_eq!(
        said(monitor.observe(&[(0, 1.0)], 1e51).unwrap_err()),
        "a reward is 1e51, but must be finite and at most 1e50 in size"
    );
    assert_eq!(said(Monitor::new(2, 1.0).unwrap_err()), "`level` must be between 0 and 1, but is 1");
    assert_eq!(monitor, before);
}

#[test]
fn constant_rewards_are_never_watched() {
    let mut monitor = Monitor::new(2, 0.05).unwrap();
    for _ in 0..500 {
        monitor.observe(&[(0, 1.0)], 0.0).unwrap();
    }
    assert!(!monitor.is_watching());
    assert_eq!(monitor.evidence().alarm, None);
}
