//! The tutorial's world, from its logs to live decisions.

use truenorth::{Preset, Settings};
use truenorth_bandit::Bandit;

use crate::support::{ARTICLES, Dice, News, below, dice};

/// Plays a round of a context that the dice pick, and tells the article.
fn play(bandit: &mut Bandit, world: &News, dice: &mut Dice) -> String {
    let context = below(dice, 4);
    let event = world.event(context, dice);
    let choice = bandit.choose(&event).unwrap();
    bandit.learn(&choice.decision_id, world.reward(context, &event, choice.index, dice)).unwrap();
    choice.action
}

#[test]
fn every_context_gets_its_article_from_the_first_round_on() {
    let world = News { articles: 4, unit: 1.0 };
    let mut bandit = Bandit::new(world.logged(3000, 1), |policy| policy).unwrap();
    let mut dice = dice(2);
    let mut right = 0;
    for round in 0..400 {
        let context = round % 4;
        let event = world.event(context, &mut dice);
        let choice = bandit.choose(&event).unwrap();
        right += u32::from(choice.action == ARTICLES[context]);
        // The first decisions rest on the logs alone.
        assert!(round >= 4 || choice.action == ARTICLES[context], "{choice:?}");
        let reward = world.reward(context, &event, choice.index, &mut dice);
        bandit.learn(&choice.decision_id, reward).unwrap();
    }
    assert!(right >= 380, "right in {right} of 400");
    assert_eq!(bandit.counts().joined, 0);
}

#[test]
fn prices_in_other_units_change_no_decision() {
    let decisions = |unit: f64| {
        let world = News { articles: 4, unit };
        let mut bandit = Bandit::new(world.logged(3000, 1), |policy| policy).unwrap();
        let mut dice = dice(3);
        let mut decisions = Vec::new();
        for _ in 0..300 {
            decisions.push(play(&mut bandit, &world, &mut dice));
        }
        decisions
    };
    assert_eq!(decisions(1.0), decisions(1000.0));
}

/// In which share of the last 200 of 600 rounds the article is chosen that was never logged and is the best, by seed.
fn found(settings: impl Fn(Settings) -> Settings) -> Vec<f64> {
    let share = |seed: u64| {
        let world = News { articles: 5, unit: 1.0 };
        let mut bandit = Bandit::new(world.logged(3000, 10 + seed), &settings).unwrap();
        let mut dice = dice(20 + seed);
        let mut chosen = 0;
        for round in 0..600 {
            let action = play(&mut bandit, &world, &mut dice);
            chosen += u32::from(round >= 400 && action == "chess");
        }
        assert_eq!(bandit.counts().joined, 4);
        f64::from(chosen) / 200.0
    };
    (0..5).map(share).collect()
}

#[test]
fn an_article_that_was_never_logged_and_is_the_best_is_found() {
    let shares = found(|policy| policy);
    assert!(shares.iter().all(|&share| share >= 0.9), "{shares:?}");
}

#[test]
fn an_article_that_was_never_logged_and_is_the_best_is_found_at_full_width() {
    for settings in [
        |policy: Settings| policy.exploration_scale(1.0),
        |policy: Settings| policy.preset(Preset::TrueNorthSampling).seed(1),
    ] {
        let shares = found(settings);
        assert!(shares.iter().all(|&share| share >= 0.9), "{shares:?}");
    }
}
