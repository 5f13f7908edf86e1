//! Decisions and their rewards: once, late, in any order, by id.

use truenorth_bandit::{Answer, Bandit, Event, Fate, Limits, Parts};

use crate::support::{bandit, event};

const ROUND: &str =
    r#"{"context":{"s":"a"},"actions":[{"id":"x","p":1},{"id":"y","p":0.5},{"id":"z","p":0}]}"#;

fn round() -> Event {
    event(ROUND)
}

fn limited(open: usize, age: u64) -> Bandit {
    let limits = Limits { open, age, ..Limits::default() };
    Bandit::new(Parts { limits, ..Parts::without_logs("p + s:id").unwrap() }, |policy| policy).unwrap()
}

fn code<T: std::fmt::Debug>(result: truenorth_bandit::Result<T>) -> &'static str {
    result.unwrap_err().code()
}

#[test]
fn a_reward_is_learned_once_also_after_a_restart() {
    let mut bandit = bandit("p + s:id");
    let choice = bandit.choose(&round()).unwrap();
    let mut restored = Bandit::from_bytes(&bandit.to_bytes()).unwrap();
    for bandit in [&mut bandit, &mut restored] {
        bandit.learn(&choice.decision_id, 0.5).unwrap();
        let before = bandit.to_bytes();
        let error = bandit.learn(&choice.decision_id, 0.5).unwrap_err();
        assert_eq!(error.code(), "already_learned");
        let sentence = format!("decision {:?} has had its reward already, which was 0.5", choice.decision_id);
        assert_eq!(error.to_string(), sentence);
        let mut later = Bandit::from_bytes(&before).unwrap();
        assert_eq!(code(later.learn(&choice.decision_id, 1.0)), "already_learned");
        assert_eq!(bandit.to_bytes(), before);
        assert_eq!(bandit.decision(&choice.decision_id).unwrap(), (Some(choice.clone()), Fate::Learned(0.5)));
    }
}

