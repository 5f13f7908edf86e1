//! Time of a decision and of a reward where actions touch a few of many features.
//!
//! ```text
//! cargo run --release -p truenorth --example sparse -- lin-ucb arms 50 20 10000
//! cargo run --release -p truenorth --example sparse -- truenorth arms 50 20 10000 logs
//! cargo run --release -p truenorth --example sparse -- lin-ucb hashed 50 40 1000 4096
//! ```
//!
//! Policy, world, actions, features that an action touches, rounds, and then the number of features of a hashed world, or
//! `logs`. In `arms`, a round has one context of so many values and a 1, and each arm coefficients of its own for them; in
//! `hashed`, an action touches any columns. Fits count as part of the decision that waits for them.

use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use truenorth::{Actions, Policy, Preset, RidgeStatistic};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = |at: usize, default: &str| arguments.get(at).map_or_else(|| default.to_owned(), Clone::clone);
    let number = |at: usize, default: &str| text(at, default).parse::<usize>();
    let preset: Preset = text(0, "lin-ucb").parse()?;
    let arms = text(1, "arms") == "arms";
    let (actions, touched, rounds) = (number(2, "50")?, number(3, "20")?, number(4, "10000")?);
    let logs = arguments.iter().any(|argument| argument == "logs");
    let told = arguments.iter().any(|argument| argument == "told");
    let dimension = if arms { actions * (touched + 1) } else { number(5, "4096")? };

    let mut dice = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(42);
    let truth: Vec<f64> = (0..dimension).map(|_| StandardNormal.sample(&mut dice)).collect();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut draw = |starts: &mut Vec<usize>, columns: &mut Vec<usize>, values: &mut Vec<f64>| {
        starts.truncate(1);
        columns.clear();
        values.clear();
        let context = (0..touched).map(|_| -> f64 { StandardNormal.sample(&mut dice) });
        let context: Vec<f64> = context.chain([1.0]).collect();
        for k in 0..actions {
            if arms {
                columns.extend(k * (touched + 1)..(k + 1) * (touched + 1));
                values.extend(&context);
            } else {
                let mut own = std::collections::BTreeSet::new();
                while own.len() < touched {
                    own.insert(dice.random_range(0..dimension));
                }
                columns.extend(own);
                values.resize(columns.len(), 1.0);
            }
            starts.push(columns.len());
        }
        let noise: f64 = StandardNormal.sample(&mut dice);
        0.3 * noise
    };
    let mean = |columns: &[usize], values: &[f64], logged: bool| -> f64 {
        let each = columns.iter().zip(values).enumerate();
        each.map(|(i, (&column, x))| if logged && i == 0 { 0.0 } else { x * truth[column] }).sum()
    };

    let mut settings = Policy::builder(dimension).preset(preset).sparse(true);
    if told {
        settings = settings.noise(0.3).norm_bound((dimension as f64).sqrt());
    }
    if logs {
        let mut statistic = RidgeStatistic::sparse(dimension)?;
        for row in 0..20 * dimension {
            let noise = draw(&mut starts, &mut columns, &mut values);
            let range = starts[row % actions]..starts[row % actions + 1];
            let (columns, values) = (&columns[range.clone()], &values[range]);
            let features = truenorth::Row::sparse(columns, values);
            statistic.observe(features, mean(columns, values, true) + noise)?;
        }
        settings = settings.logs(statistic);
    }
    let start = Instant::now();
    let mut policy = settings.build()?;
    let built = start.elapsed();
    let (mut choosing, mut learning, mut slowest) = (Duration::ZERO, Duration::ZERO, [Duration::ZERO; 2]);
    for _ in 0..rounds {
        let noise = draw(&mut starts, &mut columns, &mut values);
        let start = Instant::now();
        let actions = Actions::sparse(&starts, &columns, &values, dimension)?;
        let choice = policy.choose(actions)?;
        let chosen = start.elapsed();
        let row = actions.row(choice.action);
        let reward = mean(row.columns().unwrap_or_default(), row.values(), false) + noise;
        let start = Instant::now();
        policy.learn(choice.rewarded(actions, reward))?;
        let learned = start.elapsed();
        (choosing, learning) = (choosing + chosen, learning + learned);
        slowest = [slowest[0].max(chosen), slowest[1].max(learned)];
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / rounds.max(1) as f64;
    println!(
        "{preset:?}, {actions} actions of {touched}, {dimension} features: {:.2} + {:.2} us a decision and reward over \
         {rounds} rounds; slowest {:.0} + {:.0} us; built in {built:.1?}",
        each(choosing),
        each(learning),
        slowest[0].as_secs_f64() * 1e6,
        slowest[1].as_secs_f64() * 1e6,
    );
    Ok(())
}
