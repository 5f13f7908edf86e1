//! Memory over many decisions: rewards come for most, the others expire.

use serde_json::json;

use super::{Scratch, Served};
use crate::api::{Asked, Paid};
use crate::engine::{Answer, Call};

/// Resident memory in megabytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
}

#[test]
#[ignore = "takes minutes: TRUENORTH_DECISIONS says how many"]
fn memory_is_flat_over_many_decisions() {
    let decisions = std::env::var("TRUENORTH_DECISIONS").ok().and_then(|count| count.parse().ok());
    let decisions: u32 = decisions.unwrap_or(2_000_000);
    let folder = Scratch::new();
    let served = Served::start(&folder.path("data"));
    served.make("load", json!({"dimension": 20, "reward_timeout_s": 30, "default_reward": 0}));
    let mut state = 1u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let mut asked = || {
        let actions: Vec<_> =
            (0..5).map(|_| json!({"features": (0..20).map(|_| number()).collect::<Vec<_>>()})).collect();
        serde_json::from_str::<Asked>(&json!({"actions": actions}).to_string()).unwrap()
    };
    let pool: Vec<Asked> = (0..1000).map(|_| asked()).collect();
    let (mut done, mut seen) = (0u32, Vec::new());
    while done < decisions {
        let batch: Vec<Asked> =
            (0..500).map(|at| pool[(done as usize * 7 + at) % pool.len()].clone()).collect();
        let Ok(Answer::Decided(decided)) = served.call("load", Call::Decide(batch)) else { unreachable!() };
        // One of five rewards never comes.
        let paid = decided.into_iter().enumerate().filter(|(at, _)| at % 5 > 0).map(|(_, decided)| {
            let decided = decided.unwrap();
            Paid { decision_id: decided.decision_id, reward: decided.mean + 0.1, played: None, id: None }
        });
        assert!(served.call("load", Call::Pay(paid.collect())).is_ok());
        done += 500;
        if done % (decisions / 10) < 500 {
            eprintln!("{done} decisions: {} MB, {} open", resident(), served.counts("load").open);
            seen.push(resident());
        }
    }
    // What is remembered is full after some hundred thousand decisions.
    let (early, late) = (seen[seen.len() / 2], *seen.last().unwrap());
    assert!(late <= early + early / 5 + 20, "{seen:?}");
}
