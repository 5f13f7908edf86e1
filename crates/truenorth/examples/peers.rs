//! Plays a policy by name against recorded rounds from a file and says how long that took: our side of `bench/peers`.
//!
//! ```text
//! cargo run --release -p truenorth --example peers -- ROUNDS.bin lin-ucb 3.0 [ROUNDS] [arms]
//! ```
//!
//! File, preset, seconds to spend, and rounds to play if not as many as are recorded; more are played by starting
//! over in the file. The file holds little-endian numbers of 64 bits. Four integers count rounds, actions, features and
//! logged rows; floats follow: the features of all rounds, their rewards, the logged features, their rewards, and the
//! rewards of both in the disjoint world.
//!
//! With `arms` that world is played by a sparse policy: the features of the first action are the context, every arm has
//! coefficients of its own, and the arms of the logs follow each other.
//!
//! After a short warm-up, a new policy plays blocks of rounds; if there is time left, other new ones repeat that. One
//! JSON object goes to stdout: rounds a block, seconds of each block, blocks of one repetition, the actions of the
//! first, bytes of resident memory that the policy took.

use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::ops::Range;
use std::time::{Duration, Instant};

use truenorth::{Actions, Certificate, Policy, Preset, RidgeStatistic, Row, Settings};

/// Rounds of the warm-up, and least number of timed ones.
const FEW: usize = 5;
/// Blocks of a repetition, at least, if there are so many rounds.
const BLOCKS: usize = 20;
/// Repetitions, at most.
const REPETITIONS: usize = 5;

type Failure = Box<dyn std::error::Error>;

/// What the file holds, but for the logs.
struct Rounds {
    count: usize,
    actions: usize,
    dimension: usize,
    features: Vec<f64>,
    rewards: Vec<f64>,
    /// Where the row of each arm starts, and its columns; nothing where arms share their coefficients.
    arms: Option<(Vec<usize>, Vec<usize>)>,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |name| arguments.next().ok_or(format!("{name} is missing"));
    let (file, preset, budget) = (next("FILE")?, next("PRESET")?.parse::<Preset>()?, next("SECONDS")?);
    let budget = Duration::from_secs_f64(budget.parse()?);
    let rest: Vec<String> = arguments.collect();
    let arms = rest.last().is_some_and(|word| word == "arms");
    let length = rest.first().filter(|word| *word != "arms").map(|text| text.parse::<usize>()).transpose()?;

    let (recorded, logs) = read(&file, arms)?;
    let length = length.unwrap_or(recorded.count);
    let few = FEW.min(length);
    let settings = settings(preset, recorded.width(), length as u64, logs)?.sparse(arms);
    // Writing 5 resets the peak.
    let before = fs::write("/proc/self/clear_refs", "5").ok().and_then(|()| resident("VmRSS:"));
    let mut actions = Vec::new();
    let warm_up = recorded.play(&mut recorded.policy(&settings)?, 0..few, &mut actions)?;
    let wanted = budget.as_nanos() / 50 * few as u128 / warm_up.as_nanos().max(1);
    let block = usize::try_from(wanted)?.clamp(1, length.div_ceil(BLOCKS));
    let blocks = length / block;
    actions.clear();

    let mut policy = recorded.policy(&settings)?;
    let mut times = vec![recorded.play(&mut policy, 0..block, &mut actions)?];
    let is_left = |times: &[Duration]| times.iter().sum::<Duration>() < budget || times.len() * block < few;
    while times.len() < REPETITIONS * blocks && is_left(&times) {
        let place = times.len() % blocks;
        if place == 0 {
            drop(policy);
            policy = recorded.policy(&settings)?;
        }
        times.push(recorded.play(&mut policy, place * block..(place + 1) * block, &mut actions)?);
    }
    let memory = before.and_then(|before| resident("VmHWM:").map(|peak| peak.saturating_sub(before)));
    actions.truncate(blocks * block);
    let seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    let answer = serde_json::json!({
        "block": block, "blocks_each": blocks, "seconds": seconds, "actions": actions, "memory": memory,
    });
    println!("{answer}");
    Ok(())
}

impl Rounds {
    /// Features of the policy.
    fn width(&self) -> usize {
        if self.arms.is_some() { self.actions * self.dimension } else { self.dimension }
    }

