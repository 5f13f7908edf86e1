//! Levels that were never logged, logs that come later, and what is shown of it.

use truenorth::{Preset, RidgeStatistic};
use truenorth_bandit::{Bandit, Limits, Parts};

use crate::support::{News, bandit, dice, event, summed};

fn limited(joining: usize) -> Bandit {
    let limits = Limits { joining, ..Limits::default() };
    Bandit::new(Parts { limits, ..Parts::without_logs("p + id").unwrap() }, |policy| policy).unwrap()
}

#[test]
fn levels_join_up_to_the_limit_and_share_a_feature_beyond() {
    let mut bandit = limited(10);
    for number in 0..40 {
        let choice =
            bandit.choose(&event(&format!(r#"{{"actions":[{{"id":"a{number}","p":1}}]}}"#))).unwrap();
        bandit.learn(&choice.decision_id, 1.0).unwrap();
    }
    let joined: Vec<&str> = bandit.joined().collect();
    assert_eq!(joined.len(), 11);
    assert_eq!(joined[..3], ["p", "id=a0", "id=a1"]);
    assert_eq!(joined[10], "id=other");
    assert_eq!(bandit.policy().dimension(), 12);
    let rows = bandit.encode(&event(r#"{"actions":[{"id":"a1","p":2},{"id":"new","p":0}]}"#)).unwrap();
    let named = |row: usize| {
        rows[row].features.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>()
    };
    assert_eq!(named(0), ["intercept 1", "p 2", "id=a1 1"]);
    assert_eq!(named(1), ["intercept 1", "id=other 1"]);
    // It goes on like that after a restart.
    let mut restored = Bandit::from_bytes(&bandit.to_bytes()).unwrap();
    for bandit in [&mut bandit, &mut restored] {
        bandit.choose(&event(r#"{"actions":[{"id":"newer","p":1}]}"#)).unwrap();
    }
    assert_eq!(bandit.to_bytes(), restored.to_bytes());
    assert_eq!(bandit.counts().joined, 11);
}

#[test]
fn what_is_refused_or_only_looked_at_leaves_no_trace() {
    for model in ["p + id", "hash(p:id, 16) + id"] {
        let mut bandit = bandit(model);
        bandit
            .choose(&event(r#"{"context":{"u":1},"actions":[{"id":"a","p":1},{"id":"b","p":2}]}"#))
            .unwrap();
        let before = bandit.to_bytes();
        // The second action lacks a value, when the first has joined already.
        let wrong = event(r#"{"context":{"v":1,"u":2},"actions":[{"id":"c","p":1},{"id":"d"}]}"#);
        let error = bandit.choose(&wrong).unwrap_err();
        assert_eq!((error.code(), &*error.to_string()), ("invalid", "action \"d\": field `p` has no value"));
        let fine = event(r#"{"context":{"v":1},"actions":[{"id":"c","p":1},{"id":"b","p":1}]}"#);
        assert_eq!(bandit.encode(&fine).unwrap().len(), 2);
        assert_eq!(bandit.intervals(&fine).unwrap()[0].0, "c");
        let (id, why) = bandit.explain(&fine).unwrap();
        assert_eq!(why.layers[0].actions.len(), 2);
        assert_eq!(bandit.to_bytes(), before);
        let mut restored = Bandit::from_bytes(&before).unwrap();
        assert_eq!(bandit.choose(&fine).unwrap().action, id);
        restored.choose(&fine).unwrap();
        assert_eq!(bandit.to_bytes(), restored.to_bytes());
        assert_eq!(bandit.unknown_fields(), [("u".to_owned(), 1), ("v".to_owned(), 1)]);
    }
}

#[test]
fn numbers_and_names_that_are_too_large_are_refused_by_name() {
    let mut bandit = bandit("a:b + id");
    let error =
        bandit.choose(&event(r#"{"context":{"a":1e40},"actions":[{"id":"x","b":1e40}]}"#)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "action \"x\": field `a:b` holds 1e80, but numbers must be finite and at most 1e50 in size"
    );
    assert_eq!(bandit.counts().joined, 0);
    let long = format!(r#"{{"context":{{"a":1}},"actions":[{{"id":"x","b":"{}"}}]}}"#, "n".repeat(2000));
    let error = bandit.choose(&event(&long)).unwrap_err().to_string();
    assert!(error.ends_with("has 2004 bytes, but may have 1000"), "{error}");
    assert_eq!(bandit.counts().joined, 0);
    let error = bandit.choose(&event(r#"{"context":{"a":1}}"#)).unwrap_err();
    assert_eq!(error.to_string(), "the event has no `actions` to choose from");
}

#[test]
fn a_model_may_begin_without_a_single_feature() {
    let mut bandit = bandit("0 + id:user.*");
    let nothing = bandit.choose(&event(r#"{"actions":[{"id":"a"},{"id":"b"}]}"#)).unwrap();
    bandit.learn(&nothing.decision_id, 1.0).unwrap();
    assert_eq!(bandit.names().count(), 0);
    let choice =
        bandit.choose(&event(r#"{"context":{"user":{"age":3}},"actions":[{"id":"a"},{"id":"b"}]}"#)).unwrap();
    bandit.learn(&choice.decision_id, 1.0).unwrap();
    assert_eq!(bandit.names().collect::<Vec<_>>(), ["id=a:user.age", "id=b:user.age"]);
    assert_eq!(bandit.policy().dimension(), 2);
    assert_eq!(bandit.features().unwrap().len(), 2);
}

#[test]
fn logs_that_come_later_are_matched_by_name() {
    let world = News { articles: 4, unit: 1.0 };
    let (first, second) = (world.logged(1500, 1), world.logged(1500, 2));
    let both = |settings: fn(truenorth::Settings) -> truenorth::Settings| {
        let mut bandit = Bandit::new(first.clone(), settings).unwrap();
        bandit.add_logs(&second.features, second.logs.as_ref().unwrap(), &second.means).unwrap();
        bandit
    };
    let order = |parts: &Parts| parts.features.iter().map(|feature| feature.name.clone()).collect::<Vec<_>>();
    assert_ne!(order(&first), order(&second), "the order of features has to differ for this test");
    // All at once, by the order of the first.
    let mut places = vec![0];
    places.extend(
        second
            .features
            .iter()
            .map(|feature| 1 + first.features.iter().position(|known| known.name == feature.name).unwrap()),
    );
    let mut logs: RidgeStatistic = first.logs.clone().unwrap();
    logs.merge(&second.logs.as_ref().unwrap().placed(&places, logs.dimension()).unwrap()).unwrap();
    for settings in [|policy| policy, |policy: truenorth::Settings| policy.preset(Preset::WarmLinUcb)]
        as [fn(truenorth::Settings) -> truenorth::Settings; 2]
    {
        let once = Bandit::new(Parts { logs: Some(logs.clone()), ..first.clone() }, settings).unwrap();
        let later = both(settings);
        for (once, later) in once.features().unwrap().iter().zip(later.features().unwrap()) {
            assert_eq!(once.name, later.name);
            assert!((once.view.estimate - later.view.estimate).abs() < 1e-9, "{once:?} {later:?}");
        }
    }
}

#[test]
fn features_of_later_logs_join_a_running_bandit_in_any_number() {
    let world = News { articles: 5, unit: 1.0 };
    let limits = Limits { joining: 2, ..Limits::default() };
    let mut bandit = Bandit::new(Parts { limits, ..world.logged(500, 1) }, |policy| policy).unwrap();
    let mut dice = dice(1);
    let open = bandit.choose(&world.event(0, &mut dice)).unwrap();
    let mut events = Vec::new();
    for context in 0..4 {
        let mut event = world.event(context, &mut dice);
        (event.chosen, event.reward) = (Some(4), Some(1.0));
        events.push(event);
    }
    let more = summed("price + user:time:item", &events);
    bandit.add_logs(&more.features, more.logs.as_ref().unwrap(), &more.means).unwrap();
    assert_eq!(bandit.counts().joined, 1);
    assert_eq!(bandit.names().count(), 1 + 1 + 16 + 4);
    bandit.learn(&open.decision_id, 1.0).unwrap();
    let chosen = bandit.choose(&world.event(1, &mut dice)).unwrap();
    bandit.learn(&chosen.decision_id, 1.0).unwrap();
    let restored = Bandit::from_bytes(&bandit.to_bytes()).unwrap();
    assert_eq!(restored.to_bytes(), bandit.to_bytes());
    // A statistic of another size is refused.
    let error = bandit.add_logs(&more.features[1..], more.logs.as_ref().unwrap(), &more.means).unwrap_err();
    assert_eq!(error.to_string(), "the logs have 6 features, intercept included, but 5 are named");
}

#[test]
fn a_new_season_begins_with_what_is_known() {
    let world = News { articles: 4, unit: 1.0 };
    let mut bandit = Bandit::new(world.logged(1000, 1), |policy| policy).unwrap();
    let choice = bandit.choose(&world.event(0, &mut dice(1))).unwrap();
    bandit.renew().unwrap();
    bandit.learn(&choice.decision_id, 1.0).unwrap();
    let mut doubtless = Bandit::new(world.logged(1000, 1), |policy| policy.preset(Preset::LinUcb)).unwrap();
    assert_eq!(doubtless.renew().unwrap_err().code(), "invalid");
}

#[test]
fn terms_that_cannot_change_a_choice_are_named() {
    let mut parts = Parts::without_logs("price + segment + segment:item").unwrap();
    parts.recipe.action = Some(["item", "price"].map(str::to_owned).into());
    let bandit = Bandit::new(parts, |policy| policy).unwrap();
    assert_eq!(
        bandit.warnings(),
        [
            "`segment` is the same for every action of a round and cannot change a choice; cross it with the action: `segment:item`"
        ]
    );
}

#[test]
fn without_logs_terms_that_cannot_change_a_choice_are_named_once_an_event_has_shown_them() {
    let warned = |model: &str, events: &[&str]| {
        let mut bandit = Bandit::new(Parts::without_logs(model).unwrap(), |policy| policy).unwrap();
        assert_eq!(bandit.warnings(), [""; 0], "{model}");
        for json in events {
            bandit.choose(&event(json)).unwrap();
        }
        let mut copy = Bandit::from_bytes(&bandit.to_bytes()).unwrap();
        assert_eq!(copy.warnings(), [""; 0], "it is no part of the state");
        copy.intervals(&event(events[0])).unwrap();
        assert_eq!(copy.warnings(), [""; 0], "what is only tried says nothing");
        for json in events {
            copy.choose(&event(json)).unwrap();
        }
        let told = bandit.warnings();
        assert_eq!(copy.warnings(), told);
        told.iter()
            .map(|said| said.split("cross it with the action: ").nth(1).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let simple = r#"{"context":{"segment":"a","hour":3},"actions":[{"id":"x"},{"id":"y"}]}"#;
    assert_eq!(warned("segment + segment:id", &[simple]), ["`segment:id`"]);
    assert_eq!(warned("id:(1 + segment + hour)", &[simple]), [""; 0]);
    let items = r#"{"context":{"segment":"a"},"actions":[{"id":"x","age":1,"item":"p"},{"id":"y","age":2,"item":"q"}]}"#;
    assert_eq!(warned("segment + age + item", &[items]), ["`segment:item`"]);
    assert_eq!(warned("segment + age", &[items]), ["`segment:id`"]);
    // A pattern that fits nothing at first may fit a field of some action later.
    let bare = r#"{"context":{},"actions":[{"id":"x"},{"id":"y"}]}"#;
    let late = r#"{"context":{},"actions":[{"id":"x"},{"id":"y","item.kind":"p"}]}"#;
    assert_eq!(warned("id + item.*", &[bare]), ["`item.*:id`"]);
    assert_eq!(warned("id + item.*", &[bare, late, late]), [""; 0]);
}
