//! False alarms and delays of the monitor on simulated streams, looked at after every round.
//!
//! ```sh
//! cargo run --release -p truenorth-monitor --example streams -- WORLD POLICY STREAMS ROUNDS [CHANGE SIZE AT]
//! ```
//!
//! WORLD is normal, sphere, uneven, heavy, clicks or correlated; POLICY is random or a name of truenorth; CHANGE is step (feature 1
//! moves by SIZE in round AT), slope (by SIZE in every 1,000 rounds from AT on) or all (every feature moves, by SIZE in all).

#[path = "../tests/it/world.rs"]
mod world;

use std::thread;

use world::{Change, Outcome, Stream, World};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [world, policy, streams, rounds, change @ ..] = &arguments[..] else {
        eprintln!("WORLD POLICY STREAMS ROUNDS [CHANGE SIZE AT]");
        std::process::exit(2);
    };
    let world: World = world.parse().expect("a world");
    let (streams, rounds): (u64, u64) =
        (streams.parse().expect("a number"), rounds.parse().expect("a number"));
    let change = match change {
        [] => Change::None,
        [kind, size, at] => {
            Change::parse(kind, size.parse().expect("a number"), at.parse().expect("a number"))
                .expect("a change")
        }
        _ => panic!("CHANGE SIZE AT"),
    };
    let policy = policy.as_str();
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|part| {
                let stream = move |seed| Stream { world, change, rounds, seed }.run(policy);
                scope.spawn(move || {
                    (0..streams).filter(|seed| seed % 2 == part).map(stream).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a stream failed")).collect()
    });
    let share = |count: usize| 100.0 * count as f64 / outcomes.len() as f64;
    let early =
        outcomes.iter().filter(|outcome| outcome.alarm.is_some_and(|round| round <= change.at())).count();
    let named = outcomes.iter().filter(|outcome| outcome.features.iter().any(Option::is_some)).count();
    println!("{world:?} {policy}: false alarms {:.1} %, a feature named {:.1} %", share(early), share(named));
    if matches!(change, Change::None) {
        return;
    }
    let delays = |of: &dyn Fn(&Outcome) -> Option<u64>| {
        let mut delays: Vec<u64> = outcomes
            .iter()
            .map(|outcome| of(outcome).map_or(u64::MAX, |round| round.saturating_sub(change.at())))
            .collect();
        delays.sort_unstable();
        [delays[delays.len() / 2], delays[delays.len() * 9 / 10]]
    };
    let first = outcomes.iter().filter(|outcome| {
        let others = outcome.features[1..].iter().flatten().min();
        outcome.features[0].is_some_and(|round| others.is_none_or(|other| round <= *other))
    });
    let others = outcomes.iter().filter(|outcome| outcome.features[1..].iter().any(Option::is_some)).count();
    println!(
        "  anything: median and 90 % after {:?} rounds; the feature: {:?}; named first in {:.1} %, another one at all in {:.1} %",
        delays(&|outcome| outcome.alarm),
        delays(&|outcome| outcome.features[0]),
        share(first.count()),
        share(others)
    );
}
