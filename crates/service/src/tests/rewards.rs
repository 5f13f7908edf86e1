//! The real life of rewards.

use std::time::Duration;

use serde_json::json;

use super::{Scratch, Served, asked, spec, until, with};
use crate::engine::Call;
use crate::spec::Mode;

fn code(refused: Result<(), crate::api::Refused>) -> (u16, &'static str) {
    refused.map_or_else(|refused| (refused.status, refused.code), |()| (200, "accepted"))
}

#[test]
fn a_time_out_learns_the_default_or_lets_the_decision_go() {
    let folder = Scratch::new();
    let served = Served::start(&folder.path("data"));
    served.make("default", with(&json!({"reward_timeout_s": 0.3, "default_reward": 0.5})));
    served.make("none", with(&json!({"reward_timeout_s": 0.3})));
    served.make("patient", spec());
    for name in ["default", "none", "patient"] {
        served.decide(name, &asked(1, Some("late"))).unwrap();
        served.decide(name, &asked(2, Some("in time"))).unwrap();
        served.pay(name, json!({"decision_id": "in time", "reward": 1})).unwrap();
    }
    until(|| served.counts("default").rewards == 2 && served.counts("none").expired == 1);
    assert_eq!(served.counts("default").mean_reward, Some(0.75));
    assert_eq!((served.counts("none").rewards, served.counts("none").open), (1, 0));
    let late = |name, reward| code(served.pay(name, json!({"decision_id": "late", "reward": reward})));
    assert_eq!(late("default", 1.0), (409, "already_learned"));
    assert_eq!(late("default", 0.5), (200, "accepted"));
    assert_eq!(late("none", 1.0), (409, "expired"));
    assert_eq!(late("patient", 1.0), (200, "accepted"));
}

#[test]
fn rewards_add_up_within_the_waiting_time_if_the_bandit_says_so() {
    let folder = Scratch::new();
    let served = Served::start(&folder.path("data"));
    // Long enough for a restart beside other tests.
    let sums = json!({"reward_timeout_s": 3, "default_reward": -1, "reward_aggregation": "sum"});
    served.make("sums", with(&sums));
    served.decide("sums", &asked(1, Some("three"))).unwrap();
    served.decide("sums", &asked(2, Some("nothing"))).unwrap();
    let pay = |reward: f64, id: Option<&str>| {
        let mut paid = json!({"decision_id": "three", "reward": reward});
        if let Some(id) = id {
            paid["id"] = json!(id);
        }
        code(served.pay("sums", paid))
    };
    // Each call counts, but for one with an id that was there.
    for (reward, id) in [(0.5, Some("click")), (0.5, Some("click")), (2.0, None), (2.0, None)] {
        assert_eq!(pay(reward, id), (200, "accepted"));
    }
    assert_eq!(pay(1e51, None), (422, "invalid"));
    assert_eq!((served.counts("sums").rewards, served.counts("sums").open), (0, 2));
    let (state, folded) = (served.state("sums"), folder.path("data"));
    drop(served);
    // What has come so far is there after a restart.
    let served = Served::start(&folded);
    assert_eq!(served.state("sums"), state);
    until(|| served.counts("sums").rewards == 2);
    assert_eq!(served.counts("sums").mean_reward, Some((4.5 - 1.0) / 2.0));
    let late = served.pay("sums", json!({"decision_id": "three", "reward": 0.5}));
    assert_eq!(code(late), (409, "expired"));
}

#[test]
fn a_decision_that_is_not_shown_waits_for_no_reward() {
    let folder = Scratch::new();
    let served = Served::start(&folder.path("data"));
    served.make("news", with(&json!({"reward_timeout_s": 0.2, "default_reward": 0})));
    let mut deferred = asked(1, Some("ranked"));
    deferred["deferred"] = json!(true);
    served.decide("news", &deferred).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!((served.counts("news").open, served.counts("news").rewards), (1, 0));
    assert!(served.call("news", Call::Activate("ranked".to_owned())).is_ok());
    assert!(served.call("news", Call::Activate("ranked".to_owned())).is_ok());
    assert!(served.call("news", Call::Activate("x".to_owned())).is_err());
    until(|| served.counts("news").rewards == 1);
}

#[test]
fn in_shadow_what_the_caller_plays_is_learned_whatever_the_mode_is_when_the_reward_comes() {
    let folder = Scratch::new();
    let served = Served::start(&folder.path("data"));
    // Without fits, which come back at any time.
    let told = json!({"policy": "oful", "noise": 1, "norm_bound": 1});
    for name in ["shadow", "told"] {
        served.make(name, with(&told));
    }
    assert!(served.call("shadow", Call::Mode(Mode::Shadow)).is_ok());
    let mut shadowed = asked(1, Some("one"));
    shadowed["played"] = json!("c");
    let answer = served.decide("shadow", &shadowed).unwrap();
    assert_eq!((answer.action.as_str(), answer.action_index, answer.propensity), ("c", 2, 1.0));
    let ours = served.decide("told", &asked(1, Some("one"))).unwrap();
    assert_eq!(answer.ours, Some(ours.action));
    assert!(served.call("shadow", Call::Mode(Mode::Live)).is_ok());
    // The same again is the same answer.
    assert_eq!(served.decide("shadow", &shadowed).unwrap(), answer);
    served.pay("shadow", json!({"decision_id": "one", "reward": 1})).unwrap();
    served.pay("told", json!({"decision_id": "one", "reward": 1, "played": "c"})).unwrap();
    let [one, other] = ["shadow", "told"].map(|name| {
        let next = served.decide(name, &asked(2, Some("two"))).unwrap();
        (next.action, next.mean.to_bits(), next.ucb.to_bits())
    });
    assert_eq!(one, other);
    let unknown = served.pay("told", json!({"decision_id": "two", "reward": 1, "played": "z"}));
    assert_eq!(code(unknown), (422, "invalid"));
}

#[test]
fn a_frozen_bandit_writes_rewards_down_and_learns_nothing() {
    let folder = Scratch::new();
    let served = Served::start(&folder.path("data"));
    served.make("news", spec());
    served.decide("news", &asked(1, Some("one"))).unwrap();
    assert!(served.call("news", Call::Mode(Mode::Frozen)).is_ok());
    let pay = |reward: f64| code(served.pay("news", json!({"decision_id": "one", "reward": reward})));
    assert_eq!(
        [pay(1.0), pay(1.0), pay(2.0)],
        [(200, "accepted"), (200, "accepted"), (409, "already_learned")]
    );
    assert_eq!(served.counts("news").rewards, 0);
    assert_eq!(
        code(served.pay("news", json!({"decision_id": "no", "reward": 1}))),
        (404, "unknown_decision")
    );
}

#[test]
fn rewards_come_late_twice_and_out_of_order_also_for_decisions_before_a_restart() {
    let folder = Scratch::new();
    let served = Served::start(&folder.path("data"));
    served.make("news", spec());
    for round in 0..20 {
        served.decide("news", &asked(round, Some(&format!("d{round}")))).unwrap();
    }
    drop(served);
    let served = Served::start(&folder.path("data"));
    for round in (0..20).rev().chain(0..20) {
        let paid = json!({"decision_id": format!("d{round}"), "reward": f64::from(round)});
        assert_eq!(code(served.pay("news", paid)), (200, "accepted"));
    }
    assert_eq!((served.counts("news").rewards, served.counts("news").mean_reward), (20, Some(9.5)));
}