    /// A new policy. A row of zeros for each arm teaches nothing, but arms without data would be cheap.
    fn policy(&self, settings: &Settings) -> truenorth::Result<Policy> {
        let mut policy = settings.clone().build()?;
        if let Some((starts, columns)) = &self.arms {
            let zeros = vec![0.0; self.dimension];
            for arm in 0..self.actions {
                policy.learn_row(Row::sparse(&columns[starts[arm]..starts[arm + 1]], &zeros), 0.0)?;
            }
        }
        Ok(policy)
    }

    /// Plays rounds, counted beyond the last recorded one from the first again. Returns the time it took.
    fn play(
        &self,
        policy: &mut Policy,
        rounds: Range<usize>,
        played: &mut Vec<usize>,
    ) -> Result<Duration, Failure> {
        let size = self.actions * self.dimension;
        let mut values = Vec::with_capacity(size);
        let clock = Instant::now();
        for round in rounds.map(|number| number % self.count) {
            let features = &self.features[round * size..][..size];
            let actions = match &self.arms {
                None => Actions::new(features, self.dimension)?,
                Some((starts, columns)) => {
                    values.clear();
                    (0..self.actions).for_each(|_| values.extend_from_slice(&features[..self.dimension]));
                    Actions::sparse(starts, columns, &values, size)?
                }
            };
            let choice = policy.choose(actions)?;
            let reward = self.rewards[round * self.actions + choice.action];
            policy.learn(choice.rewarded(actions, reward))?;
            played.push(choice.action);
        }
        Ok(clock.elapsed())
    }
}

/// The preset, told the noise and the length of the coefficients. Logs go to those that use them; where a certificate
/// has to be given, a drift of length 0.5 in any direction is allowed.
fn settings(
    preset: Preset,
    dimension: usize,
    horizon: u64,
    logs: RidgeStatistic,
) -> truenorth::Result<Settings> {
    let mut settings = Policy::builder(dimension).preset(preset).noise(0.1).norm_bound(1.0).horizon(horizon);
    if !matches!(preset, Preset::LinUcb | Preset::Oful | Preset::SupLinUcb) {
        settings = settings.logs(logs);
    }
    if preset == Preset::EllipsoidalMinUcb {
        settings = settings.certificate(Certificate::isotropic(dimension, 0.5)?);
    }
    Ok(settings)
}

fn read(path: &str, arms: bool) -> Result<(Rounds, RidgeStatistic), Failure> {
    let mut file = BufReader::new(File::open(path)?);
    let mut word = || -> std::io::Result<[u8; 8]> {
        let mut word = [0; 8];
        file.read_exact(&mut word).map(|()| word)
    };
    let mut count = || -> Result<usize, Failure> { Ok(u64::from_le_bytes(word()?).try_into()?) };
    let (count, actions, dimension, logged) = (count()?, count()?, count()?, count()?);
    let mut take = |count: usize| -> std::io::Result<Vec<f64>> {
        (0..count).map(|_| word().map(f64::from_le_bytes)).collect()
    };
    let (features, mut rewards) = (take(count * actions * dimension)?, take(count * actions)?);
    let (rows, mut logged_rewards) = (take(logged * dimension)?, take(logged)?);
    let rows = rows.chunks_exact(dimension).enumerate();
    let (mut logs, mut blocks) = (RidgeStatistic::new(dimension)?, None);
    if arms {
        (rewards, logged_rewards) = (take(count * actions)?, take(logged)?);
        let (starts, columns): (Vec<usize>, Vec<usize>) =
            ((0..=actions).map(|arm| arm * dimension).collect(), (0..actions * dimension).collect());
        logs = RidgeStatistic::sparse(actions * dimension)?;
        for ((place, row), reward) in rows.zip(logged_rewards) {
            let arm = place % actions;
            logs.observe(Row::sparse(&columns[starts[arm]..starts[arm + 1]], row), reward)?;
        }
        blocks = Some((starts, columns));
    } else {
        for ((_, row), reward) in rows.zip(logged_rewards) {
            logs.observe(row, reward)?;
        }
    }
    Ok((Rounds { count, actions, dimension, features, rewards, arms: blocks }, logs))
}

/// Bytes of resident memory: now (`VmRSS:`) or at most (`VmHWM:`), where the system tells.
fn resident(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
