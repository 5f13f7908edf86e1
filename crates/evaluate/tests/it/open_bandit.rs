//! The numbers of `obp` 0.4.1 for decisions that a formula makes; see docs/evaluate.md for how they were got.

use truenorth_evaluate::{Decision, Estimates, modelled};

const ROUNDS: usize = 60;
const ACTIONS: usize = 4;

fn shares(number: impl Fn(usize) -> usize) -> [f64; ACTIONS] {
    let numbers: [f64; ACTIONS] = std::array::from_fn(|action| 1.0 + number(action) as f64);
    let all: f64 = numbers.iter().sum();
    numbers.map(|number| number / all)
}

fn problem(target: impl Fn(usize) -> [f64; ACTIONS]) -> (Vec<Decision>, Vec<(f64, f64)>) {
    let decision = |i: usize| {
        let action = (i * i + 1) % ACTIONS;
        let probability = shares(|a| (i * 3 + a * 5) % 7)[action];
        let reward = ((i * 13) % 10) as f64 / 10.0;
        let model: [f64; ACTIONS] = std::array::from_fn(|a| ((i * 7 + a * 11) % 13) as f64 / 13.0);
        let target = target(i);
        let expected = target.iter().zip(model).map(|(share, model)| share * model).sum();
        let decision = Decision { reward, probability, target: target[action], weight: 1.0 };
        (decision, (model[action], expected))
    };
    (0..ROUNDS).map(decision).unzip()
}

fn close(ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() <= 1e-9, "{ours} is not {theirs}");
}

#[test]
fn estimates_are_those_of_open_bandit_pipeline() {
    let (decisions, predictions) = problem(|i| shares(|a| (i * 5 + a * 3) % 11));
    let found = Estimates::new(&decisions);
    close(found.ips.value, 0.640_586_578_013_403_5);
    close(found.snips.value, 0.427_822_815_978_737_7);
    let with_model = modelled(&decisions, &predictions);
    close(with_model.direct, 0.417_429_234_908_484_66);
    close(with_model.dr.value, 0.474_502_008_086_283_23);
}

#[test]
fn of_a_policy_without_a_dice_so_is_replay() {
    let (decisions, predictions) =
        problem(|i| std::array::from_fn(|a| f64::from(u8::from(a == (i / 3) % ACTIONS))));
    let found = Estimates::new(&decisions);
    close(found.replay.unwrap().value, 0.450_000_000_000_000_07);
    close(found.ips.value, 0.433_265_873_015_873_05);
    close(found.snips.value, 0.489_565_958_210_026);
    let with_model = modelled(&decisions, &predictions);
    close(with_model.direct, 0.537_179_487_179_487_3);
    close(with_model.dr.value, 0.494_041_208_791_208_8);
}