#[test]
fn a_reward_without_a_decision_is_refused_by_name() {
    let mut bandit = bandit("p + s:id");
    let error = bandit.learn("nobody", 1.0).unwrap_err();
    assert_eq!(error.code(), "unknown_decision");
    assert_eq!(error.to_string(), "there is no decision \"nobody\" that waits for a reward");
    assert_eq!(
        code(bandit.learn_event(&event(r#"{"decision_id":"nobody","reward":1}"#))),
        "unknown_decision"
    );
    assert_eq!(code(bandit.learn_event(&event(r#"{"reward":1}"#))), "invalid");
}

#[test]
fn rewards_that_are_no_numbers_are_refused() {
    let mut bandit = bandit("p + s:id");
    let choice = bandit.choose(&round()).unwrap();
    for reward in [f64::NAN, f64::INFINITY, -1e51] {
        assert_eq!(code(bandit.learn(&choice.decision_id, reward)), "invalid");
    }
    bandit.learn(&choice.decision_id, 1.0).unwrap();
}

#[test]
fn rewards_may_come_late_and_in_any_order() {
    let mut one = bandit("p + s:id");
    let choices: Vec<_> = (0..50).map(|_| one.choose(&round()).unwrap()).collect();
    assert_eq!(one.counts().open, 50);
    let mut other = one.clone();
    for choice in &choices {
        one.learn(&choice.decision_id, 1.0).unwrap();
    }
    for choice in choices.iter().rev() {
        other.learn(&choice.decision_id, 1.0).unwrap();
    }
    for bandit in [&one, &other] {
        let counts = bandit.counts();
        assert_eq!((counts.decisions, counts.rewards, counts.open), (50, 50, 0));
        assert_eq!(counts.mean_reward, Some(1.0));
    }
    let (one, other) = (one.features().unwrap(), other.features().unwrap());
    for (one, other) in one.iter().zip(&other) {
        assert!((one.view.estimate - other.view.estimate).abs() < 1e-9);
    }
}

#[test]
fn the_oldest_decisions_expire_by_number_and_by_age() {
    for (open, age) in [(10, 1_000), (1_000, 9)] {
        let mut bandit = limited(open, age);
        let choices: Vec<_> = (0..25).map(|_| bandit.choose(&round()).unwrap()).collect();
        let counts = bandit.counts();
        assert_eq!((counts.open, counts.expired), (10, 15));
        // Those that expired lately are remembered, and earlier ones are not.
        assert_eq!(code(bandit.learn(&choices[14].decision_id, 1.0)), "expired");
        assert_eq!(code(bandit.learn(&choices[0].decision_id, 1.0)), "unknown_decision");
        bandit.learn(&choices[15].decision_id, 1.0).unwrap();
    }
}

#[test]
fn what_is_remembered_stays_within_its_limits() {
    let mut bandit = limited(20, 1_000_000);
    let mut largest = 0;
    for number in 0..2000 {
        let choice = bandit.choose(&round()).unwrap();
        if number % 3 == 0 {
            bandit.learn(&choice.decision_id, 1.0).unwrap();
        }
        let mut row = event(ROUND);
        (row.chosen, row.reward, row.decision_id) = (Some(1), Some(0.0), Some(format!("row {number}")));
        bandit.learn_event(&row).unwrap();
        if number == 200 {
            largest = bandit.to_bytes().len();
        }
    }
    assert!(
        bandit.to_bytes().len() <= largest + 100,
        "{} bytes, and {largest} before",
        bandit.to_bytes().len()
    );
    assert_eq!(bandit.counts().open, 20);
}

#[test]
fn the_same_id_is_the_same_decision() {
    let mut bandit = bandit("p + s:id");
    let mut asked = round();
    asked.decision_id = Some("mine".to_owned());
    let first = bandit.choose(&asked).unwrap();
    assert_eq!(first.decision_id, "mine");
    let before = bandit.to_bytes();
    assert_eq!(bandit.choose(&asked).unwrap(), first);
    assert_eq!(bandit.to_bytes(), before);
    // Another context, another action, another number.
    for (from, to) in [(r#""a""#, r#""b""#), (r#""z""#, r#""w""#), ("0.5", "0.25")] {
        let mut other = event(&ROUND.replace(from, to));
        other.decision_id = Some("mine".to_owned());
        assert_eq!(code(bandit.choose(&other)), "conflict");
        assert_eq!(bandit.to_bytes(), before);
    }
    bandit.learn("mine", 1.0).unwrap();
    let mut restored = Bandit::from_bytes(&bandit.to_bytes()).unwrap();
    assert_eq!(restored.choose(&asked).unwrap(), first);
    assert_eq!(restored.counts().decisions, 1);
}

#[test]
fn ids_differ_by_round_seed_and_content_and_by_nothing_else() {
    let made = |seed: u64, json: &str| {
        let parts = Parts::without_logs("p + s:id").unwrap();
        let mut bandit = Bandit::new(parts, |policy| policy.seed(seed)).unwrap();
        [(); 2].map(|()| bandit.choose(&event(json)).unwrap().decision_id)
    };
    let ids = made(1, ROUND);
    assert_eq!(ids, made(1, ROUND));
    assert!(ids.iter().all(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
    let mut all = [ids, made(2, ROUND), made(1, &ROUND.replace("0.5", "0.25"))].concat();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 6);
}

#[test]
fn what_was_played_is_what_is_learned() {
    let mut bandit = bandit("p + s:id");
    let mut asked = round();
    asked.decision_id = Some("mine".to_owned());
    let choice = bandit.choose(&asked).unwrap();
    let other = ["x", "y", "z"].into_iter().find(|id| *id != choice.action).unwrap();
    let told = event(&format!(r#"{{"decision_id":"mine","action":"{other}","reward":1}}"#));
    let error = bandit.learn_event(&told).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "decision \"mine\" chose {:?}; to learn {other:?} instead, the event must list its `actions`",
            choice.action
        )
    );
    asked.chosen = asked.find(other);
    asked.reward = Some(1.0);
    let mut expected = bandit.clone();
    bandit.learn_event(&asked).unwrap();
    let estimate = |name: String| {
        let features = bandit.features().unwrap();
        features.iter().find(|feature| feature.name == name).unwrap().view.estimate
    };
    assert!(estimate(format!("s=a:id={other}")) != 0.0);
    assert!(estimate(format!("s=a:id={}", choice.action)).abs() < 1e-12);
    let counts = bandit.counts();
    assert_eq!((counts.rewards, counts.rows, counts.open), (1, 0, 0));
    assert_eq!(code(bandit.learn("mine", 1.0)), "already_learned");
    // The action that was chosen may be named, too.
    expected
        .learn_event(&event(&format!(r#"{{"decision_id":"mine","action":"{}","reward":1}}"#, choice.action)))
        .unwrap();
    assert_eq!(expected.counts().rewards, 1);
}

#[test]
fn rows_of_others_are_learned_once_by_their_id() {
    let mut bandit = bandit("p + s:id");
    let mut row = round();
    (row.chosen, row.reward) = (Some(2), Some(1.0));
    bandit.learn_event(&row).unwrap();
    bandit.learn_event(&row).unwrap();
    row.decision_id = Some("theirs".to_owned());
    bandit.learn_event(&row).unwrap();
    assert_eq!(code(bandit.learn_event(&row)), "already_learned");
    row.reward = None;
    assert_eq!(code(bandit.choose(&row)), "conflict");
    let counts = bandit.counts();
    assert_eq!((counts.decisions, counts.rewards, counts.rows), (0, 0, 3));
    // Its price is 0, so that of the two terms one has a feature.
    assert_eq!(bandit.joined().collect::<Vec<_>>(), ["s=a:id=z"]);
}

#[test]
fn an_expired_decision_can_be_learned_from_the_whole_event() {
    let mut bandit = limited(1, 1_000);
    let first = bandit.choose(&round()).unwrap();
    bandit.choose(&round()).unwrap();
    assert_eq!(code(bandit.learn(&first.decision_id, 1.0)), "expired");
    let mut whole = round();
    (whole.chosen, whole.reward, whole.decision_id) = (Some(0), Some(1.0), Some(first.decision_id.clone()));
    bandit.learn_event(&whole).unwrap();
    assert_eq!(code(bandit.learn_event(&whole)), "already_learned");
}

#[test]
fn answers_are_the_lines_of_the_command() {
    let mut bandit = bandit("p + s:id");
    let mut asked = round();
    asked.decision_id = Some("mine".to_owned());
    let json = |answer: &Answer| serde_json::to_value(answer).unwrap();
    let decided = json(&bandit.answer(&asked).unwrap());
    let keys: Vec<&String> = decided.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["action", "branch", "decision_id", "lcb", "mean", "probability", "ucb"]);
    let learned = bandit.answer(&event(r#"{"decision_id":"mine","reward":1}"#)).unwrap();
    assert_eq!(json(&learned).to_string(), r#"{"decision_id":"mine","learned":true}"#);
    let mut row = round();
    row.chosen = Some(0);
    assert_eq!(code(bandit.answer(&row)), "invalid");
    row.reward = Some(1.0);
    assert_eq!(json(&bandit.answer(&row).unwrap()).to_string(), r#"{"learned":true}"#);
}

#[test]
fn a_mean_and_the_level_forecast_a_reward() {
    // Rewards of 7, and 1 more for each unit of p; the features alone cannot tell the 7.
    let mut bandit = bandit("p");
    for n in 0..400 {
        let choice = bandit.choose(&round()).unwrap();
        let noise = if n % 2 == 0 { 0.1 } else { -0.1 };
        bandit.learn(&choice.decision_id, 7.0 + [1.0, 0.5, 0.0][choice.index] + noise).unwrap();
    }
    let choice = bandit.choose(&round()).unwrap();
    assert_eq!(choice.action, "x");
    let level = bandit.policy().level();
    assert!((choice.mean + level - 8.0).abs() < 0.1, "{} + {level}", choice.mean);
    assert!((choice.mean - 8.0).abs() > 1.0, "{}", choice.mean);
    assert!(choice.lcb + level < 8.0 && 8.0 < choice.ucb + level, "{choice:?}");
}
